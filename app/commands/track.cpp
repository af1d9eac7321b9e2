/// motes track: the main job, from frames or points to trajectories.

#include "app/commands/track.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <motes/base/large_blocks.h>
#include <motes/base/system/memory.h>
#include <motes/io/atomic_file.h>
#include <motes/io/preview.h>
#include <motes/io/vtk_tracks.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/noise_tracks.h>
#include <motes/tracking/track_filter.h>

#include "app/bounded_memory.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/ranks.h"
#include "app/report/report.h"
#include "app/report/report_page.h"
#include "app/run/check_points.h"
#include "app/run/detecting.h"
#include "app/run/earlier_run.h"
#include "app/run/input.h"
#include "app/run/linking.h"
#include "app/run/track_outputs.h"
#include "app/run/warnings.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

struct TrackArguments {
  std::string input, dir, frames, min_confidence;
  bool resume = false, force = false;
};

/// Detections of a volume series, saved in a checkpoint in the output folder; with ranks, by rank 0.
PointSeries detect_with_log(Session& session, const Config& config, io::FrameSource& source,
                            const std::filesystem::path& dir, bool resume, Communicator* ranks) {
  std::unique_ptr<RunCheckpoint> checkpoint;
  everywhere(ranks, [&] {
    if (ranks != nullptr && ranks->rank() > 0) return;
    checkpoint = std::make_unique<RunCheckpoint>(dir, run_fingerprint(config, source.info().path), resume);
    if (!resume) return;
    session.console.note(
        checkpoint->finished().empty()
            ? "nothing to resume in " + dir.string() + ": starting from the first frame"
            : fmt::format("resuming after {} finished frames", checkpoint->finished().size()));
  });
  return detect_series(share_of_threads(config), config, source, session.console, session.hooks,
                       Purpose::tracks, checkpoint.get(), ranks);
}

/// Notes the points and properties that the picture and the files for ParaView leave out.
void tell_of_thinning(const Config& config, const PointSeries& series, const TrackSet& tracks,
                      Console& console) {
  const std::size_t frames = io::frame_file_step(tracks);
  if (config.output.vtk && io::has_vtk() && frames > 1)
    console.note(fmt::format("frames.pvd shows one frame in {}; tracks.vtkhdf holds all", frames));
  if (const std::size_t all = tracks.point_properties.size();
      config.output.vtk && io::has_vtk() && all > io::kMostFrameProperties)
    console.note(fmt::format("frames.pvd holds {} of {} properties; tracks.vtkhdf holds all",
                             io::kMostFrameProperties, all));
  if (!config.output.preview) return;
  const std::size_t step = io::preview_track_step(tracks, series.projection);
  if (step > 1) console.note(fmt::format("preview.png shows one track in {} of {}", step, tracks.tracks()));
}

std::string preview_of(const Config& config, const std::filesystem::path& dir) {
  if (!config.output.preview) return {};
  std::ifstream in(dir / "preview.png", std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

std::int64_t detection_count(const std::vector<Detections>& frames) {
  std::int64_t count = 0;
  for (const Detections& frame : frames) count += std::ssize(frame.x_um);
  return count;
}

void add_results(ordered_json& report, const PointSeries& series, const GateChoice& choice,
                 const LinkedSeries& linked, const TrackSet& tracks) {
  report["detection"] = detection_json(series);
  report["linking"] = gate_json(choice);
  if (linked.series) report["linking"]["series"] = series_json(*linked.series);
  if (linked.confidence) report["linking"]["confidence"] = confidence_json(*linked.confidence, linked.cut);
  report["tracks"] = tracks_json(tracks);
  report["frames_total"] = series.summaries.size();
  report["pairs_total"] = std::max<std::size_t>(1, series.summaries.size()) - 1;
  report["frames"] = frames_json(series.summaries);
  report["pairs"] = linked.series ? pairs_json(series.summaries, *linked.series)
                                  : pairs_json(series.summaries, linked.pairs);
}

std::string summary_of(const PointSeries& series, const TrackSet& tracks) {
  return fmt::format("{} of {} in {}", counted(std::ssize(tracks.track_id), "tracks"),
                     counted(std::ssize(tracks.frame), "detections"),
                     counted(std::ssize(series.summaries), "frames"));
}

Config track_config(const Session& session, const TrackArguments& arguments) {
  Config config = configure(session, arguments.input, true);
  require_gpu_if_asked(config);
  if (!arguments.frames.empty()) set_key(config, "input.frames", arguments.frames, "--frames");
  if (!arguments.min_confidence.empty()) {
    set_key(config, "linking.min_confidence", arguments.min_confidence, "--min-confidence");
    check_consistency(config);
  }
  make_input_path_absolute(config);
  return config;
}

void run_track(Session& session, const TrackArguments& arguments, Communicator* ranks) {
  Config config;
  OpenedInput input;
  std::filesystem::path dir;
  std::unique_ptr<OutputFolder> folder;
  everywhere(ranks, [&] {
    config = track_config(session, arguments);
    omp_set_num_threads(thread_count(share_of_threads(config)));  // for the loops of io
    dir = output_path(arguments.dir, config.output.dir, config.input.path, "_tracks");
    if (!arguments.force) refuse_other_run(dir, config);
    bound_arrays(config, dir);
    session.stages.begin("read", "points");
    input = open_input(config);
    for (const std::string& line : describe(input)) session.console.note(line);
    bound_memory(config, dir, input, session.console);
    if (ranks == nullptr || ranks->rank() == 0) folder = std::make_unique<OutputFolder>(dir, result_stems());
    hear_interrupts();
  });
  ordered_json report = report_head("track");
  report["input"] = to_json(input);
  if (ranks != nullptr) report["ranks"] = ranks->size();
  PointSeries series;
  if (input.source) {
    session.stages.begin("detect", "frames");
    series = detect_with_log(session, config, *input.source, dir, arguments.resume, ranks);
  } else {
    everywhere(ranks, [&] { series = series_of_points(std::move(input.points), config); });
  }
  session.stages.count(input.source ? std::ssize(series.frames) : detection_count(series.frames));
  if (input.source) session.stages.tell_work(series.stage);
  on_first_rank(ranks, [&] {
    omp_set_num_threads(thread_count(execution_of(config)));  // the other ranks sleep
    link_and_write(session, config, std::move(series), dir, std::move(report));
  });
}

TrackSet tracks_of(const PointSeries& series, const PooledDetections& detections,
                   const LinkedSeries& linked) {
  TrackSet tracks = linked.series ? tracking::build_tracks(detections, *linked.series)
                                  : tracking::build_tracks(detections, linked.next);
  if (linked.confidence) tracking::add_confidence(*linked.confidence, *linked.series, tracks);
  tracks.length_unit = series.length_unit;
  tracks.dt_s = series.dt_s;
  if (tracks.length_unit == "px")
    for (PropertyColumn& column : tracks.point_properties)
      if (column.name == "radius_um") column.name = "radius_px";
  return tracks;
}

}  // namespace

TrackSet kept_tracks(const Config& config, const PointSeries& series, const PooledDetections& detections,
                     const LinkedSeries& linked, Console& console) {
  TrackSet tracks = tracks_of(series, detections, linked);
  if (config.linking.min_length) return without_short_tracks(std::move(tracks), *config.linking.min_length);
  // A given threshold, or a table, defines what a particle is, so no track is removed as noise.
  const bool by_motes = !series.radius_source.empty() && linked.series.has_value();
  if (!by_motes || config.detection.threshold || config.detection.max_count > 0) return tracks;
  const std::vector<char> noise = tracking::noise_tracks(tracks);
  const auto count = std::count(noise.begin(), noise.end(), 1);
  if (count == 0) return tracks;
  console.note(
      fmt::format("{} of few points score like noise and are left out; linking.min_length: 1 keeps them",
                  counted(count, "tracks")));
  return without_tracks(std::move(tracks), noise);
}

std::vector<std::string> result_stems() {
  return {"tracks", "frames", "config", "report", "preview", "pairs"};
}

void link_and_write(Session& session, const Config& config, PointSeries series,
                    const std::filesystem::path& dir, ordered_json report) {
  const Execution execution = execution_of(config);
  Console& console = session.console;
  StageClock& stages = session.stages;
  stages.begin("gate", "");
  std::size_t points = 0;
  for (const Detections& frame : series.frames) points += frame.size();
  require_memory_for_vtk(config, points);
  const PointCheck check = check_points(execution, series.frames, config.input.path);
  for (const std::string& warning : repeat_warnings(check.repeats, points)) console.warn(warning);
  for (const std::string& warning : frame_warnings(series.summaries)) console.warn(warning);
  const GateChoice choice =
      choose_gate(execution, config, series.frames, check, series.dt_s, series.length_unit, console);
  stages.begin("link", "frame pairs");
  keep_more_blocks_in_memory();
  LinkedSeries linked = link_series(execution, config, series.frames, choice, series.length_unit, console);
  stages.count(std::max<std::int64_t>(1, std::ssize(series.frames)) - 1);
  stages.begin("tracks", "points");
  PooledDetections detections = pool_detections(std::move(series.frames));
  system::return_free_memory();  // of linking and of the frames, before tracks and files need theirs
  const TrackSet tracks = kept_tracks(config, series, detections, linked, console);
  linked.next = std::vector<matching::Index>();
  system::return_free_memory();
  for (const std::string& warning : track_warnings(tracks)) console.warn(warning);
  stages.count(std::ssize(tracks.frame));

  stages.begin("write", "files");
  const std::vector<WrittenFile> files =
      write_track_outputs(execution, config, dir, series, std::move(detections), tracks, linked);
  remove_earlier_outputs(dir, files);
  tell_of_thinning(config, series, tracks, console);
  stages.count(std::ssize(files));

  stages.begin("report", "");
  add_results(report, series, choice, linked, tracks);
  report["files"] = ordered_json::array();
  for (const WrittenFile& file : files) report["files"].push_back(file.name);
  report["warnings"] = console.warnings();
  const std::string summary = summary_of(series, tracks);
  if (config.output.report) {
    const PageFacts facts{std::filesystem::path(config.input.path).filename().string(), summary, report,
                          preview_of(config, dir)};
    io::write_text(dir / "report.html", report_page(session, config, facts, series, choice.gate, tracks));
    report["files"].push_back("report.html");
  }
  report["stages"] = stages_json(stages.finish());
  report["seconds"] = stages.total_s();
  report["file_seconds"] = ordered_json::object();
  for (const WrittenFile& file : files) report["file_seconds"][file.name] = file.seconds;
  report["peak_memory_mb"] = peak_memory_mb();
  io::write_text(dir / "report.json",
                 report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  RunCheckpoint::remove(dir);
  emit_json(session, report);
  console.print(summary + ": " + dir.string());
}

Command add_track(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "track", "Detect and link particles: the main job");
  auto arguments = std::make_shared<TrackArguments>();
  command.add_option("INPUT", arguments->input,
                     "A stack, a folder of volumes, a table of points, or a YAML configuration");
  command.add_option("-o,--output", arguments->dir, "Folder for the results")
      .check(refuse_empty_name)
      .type_name("DIR");
  command.add_option("--frames", arguments->frames, "Use frames A to B - 1 only (input.frames)")
      .type_name("A:B");
  command
      .add_option("--min-confidence", arguments->min_confidence,
                  "Cut links with a lower probability of being right (linking.min_confidence)")
      .type_name("P");
  add_short_options(command, session.short_options, ShortOptionSet::linking);
  add_table_options(command, session);
  command.add_flag("--resume", arguments->resume, "Continue an interrupted run");
  command.add_flag("--force", arguments->force, "Overwrite the results of a run with other settings");
  add_crop_option(command, session);
  return {&command.app(), [&session, arguments] {
            on_ranks([&](Communicator* ranks) { run_track(session, *arguments, ranks); });
          }};
}

}  // namespace motes::app
