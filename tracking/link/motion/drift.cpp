#include "tracking/link/motion/drift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/motion/near_points.h"
#include "tracking/motion/rigid_pair.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// Number of detections (anchors) that make hypotheses, of targets in the next frame for each, and of
/// detections that judge.
constexpr std::size_t kMostAnchors = 8, kMostTargets = 32, kMostJudges = 32;
/// Trial scales in spacings: kLeastScale, and each kScaleRatio times the one before.
constexpr double kLeastScale = 0.01, kScaleRatio = 2;
constexpr std::size_t kScales = 6;
/// Assumed share of detections without a partner.
constexpr double kUnpaired = 0.1;
constexpr int kReweightings = 3;
/// Medians of the squared length of a standard normal vector, by dimensions.
constexpr std::array<double, 3> kMedianSquare{0.4549, 1.3863, 2.3660};

static_assert(kScales == kRigidScales);

/// A shift of one frame with its log-likelihood ratios against chance, for each scale.
struct Hypothesis {
  Vec3 shift;
  ByScale gain{};
};

/// The search for the shift between two frames.
class ShiftSearch {
 public:
  ShiftSearch(const SeriesPoints& points, std::int32_t t)
      : dims_(points.dims),
        from_(points.frame(t)),
        to_(points.frame(t + 1)),
        near_(to_),
        spacing_(points.spacing_um) {
    for (std::size_t s = 0; s < kScales; ++s) {
      scale_[s] = kLeastScale * std::pow(kScaleRatio, static_cast<double>(s)) * spacing_;
      per_chance_[s] = 1 / (std::pow(scale_[s], dims_) * points.density[at(t) + 1]);
    }
  }

  /// Shifts that move a detection onto one of the next frame.
  std::vector<Hypothesis> free() const {
    std::vector<Hypothesis> out;
    const std::size_t targets = std::min(to_.size(), kMostTargets);
    std::vector<std::size_t> index(targets);
    std::vector<double> squared(targets);
    each_of(kMostAnchors, [&](std::size_t anchor) {
      near_.nearest(from_[anchor], targets, index.data(), squared.data());
      for (const std::size_t target : index) {
        Hypothesis one = judged(to_[target] - from_[anchor], anchor);
        for (double& gain : one.gain) gain -= std::log(static_cast<double>(targets));
        out.push_back(one);
      }
    });
    return out;
  }

  /// The shift with its gains. `anchor`: the detection that made it, which is not counted.
  Hypothesis judged(const Vec3& shift, std::size_t anchor = static_cast<std::size_t>(-1)) const {
    Hypothesis out{shift, {}};
    LikelihoodRatios ratios;
    each_of(kMostJudges, [&](std::size_t k) {
      if (k == anchor) return;
      const double off = std::sqrt(nearest(from_[k] + shift).second);
      for (std::size_t s = 0; s < kScales; ++s)
        ratios.times(s,
                     kUnpaired + (1 - kUnpaired) * student_density(off / scale_[s], dims_) * per_chance_[s]);
      ratios.next(out.gain);
    });
    ratios.add(out.gain);
    return out;
  }

  /// The shift, corrected by the mean distance to the detections that are near.
  Vec3 centred(const Vec3& shift, std::size_t scale) const {
    Vec3 sum;
    double weights = 0;
    for (const Vec3& p : from_) {
      const auto [k, squared] = nearest(p + shift);
      const double w = 1 / std::pow(1 + squared / (kStudentFreedom * scale_[scale] * scale_[scale]), 2);
      sum += w * (to_[k] - p), weights += w;
    }
    return 1 / weights * sum;
  }

 private:
  std::pair<std::size_t, double> nearest(const Vec3& place) const {
    std::pair<std::size_t, double> out;
    near_.nearest(place, 1, &out.first, &out.second);
    return out;
  }
  /// Calls act for at most `most` detections, evenly spaced in their order.
  template <class Act>
  void each_of(std::size_t most, const Act& act) const {
    const std::size_t n = std::min(from_.size(), most);
    for (std::size_t k = 0; k < n; ++k) act(k * from_.size() / n);
  }

  int dims_;
  std::span<const Vec3> from_, to_;
  NearPoints near_;
  double spacing_;
  ByScale scale_{}, per_chance_{};
};

/// The more likely of two at one scale.
const Hypothesis& likelier(const Hypothesis& a, const Hypothesis& b, std::size_t scale) {
  return b.gain[scale] > a.gain[scale] ? b : a;
}

/// Shifts at one scale; each is chosen from the hypotheses of its own frame and the shift of the frame
/// before.
struct Shifts {
  std::vector<Vec3> of_frame;
  double gain = 0;
};
Shifts follow(const std::vector<std::optional<ShiftSearch>>& searches,
              const std::vector<std::vector<Hypothesis>>& found, std::size_t scale) {
  Shifts out{std::vector<Vec3>(searches.size()), 0};
  Vec3 before;
  for (std::size_t t = 0; t < searches.size(); ++t) {
    if (!searches[t]) {
      out.of_frame[t] = before;
      continue;
    }
    Hypothesis best = found[t][scale];
    if (length_of(before) > 0) best = likelier(best, searches[t]->judged(before), scale);
    out.gain += best.gain[scale];
    out.of_frame[t] = before =
        length_of(best.shift) > 0 ? searches[t]->centred(best.shift, scale) : best.shift;
  }
  return out;
}

}  // namespace

std::vector<Vec3> likely_shifts(const Execution& execution, const SeriesPoints& points, double* gain) {
  const auto pairs = at(std::max(points.frames() - 1, 0));
  std::vector<std::optional<ShiftSearch>> searches(pairs);
  std::vector<std::vector<Hypothesis>> found(pairs);  // the most likely ones for each scale
  parallel_for(thread_count(execution), static_cast<std::int64_t>(pairs), [&](std::int64_t pair) {
    const std::size_t t = at(pair);
    const auto slot = static_cast<std::int32_t>(pair);
    if (points.frame(slot).empty() || points.frame(slot + 1).empty()) return;
    searches[t].emplace(points, slot);
    found[t].assign(kScales, searches[t]->judged({}));
    for (const Hypothesis& one : searches[t]->free())
      for (std::size_t s = 0; s < kScales; ++s) found[t][s] = likelier(found[t][s], one, s);
  });
  Shifts best{{}, -std::numeric_limits<double>::infinity()};
  for (std::size_t s = 0; s < kScales; ++s)
    if (Shifts now = follow(searches, found, s); now.gain > best.gain) best = std::move(now);
  if (gain != nullptr) {
    double resting = -std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s < kScales; ++s) {
      double sum = 0;
      for (const auto& search : searches)
        if (search) sum += search->judged({}).gain[s];
      resting = std::max(resting, sum);
    }
    *gain = best.gain - std::max(resting, 0.0);
  }
  best.of_frame.resize(at(points.frames()));
  return std::move(best.of_frame);
}

Prediction predict_by_shifts(const SeriesPoints& points, const std::vector<Vec3>& shifts, int lags) {
  Prediction out;
  out.by_lag.assign(at(lags), std::vector<Vec3>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 sum;
    for (std::size_t k = 0; k < at(lags); ++k) {
      if (const std::size_t t = at(points.slot[i]) + k; t < shifts.size()) sum += shifts[t];
      out.by_lag[k][i] = sum;
    }
  }
  return out;
}

namespace {

/// Displacements to the next frame from the detections of a frame, and their robust mean.
struct FrameMoves {
  std::vector<Index> from;
  std::vector<Vec3> move;
  std::vector<double> weight;
  Vec3 mean;
  double weights = 0;
};

FrameMoves moves_of(const SeriesPoints& points, const SeriesLinking& linking, std::int32_t t) {
  FrameMoves out;
  for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i) {
    const Index j = linking.next[at(i)];
    if (j < 0 || points.slot[at(j)] != t + 1) continue;
    out.from.push_back(i);
    out.move.push_back(points.at[at(j)] - points.at[at(i)]);
  }
  out.weight.assign(out.move.size(), 1);
  out.weights = static_cast<double>(out.move.size());
  return out;
}

Vec3 median_of(const std::vector<Vec3>& all) {
  Vec3 out;
  for (double Vec3::*const axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
    std::vector<double> values;
    for (const Vec3& v : all) values.push_back(v.*axis);
    // The mean of the middle two: with two displacements, neither alone is the common one.
    const double low = quantile(values, 0.5);
    const auto middle = static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    const double high =
        values.size() % 2 == 0 ? *std::min_element(values.begin() + middle + 1, values.end()) : low;
    out.*axis = 0.5 * (low + high);
  }
  return out;
}

/// Computes the robust means of all frames. Returns the variance of displacements around them along an axis.
double centre_frames(std::vector<FrameMoves>& frames, int dims, double least) {
  std::vector<double> squares;
  for (FrameMoves& frame : frames) {
    if (frame.move.empty()) continue;
    frame.mean = median_of(frame.move);
    const auto n = static_cast<double>(frame.move.size());
    for (const Vec3& move : frame.move)
      if (n > 1) squares.push_back(dot(move - frame.mean, move - frame.mean) * n / (n - 1));
  }
  if (squares.empty()) return std::numeric_limits<double>::infinity();
  const double variance = std::max(quantile(squares, 0.5) / kMedianSquare[at(dims) - 1], least);
  for (FrameMoves& frame : frames)
    for (int round = 0; round < kReweightings && frame.move.size() > 2; ++round) {
      Vec3 sum;
      frame.weights = 0;
      for (std::size_t k = 0; k < frame.move.size(); ++k) {
        const Vec3 off = frame.move[k] - frame.mean;
        frame.weight[k] = (kStudentFreedom + dims) / (kStudentFreedom + dot(off, off) / variance);
        sum += frame.weight[k] * frame.move[k], frame.weights += frame.weight[k];
      }
      frame.mean = 1 / frame.weights * sum;
    }
  return variance;
}

/// The prior of a frame's shift, from all frames.
struct Prior {
  Vec3 mean;
  double variance = 0;  ///< variance of shifts along an axis, without that of displacements
};

Prior prior_of(const std::vector<FrameMoves>& frames, int dims, double variance) {
  std::vector<Vec3> means;
  for (const FrameMoves& frame : frames)
    if (!frame.move.empty()) means.push_back(frame.mean);
  Prior out;
  if (means.empty()) return out;
  out.mean = median_of(means);
  std::vector<double> beyond;
  double spread = 0;
  for (const FrameMoves& frame : frames) {
    if (frame.move.empty()) continue;
    const Vec3 off = frame.mean - out.mean;
    spread += dot(off, off);
    beyond.push_back(dot(off, off) / kMedianSquare[at(dims) - 1] - variance / frame.weights);
  }
  out.variance = std::isfinite(variance) ? std::max(0.0, quantile(beyond, 0.5)) : 0;
  // The median shift itself is shrunk towards 0.
  const auto n = static_cast<double>(means.size());
  const double own = n > 1 ? spread / (n - 1) / n : std::numeric_limits<double>::infinity();
  const double squared = dot(out.mean, out.mean);
  out.mean = (squared > own ? 1 - own / squared : 0) * out.mean;
  return out;
}

/// The weight of a frame's own mean of displacements against the prior, 0 to 1.
double belief_in(const Vec3& mean, double weights, double variance, int dims, const Prior& prior) {
  if (!(weights > 0) || !std::isfinite(variance)) return 0;
  const Vec3 off = mean - prior.mean;
  const double own = variance / weights, squared = dot(off, off);
  const double alone = squared > dims * own ? 1 - dims * own / squared : 0;
  return std::max(alone, prior.variance / (prior.variance + own));
}

Vec3 shrunk(const Vec3& mean, double weights, double variance, int dims, const Prior& prior) {
  const double belief = belief_in(mean, weights, variance, dims, prior);
  return prior.mean + belief * (mean - prior.mean);
}

}  // namespace

Prediction predict_by_drift(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, double* choices) {
  std::vector<FrameMoves> frames(at(points.frames()));
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    frames[at(t)] = moves_of(points, linking, static_cast<std::int32_t>(t));
  });
  const double least = std::pow(1e-6 * points.spacing_um, 2);
  const double variance = centre_frames(frames, points.dims, least);
  const Prior prior = prior_of(frames, points.dims, variance);
  std::vector<Vec3> shifts;
  for (const FrameMoves& frame : frames)
    shifts.push_back(shrunk(frame.mean, frame.weights, variance, points.dims, prior));
  if (choices != nullptr) {
    *choices = 0;
    for (std::size_t t = 0; t + 1 < frames.size(); ++t)
      if (const std::size_t targets = points.frame(static_cast<std::int32_t>(t) + 1).size(); targets > 0)
        *choices += belief_in(frames[t].mean, frames[t].weights, variance, points.dims, prior) *
                    std::log(static_cast<double>(targets));
  }
  Prediction out = predict_by_shifts(points, shifts, lags);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    const FrameMoves& frame = frames[t];
    for (std::size_t k = 0; k < frame.from.size(); ++k) {
      const double others = frame.weights - frame.weight[k];
      const Vec3 mean =
          (others > 0 ? 1 / others : 0) * (frame.weights * frame.mean - frame.weight[k] * frame.move[k]);
      const Vec3 own =
          shrunk(mean, others > 1e-9 * frame.weights ? others : 0, variance, points.dims, prior) - shifts[t];
      for (auto& lag : out.by_lag) lag[at(frame.from[k])] = lag[at(frame.from[k])] + own;
    }
  }
  return out;
}

}  // namespace motes::tracking
