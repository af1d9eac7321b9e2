/// motes simulate: moving particles with ground truth, and volumes of them if requested.

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/stop.h>
#include <motes/io/atomic_file.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/detections_h5.h>
#include <motes/io/tables.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>
#include <motes/sim/simulation.h>
#include <motes/sim/stoppable.h>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/report/report.h"
#include "app/run/input.h"
#include "app/run/volumes.h"

namespace motes::app {
namespace {

struct SimulateArguments {
  std::string config, dir;
};

/// Above these numbers of points, text is slow to write and read, so auto uses HDF5 only.
constexpr std::size_t kMostTruthText = 2000000, kMostDetectionText = 5000000;

std::vector<TrackFileKind> truth_kinds(const Config& config, std::size_t points) {
  if (config.simulated.truth) return *config.simulated.truth;
  if (points > kMostTruthText) return {TrackFileKind::h5};
  return {TrackFileKind::h5, TrackFileKind::csv};
}

std::vector<PointFileKind> detection_kinds(const Config& config, std::size_t points) {
  if (config.simulated.detections) return *config.simulated.detections;
  return {points > kMostDetectionText ? PointFileKind::h5 : PointFileKind::csv};
}

/// Writes results and remembers their names.
class Output {
 public:
  Output(std::filesystem::path dir, const Config& config) : dir_(std::move(dir)), config_(config) {}

  void truth(const TrackSet& truth) {
    for (const TrackFileKind kind : truth_kinds(config_, truth.points())) {
      switch (kind) {
        case TrackFileKind::h5: {
          io::TracksH5Extras extras;
          extras.voxel_um = config_.imaging.optics.voxel_um;
          extras.source = "motes simulate";
          extras.configuration = to_yaml(config_, {"simulation", "faults", "imaging"});
          io::write_tracks_h5(named("truth.h5"), truth, extras);
          break;
        }
        case TrackFileKind::csv:
          io::write_tracks_csv(named("truth.csv"), truth);
          break;
        case TrackFileKind::xml:
          io::write_challenge_xml(named("truth.xml"), truth);
          break;
        case TrackFileKind::vtp:
          io::write_tracks_vtp(named("truth.vtp"), truth);
          break;
      }
    }
  }

  void detections(sim::Observation observation, const TrackSet& truth) {
    const DetectionSeries series{std::move(observation.frames), truth.length_unit, truth.dt_s};
    std::size_t points = 0;
    for (const Detections& frame : series.frames) points += frame.size();
    for (const PointFileKind kind : detection_kinds(config_, points)) {
      if (kind == PointFileKind::h5) {
        io::write_detections_h5(named("detections.h5"), series, {"motes simulate", ""});
        continue;
      }
      io::write_points_csv(named("detections.csv"), series);
      io::write_text(named("detection_truth.csv"), origins_text(series, observation.origins, truth));
    }
  }

  /// The path of a file of that name, which is added to the list of files.
  std::filesystem::path named(const std::string& name) {
    files_.push_back(name);
    return dir_ / name;
  }
  const std::vector<std::string>& files() const { return files_; }

 private:
  /// The particle of each row of detections.csv; -1: none.
  static std::string origins_text(const DetectionSeries& series,
                                  const std::vector<std::vector<sim::Origin>>& origins,
                                  const TrackSet& truth) {
    std::string text = "frame,detection,particle\n";
    for (std::size_t k = 0; k < series.frames.size(); ++k) {
      const std::string frame = std::to_string(series.frames[k].frame) + ',';
      for (const sim::Origin& origin : origins[k]) {
        const std::int64_t particle =
            origin.track < 0 ? -1 : truth.track_id[static_cast<std::size_t>(origin.track)];
        text += frame + std::to_string(origin.detection) + ',' + std::to_string(particle) + '\n';
      }
    }
    return text;
  }

  std::filesystem::path dir_;
  const Config& config_;
  std::vector<std::string> files_;
};

/// Runs one stage with a progress bar and records its time.
template <class Work>
auto timed(Console& console, std::vector<StageTime>& stages, const std::string& name, const std::string& unit,
           std::int64_t count, const Work& work) {
  ProgressBar progress(console, name, unit, count);
  auto result = work();
  progress.advance(count);
  progress.finish();
  stages.push_back({name, unit, count, progress.seconds()});
  return result;
}

/// Returns work(), which must not write. An interrupt can be noticed in several places (the flag,
/// parallel_for, the simulator); all give the same message.
template <class Work>
auto before_writing(const Work& work) {
  try {
    return work();
  } catch (const Interrupted&) {
    throw Interrupted("interrupted while simulating; nothing was written");
  }
}

void run_simulate(Session& session, const SimulateArguments& arguments) {
  const Config config = configure(session, arguments.config, true);
  const Execution execution = execution_of(config);
  Console& console = session.console;
  const std::filesystem::path dir =
      output_path(arguments.dir, config.output.dir, arguments.config, "_simulated");
  sim::check_options(config.simulation);
  sim::check_options(config.faults);
  if (config.imaging.write_frames) sim::check_options(config.simulation, config.imaging.optics);
  const Backend backend = sim::motion_backend(execution, config.simulation);
  const OutputFolder folder(dir, {"truth", "detections", "origins", "config", "frames"});
  const Stop::Use stop(interrupt_flag());

  const std::int32_t frames = config.simulation.frames;
  std::vector<StageTime> stages;
  TrackSet truth = timed(console, stages, "simulate", "frames", frames, [&] {
    return before_writing(
        [&] { return sim::simulate_motion(execution, config.simulation, interrupt_requested); });
  });
  if (truth.points() == 0)
    throw UsageError(
        "simulation: no particle is in view in any frame; simulate more particles, or longer lives");
  // Before the truth is written, since the truth includes the brightness and size of each point.
  if (config.imaging.write_frames)
    before_writing([&] { sim::add_appearance(execution, truth, config.simulation, config.imaging.optics); });
  const bool wanted = !config.simulated.detections || !config.simulated.detections->empty();
  sim::Observation observation;
  if (wanted)
    observation = timed(console, stages, "observe", "frames", frames, [&] {
      stop_if_interrupted("interrupted while simulating; nothing was written");
      sim::Observation observed = before_writing([&] {
        return sim::observe(execution, truth, config.simulation, config.faults, interrupt_requested);
      });
      sim::note_detections(observed, truth);
      return observed;
    });
  stop_if_interrupted("interrupted while simulating; nothing was written");
  hear_interrupts();  // before this there is nothing to keep, so a signal ends the process at once
  Output output(dir, config);
  timed(console, stages, "write", "points", static_cast<std::int64_t>(truth.points()), [&] {
    output.truth(truth);
    if (wanted) output.detections(std::move(observation), truth);
    io::write_text(output.named("config.yaml"),
                   to_yaml(config, {"execution", "output", "simulation", "faults", "imaging"}));
    return true;
  });
  std::string render_backend;
  if (config.imaging.write_frames) {
    const WrittenVolumes volumes = write_volumes(execution, config, truth, dir, console);
    for (const std::string& name : volumes.files) output.named(name);
    stages.push_back({"render", "frames", frames, volumes.seconds});
    render_backend = volumes.backend;
  }

  nlohmann::ordered_json report = report_head("simulate");
  report["output"] = dir.string();
  report["files"] = output.files();
  report["backend"] = backend == Backend::cuda ? "cuda" : "cpu";
  if (!render_backend.empty()) report["render_backend"] = render_backend;
  report["truth"] = tracks_json(truth);
  report["stages"] = stages_json(stages);
  report["warnings"] = console.warnings();
  emit_json(session, report);
  console.print(fmt::format("{} in {} in {}", counted(std::ssize(truth.track_id), "tracks"),
                            counted(frames, "frames"), dir.string()));
}

}  // namespace

Command add_simulate(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "simulate", "Simulate particles and volumes with ground truth");
  auto arguments = std::make_shared<SimulateArguments>();
  command.add_option("CONFIG", arguments->config, "YAML configuration (simulation, imaging)");
  command.add_option("-o,--output", arguments->dir, "Folder for the results")
      .check(refuse_empty_name)
      .type_name("DIR");
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->config,
                             "simulate needs a CONFIG (a YAML file, such as configs/demo.yaml)");
            if (!is_yaml(arguments->config))
              throw UsageError("simulate needs a YAML configuration: '" + arguments->config +
                               "' does not end in .yaml or .yml");
            run_simulate(session, *arguments);
          }};
}

}  // namespace motes::app
