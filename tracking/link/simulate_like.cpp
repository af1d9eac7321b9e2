#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

#include <motes/base/index.h>
#include <motes/base/quantile.h>

#include "tracking/link/confidence.h"
#include "tracking/link/series_field.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;

/// Series of more frames are simulated in part.
constexpr std::size_t kFewFrames = 12;
/// A step is drawn among those that followed a step of about this length: so many to either side.
constexpr std::ptrdiff_t kAlike = 20;
/// Particles come no nearer than the nearest hundredth of the real ones are, in so many trials.
constexpr double kNearest = 0.01;
constexpr int kTrials = 6;

double dot(const Vec3& a, const Vec3& b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
Vec3 plus(const Vec3& a, double f, const Vec3& b) { return {a.x + f * b.x, a.y + f * b.y, a.z + f * b.z}; }

/// A step, in scales of its frame, and the one before it on its track.
struct Steps {
  Vec3 before, after;
  double length = 0;  ///< of the one before
};

class Simulation {
 public:
  Simulation(const Execution& execution, const SeriesLinks& links, std::uint64_t seed)
      : links_(links), points_(links.points), rng_(seed) {
    if (links.chosen == MotionModel::field)
      prediction_ = predict_by_field(execution, points_, links.linking, 1);
    gather_steps();
    for (std::size_t axis = 0; axis < 3; ++axis) moves_[axis] = spread(axis) > 0;
  }

  SimulatedSeries run(std::size_t detections) {
    const std::int32_t first = window(detections);
    const std::size_t most = std::max<std::size_t>(
        50, detections / at(std::min<std::int32_t>(frames_, static_cast<std::int32_t>(kFewFrames))));
    begin_at(points_.frame(first), most);
    SimulatedSeries out;
    for (std::int32_t t = 0; t < frames_; ++t) {
      observe(t, out);
      if (t + 1 < frames_) move(first + t);
    }
    return out;
  }

 private:
  struct Particle {
    Vec3 at, step;  ///< the step in scales, 0 where it has none
    std::int64_t number = 0;
    std::int32_t seen = 0;  ///< the next frame in which it is seen
    bool moved = false;
  };

  double uniform() { return std::uniform_real_distribution<>(0, 1)(rng_); }

  double spread(std::size_t axis) const {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const Vec3& p : points_.at) {
      const double v = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
      low = std::min(low, v), high = std::max(high, v);
    }
    return high - low;
  }

  Vec3 direction() {
    std::normal_distribution<> normal;
    Vec3 v{normal(rng_), normal(rng_), normal(rng_)};
    if (!moves_[0]) v.x = 0;
    if (!moves_[1]) v.y = 0;
    if (!moves_[2]) v.z = 0;
    const double length = std::sqrt(dot(v, v));
    return length > 0 ? Vec3{v.x / length, v.y / length, v.z / length} : Vec3{};
  }

  void gather_steps() {
    const auto scaled = [&](Index i, Index j) {
      const Vec3 r = residual(points_, prediction_, i, j);
      const double unit = 1 / links_.model.scale[at(points_.slot[at(i)])];
      return Vec3{r.x * unit, r.y * unit, r.z * unit};
    };
    for (Index i = 0; i < static_cast<Index>(points_.size()); ++i) {
      const Index j = links_.linking.next[at(i)], p = links_.linking.previous[at(i)];
      if (j < 0 || points_.slot[at(j)] != points_.slot[at(i)] + 1) continue;
      alone_.push_back(scaled(i, j));
      if (p < 0 || points_.slot[at(p)] + 1 != points_.slot[at(i)]) continue;
      const Vec3 before = scaled(p, i);
      steps_.push_back({before, alone_.back(), std::sqrt(dot(before, before))});
    }
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Steps& a, const Steps& b) { return a.length < b.length; });
  }

  /// Sets how many frames are simulated; the first one of those that have most to tell.
  std::int32_t window(std::size_t detections) {
    const std::int32_t all = points_.frames();
    frames_ = all;
    if (points_.size() <= 2 * detections) return 0;
    const std::size_t a_frame = std::max<std::size_t>(1, points_.size() / at(all));
    frames_ = std::min(all, static_cast<std::int32_t>(std::max(kFewFrames, detections / a_frame)));
    // Where most detections are.
    std::int32_t best = 0;
    Index most = -1;
    for (std::int32_t t = 0; t + frames_ <= all; ++t)
      if (const Index n = points_.offset[at(t + frames_)] - points_.offset[at(t)]; n > most)
        best = t, most = n;
    return best;
  }

  void begin_at(std::span<const Vec3> frame, std::size_t most) {
    std::vector<Vec3> start(frame.begin(), frame.end());
    if (start.size() > most) {
      Vec3 middle;
      for (const Vec3& p : start) middle = plus(middle, 1 / static_cast<double>(start.size()), p);
      std::nth_element(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(most), start.end(),
                       [&](const Vec3& a, const Vec3& b) {
                         const Vec3 u = plus(a, -1, middle), v = plus(b, -1, middle);
                         return dot(u, u) < dot(v, v);
                       });
      start.resize(most);
    }
    if (start.size() > 1) {
      const NearPoints near(start);
      std::vector<double> nearest;
      for (const Vec3& p : start) {
        std::array<std::size_t, 2> index{};
        std::array<double, 2> squared{};
        near.nearest(p, 2, index.data(), squared.data());
        nearest.push_back(squared[1]);
      }
      exclusion2_ = quantile(nearest, kNearest);
    }
    for (const Vec3& p : start) add(p, 0);
  }

  void add(const Vec3& p, std::int32_t t) { particles_.push_back({p, {}, count_++, t, false}); }

  /// Frames until a particle that is seen now is seen again; 0: never.
  std::int32_t pause() {
    if (uniform() < links_.model.end) return 0;
    double left = uniform();
    for (std::size_t k = 0; k < links_.model.elapsed.size(); ++k)
      if ((left -= links_.model.elapsed[k]) < 0) return static_cast<std::int32_t>(k) + 1;
    return 1;
  }

  void observe(std::int32_t t, SimulatedSeries& out) {
    std::vector<std::pair<Vec3, std::int64_t>> seen;
    std::vector<Particle> stay;
    for (Particle p : particles_) {
      if (p.seen == t) {
        seen.emplace_back(p.at, p.number);
        const std::int32_t wait = pause();
        if (wait == 0) continue;
        p.seen = t + wait;
      }
      stay.push_back(p);
    }
    particles_ = std::move(stay);
    const double clutter = links_.model.lone / std::max(1 - links_.model.lone, 0.1);
    const auto lone = std::poisson_distribution<int>(clutter * static_cast<double>(seen.size()) + 1e-9)(rng_);
    const std::size_t real = seen.size();
    for (int k = 0; k < lone && real > 0; ++k)
      seen.emplace_back(plus(seen[rng_() % real].first, points_.spacing_um * (0.5 + uniform()), direction()),
                        -1);
    std::shuffle(seen.begin(), seen.end(), rng_);
    Detections d;
    d.frame = t;
    d.time_s = t;
    std::vector<std::int64_t> names;
    for (const auto& [p, number] : seen) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      names.push_back(number);
    }
    out.frames.push_back(std::move(d));
    out.particle.push_back(std::move(names));
    const auto births =
        std::poisson_distribution<int>(links_.model.birth * static_cast<double>(real) + 1e-9)(rng_);
    const std::size_t parents = particles_.size();
    for (int k = 0; k < births && parents > 0; ++k)
      add(plus(particles_[rng_() % parents].at, points_.spacing_um * (0.5 + uniform()), direction()), t + 1);
  }

  /// A step like those of the tracks, after the one before it.
  Vec3 draw(const Particle& p) {
    if (alone_.empty()) return {};
    const double before = std::sqrt(dot(p.step, p.step));
    if (!links_.persistent || !p.moved || steps_.empty() || !(before > 0)) {
      const Vec3& d = alone_[rng_() % alone_.size()];
      return plus({}, std::sqrt(dot(d, d)), direction());
    }
    const auto place = std::lower_bound(steps_.begin(), steps_.end(), before,
                                        [](const Steps& s, double value) { return s.length < value; }) -
                       steps_.begin();
    const auto low = std::max<std::ptrdiff_t>(0, place - kAlike);
    const auto high = std::min<std::ptrdiff_t>(std::ssize(steps_), place + kAlike);
    const Steps& s = steps_[at(low) + rng_() % at(high - low)];
    const double along = s.length > 0 ? dot(s.before, s.after) / s.length : 0;
    const double aside = std::sqrt(std::max(0.0, dot(s.after, s.after) - along * along));
    const Vec3 way{p.step.x / before, p.step.y / before, p.step.z / before};
    Vec3 across = direction();
    across = plus(across, -dot(across, way), way);
    const double length = std::sqrt(dot(across, across));
    const Vec3 out = plus({}, along, way);
    return length > 0 ? plus(out, aside / length, across) : out;
  }

  void move(std::int32_t t) {
    const auto real = points_.frame(t);
    const bool field = !prediction_.by_lag.empty() && !real.empty();
    const NearPoints near(field ? real : std::span<const Vec3>());
    const double scale = links_.model.scale[at(t)];
    std::vector<Vec3> placed;
    for (Particle& p : particles_) {
      Vec3 to = p.at;
      if (field) {
        std::size_t index = 0;
        double squared = 0;
        near.nearest(p.at, 1, &index, &squared);
        to = plus(to, 1, prediction_.by_lag[0][at(points_.offset[at(t)]) + index]);
      }
      Vec3 step;
      for (int trial = 0; trial < kTrials; ++trial) {
        step = draw(p);
        const Vec3 there = plus(to, scale, step);
        const bool free = std::none_of(placed.begin(), placed.end(), [&](const Vec3& q) {
          const Vec3 v = plus(q, -1, there);
          return dot(v, v) < exclusion2_;
        });
        if (free) break;
      }
      p.at = plus(to, scale, step);
      p.step = step;
      p.moved = true;
      placed.push_back(p.at);
    }
  }

  const SeriesLinks& links_;
  const SeriesPoints& points_;
  std::mt19937_64 rng_;
  Prediction prediction_;
  std::array<bool, 3> moves_{};
  std::vector<Vec3> alone_;
  std::vector<Steps> steps_;
  std::vector<Particle> particles_;
  std::int64_t count_ = 0;
  std::int32_t frames_ = 0;
  double exclusion2_ = 0;
};

}  // namespace

SimulatedSeries simulate_like(const Execution& execution, const SeriesLinks& links, std::size_t detections,
                              std::uint64_t seed) {
  return Simulation(execution, links, seed).run(detections);
}

}  // namespace motes::tracking::detail
