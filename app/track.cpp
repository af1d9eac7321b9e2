/// motes track: the main job. Frames (or points) in, trajectories out.

#include "app/track.h"

#include <chrono>
#include <future>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/atomic_file.h>
#include <motes/io/preview.h>
#include <motes/io/tables.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>
#include <motes/tracking/linker.h>

#include "app/detecting.h"
#include "app/input.h"
#include "app/interrupt.h"
#include "app/linking.h"
#include "app/report.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string input, dir, frames, min_confidence;
  bool resume = false;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Detections of a volume series, kept in the output folder as they come.
PointSeries detect_with_log(Session& session, const Config& config, io::FrameSource& source,
                            const std::filesystem::path& dir, bool resume) {
  FrameLog log(dir, config, resume);
  if (resume) {
    session.console.note(log.finished().empty()
                             ? "nothing to resume in " + dir.string() + ": starting from the first frame"
                             : fmt::format("resuming after {} finished frames", log.finished().size()));
  }
  return detect_series(execution_of(config), config, source, session.console, session.hooks, &log);
}

TrackSet tracks_of(const PointSeries& series, const LinkedSeries& linked) {
  TrackSet tracks = linked.series ? tracking::build_tracks(series.frames, *linked.series)
                                  : tracking::build_tracks(series.frames, linked.pairs);
  if (linked.confidence) tracking::add_confidence(*linked.confidence, *linked.series, tracks);
  tracks.length_unit = series.length_unit;
  tracks.dt_s = series.dt_s;
  return tracks;
}

/// Every file but the report. Returns their names. Tables, VTK files and the picture use different libraries,
/// so they are written side by side where threads are allowed.
std::vector<std::string> write_results(const Execution& execution, const Config& config,
                                       const std::filesystem::path& dir, const PointSeries& series,
                                       const TrackSet& tracks, const LinkedSeries& linked) {
  const auto policy = thread_count(execution) > 1 ? std::launch::async : std::launch::deferred;
  std::vector<std::string> files{"tracks.h5", "tracks.csv", "config.yaml"};
  const bool polydata = config.output.vtk && io::has_vtk(), preview = config.output.preview && io::has_vtk();
  std::vector<std::future<void>> writers;
  writers.push_back(std::async(policy, [&] {
    io::TracksH5Extras extras;
    extras.frames = &series.frames;
    extras.voxel_um = series.voxel_um;
    extras.source = config.input.path;
    // What only changes speed or place stays out, so that equal runs give equal files.
    extras.configuration = to_yaml(config, {"input", "detection", "linking"});
    io::write_tracks_h5(dir / "tracks.h5", tracks, extras);
    io::write_tracks_csv(dir / "tracks.csv", tracks);
    // Here and not below: HDF5 knows one thread at a time, too.
    if (config.output.vtk) io::write_tracks_vtkhdf(dir / "tracks.vtkhdf", tracks, config.input.frame_step);
    std::string effective = to_yaml(config, {"input", "detection", "linking", "execution", "output"});
    if (linked.series)
      for (const std::string& line : series_parameters(*linked.series, tracks.length_unit))
        effective += "# " + line + "\n";
    io::write_text(dir / "config.yaml", effective);
  }));
  writers.push_back(std::async(policy, [&] {  // both draw on VTK, which knows one thread at a time
    if (polydata) {
      io::write_tracks_vtp(dir / "tracks.vtp", tracks, config.input.frame_step);
      io::write_frames_pvd(dir / "frames.pvd", tracks, config.input.frame_step);
    }
    if (preview) io::write_preview_png(dir / "preview.png", tracks, series.projection);
  }));
  if (config.output.vtk) files.emplace_back("tracks.vtkhdf");
  if (polydata) files.insert(files.end(), {"tracks.vtp", "frames.pvd"});
  if (preview) files.emplace_back("preview.png");
  for (std::future<void>& writer : writers) writer.get();
  return files;
}

void add_results(ordered_json& report, const PointSeries& series, const Gate& gate,
                 const LinkedSeries& linked, const TrackSet& tracks) {
  report["detection"] = detection_json(series);
  report["linking"] = gate_json(gate);
  if (linked.series) report["linking"]["series"] = series_json(*linked.series);
  if (linked.confidence) report["linking"]["confidence"] = confidence_json(*linked.confidence, linked.cut);
  report["tracks"] = tracks_json(tracks);
  report["frames"] = frames_json(series.summaries);
  report["pairs"] =
      linked.series ? pairs_json(series.frames, *linked.series) : pairs_json(series.frames, linked.pairs);
}

void run_track(Session& session, const Arguments& arguments) {
  Config config = configure(session, arguments.input, true);
  if (!arguments.frames.empty()) set_key(config, "input.frames", arguments.frames, "--frames");
  if (!arguments.min_confidence.empty()) {
    set_key(config, "linking.min_confidence", arguments.min_confidence, "--min-confidence");
    check_consistency(config);
  }
  make_input_path_absolute(config);
  Console& console = session.console;
  OpenedInput input = open_input(config);
  for (const std::string& line : describe(input)) console.note(line);
  const std::filesystem::path dir = output_path(arguments.dir, config.output.dir, input.path, "_tracks");
  prepare_folder(dir);
  hear_interrupts();

  const PointSeries series = input.source
                                 ? detect_with_log(session, config, *input.source, dir, arguments.resume)
                                 : series_of_points(std::move(input.points), config);
  ordered_json report = report_head("track");
  report["input"] = to_json(input);
  link_and_write(session, config, series, dir, std::move(report));
}

}  // namespace

void link_and_write(Session& session, const Config& config, const PointSeries& series,
                    const std::filesystem::path& dir, ordered_json report) {
  const Execution execution = execution_of(config);
  Console& console = session.console;
  const Gate gate = choose_gate(execution, config, series.frames, series.dt_s, series.length_unit, console);
  const LinkedSeries linked =
      link_series(execution, config, series.frames, gate, series.length_unit, console);
  const TrackSet tracks = tracks_of(series, linked);

  std::vector<std::string> files;
  const double writing_s =
      seconds_of([&] { files = write_results(execution, config, dir, series, tracks, linked); });

  add_results(report, series, gate, linked, tracks);
  report["files"] = files;
  report["warnings"] = console.warnings();
  std::vector<StageTime> stages;
  if (!series.stage.name.empty()) stages.push_back(series.stage);
  stages.push_back({"link", "frame pairs",
                    static_cast<std::int64_t>(std::max<std::size_t>(1, series.frames.size())) - 1,
                    linked.seconds});
  stages.push_back({"write", "files", static_cast<std::int64_t>(files.size()), writing_s});
  report["stages"] = stages_json(stages);
  report["peak_memory_mb"] = peak_memory_mb();
  io::write_text(dir / "report.json",
                 report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  FrameLog::remove(dir);
  emit_json(session, report);
  console.print(fmt::format("{} tracks of {} detections in {} frames: {}", tracks.tracks(), tracks.points(),
                            series.frames.size(), dir.string()));
}

Command add_track(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "track", "Detect and link particles: the main job");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("INPUT", arguments->input,
                     "A stack, a folder of volumes, a table of points, or a YAML configuration");
  command.add_option("-o,--output", arguments->dir, "Folder for the results").type_name("DIR");
  command.add_option("--frames", arguments->frames, "Work on frames A to B - 1 only (input.frames)")
      .type_name("A:B");
  command
      .add_option("--min-confidence", arguments->min_confidence,
                  "Cut links less likely right than this (linking.min_confidence)")
      .type_name("P");
  command.add_flag("--resume", arguments->resume, "Continue an interrupted run");
  return {&command.app(), [&session, arguments] { run_track(session, *arguments); }};
}

}  // namespace motes::app
