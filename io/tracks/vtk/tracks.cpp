// Tracks as polylines. VTK joins all points of a polyline, so a track with missing frames is cut into runs;
// otherwise a segment would show a path that was not observed. VTK numbers cells with vertices first, then
// lines, and cell data follow this numbering.

#include <algorithm>

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkStringArray.h>
#include <vtkTypeInt32Array.h>
#include <vtkTypeInt64Array.h>

#include <motes/io/vtk_tracks.h>
#include <motes/tracking/track_runs.h>

#include "io/tracks/track_rows.h"
#include "io/tracks/vtk/arrays.h"
#include "io/tracks/vtk/support.h"

namespace motes::io {
namespace {

using detail::add_array;

void add_points(vtkPolyData* data, const TrackSet& tracks, const std::vector<TrackRun>& runs) {
  data->SetPoints(detail::share_points(tracks));
  vtkPointData* fields = data->GetPointData();
  detail::share_array<vtkTypeInt32Array>(fields, "frame", tracks.frame);
  detail::share_array<vtkDoubleArray>(fields, "time_s", tracks.time_s);
  add_array<vtkFloatArray>(fields, "speed", point_speeds(tracks, runs));
  std::set<std::string> taken{"frame", "time_s", "speed", "track_id"};
  for (const PropertyColumn& column : tracks.point_properties) {
    detail::share_array<vtkDoubleArray>(fields, detail::unique_name(column.name, taken), column.values);
  }
}

void add_cell(vtkCellArray* cells, const TrackRun& run) {
  cells->InsertNextCell(static_cast<int>(run.size()));
  for (std::size_t i = run.begin; i < run.end; ++i) cells->InsertCellPoint(static_cast<vtkIdType>(i));
}

/// Adds the runs as cells and returns them in the order of cells.
std::vector<TrackRun> add_cells(vtkPolyData* data, std::vector<TrackRun> runs) {
  std::size_t single = 0, points = 0;
  for (const TrackRun& run : runs) single += run.size() == 1 ? 1 : 0, points += run.size();
  vtkNew<vtkCellArray> vertices, lines;
  vertices->AllocateExact(static_cast<vtkIdType>(single), static_cast<vtkIdType>(single));
  lines->AllocateExact(static_cast<vtkIdType>(runs.size() - single), static_cast<vtkIdType>(points - single));
  for (const TrackRun& run : runs) add_cell(run.size() == 1 ? vertices.Get() : lines.Get(), run);
  data->SetVerts(vertices);
  data->SetLines(lines);
  std::stable_partition(runs.begin(), runs.end(), [](const TrackRun& run) { return run.size() == 1; });
  return runs;
}

void add_cell_data(vtkPolyData* data, const TrackSet& tracks, const std::vector<TrackRun>& cells) {
  std::vector<std::size_t> track;
  std::vector<std::int64_t> length;
  std::vector<double> duration;
  for (const TrackRun& cell : cells) {
    const auto first = static_cast<std::size_t>(tracks.track_offsets[cell.track]);
    const auto end = static_cast<std::size_t>(tracks.track_offsets[cell.track + 1]);
    track.push_back(cell.track);
    length.push_back(static_cast<std::int64_t>(end - first));
    duration.push_back(tracks.time_s[end - 1] - tracks.time_s[first]);
  }
  vtkCellData* fields = data->GetCellData();
  add_array<vtkTypeInt64Array>(fields, "track_id", detail::pick(tracks.track_id, track));
  add_array<vtkTypeInt64Array>(fields, "length", length);
  add_array<vtkDoubleArray>(fields, "duration", duration);
  if (!tracks.parent.empty())
    add_array<vtkTypeInt64Array>(fields, "parent", detail::pick(tracks.parent, track));
  if (!tracks.merged_into.empty())
    add_array<vtkTypeInt64Array>(fields, "merged_into", detail::pick(tracks.merged_into, track));
  std::set<std::string> taken{"track_id", "length", "duration", "parent", "merged_into"};
  for (const PropertyColumn& column : tracks.track_properties) {
    add_array<vtkDoubleArray>(fields, detail::unique_name(column.name, taken),
                              detail::pick(column.values, track));
  }
}

void add_units(vtkPolyData* data, const TrackSet& tracks) {
  vtkNew<vtkStringArray> unit;
  unit->SetName("length_unit");
  unit->InsertNextValue(tracks.length_unit);
  data->GetFieldData()->AddArray(unit);
  if (tracks.dt_s) add_array<vtkDoubleArray>(data->GetFieldData(), "dt_s", std::vector<double>{*tracks.dt_s});
}

}  // namespace

bool has_vtk() { return true; }

void write_tracks_vtp(const std::filesystem::path& path, const TrackSet& tracks, std::int32_t frame_step) {
  vtkNew<vtkPolyData> data;
  std::vector<TrackRun> runs = cut_runs(tracks, frame_step);
  add_points(data, tracks, runs);
  add_cell_data(data, tracks, add_cells(data, std::move(runs)));
  add_units(data, tracks);
  detail::write_vtp(data, path);
}

}  // namespace motes::io
