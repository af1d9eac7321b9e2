#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkTypeInt64Array.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <system_error>

#include "io/atomic_file.h"
#include "io/detail/file_batch.h"
#include "io/detail/text.h"
#include "io/detail/track_rows.h"
#include "io/detail/vtk_arrays.h"
#include "io/detail/vtk_support.h"
#include "io/vtk_tracks.h"
#include "tracking/types/track_runs.h"

namespace motes::io {
namespace {

using PointsByFrame = std::map<std::int32_t, std::vector<std::size_t>>;

/// Per point what the tracks know and the frames' files show.
struct PointFields {
  std::vector<std::int64_t> track_id;
  std::vector<float> speed;
};

PointsByFrame points_by_frame(const TrackSet& tracks) {
  PointsByFrame by_frame;
  for (std::size_t i = 0; i < tracks.points(); ++i) by_frame[tracks.frame[i]].push_back(i);
  return by_frame;
}

PointFields point_fields(const TrackSet& tracks, std::int32_t frame_step) {
  PointFields fields{{}, point_speeds(tracks, cut_runs(tracks, frame_step))};
  fields.track_id.reserve(tracks.points());
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto length = tracks.track_offsets[t + 1] - tracks.track_offsets[t];
    fields.track_id.insert(fields.track_id.end(), static_cast<std::size_t>(length), tracks.track_id[t]);
  }
  return fields;
}

/// One vertex a point, so that ParaView can select and threshold single particles.
vtkNew<vtkPolyData> frame_data(const TrackSet& tracks, const PointFields& fields,
                               const std::vector<std::size_t>& points) {
  vtkNew<vtkPolyData> data;
  data->SetPoints(detail::make_points(tracks, points));
  vtkNew<vtkCellArray> vertices;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto id = static_cast<vtkIdType>(i);
    vertices->InsertNextCell(1, &id);
  }
  data->SetVerts(vertices);
  vtkPointData* out = data->GetPointData();
  detail::add_array<vtkTypeInt64Array>(out, "track_id", detail::pick(fields.track_id, points));
  detail::add_array<vtkFloatArray>(out, "speed", detail::pick(fields.speed, points));
  std::vector<std::string> taken{"track_id", "speed"};
  for (const PropertyColumn& column : tracks.point_properties) {
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

/// What an earlier run with more frames left; anything that does not bear our names is not ours to remove.
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

void write_frames_pvd(const std::filesystem::path& pvd_path, const TrackSet& tracks,
                      std::int32_t frame_step) {
  const std::string folder_name = pvd_path.stem().string();
  const std::filesystem::path folder = pvd_path.parent_path() / folder_name;
  const PointFields fields = point_fields(tracks, frame_step);
  std::string index =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
      "  <Collection>\n";
  std::set<std::string> written;
  detail::FileBatch files(folder);
  for (const auto& [frame, points] : points_by_frame(tracks)) {
    const std::string name = frame_file(frame);
    files.add(name, detail::vtp_bytes(frame_data(tracks, fields, points), folder / name));
    written.insert(name);
    index += "    <DataSet timestep=\"";
    detail::append_number(index, tracks.time_s[points.front()]);
    index += "\" group=\"\" part=\"0\" file=\"" + detail::xml_escaped(folder_name) + '/' + name + "\"/>\n";
  }
  index += "  </Collection>\n</VTKFile>\n";
  files.commit();
  write_text(pvd_path, index);
  remove_stale_frames(folder, written);
}

}  // namespace motes::io
