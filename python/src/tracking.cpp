// The jobs of the command line as functions: track, detect, score, simulate, read and write files.

#include <filesystem>
#include <iostream>
#include <sstream>

#include <motes/base/errors.h>
#include <motes/base/system/terminal.h>
#include <motes/io/tables.h>
#include <motes/io/track_files.h>
#include <motes/io/tracks_h5.h>
#include <motes/sim/simulation.h>
#include <motes/sim/stoppable.h>
#include <motes/tracking/score_tracks.h>

#include "app/bounded_memory.h"
#include "app/cli.h"
#include "app/command.h"
#include "app/commands/track.h"
#include "app/options/config.h"
#include "app/run/detecting.h"
#include "app/run/input.h"
#include "app/run/linking.h"
#include "app/run/track_images.h"
#include "app/run/warnings.h"
#include "python/src/array_source.h"
#include "python/src/interruptible.h"
#include "python/src/track_data.h"

namespace motes::python {
namespace {

using Settings = std::map<std::string, std::string>;

/// The configuration for keys of the command line, with the same checks.
app::Config config_of(const Settings& settings) {
  app::Config config;
  for (const auto& [key, value] : settings) app::set_key(config, key, value, "settings");
  app::check_consistency(config);
  return config;
}

/// A console that collects messages for Python.
struct Kept {
  std::ostringstream out, said;
  app::Console console{out, said, false};
  nb::list notes() const {
    nb::list lines;
    std::istringstream text(said.str());
    for (std::string line; std::getline(text, line);) lines.append(in_python(line));
    return lines;
  }
};

app::Hooks hooks_of(nb::object progress) {
  app::Hooks hooks;
  if (progress.is_none()) return hooks;
  hooks.after_frame = [progress](std::int32_t done) {
    const nb::gil_scoped_acquire lock;
    progress(done);
  };
  return hooks;
}

struct Tracked {
  TrackSet tracks;
  app::PointSeries series;
  app::GateChoice choice;
};

Tracked run_track(const app::Config& config, app::OpenedInput& input, Kept& kept, const app::Hooks& hooks) {
  app::hear_interrupts();
  const Execution execution = app::execution_of(config);
  Tracked out;
  out.series = input.source ? app::detect_series(execution, config, *input.source, kept.console, hooks,
                                                 app::Purpose::tracks, nullptr)
                            : app::series_of_points(std::move(input.points), config);
  app::PointSeries& series = out.series;
  const app::PointCheck check = app::check_points(execution, series.frames, config.input.path);
  out.choice = app::choose_gate(execution, config, series.frames, check, series.dt_s, series.length_unit,
                                kept.console);
  const app::LinkedSeries linked =
      app::link_series(execution, config, series.frames, out.choice, series.length_unit, kept.console);
  out.tracks = app::kept_tracks(config, series, pool_detections(series.frames), linked, kept.console);
  return out;
}

nb::list strings(const std::vector<std::string>& lines) {
  nb::list out;
  for (const std::string& line : lines) out.append(in_python(line));
  return out;
}

nb::dict tracked_dict(Tracked&& tracked, const Kept& kept) {
  nb::dict out;
  const app::PointSeries& series = tracked.series;
  out["tracks"] = to_dict(std::move(tracked.tracks));
  out["detections"] = to_dict(series.frames);
  out["notes"] = kept.notes();
  out["warnings"] = strings(kept.console.warnings());
  out["gate"] = tracked.choice.gate.bounded() ? nb::cast(tracked.choice.gate.um) : nb::none();
  out["radius_um"] =
      series.radius_um
          ? nb::object(nb::make_tuple(series.radius_um->z, series.radius_um->y, series.radius_um->x))
          : nb::none();
  return out;
}

nb::dict track_path(const std::string& path, Settings settings, nb::object progress) {
  Kept kept;
  const app::Hooks hooks = hooks_of(std::move(progress));
  Tracked tracked = interruptible([&] {
    app::Config config = config_of(settings);
    config.input.path = path;
    app::OpenedInput input = app::open_input(config);
    for (const std::string& line : app::describe(input)) kept.console.note(line);
    app::bound_memory(config, std::filesystem::temp_directory_path(), input, kept.console);
    return run_track(config, input, kept, hooks);
  });
  return tracked_dict(std::move(tracked), kept);
}

io::SeriesInfo info_of(std::int32_t frames, const std::vector<std::int64_t>& shape,
                       const app::Config& config) {
  io::SeriesInfo info;
  info.path = "array";
  info.format = "array";
  info.axes = "TZYX";
  info.frames = frames;
  info.shape = {shape.at(0), shape.at(1), shape.at(2)};
  info.voxel_um = config.input.voxel_um;
  info.voxel_um_source = "voxel_um";
  info.dt_s = config.input.dt_s;
  info.dt_s_source = "dt_s";
  return info;
}

nb::dict track_frames(nb::callable read, std::int32_t frames, const std::vector<std::int64_t>& shape,
                      const Settings& settings, nb::object progress) {
  Kept kept;
  const app::Hooks hooks = hooks_of(std::move(progress));
  const app::Config config = config_of(settings);
  app::OpenedInput input;
  input.path = "array";
  input.source = std::make_unique<ArraySource>(std::move(read), info_of(frames, shape, config));
  io::require_calibration(input.source->info());
  Tracked tracked = interruptible([&] { return run_track(config, input, kept, hooks); });
  return tracked_dict(std::move(tracked), kept);
}

/// The spots of all frames, without links.
nb::dict detect_frames(nb::callable read, std::int32_t frames, const std::vector<std::int64_t>& shape,
                       const Settings& settings, nb::object progress) {
  Kept kept;
  const app::Hooks hooks = hooks_of(std::move(progress));
  const app::Config config = config_of(settings);
  ArraySource source(std::move(read), info_of(frames, shape, config));
  if (!config.input.voxel_um) io::require_calibration(source.info());
  Tracked found;
  found.series = interruptible([&] {
    app::hear_interrupts();
    return app::detect_series(app::execution_of(config), config, source, kept.console, hooks,
                              app::Purpose::spots, nullptr);
  });
  return tracked_dict(std::move(found), kept);
}

/// The tracks, and the reader's remarks.
nb::tuple read_tracks(const std::string& path, const Settings& settings) {
  std::vector<std::string> notes;
  nb::dict tracks =
      to_dict(interruptible([&] { return app::read_tracks_scaled(path, config_of(settings), &notes); }));
  nb::list lines;
  for (const std::string& note : notes) lines.append(note.c_str());
  return nb::make_tuple(tracks, lines);
}

/// The images are those at the path `images`, or `frames` arrays of `shape` from `read`, or none.
void write_tracks(const std::string& path, const nb::dict& dict, const std::string& images, nb::object read,
                  std::int32_t frames, const std::vector<std::int64_t>& shape, bool are_labels,
                  const Settings& settings) {
  const TrackSet tracks = track_set_of(dict);
  const app::Config config = config_of(settings);
  std::unique_ptr<io::FrameSource> source;
  if (!read.is_none())
    source = std::make_unique<ArraySource>(nb::cast<nb::callable>(read), info_of(frames, shape, config));
  interruptible([&] {
    std::vector<std::string> notes;
    if (!images.empty()) source = app::open_images_of(images, "", config, notes);
    io::TrackImage image = app::image_of(images, source.get(), tracks, config);
    if (are_labels) image.labels = [&](std::int32_t frame) { return source->read(frame); };
    io::write_tracks(path, tracks, image);
    return true;
  });
}

nb::dict division_scores_dict(const DivisionScores& s) {
  nb::dict out;
  out["precision"] = s.precision;
  out["recall"] = s.recall;
  out["f1"] = s.f1;
  out["true"] = s.true_divisions;
  out["false"] = s.false_divisions;
  out["missed"] = s.missed_divisions;
  out["true_within_one_frame"] = s.true_within_one;
  out["f1_within_one_frame"] = s.f1_within_one;
  return out;
}

nb::dict scores_dict(const Scores& s) {
  nb::dict out, link, detected;
  const ChallengeScores& c = s.challenge;
  out["gate"] = s.gate;
  out["gate_link"] = s.gate_link;
  out["alpha"] = c.alpha;
  out["beta"] = c.beta;
  out["jsc"] = c.jsc;
  out["jsc_theta"] = c.jsc_theta;
  out["rmse"] = c.rmse;
  out["true_positives"] = c.true_positives;
  out["false_negatives"] = c.false_negatives;
  out["false_positives"] = c.false_positives;
  out["paired_tracks"] = c.paired_tracks;
  out["missed_tracks"] = c.missed_tracks;
  out["spurious_tracks"] = c.spurious_tracks;
  link["precision"] = s.link.precision;
  link["recall"] = s.link.recall;
  link["f1"] = s.link.f1;
  link["true"] = s.link.true_links;
  link["false"] = s.link.false_links;
  link["missed"] = s.link.missed_links;
  link["neutral"] = s.link.neutral_links;
  link["strict_f1"] = s.link.strict_f1;
  detected["precision"] = s.link.detected.precision;
  detected["recall"] = s.link.detected.recall;
  detected["f1"] = s.link.detected.f1;
  link["detected"] = detected;
  out["link"] = link;
  out["division"] = division_scores_dict(s.link.division);
  out["merge"] = division_scores_dict(s.link.merge);
  return out;
}

nb::dict score(const nb::dict& truth, const nb::dict& found, double gate, double gate_link, int threads) {
  const TrackSet one = track_set_of(truth), two = track_set_of(found);
  std::vector<std::string> warnings;
  const Scores scores = interruptible([&] {
    if (one.length_unit != two.length_unit)
      throw UsageError("lengths differ: the truth is in " + one.length_unit + ", the tracks in " +
                       two.length_unit +
                       "; read the one in px with voxel_um, or, if its lengths are in um, with "
                       "settings={\"input.unit\": \"um\"}");
    Execution execution;
    execution.threads = threads;
    Scores scored = tracking::score_tracks(execution, one, two, {gate, gate_link});
    warnings = app::score_warnings(execution, one, two, scored);
    return scored;
  });
  nb::dict out = scores_dict(scores);
  out["warnings"] = strings(warnings);
  return out;
}

/// A new array with one rendered frame.
template <class T>
std::vector<T> taken(std::vector<T>&& voxels) {
  return std::move(voxels);
}
template <class T>
std::vector<T> taken(FileVoxels<T>&& voxels) {
  return {voxels.begin(), voxels.end()};
}

nb::object to_array(VolumeFrame&& frame) {
  const auto shape = frame.shape;
  return std::visit(
      [&](auto& voxels) -> nb::object {
        using T = typename std::decay_t<decltype(voxels)>::value_type;
        auto* kept = new std::vector<T>(taken(std::move(voxels)));
        nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<3>>(
            kept->data(),
            {static_cast<std::size_t>(shape.nz), static_cast<std::size_t>(shape.ny),
             static_cast<std::size_t>(shape.nx)},
            owner));
      },
      frame.voxels);
}

struct Simulated {
  TrackSet truth;
  sim::Observation observation;
};

nb::dict simulate(const Settings& settings, bool volumes) {
  const app::Config config = config_of(settings);
  const Execution execution = app::execution_of(config);
  Simulated s = interruptible([&] {
    sim::check_options(config.simulation);
    sim::check_options(config.faults);
    app::hear_interrupts();
    Simulated out;
    out.truth = sim::simulate_motion(execution, config.simulation, app::interrupt_requested);
    if (out.truth.points() == 0)
      throw UsageError(
          "simulation: no particle is in view in any frame; simulate more particles, or longer lives");
    if (volumes) sim::add_appearance(execution, out.truth, config.simulation, config.imaging.optics);
    out.observation =
        sim::observe(execution, out.truth, config.simulation, config.faults, app::interrupt_requested);
    sim::note_detections(out.observation, out.truth);
    return out;
  });
  nb::dict result;
  result["detections"] = to_dict(s.observation.frames);
  nb::list frames;
  if (volumes) {
    sim::Renderer renderer(execution, config.simulation, config.imaging.optics);
    for (std::int32_t t = 0; t < config.simulation.frames; ++t) {
      check_signals();
      VolumeFrame frame;
      frame = interruptible([&] { return renderer.render(s.truth, t); });
      frames.append(to_array(std::move(frame)));
    }
  }
  result["volumes"] = frames;
  const Vec3& voxel = config.imaging.optics.voxel_um;
  result["voxel_um"] = nb::make_tuple(voxel.z, voxel.y, voxel.x);
  result["truth"] = to_dict(std::move(s.truth));
  return result;
}

int command(const std::vector<std::string>& words) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const nb::gil_scoped_release unlocked;
  app::install_signal_handlers();
  app::Hooks hooks;
  hooks.terminal = system::error_is_terminal();
  return app::run(static_cast<int>(argv.size()), argv.data(), std::cout, std::cerr, hooks);
}

}  // namespace

VolumeFrame volume_of(nb::handle array, std::int32_t index, double time_s, const Vec3& voxel_um) {
  VolumeFrame frame;
  frame.index = index;
  frame.time_s = time_s;
  frame.voxel_um = voxel_um;
  const auto take = [&]<class T>(T) {
    nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu> voxels;
    if (!nb::try_cast(array, voxels, false)) return false;
    frame.shape = {static_cast<std::int64_t>(voxels.shape(0)), static_cast<std::int64_t>(voxels.shape(1)),
                   static_cast<std::int64_t>(voxels.shape(2))};
    frame.voxels = std::vector<T>(voxels.data(), voxels.data() + voxels.size());
    return true;
  };
  if (!take(std::uint8_t{}) && !take(std::uint16_t{}) && !take(float{}))
    throw nb::type_error("a frame is not a [z, y, x] array of uint8, uint16 or float32");
  return frame;
}

void bind_tracking(nb::module_& m) {
  m.def("_track_path", &track_path, nb::arg("path"), nb::arg("settings"), nb::arg("progress").none());
  m.def("_track_frames", &track_frames, nb::arg("read"), nb::arg("frames"), nb::arg("shape"),
        nb::arg("settings"), nb::arg("progress").none());
  m.def("_detect_frames", &detect_frames, nb::arg("read"), nb::arg("frames"), nb::arg("shape"),
        nb::arg("settings"), nb::arg("progress").none());
  m.def("_read_tracks", &read_tracks);
  m.def("_write_tracks", &write_tracks, nb::arg("path"), nb::arg("tracks"), nb::arg("images"),
        nb::arg("read").none(), nb::arg("frames"), nb::arg("shape"), nb::arg("are_labels"),
        nb::arg("settings"));
  m.def("_score", &score);
  m.def("_simulate", &simulate);
  m.def("_command", &command);
}

}  // namespace motes::python
