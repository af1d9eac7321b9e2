/// motes simulate: particles that move, with the truth, and volumes of them if asked.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/input.h"
#include "app/progress.h"
#include "app/report.h"
#include "app/volumes.h"
#include "io/atomic_file.h"
#include "io/tables.h"
#include "io/track_files.h"
#include "io/tracks_h5.h"
#include "sim/random.h"
#include "sim/simulation.h"
#include "tracking/types/errors.h"

namespace motes::app {
namespace {

struct Arguments {
  std::string config, dir;
};

/// Fisher-Yates by the seed: the order of a frame's points must say nothing about who is who.
void shuffle(Detections& frame, std::uint64_t seed) {
  sim::Random random(seed, sim::Stream::faults, static_cast<std::uint32_t>(frame.frame), 0);
  for (std::size_t left = frame.size(); left > 1; --left) {
    const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(left));
    std::swap(frame.x_um[left - 1], frame.x_um[other]);
    std::swap(frame.y_um[left - 1], frame.y_um[other]);
    std::swap(frame.z_um[left - 1], frame.z_um[other]);
  }
}

std::vector<Detections> true_positions(const TrackSet& truth, std::uint64_t seed) {
  std::vector<Detections> frames = points_of_tracks(truth).frames;
  for (Detections& frame : frames) shuffle(frame, seed);
  return frames;
}

void run_simulate(Session& session, const Arguments& arguments) {
  const Config config = configure(session, arguments.config);
  const Execution execution = execution_of(config);
  Console& console = session.console;
  const std::filesystem::path dir =
      output_path(arguments.dir, config.output.dir, arguments.config, "_simulated");
  sim::check_options(config.simulation);
  if (config.imaging.write_frames) sim::check_options(config.simulation, config.imaging.optics);
  prepare_folder(dir);

  Progress progress(console, "simulating", "frames", config.simulation.frames);
  TrackSet truth = sim::simulate_motion(execution, config.simulation);
  if (config.imaging.write_frames)
    sim::add_appearance(execution, truth, config.simulation, config.imaging.optics);
  progress.advance(config.simulation.frames);
  progress.finish();
  std::vector<StageTime> stages{{"simulate", "frames", config.simulation.frames, progress.seconds()}};

  std::vector<std::string> files{"truth.h5", "truth.csv", "detections.csv", "config.yaml"};
  io::TracksH5Extras extras;
  extras.voxel_um = config.imaging.optics.voxel_um;
  extras.source = "motes simulate";
  extras.configuration = to_yaml(config, {"simulation", "imaging"});
  io::write_tracks_h5(dir / "truth.h5", truth, extras);
  io::write_tracks_csv(dir / "truth.csv", truth);
  io::write_points_csv(dir / "detections.csv", true_positions(truth, config.simulation.seed),
                       truth.length_unit);
  io::write_text(dir / "config.yaml", to_yaml(config, {"execution", "output", "simulation", "imaging"}));
  if (config.imaging.write_frames) {
    const WrittenVolumes volumes = write_volumes(execution, config, truth, dir, console);
    stages.push_back({"render", "frames", config.simulation.frames, volumes.seconds});
    files.insert(files.end(), volumes.files.begin(), volumes.files.end());
  }

  nlohmann::ordered_json report = report_head("simulate");
  report["output"] = dir.string();
  report["files"] = files;
  report["truth"] = tracks_json(truth);
  report["stages"] = stages_json(stages);
  report["warnings"] = console.warnings();
  emit_json(session, report);
  console.print(
      fmt::format("{} particles x {} frames in {}", truth.tracks(), config.simulation.frames, dir.string()));
}

}  // namespace

Command add_simulate(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("simulate", "Simulate particles with ground truth, and volumes of them");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("CONFIG", arguments->config, "YAML configuration (simulation, imaging)");
  command->add_option("-o,--output", arguments->dir, "Folder for the results")->type_name("DIR");
  return {command, [&session, arguments] {
            require_argument(arguments->config,
                             "simulate needs a CONFIG (a YAML file, such as configs/demo.yaml)");
            run_simulate(session, *arguments);
          }};
}

}  // namespace motes::app
