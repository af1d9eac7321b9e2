/// Writes frames.pvd and its .vtp files, one for each time.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>
#include <system_error>

#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkTypeInt64Array.h>

#include <motes/io/atomic_file.h>
#include <motes/io/vtk_tracks.h>

#include "io/files/text.h"
#include "io/images/file_batch.h"
#include "io/tracks/frame_points.h"
#include "io/tracks/track_rows.h"
#include "io/tracks/vtk/arrays.h"
#include "io/tracks/vtk/support.h"

namespace motes::io {
namespace {

/// One vertex per point, so that ParaView can select and threshold single particles.
vtkSmartPointer<vtkPolyData> frame_data(const TrackSet& tracks, const detail::PointFields& fields,
                                        const std::vector<std::size_t>& points) {
  const auto data = vtkSmartPointer<vtkPolyData>::New();
  data->SetPoints(detail::make_points(tracks, points));
  vtkNew<vtkTypeInt64Array> ends, members;  // cells of one point each
  ends->SetNumberOfValues(static_cast<vtkIdType>(points.size()) + 1);
  members->SetNumberOfValues(static_cast<vtkIdType>(points.size()));
  std::iota(ends->GetPointer(0), ends->GetPointer(0) + points.size() + 1, 0);
  std::iota(members->GetPointer(0), members->GetPointer(0) + points.size(), 0);
  vtkNew<vtkCellArray> vertices;
  vertices->SetData(ends, members);
  data->SetVerts(vertices);
  vtkPointData* out = data->GetPointData();
  detail::add_array<vtkTypeInt64Array>(out, "track_id", detail::pick(fields.track_id, points));
  detail::add_array<vtkFloatArray>(out, "speed", detail::pick(fields.speed, points));
  std::set<std::string> taken{"track_id", "speed"};
  const std::size_t shown = std::min(tracks.point_properties.size(), kMostFrameProperties);
  for (std::size_t i = 0; i < shown; ++i) {
    const PropertyColumn& column = tracks.point_properties[i];
    detail::add_array<vtkDoubleArray>(out, detail::unique_name(column.name, taken),
                                      detail::pick(column.values, points));
  }
  return data;
}

std::string frame_file(std::int32_t frame) {
  char name[32];
  std::snprintf(name, sizeof name, "frame_%06d.vtp", frame);
  return name;
}

bool is_frame_file(const std::string& name) {
  constexpr std::string_view kStart = "frame_", kEnd = ".vtp";
  if (name.size() <= kStart.size() + kEnd.size() || !name.starts_with(kStart) || !name.ends_with(kEnd))
    return false;
  const auto digits = name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size());
  return digits.find_first_not_of("0123456789") == std::string::npos;
}

/// Removes the files of an earlier run with more frames; files with other names are not touched.
void remove_stale_frames(const std::filesystem::path& folder, const std::set<std::string>& written) {
  std::error_code ignored;
  std::vector<std::filesystem::path> stale;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_frame_file(name) && !written.contains(name)) stale.push_back(entry.path());
  }
  for (const auto& path : stale) std::filesystem::remove(path, ignored);
}

}  // namespace

void write_frames_pvd(const std::filesystem::path& pvd_path, const TrackSet& tracks, std::int32_t frame_step,
                      std::size_t most_files) {
  const std::string folder_name = pvd_path.stem().string();
  const std::filesystem::path folder = pvd_path.parent_path() / folder_name;
  const detail::PointFields fields = detail::point_fields(tracks, frame_step);
  const detail::FramePoints by_frame = detail::points_by_frame(tracks, frame_file_step(tracks, most_files));
  std::string index =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
      "  <Collection>\n";
  std::set<std::string> written;
  detail::FileBatch files(folder);
  const auto data_of = [&](std::int64_t file) {
    return frame_data(tracks, fields, by_frame.points_of(static_cast<std::size_t>(file)));
  };
  const auto take = [&](std::int64_t file, const std::string& bytes) {
    const auto k = static_cast<std::size_t>(file);
    const std::string name = frame_file(by_frame.frame[k]);
    files.add(name, bytes);
    written.insert(name);
    index += "    <DataSet timestep=\"";
    detail::append_number(index, tracks.time_s[by_frame.order[by_frame.offsets[k]]]);
    index += "\" group=\"\" part=\"0\" file=\"" + detail::xml_escaped(folder_name) + '/' + name + "\"/>\n";
  };
  detail::write_vtps(static_cast<std::int64_t>(by_frame.frames()), data_of, take, folder);
  index += "  </Collection>\n</VTKFile>\n";
  files.commit();
  write_text(pvd_path, index);
  remove_stale_frames(folder, written);
}

void remove_frames_pvd(const std::filesystem::path& pvd_path) {
  std::error_code ignored;
  const std::filesystem::path folder = pvd_path.parent_path() / pvd_path.stem();
  if (!std::filesystem::remove(pvd_path, ignored))
    return;  // without it, a folder of that name was not written by motes
  remove_stale_frames(folder, {});
  std::filesystem::remove(folder, ignored);  // fails if it has other contents
}

}  // namespace motes::io
