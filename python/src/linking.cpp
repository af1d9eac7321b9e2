// Linking of point tables: trackpy's problem frame by frame, with memory, and whole series.

#include <memory>

#include <motes/base/errors.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/series_links.h>

#include "app/run/check_points.h"
#include "app/run/warnings.h"
#include "python/src/interruptible.h"
#include "python/src/python.h"

namespace motes::python {
namespace {

/// Frames from flat columns: frame k has the points [offsets[k], offsets[k + 1]) and the number first + k.
std::vector<Detections> frames_of(const Array1<double>& x, const Array1<double>& y, const Array1<double>& z,
                                  const Array1<std::int64_t>& offsets, std::int32_t first) {
  std::vector<Detections> frames(offsets.size() - 1);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const std::int64_t begin = offsets.data()[k], end = offsets.data()[k + 1];
    frames[k].frame = first + static_cast<std::int32_t>(k);
    frames[k].time_s = frames[k].frame;
    frames[k].x_um.assign(x.data() + begin, x.data() + end);
    frames[k].y_um.assign(y.data() + begin, y.data() + end);
    frames[k].z_um.assign(z.data() + begin, z.data() + end);
  }
  return frames;
}

/// The particle number of each detection, frame by frame.
std::vector<std::int64_t> ids_of(const TrackSet& tracks, const Array1<std::int64_t>& offsets,
                                 std::int32_t first) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(offsets.data()[offsets.size() - 1]), -1);
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    for (auto p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p) {
      const auto point = static_cast<std::size_t>(p);
      const auto k = static_cast<std::size_t>(tracks.frame[point] - first);
      ids[static_cast<std::size_t>(offsets.data()[k] + tracks.detection[point])] = tracks.track_id[t];
    }
  return ids;
}

/// Links with memory: each frame is linked to the last positions of all particles seen in the `memory` + 1
/// frames before it.
std::vector<std::int64_t> link_with_memory(const Execution& execution, const std::vector<Detections>& frames,
                                           const tracking::LinkOptions& options, std::int32_t memory,
                                           const std::function<void(std::size_t)>& done) {
  struct Seen {
    std::int64_t id;
    std::int32_t slot;
  };
  std::vector<std::int64_t> ids;
  std::vector<Seen> seen;
  Detections last;
  std::int64_t next_id = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Detections& now = frames[k];
    const auto slot = static_cast<std::int32_t>(k);
    std::vector<std::int64_t> mine(now.size(), -1);
    std::vector<char> found(seen.size(), 0);
    if (!last.empty() && !now.empty()) {
      const tracking::PairLinks links = tracking::link_pair(execution, last, now, options);
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (links.next[i] >= 0) mine[static_cast<std::size_t>(links.next[i])] = seen[i].id, found[i] = 1;
    }
    Detections kept;
    std::vector<Seen> still;
    const auto keep = [&](const Detections& from, std::size_t i, Seen who) {
      kept.x_um.push_back(from.x_um[i]);
      kept.y_um.push_back(from.y_um[i]);
      kept.z_um.push_back(from.z_um[i]);
      still.push_back(who);
    };
    for (std::size_t d = 0; d < now.size(); ++d) {
      if (mine[d] < 0) mine[d] = next_id++;
      keep(now, d, {mine[d], slot});
    }
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (!found[i] && slot - seen[i].slot <= memory) keep(last, i, seen[i]);
    ids.insert(ids.end(), mine.begin(), mine.end());
    last = std::move(kept), seen = std::move(still);
    if (done) done(k);
  }
  return ids;
}

nb::object link_pairs(const Array1<double>& x, const Array1<double>& y, const Array1<double>& z,
                      const Array1<std::int64_t>& offsets, std::int32_t first, double gate,
                      double no_link_cost, std::int32_t memory, int threads,
                      const std::function<void(std::int64_t)>& progress) {
  return to_numpy(interruptible([&] {
    const std::vector<Detections> frames = frames_of(x, y, z, offsets, first);
    Execution execution;
    execution.threads = threads;
    tracking::LinkOptions options;
    options.candidates.gate = gate;
    options.candidates.no_link_cost = no_link_cost;
    const Stop stop = Stop::of_this_thread();
    const auto done = [&](std::size_t k) {
      stop.check();
      if (!progress) return;
      const nb::gil_scoped_acquire lock;
      progress(static_cast<std::int64_t>(k));
    };
    return memory > 0 ? link_with_memory(execution, frames, options, memory, done)
                      : ids_of(tracking::build_tracks(
                                   frames, tracking::link_frames(execution, frames, options, done)),
                               offsets, first);
  }));
}

tracking::MotionModel model_of(const std::string& name) {
  using tracking::MotionModel;
  if (name == "auto") return MotionModel::automatic;
  if (name == "static") return MotionModel::standing;
  if (name == "velocity") return MotionModel::velocity;
  if (name == "field") return MotionModel::field;
  if (name == "joint") return MotionModel::joint;
  throw UsageError("model: '" + name + "' is not one of auto, static, velocity, field, joint");
}

nb::object link_series(const Array1<double>& x, const Array1<double>& y, const Array1<double>& z,
                       const Array1<std::int64_t>& offsets, std::int32_t first, std::optional<double> gate,
                       std::int32_t memory, const std::string& model, int threads) {
  return to_numpy(interruptible([&] {
    const std::vector<Detections> frames = frames_of(x, y, z, offsets, first);
    Execution execution;
    execution.threads = threads;
    tracking::SeriesOptions options;
    const Stop stop = Stop::of_this_thread();
    options.model = model_of(model);
    options.max_gap = memory;
    if (gate) options.gate = *gate;
    const auto links = tracking::link_series(execution, frames, options, [&](int) { stop.check(); });
    return ids_of(tracking::build_tracks(frames, links), offsets, first);
  }));
}

std::optional<tracking::GateEstimate> estimate_of(const Array1<double>& x, const Array1<double>& y,
                                                  const Array1<double>& z,
                                                  const Array1<std::int64_t>& offsets, std::int32_t first,
                                                  int threads) {
  return interruptible([&] {
    Execution execution;
    execution.threads = threads;
    const std::vector<Detections> frames = frames_of(x, y, z, offsets, first);
    return tracking::estimate_gate(execution, frames);
  });
}

nb::object estimate_gate(const Array1<double>& x, const Array1<double>& y, const Array1<double>& z,
                         const Array1<std::int64_t>& offsets, std::int32_t first, int threads) {
  const auto estimate = estimate_of(x, y, z, offsets, first, threads);
  if (!estimate) return nb::none();
  nb::dict out;
  out["gate"] = estimate->gate_um;
  out["displacement"] = estimate->displacement_um;
  out["spacing"] = estimate->spacing_um;
  out["ratio"] = estimate->ratio();
  out["series_pays"] = tracking::series_pays(static_cast<std::size_t>(x.shape(0)), estimate);
  return out;
}

std::vector<std::string> gate_warnings(const Array1<double>& x, const Array1<double>& y,
                                       const Array1<double>& z, const Array1<std::int64_t>& offsets,
                                       std::int32_t first, double gate, const std::string& unit,
                                       int threads) {
  const auto estimate = estimate_of(x, y, z, offsets, first, threads);
  return estimate ? app::gate_warnings(gate, *estimate, unit) : std::vector<std::string>{};
}

std::vector<std::string> repeat_warnings(const Array1<double>& x, const Array1<double>& y,
                                         const Array1<double>& z, const Array1<std::int64_t>& offsets,
                                         std::int32_t first, int threads) {
  return interruptible([&] {
    Execution execution;
    execution.threads = threads;
    const app::PointCheck check = app::check_points(execution, frames_of(x, y, z, offsets, first), "link");
    return app::repeat_warnings(check.repeats, static_cast<std::size_t>(x.shape(0)));
  });
}

}  // namespace

void bind_linking(nb::module_& m) {
  m.def("_link_pairs", &link_pairs, nb::arg("x"), nb::arg("y"), nb::arg("z"), nb::arg("offsets"),
        nb::arg("first"), nb::arg("gate"), nb::arg("no_link_cost"), nb::arg("memory"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("_link_series", &link_series, nb::arg("x"), nb::arg("y"), nb::arg("z"), nb::arg("offsets"),
        nb::arg("first"), nb::arg("gate").none(), nb::arg("memory"), nb::arg("model"), nb::arg("threads"));
  m.def("_estimate_gate", &estimate_gate);
  m.def("_gate_warnings", &gate_warnings);
  m.def("_repeat_warnings", &repeat_warnings);
}

}  // namespace motes::python
