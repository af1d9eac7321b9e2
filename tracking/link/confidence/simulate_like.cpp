#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>

#include <motes/base/index.h>
#include <motes/base/quantile.h>

#include "tracking/link/confidence/confidence_steps.h"
#include "tracking/link/series/occlusion.h"
#include "tracking/link/series/rounding.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;

/// Most frames of a simulated series.
constexpr std::size_t kFewFrames = 12;
/// A step is drawn from those that followed a step of similar length: this many with shorter and with longer
/// ones.
constexpr std::ptrdiff_t kAlike = 20;
/// If links follow neighbours or densities differ, a step is drawn from those of this many detections nearby,
/// since steps and crowding vary in space.
constexpr std::size_t kAround = 16;
/// Particles stay apart by the quantile kNearest of real distances; kTrials steps are tried for that.
constexpr double kNearest = 0.1;
/// If particles hide each other, detections of two that are farther apart than the quantile kResolved of real
/// distances are not merged: the fitted radius is too long where the hidden ones move much.
constexpr double kResolved = 0.02;
constexpr int kTrials = 12;
/// Particles stay within this many spacings of a detection of their frame.
constexpr double kInside = 0.6;

double squared_distance(const Vec3& a, const Vec3& b) { return squared_length(a - b); }

/// A step and the one before it on its track, in units of the frame's scale.
struct Steps {
  Vec3 before, after;
  double length = 0;  ///< length of the one before
};

class Simulation {
 public:
  Simulation(const SeriesLinks& links, const Prediction& prediction, std::uint64_t seed, double stretch)
      : links_(links),
        points_(links.points),
        stretch_(stretch),
        rng_(seed),
        prediction_(prediction),
        grids_(grids_of({1}, links.points)),
        occlusion_(Occlusion::fit({1}, links.points, grids_, prediction, links.linking)) {
    gather_steps();
    gather_turnover();
    for (double Vec3::*const axis : {&Vec3::x, &Vec3::y, &Vec3::z})
      if (differ_along(axis)) axes_.push_back(axis);
  }

  SimulatedSeries run(std::size_t detections) {
    const std::int32_t first = window(detections);
    const std::size_t most = std::max<std::size_t>(
        50, detections / at(std::min<std::int32_t>(frames_, static_cast<std::int32_t>(kFewFrames))));
    begin_at(points_.frame(first), most);
    SimulatedSeries out;
    out.first_frame = first;
    for (std::int32_t t = 0; t < frames_; ++t) {
      observe(t, first + t, out);
      if (t + 1 == frames_) break;
      move(first + t);
      for (const Vec3& p : started_[at(first + t + 1)])
        if (in_part(p)) add(p, t + 1);
    }
    return out;
  }

 private:
  struct Particle {
    Vec3 at, step;  ///< the last step in units of the scale; 0: none
    std::int64_t number = 0;
    std::int32_t seen = 0;  ///< the next frame in which it is detected
    bool moved = false;
  };

  double uniform() { return std::uniform_real_distribution<>(0, 1)(rng_); }

  bool differ_along(double Vec3::*axis) const {
    return std::any_of(points_.at.begin(), points_.at.end(),
                       [&](const Vec3& p) { return p.*axis != points_.at.front().*axis; });
  }

  Vec3 direction() {
    std::normal_distribution<> normal;
    Vec3 v;
    for (double Vec3::*const axis : axes_) v.*axis = normal(rng_);
    const double length = length_of(v);
    return length > 0 ? 1 / length * v : Vec3{};
  }

  /// `step` with axes exchanged and reversed such that `from` would become most like `to`; of several ways, a
  /// random one. Steps between rounded positions remain such steps.
  Vec3 exchanged(const Vec3& step, const Vec3& from, const Vec3& to) {
    const auto by_length = [&](const Vec3& v) {
      std::vector<double Vec3::*> order = axes_;
      std::shuffle(order.begin(), order.end(), rng_);
      std::stable_sort(order.begin(), order.end(),
                       [&](auto a, auto b) { return std::abs(v.*a) > std::abs(v.*b); });
      return order;
    };
    const std::vector<double Vec3::*> source = by_length(from), target = by_length(to);
    Vec3 out;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const double along = from.*source[k] * to.*target[k];
      const bool reverse = along == 0 ? uniform() < 0.5 : along < 0;
      out.*target[k] = (reverse ? -1 : 1) * step.*source[k];
    }
    return out;
  }

  /// A step of that length in a random direction.
  Vec3 turned(const Vec3& step) {
    return is_rounded(points_) ? exchanged(step, {}, {}) : length_of(step) * direction();
  }

  void gather_steps() {
    of_.assign(points_.size(), std::nullopt);
    const auto scaled = [&](Index i, Index j) {
      const Vec3 r = residual(points_, prediction_, i, j);
      const double unit = 1 / links_.model.scale[at(points_.slot[at(i)])];
      return Vec3{r.x * unit, r.y * unit, r.z * unit};
    };
    for (Index i = 0; i < static_cast<Index>(points_.size()); ++i) {
      const Index j = links_.linking.next[at(i)], p = links_.linking.previous[at(i)];
      if (j < 0 || points_.slot[at(j)] != points_.slot[at(i)] + 1) continue;
      alone_.push_back(scaled(i, j));
      of_[at(i)] = alone_.back();
      if (p < 0 || points_.slot[at(p)] + 1 != points_.slot[at(i)]) continue;
      const Vec3 before = scaled(p, i);
      steps_.push_back({before, alone_.back(), std::sqrt(dot(before, before))});
    }
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Steps& a, const Steps& b) { return a.length < b.length; });
  }

  /// For each frame, where tracks start and what share of them ends, so that the simulated series grows like
  /// the real one. Also the log-odds of its detections.
  void gather_turnover() {
    started_.resize(at(points_.frames()));
    ended_.resize(at(points_.frames()));
    std::vector<double> tracked(ended_.size(), 0);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const bool next = links_.linking.next[i] >= 0, previous = links_.linking.previous[i] >= 0;
      const auto t = at(points_.slot[i]);
      if (next && !previous) started_[t].push_back(points_.at[i]);
      if (next || previous) tracked[t] += 1, ended_[t] += !next;
      if (!points_.log_odds.empty())
        (next || previous ? odds_ : odds_of_false_).push_back(points_.log_odds[i]);
    }
    for (std::size_t t = 0; t < ended_.size(); ++t) ended_[t] /= std::max(tracked[t], 1.0);
  }

  /// Sets the number of simulated frames. Returns the first of the real frames to imitate.
  std::int32_t window(std::size_t detections) {
    const std::int32_t all = points_.frames();
    frames_ = all;
    if (points_.size() <= 2 * detections) return 0;
    const std::size_t a_frame = std::max<std::size_t>(1, points_.size() / at(all));
    frames_ = std::min(all, static_cast<std::int32_t>(std::max(kFewFrames, detections / a_frame)));
    // The frames with most detections.
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
      for (const Vec3& p : start) middle += 1 / static_cast<double>(start.size()) * p;
      std::nth_element(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(most), start.end(),
                       [&](const Vec3& a, const Vec3& b) {
                         return squared_distance(a, middle) < squared_distance(b, middle);
                       });
      start.resize(most);
      part_ = true;
      middle_ = middle;
      for (const Vec3& p : start) part2_ = std::max(part2_, squared_distance(p, middle));
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
      // Particles that hide each other may come close.
      exclusion2_ = occlusion_ ? 0 : quantile(nearest, kNearest);
      // Less, since distances on a grid are the same but for rounding errors.
      merge2_ = 0.99 * quantile(nearest, kResolved);
    }
    for (const Vec3& p : start) add(p, 0);
  }

  void add(const Vec3& p, std::int32_t t) { particles_.push_back({p, {}, count_++, t, false}); }

  /// Whether a place is in the simulated part of the sample.
  bool in_part(const Vec3& p) const { return !part_ || squared_distance(p, middle_) <= part2_; }

  /// Frames until a particle that is detected now, in that frame of the real series, is detected again; 0:
  /// never.
  std::int32_t pause(std::int32_t real) {
    if (uniform() < ended_[at(real)]) return 0;
    if (occlusion_ && uniform() < occlusion_->hidden_share()) return 1;
    double left = uniform();
    for (std::size_t k = 0; k < links_.model.elapsed.size(); ++k)
      if ((left -= links_.model.elapsed[k]) < 0) return static_cast<std::int32_t>(k) + 1;
    return 1;
  }

  /// Replaces particles that hide each other by one detection between them.
  void merge_near(std::vector<std::pair<Vec3, std::int64_t>>& seen) {
    const double least = std::min(occlusion_->radius_um() * occlusion_->radius_um(), merge2_);
    std::shuffle(seen.begin(), seen.end(), rng_);
    std::vector<std::pair<Vec3, std::int64_t>> apart;
    for (const auto& one : seen) {
      const auto other = std::find_if(apart.begin(), apart.end(), [&](const auto& k) {
        return squared_distance(k.first, one.first) < least;
      });
      if (other == apart.end())
        apart.push_back(one);
      else
        other->first = 0.5 * (other->first + one.first);
    }
    seen = std::move(apart);
  }

  void observe(std::int32_t t, std::int32_t frame, SimulatedSeries& out) {
    std::vector<std::pair<Vec3, std::int64_t>> seen;
    std::vector<Particle> stay;
    for (Particle p : particles_) {
      p.at = to_grid(points_, p.at);  // since steps are between rounded positions
      if (p.seen == t) {
        seen.emplace_back(p.at, p.number);
        const std::int32_t wait = pause(frame);
        if (wait == 0) continue;
        p.seen = t + wait;
      }
      stay.push_back(p);
    }
    particles_ = std::move(stay);
    if (occlusion_) merge_near(seen);
    const double false_per_particle = links_.model.clutter / std::max(1 - links_.model.clutter, 0.1);
    const auto clutter =
        std::poisson_distribution<int>(false_per_particle * static_cast<double>(seen.size()) + 1e-9)(rng_);
    const std::size_t real = seen.size();
    for (int k = 0; k < clutter && real > 0; ++k) {
      const Vec3 way = direction();
      const double distance = points_.spacing_um * (0.5 + uniform());
      seen.emplace_back(seen[rng_() % real].first + distance * way, -1);
    }
    std::shuffle(seen.begin(), seen.end(), rng_);
    Detections d;
    d.frame = t;
    d.time_s = t;
    std::vector<std::int64_t> names;
    for (const auto& [place, number] : seen) {
      const Vec3 p = to_grid(points_, place);
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      names.push_back(number);
      if (points_.log_odds.empty()) continue;
      const std::vector<double>& odds = number < 0 && !odds_of_false_.empty() ? odds_of_false_ : odds_;
      out.log_odds.push_back(odds[rng_() % odds.size()]);
    }
    out.frames.push_back(std::move(d));
    out.particle.push_back(std::move(names));
  }

  /// A step like that of a detection near that place, in a random direction.
  Vec3 draw_around(const NearPoints& near, std::int32_t t, const Vec3& place) {
    std::array<std::size_t, kAround> index{};
    std::array<double, kAround> squared{};
    const std::size_t found = near.nearest(place, kAround, index.data(), squared.data());
    std::vector<Vec3> steps;
    for (std::size_t k = 0; k < found; ++k)
      if (const auto& step = of_[at(points_.offset[at(t)]) + index[k]]) steps.push_back(*step);
    if (steps.empty()) return {};
    return turned(steps[rng_() % steps.size()]);
  }

  /// A step like those of the tracks that followed a similar step.
  Vec3 draw(const Particle& p) {
    if (alone_.empty()) return {};
    const double before = std::sqrt(dot(p.step, p.step));
    if (!links_.persistent || !p.moved || steps_.empty() || !(before > 0)) {
      return turned(alone_[rng_() % alone_.size()]);
    }
    const auto place = std::lower_bound(steps_.begin(), steps_.end(), before,
                                        [](const Steps& s, double value) { return s.length < value; }) -
                       steps_.begin();
    const auto low = std::max<std::ptrdiff_t>(0, place - kAlike);
    const auto high = std::min<std::ptrdiff_t>(std::ssize(steps_), place + kAlike);
    const Steps& s = steps_[at(low) + rng_() % at(high - low)];
    if (is_rounded(points_)) return exchanged(s.after, s.before, p.step);
    const double along = s.length > 0 ? dot(s.before, s.after) / s.length : 0;
    const double aside = std::sqrt(std::max(0.0, dot(s.after, s.after) - along * along));
    const Vec3 way{p.step.x / before, p.step.y / before, p.step.z / before};
    Vec3 across = direction();
    across = across - dot(across, way) * way;
    const double length = std::sqrt(dot(across, across));
    const Vec3 out = along * way;
    return length > 0 ? out + aside / length * across : out;
  }

  /// The spacing around the detection of that frame with that number, relative to that of all.
  double spacing_around(std::int32_t t, std::size_t number) const {
    if (points_.crowding.empty() || points_.frame(t).empty()) return 1;
    return std::pow(points_.crowding[at(points_.offset[at(t)]) + number], -1.0 / points_.dims);
  }

  void move(std::int32_t t) {
    const auto real = points_.frame(t);
    const bool field = !prediction_.by_lag.empty() && !real.empty();
    const bool uneven = !points_.crowding.empty() && !real.empty();
    const NearPoints near(field || uneven ? real : std::span<const Vec3>()), near_there(points_.frame(t + 1));
    const double scale = stretch_ * links_.model.scale[at(t)],
                 inside2 = std::pow(kInside * points_.spacing_um, 2);
    std::vector<Vec3> placed;
    const auto distance2 = [](const NearPoints& points, const Vec3& p, std::size_t& index) {
      double squared = 0;
      return points.nearest(p, 1, &index, &squared) > 0 ? squared : 0;
    };
    for (Particle& p : particles_) {
      Vec3 to = p.at;
      std::size_t index = 0;
      if (field) {
        distance2(near, p.at, index);
        to += prediction_.by_lag[0][at(points_.offset[at(t)]) + index];
      }
      const auto inside = [&](const Vec3& there) {
        if (!in_part(there)) return false;
        const double squared = distance2(near_there, there, index);
        return squared <= inside2 * std::pow(spacing_around(t + 1, index), 2);
      };
      // The first trial that is far enough from other particles, or the farthest one.
      Vec3 step;
      double farthest = -1;
      for (int trial = 0; trial < kTrials && farthest < exclusion2_; ++trial) {
        const bool around = field || (uneven && !(links_.persistent && p.moved));
        const Vec3 one = around ? draw_around(near, t, p.at) : draw(p), there = to + scale * one;
        if (!inside(there)) {
          if (farthest < 0) step = one;
          continue;
        }
        double nearest = exclusion2_;
        for (const Vec3& q : placed) nearest = std::min(nearest, squared_distance(q, there));
        if (nearest > farthest) farthest = nearest, step = one;
      }
      // Particles are reflected at the border of the sample.
      if (const Vec3 back = -1 * step; !inside(to + scale * step) && inside(to + scale * back)) step = back;
      p.at = to + scale * step;
      p.step = step;
      p.moved = true;
      placed.push_back(p.at);
    }
  }

  const SeriesLinks& links_;
  const SeriesPoints& points_;
  double stretch_;
  std::mt19937_64 rng_;
  const Prediction& prediction_;
  SeriesGrids grids_;
  std::shared_ptr<const Occlusion> occlusion_;
  std::vector<double Vec3::*> axes_;  ///< along which positions differ
  std::vector<Vec3> alone_;
  std::vector<std::optional<Vec3>> of_;  ///< [points] the step from each detection
  std::vector<Steps> steps_;
  std::vector<Particle> particles_;
  std::vector<std::vector<Vec3>> started_;    ///< [frames] first positions of tracks
  std::vector<double> ended_;                 ///< [frames] share of the tracks that end
  std::vector<double> odds_, odds_of_false_;  ///< log-odds of detections on tracks, and of others
  bool part_ = false;                         ///< only the detections around middle_ are simulated
  Vec3 middle_;
  double part2_ = 0;  ///< squared radius of that part
  std::int64_t count_ = 0;
  std::int32_t frames_ = 0;
  double exclusion2_ = 0, merge2_ = HUGE_VAL;  ///< squared distances
};

}  // namespace

SimulatedSeries simulate_like(const SeriesLinks& links, const Prediction& prediction, std::size_t detections,
                              std::uint64_t seed, double stretch) {
  return Simulation(links, prediction, seed, stretch).run(detections);
}

}  // namespace motes::tracking::detail
