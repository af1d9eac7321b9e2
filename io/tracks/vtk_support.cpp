#include "io/tracks/vtk_support.h"

#include <new>
#include <stdexcept>
#include <string_view>

#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <motes/base/errors.h>
#include <motes/io/vtk_messages.h>

#include "io/files/text.h"
#include "io/tracks/vtp_check.h"

namespace motes::io::detail {
namespace {

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& what) {
  throw InputError(path.string() + ": damaged VTK file: " + what + "; restore the file or write it anew");
}

/// Offsets must rise from 0 to the number of point ids, and the ids lie among the points.
void check_cells(const std::filesystem::path& path, vtkCellArray* cells, vtkIdType points) {
  if (cells == nullptr || cells->GetNumberOfCells() == 0) return;
  vtkDataArray* offsets = cells->GetOffsetsArray();
  vtkDataArray* ids = cells->GetConnectivityArray();
  double previous = 0;
  for (vtkIdType i = 0; i < offsets->GetNumberOfTuples(); ++i) {
    const double offset = offsets->GetComponent(i, 0);
    if (offset < previous || (i == 0 && offset != 0)) damaged(path, "its cells' offsets do not rise from 0");
    previous = offset;
  }
  if (previous > static_cast<double>(ids->GetNumberOfTuples()))
    damaged(path, "its cells end beyond their points");
  for (vtkIdType i = 0; i < ids->GetNumberOfTuples(); ++i) {
    const double id = ids->GetComponent(i, 0);
    if (!(id >= 0) || id >= static_cast<double>(points))
      damaged(path, "a cell names a point that is not there");
  }
}

}  // namespace

std::string vtp_bytes(vtkPolyData* data, const std::filesystem::path& path) {
  const VtkMessages messages;
  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->SetDataModeToAppended();
  writer->EncodeAppendedDataOff();
  writer->SetCompressorTypeToZLib();
  writer->SetCompressionLevel(1);  // level 5, the default, takes thrice as long for a few percent
  writer->SetByteOrderToLittleEndian();
  writer->SetHeaderTypeToUInt64();
  writer->WriteToOutputStringOn();
  if (writer->Write() == 0 || messages.any() || writer->GetErrorCode() != 0) {
    throw ResourceError(path.string() + ": VTK cannot write this file (" + messages.first() +
                        "); check the free memory");
  }
  return writer->GetOutputString();
}

vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path) {
  const std::string text = read_whole_file(path);
  check_vtp(path, text);
  const VtkMessages messages;
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->ReadFromInputStringOn();
  reader->SetInputString(text);
  try {
    reader->Update();
  } catch (const std::bad_alloc&) {
    damaged(path, "a length in it is more than the memory holds");
  } catch (const std::length_error&) {
    damaged(path, "a length in it is more than the memory holds");
  }
  vtkSmartPointer<vtkPolyData> data = reader->GetOutput();
  if (messages.any() || reader->GetErrorCode() != 0 || data == nullptr) {
    damaged(path, messages.any() ? messages.first() : std::string("VTK cannot read it"));
  }
  check_cells(path, data->GetVerts(), data->GetNumberOfPoints());
  check_cells(path, data->GetLines(), data->GetNumberOfPoints());
  return data;
}

}  // namespace motes::io::detail
