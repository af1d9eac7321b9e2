/// Reads and writes .vtp files with VTK, with this project's errors.

#include "io/tracks/vtk/support.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <omp.h>
#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkStringArray.h>
#include <vtkXMLDataElement.h>
#include <vtkXMLDataParser.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>

#include <motes/base/errors.h>
#include <motes/base/execution.h>
#include <motes/base/parallel_for.h>
#include <motes/base/system/worker.h>
#include <motes/io/atomic_file.h>
#include <motes/io/vtk_messages.h>

#include "io/files/text.h"
#include "io/tracks/vtk/vtp_check.h"

namespace motes::io::detail {
namespace {

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& what) {
  throw InputError(path.string() + ": damaged VTK file: " + what + "; restore the file or write it again");
}

/// Throws unless offsets rise from 0 to the number of point ids, and all ids are valid points.
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
    damaged(path, "its cells have more points than listed");
  for (vtkIdType i = 0; i < ids->GetNumberOfTuples(); ++i) {
    const double id = ids->GetComponent(i, 0);
    if (!(id >= 0) || id >= static_cast<double>(points))
      damaged(path, "a cell names a point that does not exist");
  }
}

/// VTK ends the XML document where the appended data begin, and stops when the parser reports that tag.
/// Expat 2.6 may report it later, and VTK 9.1 (both are in Ubuntu 24.04) then parses the raw data. This
/// parser stops where VTK ended the document.
class VtpParser : public vtkXMLDataParser {
 public:
  static VtpParser* New() { VTK_STANDARD_NEW_BODY(VtpParser); }

 protected:
  int ParsingComplete() override {
    constexpr std::string_view kTag = "<AppendedData";
    return AppendedDataMatched == std::ssize(kTag) ? 1 : vtkXMLDataParser::ParsingComplete();
  }
};

/// Reads strings up to the end of their array, since VTK writes also those behind it. Refuses elements that
/// do not describe their array, since VTK makes it for the first piece and fills it from all pieces.
/// Throws std::runtime_error.
class VtpReader : public vtkXMLPolyDataReader {
 public:
  static VtpReader* New() { VTK_STANDARD_NEW_BODY(VtpReader); }

 protected:
  void CreateXMLParser() override { XMLParser = VtpParser::New(); }

  int ReadArrayValues(vtkXMLDataElement* element, vtkIdType to, vtkAbstractArray* array, vtkIdType from,
                      vtkIdType count, FieldType kind) override {
    // For more values, VTK's size of the array in bytes overflows.
    bool read = describes(element, array) && count <= VTK_ID_MAX / vtkIdType{sizeof(double)};
    if (auto* strings = vtkStringArray::SafeDownCast(array); read && strings != nullptr) {
      read = read_strings(element, to, strings, from, count);
    } else if (read) {
      read = vtkXMLPolyDataReader::ReadArrayValues(element, to, array, from, count, kind) != 0;
    }
    const std::string name = array->GetName() == nullptr ? "" : array->GetName();
    if (!read && in_data_)  // VTK's own report reads the name of an element that may be missing
      throw std::runtime_error("the array " + name + " does not have the values that the file states");
    return read ? 1 : 0;
  }

  /// Before, VTK has tried to read a time from every array of the field data, also from empty ones.
  void ReadXMLData() override {
    in_data_ = true;
    vtkXMLPolyDataReader::ReadXMLData();
  }

 private:
  /// If its values have the size of the array's, check_vtp() has ensured that there are enough.
  static bool describes(vtkXMLDataElement* element, vtkAbstractArray* array) {
    int type = 0, components = 1;
    element->GetScalarAttribute("NumberOfComponents", components);
    if (element->GetWordTypeAttribute("type", type) == 0 || components != array->GetNumberOfComponents())
      return false;
    if (type == VTK_STRING || array->GetDataType() == VTK_STRING) return type == array->GetDataType();
    return vtkAbstractArray::GetDataTypeSize(type) == array->GetDataTypeSize();
  }

  bool read_strings(vtkXMLDataElement* element, vtkIdType to, vtkStringArray* strings, vtkIdType from,
                    vtkIdType count) {
    // Always from the first byte: VTK reads outside its list of compressed blocks where the data end.
    std::string text(1024, '\0');
    std::size_t length = read_text(element, text);
    while (length == text.size() && std::count(text.begin(), text.end(), '\0') < from + count) {
      text.assign(2 * text.size(), '\0');
      length = read_text(element, text);
    }
    if (std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\0') < from + count)
      return false;
    const char* next = text.data();
    for (vtkIdType i = 0; i < from + count; ++i) {
      const std::string_view value = next;
      if (i >= from) strings->InsertValue(to + i - from, std::string(value));
      next += value.size() + 1;
    }
    return true;
  }

  /// The number of bytes read into the text, from the first one on.
  std::size_t read_text(vtkXMLDataElement* element, std::string& text) {
    vtkTypeInt64 offset = 0;
    if (element->GetScalarAttribute("offset", offset) != 0)
      return XMLParser->ReadAppendedData(offset, text.data(), 0, text.size());
    const char* format = element->GetAttribute("format");
    const bool ascii = format == nullptr || std::string_view(format) != "binary";
    return XMLParser->ReadInlineData(element, ascii ? 1 : 0, text.data(), 0, text.size());
  }

  bool in_data_ = false;
};

/// Uses LZ4 rather than zlib: a tenth of the time for a sixth more bytes, since the last digits of positions
/// are noise.
vtkNew<vtkXMLPolyDataWriter> make_writer(vtkPolyData* data) {
  vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  writer->SetDataModeToAppended();
  writer->EncodeAppendedDataOff();
  writer->SetCompressorTypeToLZ4();
  writer->SetByteOrderToLittleEndian();
  writer->SetHeaderTypeToUInt64();
  return writer;
}

void run(vtkXMLPolyDataWriter* writer, const std::filesystem::path& path, const VtkMessages& messages) {
  if (writer->Write() != 0 && !messages.any() && writer->GetErrorCode() == 0) return;
  throw ResourceError(path.string() + ": VTK cannot write this file (" + messages.first() +
                      "); check the free memory and disk");
}

std::string encode(vtkPolyData* data, const std::filesystem::path& path, const VtkMessages& messages) {
  const vtkNew<vtkXMLPolyDataWriter> writer = make_writer(data);
  writer->WriteToOutputStringOn();
  run(writer, path, messages);
  return writer->GetOutputString();
}

}  // namespace

void write_vtp(vtkPolyData* data, const std::filesystem::path& path) {
  write_atomically(path, [&](const std::filesystem::path& temporary) {
    const VtkMessages messages;
    const vtkNew<vtkXMLPolyDataWriter> writer = make_writer(data);
    writer->SetFileName(temporary.c_str());
    run(writer, path, messages);
  });
}

void write_vtps(std::int64_t count, const std::function<vtkSmartPointer<vtkPolyData>(std::int64_t)>& file,
                const std::function<void(std::int64_t, const std::string& bytes)>& take,
                const std::filesystem::path& path) {
  const VtkMessages messages;
  // VTK fills its table of object factories when it creates the first object through them.
  const vtkNew<vtkXMLPolyDataWriter> first;
  const int threads = thread_count({omp_get_max_threads()});
  std::vector<std::string> bytes(static_cast<std::size_t>(std::min<std::int64_t>(count, 2 * threads)));
  for (std::int64_t done = 0; done < count; done += std::ssize(bytes)) {
    const std::int64_t now = std::min(std::ssize(bytes), count - done);
    parallel_for(threads, now, [&](std::int64_t i) {
      bytes[static_cast<std::size_t>(i)] = encode(file(done + i), path, messages);
    });
    for (std::int64_t i = 0; i < now; ++i) take(done + i, bytes[static_cast<std::size_t>(i)]);
  }
}

vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path) {
  const std::string text = read_whole_file(path);
  check_vtp(path, text);
  const VtkMessages messages;
  const vtkNew<VtpReader> reader;
  reader->ReadFromInputStringOn();
  reader->SetInputString(text);
  try {
    reader->Update();
  } catch (const std::bad_alloc&) {
    if (system::memory_is_limited()) throw;
    damaged(path, "it states a length larger than memory");
  } catch (const std::length_error&) {
    damaged(path, "it states a length larger than memory");
  } catch (const std::runtime_error& error) {
    damaged(path, error.what());
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
