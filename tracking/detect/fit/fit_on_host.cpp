/// The steps of fitting on the CPU: threads share the spots; a window's columns are the lanes of a vector.

#include <algorithm>
#include <atomic>
#include <cmath>

#include <motes/base/function_clones.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/detect/fit/fit_neighbours.h"
#include "tracking/detect/fit/fit_pair_rules.h"
#include "tracking/detect/fit/fit_residual_rules.h"
#include "tracking/detect/fit/fit_result_rules.h"
#include "tracking/detect/fit/fit_steps.h"
#include "tracking/detect/fit/fit_team.h"

namespace motes::tracking::detect {
namespace {

using rules::FitScratch;
using rules::FitSource;
using rules::FitSpots;
using rules::FitState;
using rules::Window;

MOTES_CLONES
void cut_voxels(const FitSource& source, const Source& voxels, int width, const double (&place)[3],
                Window& w) {
  voxels.read([&](const auto* v) __attribute__((always_inline)) {
    if (width == 8)
      rules::cut_window(VectorTeam<8>{}, source, v, place, w);
    else
      rules::cut_window(VectorTeam<16>{}, source, v, place, w);
  });
}

struct HostVoxels {
  const Source& source;
  template <class Team>
  MOTES_LANES void cut(const Team&, const FitSource& s, const double (&place)[3], Window& w) const {
    cut_voxels(s, source, Team::kWidth, place, w);
  }
};

/// The arguments of the work on one spot.
struct Task {
  FitSpots spots;
  HostVoxels voxels;
  int width, dimensions;
  const Noise& noise;
};

/// Calls use(team); inlined so that it is compiled for every instruction set.
template <class Use>
MOTES_LANES void with_team(int width, const Use& use) {
  if (width == 8)
    use(VectorTeam<8>{});
  else
    use(VectorTeam<16>{});
}

MOTES_CLONES
void take_window(const Task& t, std::size_t spot, FitMemory& memory) {
  with_team(
      t.width, [&](auto team) __attribute__((always_inline)) {
        rules::window_of(team, t.spots, t.voxels, spot, memory.scratch, memory.window);
      });
}

MOTES_CLONES
void fit_steps(const Task& t, std::size_t spot, bool widths_held, FitMemory& memory, FitState& s) {
  with_team(
      t.width, [&](auto team) __attribute__((always_inline)) {
        rules::fit_steps(team, t.spots, t.voxels, spot, t.noise, widths_held, memory.scratch, memory.window,
                         s);
      });
}

MOTES_CLONES
void tell_shape(const Task& t, std::size_t spot, const std::array<double, 2>& typical, FitMemory& memory,
                rules::Shape& shape) {
  with_team(
      t.width, [&](auto team) __attribute__((always_inline)) {
        rules::tell_shape(team, t.spots, t.voxels, spot, t.noise, typical, t.dimensions, memory.scratch,
                          memory.window, shape);
      });
}

MOTES_CLONES
void find_pair(const Task& t, std::size_t spot, const FitAll& all, FitMemory& memory,
               rules::PairOfSpots& pair) {
  with_team(
      t.width, [&](auto team) __attribute__((always_inline)) {
        rules::pair_in_place_of(team, t.spots, t.voxels, spot, t.noise, all.typical, all.excess,
                                memory.scratch, memory.window, pair);
      });
}

/// Squared residuals of a spot's window, in order.
MOTES_CLONES
void add_residuals(const Task& t, std::size_t spot, std::size_t stride, bool leverage, FitMemory& memory,
                   std::vector<NoiseSample>& samples) {
  const Window& w = memory.window;
  take_window(t, spot, memory);
  const SpotModel model = rules::model_of(t.spots.source, t.spots.states[spot].p);
  rules::FitProfiles& g = memory.profiles[0];
  with_team(
      t.width, [&](auto team) __attribute__((always_inline)) { rules::make_profiles(team, w, model, g); });
  const rules::Leverage taken = leverage ? rules::leverage_of(w, g) : rules::Leverage{};
  std::size_t row = 0, voxel = 0;
  for (int z = 0; z < w.count[2]; ++z)
    for (int y = 0; y < w.count[1]; ++y, row += static_cast<std::size_t>(t.width))
      for (int x = 0; x < w.count[0]; ++x, ++voxel) {
        const std::size_t at = row + static_cast<std::size_t>(x);
        if (voxel % stride == 0)
          samples.push_back(rules::residual_of(model, g, taken, x, y, z, w.values[at], w.weights[at]));
      }
}

class HostFit final : public FitSteps {
 public:
  HostFit(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
          std::span<const FitStart> starts, const FitOptions& options)
      : threads_(thread_count(execution)),
        dimensions_(filter.dimensions),
        source_(make_source(execution, frame, filter)),
        window_(window_size(source_)),
        fit_source_(fit_source(source_, window_)) {
    states_.resize(starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i)
      states_[i] = rules::start_of(source_.block, starts[i], options.width_spread);
  }

  void find_neighbours() override {
    std::vector<Place> places;
    places.reserve(states_.size());
    for (const FitState& s : states_) places.push_back({s.p[rules::kX], s.p[rules::kY], s.p[rules::kZ]});
    Place reach{};
    for (std::size_t a = 0; a < 3; ++a) reach[a] = 2 * static_cast<double>(window_.half[a]) + 1;
    neighbours_ = SpotNeighbours(threads_, places, reach);
  }

  void begin() override { tell_tilts(); }

  bool sweep(const Noise& noise, bool widths_held) override {
    next_.resize(states_.size());
    std::atomic<bool> any = false;
    each_spot(
        [&](std::size_t i, FitMemory& memory, const Task& task) {
          next_[i] = states_[i];
          if (rules::rests(task.spots, i)) {
            next_[i].last_move = 0;
          } else {
            fit_steps(task, i, widths_held, memory, next_[i]);
            any.store(true, std::memory_order_relaxed);
          }
        },
        noise);
    std::swap(states_, next_);
    return any;
  }

  NoiseSums noise(bool leverage) override {
    std::vector<std::vector<NoiseSample>> parts(std::min(kNoiseWindows, states_.size()));
    const std::size_t step = std::max<std::size_t>(1, states_.size() / kNoiseWindows);
    const std::size_t stride =
        noise_stride(parts.size(), static_cast<std::size_t>((2 * window_.half[0] + 1) * rows()));
    each_of(parts.size(), 1, [&](std::size_t k, FitMemory& memory, const Task& task) {
      if (states_[k * step].good) add_residuals(task, k * step, stride, leverage, memory, parts[k]);
    });
    std::vector<NoiseSample> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return noise_sums(std::move(all));
  }

  std::array<double, 2> typical_widths() override {
    std::array<std::vector<double>, 2> widths;
    for (const FitState& s : states_)
      if (s.good)
        for (std::size_t i = 0; i < 2; ++i) widths[i].push_back(s.p[rules::kWidthXY + static_cast<int>(i)]);
    if (widths[0].size() < kFewest) return {0, 0};
    return {quantile(widths[0], 0.5), quantile(widths[1], 0.5)};
  }

  double tell_shapes(const FitAll& all) override {
    each_spot(
        [&](std::size_t i, FitMemory& memory, const Task& task) {
          if (states_[i].good) tell_shape(task, i, all.typical, memory, states_[i].shape);
        },
        all.noise);
    std::vector<double> gains;
    for (const FitState& s : states_)
      if (s.good && std::isfinite(s.shape.gain)) gains.push_back(s.shape.gain);
    return gains.empty() ? 0 : quantile(gains, 0.5);
  }

  bool split_pairs(const FitAll& all) override {
    std::vector<std::size_t> doubtful;
    std::size_t good = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].good) ++good;
      if (rules::looks_double(states_[i], all.excess)) doubtful.push_back(i);
    }
    if (good < kFewest || static_cast<double>(doubtful.size()) > kMostSplit * static_cast<double>(good))
      return false;
    std::vector<rules::PairOfSpots> pairs(doubtful.size());
    each_of(
        doubtful.size(), 1,
        [&](std::size_t k, FitMemory& memory, const Task& task) {
          find_pair(task, doubtful[k], all, memory, pairs[k]);
        },
        all.noise);
    const std::size_t before = states_.size();
    for (std::size_t k = 0; k < doubtful.size(); ++k) {
      if (!pairs[k].found) continue;
      states_.push_back(states_[doubtful[k]]);
      rules::take_spot(pairs[k], 0, all.typical, states_[doubtful[k]]);
      rules::take_spot(pairs[k], 1, all.typical, states_.back());
    }
    return states_.size() > before;
  }

  std::vector<FittedSpot> results(const FitAll& all) override {
    std::vector<FittedSpot> fitted(states_.size());
    each_spot([&](std::size_t i, FitMemory&, const Task&) {
      fitted[i] = rules::result_of(fit_source_, source_.block, states_[i], all.excess);
    });
    return fitted;
  }

 private:
  static FitSource fit_source(const Source& source, const WindowSize& window) {
    FitSource s{};
    for (std::size_t a = 0; a < 3; ++a) {
      s.size[a] = source.size[a];
      s.sigma[a] = source.sigma[a];
      s.half[a] = window.half[a];
    }
    return s;
  }

  int rows() const { return (2 * window_.half[1] + 1) * (2 * window_.half[2] + 1); }

  /// Calls body(i, memory, task) for i in [0, n); a thread takes `at_a_time` at once.
  template <class Body>
  void each_of(std::size_t n, std::size_t at_a_time, const Body& body, const Noise& noise = {}) {
    const Task task{{fit_source_, states_.data(), neighbours_.offsets().data(), neighbours_.all().data()},
                    {source_},
                    window_.width,
                    dimensions_,
                    noise};
    parallel_for(threads_, static_cast<std::int64_t>((n + at_a_time - 1) / at_a_time), [&](std::int64_t k) {
      const std::size_t first = static_cast<std::size_t>(k) * at_a_time;
      FitMemory memory(rows(), window_.width);
      for (std::size_t i = first; i < std::min(n, first + at_a_time); ++i) body(i, memory, task);
    });
  }
  template <class Body>
  void each_spot(const Body& body, const Noise& noise = {}) {
    each_of(states_.size(), 16, body, noise);
  }

  /// Computes the slope of the background around spots that are not crowded.
  void tell_tilts() {
    Index3 half{};
    for (std::size_t a = 0; a < 3; ++a)
      half[a] = source_.sigma[a] > 0 ? std::lround(kTiltReach * source_.sigma[a]) : 0;
    each_spot([&](std::size_t i, FitMemory&, const Task&) {
      const auto near = neighbours_.of(i);
      if (near.size() > kTiltNeighbours) return;
      const SpotModel spot = rules::model_of(fit_source_, states_[i].p);
      std::vector<SpotModel> others;
      for (const std::uint32_t other : near) {
        others.push_back(rules::model_of(fit_source_, states_[other].p));
        if (rules::sigmas_between(spot, others.back()) < kTiltApart) return;
      }
      states_[i].tilt = tilt_around(source_, spot, others, half, kTiltErrors);
    });
  }

  int threads_, dimensions_;
  Source source_;
  WindowSize window_;
  FitSource fit_source_;
  std::vector<FitState> states_;
  std::vector<FitState> next_;  ///< of the current sweep; a member to save allocations
  SpotNeighbours neighbours_;
};

}  // namespace

std::unique_ptr<FitSteps> fit_on_host(const Execution& execution, const VolumeFrame& frame,
                                      const Filter& filter, std::span<const FitStart> starts,
                                      const FitOptions& options) {
  return std::make_unique<HostFit>(execution, frame, filter, starts, options);
}

}  // namespace motes::tracking::detect
