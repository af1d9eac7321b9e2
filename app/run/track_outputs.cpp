/// Writes the results of `motes track`.

#include "app/run/track_outputs.h"

#include <chrono>
#include <functional>
#include <future>
#include <system_error>

#include <omp.h>

#include <motes/base/system/memory.h>
#include <motes/base/timer.h>
#include <motes/io/atomic_file.h>
#include <motes/io/preview.h>
#include <motes/io/tables.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

#include "app/report/report.h"

namespace motes::app {
namespace {

struct OutputTask {
  std::string file;
  std::function<void()> write;
};

/// Runs one task after the other.
std::vector<WrittenFile> run(const std::vector<OutputTask>& tasks, int threads) {
  omp_set_num_threads(threads);  // each thread has a setting of its own
  std::vector<WrittenFile> written;
  for (const OutputTask& task : tasks) {
    const auto start = std::chrono::steady_clock::now();
    task.write();
    written.push_back({task.file, seconds_since(start)});
  }
  return written;
}

void write_h5(const std::filesystem::path& path, const Config& config, const PointSeries& series,
              const PooledDetections& detections, const TrackSet& tracks) {
  io::TracksH5Extras extras;
  extras.detections = &detections;
  extras.voxel_um = series.voxel_um;
  extras.source = config.input.path;
  // Keys that only affect speed or place are left out, so that equal runs give equal files.
  extras.configuration = to_yaml(without_policy(config), {"input", "detection", "linking"});
  io::write_tracks_h5(path, tracks, extras);
}

void write_config(const std::filesystem::path& path, const Config& config, const PointSeries& series,
                  const TrackSet& tracks, const LinkedSeries& linked) {
  std::string effective = to_yaml(config, {"input", "detection", "linking", "execution", "output"});
  if (series.camera) effective += "# camera: " + camera_text(*series.camera) + "\n";
  if (series.faint) effective += "# " + faint_text(*series.faint) + "\n";
  if (linked.series)
    for (const std::string& line : series_parameters(*linked.series, tracks.length_unit))
      effective += "# " + line + "\n";
  io::write_text(path, effective);
}

/// Runs `work` in parallel to the caller, or later in the caller if the system refuses a thread.
std::future<std::vector<WrittenFile>> beside(std::launch policy,
                                             const std::function<std::vector<WrittenFile>()>& work) {
  try {
    return std::async(policy, work);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, work);
  }
}

void write_pairs(const std::filesystem::path& file, const PointSeries& series, const LinkedSeries& linked) {
  io::write_text(file, linked.series ? pairs_csv(series.summaries, *linked.series)
                                     : pairs_csv(series.summaries, linked.pairs));
}

/// The tracks with their coordinates repeated as the properties x, y, z.
TrackSet with_plain_names(TrackSet tracks) {
  std::vector<PropertyColumn> columns{{"x", tracks.x_um}, {"y", tracks.y_um}, {"z", tracks.z_um}};
  for (PropertyColumn& column : tracks.point_properties) columns.push_back(std::move(column));
  tracks.point_properties = std::move(columns);
  return tracks;
}

void write_csv(const std::filesystem::path& file, const Config& config, const TrackSet& tracks) {
  const bool plain = config.output.csv_names == CsvNames::trackpy && tracks.length_unit != "px";
  if (plain)
    io::write_tracks_csv(file, with_plain_names(tracks));
  else
    io::write_tracks_csv(file, tracks);  // without a copy, since a large series fills the memory
}

}  // namespace

std::vector<WrittenFile> write_track_outputs(const Execution& execution, const Config& config,
                                             const std::filesystem::path& dir, const PointSeries& series,
                                             PooledDetections detections, const TrackSet& tracks,
                                             const LinkedSeries& linked) {
  const std::int32_t step = config.input.frame_step;
  // One thread at a time uses HDF5, and another one VTK, which also makes pictures.
  std::vector<OutputTask> hdf5{{"tracks.h5", [&] {
                                  write_h5(dir / "tracks.h5", config, series, detections, tracks);
                                  detections = PooledDetections();
                                  system::return_free_memory();
                                }}};
  std::vector<OutputTask> tables{
      {"tracks.csv", [&] { write_csv(dir / "tracks.csv", config, tracks); }},
      {"config.yaml", [&] { write_config(dir / "config.yaml", config, series, tracks, linked); }}};
  if (config.output.pairs)
    tables.push_back({"pairs.csv", [&] { write_pairs(dir / "pairs.csv", series, linked); }});
  std::vector<OutputTask> vtk;
  if (config.output.vtk) {
    hdf5.push_back({"tracks.vtkhdf", [&] { io::write_tracks_vtkhdf(dir / "tracks.vtkhdf", tracks, step); }});
  }
  if (config.output.vtk && io::has_vtk()) {
    vtk.push_back({"tracks.vtp", [&] { io::write_tracks_vtp(dir / "tracks.vtp", tracks, step); }});
    vtk.push_back({"frames.pvd", [&] { io::write_frames_pvd(dir / "frames.pvd", tracks, step); }});
  }
  std::vector<OutputTask> pictures;
  if (config.output.preview) {
    pictures.push_back(
        {"preview.png", [&] { io::write_preview_png(dir / "preview.png", tracks, series.projection); }});
  }
  const int threads = thread_count(execution);
  const auto policy = threads > 1 ? std::launch::async : std::launch::deferred;
  std::vector<std::future<std::vector<WrittenFile>>> writers;
  for (const std::vector<OutputTask>* tasks : {&hdf5, &tables, &vtk, &pictures})
    writers.push_back(beside(policy, [tasks, threads] { return run(*tasks, threads); }));
  std::vector<WrittenFile> files;
  for (auto& writer : writers) {
    const std::vector<WrittenFile> written = writer.get();
    files.insert(files.end(), written.begin(), written.end());
  }
  return files;
}

}  // namespace motes::app
