#include "tracking/link/motion/rigid.h"

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

/// Most motions of single frames that are tried as the motion of the series, and number of frames that judge
/// them.
constexpr std::size_t kMostOfSeries = 64, kJudgingFrames = 16;
/// Number of evenly spread pairs of frames that are searched for a rotation first.
constexpr std::int32_t kProbes = 32;
/// Least gain of rotation over shifts, in nats per frame pair, for it to be tried.
constexpr double kLeastGain = 2;
/// A moved detection meets another one if that is within kMet spacings (by chance one of 250 does). A linking
/// already has the links of the motions if it links a share kLinkedOfMet of those that meet another one, of
/// which there must be kLeastMet.
constexpr double kMet = 0.1, kLeastMet = 50, kLinkedOfMet = 0.97;
constexpr int kReweightings = 3;
/// Least number of links for a frame's own motion.
constexpr std::size_t kLeastLinks = 4;
/// Weight of a prior that outweighs all links.
constexpr double kStiff = 1e6;
/// Medians of the squared length of a standard normal vector, by dimensions.
constexpr std::array<double, 3> kMedianSquare{0.4549, 1.3863, 2.3660};

using Searches = std::vector<std::optional<RigidPairSearch>>;

/// The hypotheses for a pair of frames, without those of the frames around it.
struct PairFound {
  std::vector<RigidHypothesis> free;     ///< most likely first
  std::vector<RigidHypothesis> shifted;  ///< without rotation; includes no motion
  std::vector<RigidHypothesis> turned;   ///< with the rotation of the series; includes its motion
};

const RigidHypothesis* likeliest(const std::vector<RigidHypothesis>& all, std::size_t scale) {
  const RigidHypothesis* best = nullptr;
  for (const RigidHypothesis& one : all)
    if (best == nullptr || one.gain[scale] > best->gain[scale]) best = &one;
  return best;
}

/// Motions at one scale; each is chosen from the hypotheses of its own frame and the motion of the frame
/// before.
struct Motions {
  std::vector<RigidMotion> of_frame;
  double gain = 0;
};
Motions follow(const Searches& searches, const std::vector<PairFound>& found, std::size_t scale,
               bool rotation) {
  Motions out{std::vector<RigidMotion>(searches.size()), 0};
  RigidMotion before;
  for (std::size_t t = 0; t < searches.size(); ++t) {
    if (!searches[t]) {
      out.of_frame[t] = before;
      continue;
    }
    RigidHypothesis best = *likeliest(found[t].shifted, scale);
    const auto take = [&](const RigidHypothesis* one) {
      if (one != nullptr && one->gain[scale] > best.gain[scale]) best = *one;
    };
    if (rotation) take(likeliest(found[t].free, scale)), take(likeliest(found[t].turned, scale));
    const RigidHypothesis same = searches[t]->judged(before);
    take(&same);
    out.gain += best.gain[scale];
    out.of_frame[t] = before = rotation ? searches[t]->refined(best.motion, scale) : best.motion;
  }
  return out;
}

/// Motions at the most likely scale; empty unless they gain `least` nats over motions without rotation.
Motions likeliest_scale(const Searches& searches, const std::vector<PairFound>& found, double least) {
  Motions best{{}, -std::numeric_limits<double>::infinity()};
  double without = best.gain;
  for (std::size_t s = 0; s < kRigidScales; ++s) {
    if (Motions now = follow(searches, found, s, true); now.gain > best.gain) best = std::move(now);
    without = std::max(without, follow(searches, found, s, false).gain);
  }
  if (!(best.gain > without + least)) best.of_frame.clear();
  return best;
}

/// The motion of a single frame that fits the frames of the whole series best.
RigidMotion motion_of_series(const Searches& searches, const std::vector<PairFound>& found) {
  std::vector<const RigidHypothesis*> asked;
  for (const PairFound& pair : found)
    for (std::size_t k = 0; k < pair.free.size() && k < 3; ++k) asked.push_back(&pair.free[k]);
  std::stable_sort(asked.begin(), asked.end(), [](const RigidHypothesis* a, const RigidHypothesis* b) {
    return *std::max_element(a->gain.begin(), a->gain.end()) >
           *std::max_element(b->gain.begin(), b->gain.end());
  });
  if (asked.size() > kMostOfSeries) asked.resize(kMostOfSeries);
  RigidMotion best;
  double most = -std::numeric_limits<double>::infinity();
  const std::size_t frames = std::min(searches.size(), kJudgingFrames);
  for (const RigidHypothesis* one : asked) {
    ByScale sum{};
    for (std::size_t k = 0; k < frames; ++k)
      if (const auto& search = searches[k * searches.size() / frames]) {
        const RigidHypothesis judged = search->judged(one->motion);
        for (std::size_t s = 0; s < kRigidScales; ++s) sum[s] += judged.gain[s];
      }
    if (const double gain = *std::max_element(sum.begin(), sum.end()); gain > most)
      most = gain, best = one->motion;
  }
  return best;
}

/// The motions of some pairs of frames, by the slot of the first frame; empty if rotation gains nothing.
std::vector<RigidMotion> motions_of(const Execution& execution, const SeriesPoints& points,
                                    const std::vector<std::int32_t>& slots, int flat) {
  Searches searches(slots.size());
  std::vector<PairFound> found(slots.size());
  const auto each = [&](const auto& act) {
    parallel_for(thread_count(execution), static_cast<std::int64_t>(slots.size()), [&](std::int64_t pair) {
      if (searches[at(pair)]) act(*searches[at(pair)], found[at(pair)]);
    });
  };
  parallel_for(thread_count(execution), static_cast<std::int64_t>(slots.size()), [&](std::int64_t pair) {
    const std::int32_t t = slots[at(pair)];
    if (!points.frame(t).empty() && !points.frame(t + 1).empty())
      searches[at(pair)].emplace(points.frame(t), points.frame(t + 1), points.density[at(t) + 1],
                                 points.spacing_um, points.dims, flat);
  });
  each([](const RigidPairSearch& search, PairFound& out) {
    out.free = search.free();
    out.shifted.push_back(search.judged({}));
  });
  const RigidMotion whole = motion_of_series(searches, found);
  each([&](const RigidPairSearch& search, PairFound& out) { out.turned.push_back(search.judged(whole)); });
  // Most series do not rotate; then the search for shifts is omitted.
  if (likeliest_scale(searches, found, 0).of_frame.empty()) return {};
  each([&](const RigidPairSearch& search, PairFound& out) {
    const auto add = [](const std::vector<RigidHypothesis>& more, std::vector<RigidHypothesis>& all) {
      all.insert(all.end(), more.begin(), more.end());
    };
    add(search.shifted({}), out.shifted);
    add(search.shifted(whole), out.turned);
  });
  return likeliest_scale(searches, found, kLeastGain * static_cast<double>(slots.size())).of_frame;
}

}  // namespace

namespace {

/// Whether a linking already has the links of the motions: of the detections that they move onto others, it
/// links nearly all.
bool has_links_of(const SeriesPoints& points, const SeriesLinking& linking,
                  const std::vector<std::int32_t>& slots, const std::vector<RigidMotion>& motions) {
  double met = 0, linked = 0;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const std::int32_t t = slots[k];
    if (points.frame(t).empty() || points.frame(t + 1).empty()) continue;
    const NearPoints near(points.frame(t + 1));
    for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i) {
      std::size_t nearest = 0;
      double squared = 0;
      near.nearest(motions[k].of(points.at[at(i)]), 1, &nearest, &squared);
      if (std::sqrt(squared) > kMet * points.spacing_um) continue;
      met += 1;
      linked += linking.next[at(i)] == points.offset[at(t) + 1] + static_cast<Index>(nearest);
    }
  }
  return met >= kLeastMet && linked >= kLinkedOfMet * met;
}

}  // namespace

std::vector<RigidMotion> likely_motions(const Execution& execution, const SeriesPoints& points,
                                        const SeriesLinking* known) {
  if (points.dims < 2 || points.frames() < 2) return {};
  const int flat = flat_axis(points.at, points.dims);
  const std::int32_t pairs = points.frames() - 1;
  std::vector<std::int32_t> slots;
  for (std::int32_t k = 0; k < std::min(pairs, kProbes); ++k)
    slots.push_back(static_cast<std::int32_t>(std::int64_t{k} * pairs / std::min(pairs, kProbes)));
  std::vector<RigidMotion> out = motions_of(execution, points, slots, flat);
  if (known != nullptr && !out.empty() && has_links_of(points, *known, slots, out)) return {};
  if (pairs > kProbes && !out.empty()) {
    slots.resize(at(pairs));
    std::iota(slots.begin(), slots.end(), 0);
    out = motions_of(execution, points, slots, flat);
  }
  if (!out.empty()) out.resize(at(points.frames()));
  return out;
}

namespace {

/// Links to the next frame from the detections of a frame, with their sums.
struct FrameLinks {
  std::vector<Index> from, to;
  std::vector<double> weight;
  RigidSums sums;
  RigidPrior prior;
  double belief_in_rotation = 0, belief_in_shift = 0;
};

FrameLinks links_of(const SeriesPoints& points, const SeriesLinking& linking, std::int32_t t,
                    const Vec3& origin) {
  FrameLinks out;
  out.sums = RigidSums(origin);
  for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i) {
    const Index j = linking.next[at(i)];
    if (j < 0 || points.slot[at(j)] != t + 1) continue;
    out.from.push_back(i), out.to.push_back(j), out.weight.push_back(1);
  }
  return out;
}

RigidSums one_of(const SeriesPoints& points, const FrameLinks& frame, std::size_t k) {
  RigidSums out(frame.sums.origin());
  out.add(points.at[at(frame.from[k])], points.at[at(frame.to[k])], frame.weight[k]);
  return out;
}

void sum_up(const SeriesPoints& points, FrameLinks& frame) {
  frame.sums = RigidSums(frame.sums.origin());
  for (std::size_t k = 0; k < frame.from.size(); ++k)
    frame.sums.add(points.at[at(frame.from[k])], points.at[at(frame.to[k])], frame.weight[k]);
}

/// Computes the weights of links. Returns the variance of residuals along an axis.
double reweigh(const SeriesPoints& points, const std::vector<RigidMotion>& motions,
               std::vector<FrameLinks>& frames) {
  std::vector<double> squares;
  const auto square = [&](std::size_t t, std::size_t k) {
    const Vec3 off = points.at[at(frames[t].to[k])] - motions[t].of(points.at[at(frames[t].from[k])]);
    return dot(off, off);
  };
  for (std::size_t t = 0; t < frames.size(); ++t)
    for (std::size_t k = 0; k < frames[t].from.size(); ++k) squares.push_back(square(t, k));
  if (squares.empty()) return 0;
  const double least = std::pow(1e-6 * points.spacing_um, 2);
  const double variance = std::max(quantile(squares, 0.5) / kMedianSquare[at(points.dims) - 1], least);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    for (std::size_t k = 0; k < frames[t].from.size(); ++k)
      frames[t].weight[k] = (kStudentFreedom + points.dims) / (kStudentFreedom + square(t, k) / variance);
    sum_up(points, frames[t]);
  }
  return variance;
}

/// Sums over all frames of their means, and of products about these means.
struct SeriesSums {
  double weight = 0;
  Vec3 from, to;
  std::array<double, 9> covariance{};

  void add(const RigidSums& frame, double times) {
    const double w = times * frame.weight();
    if (!(frame.weight() > 0)) return;
    const Vec3 x = frame.mean_from(), y = frame.mean_to();
    weight += w;
    from = {from.x + w * x.x, from.y + w * x.y, from.z + w * x.z};
    to = {to.x + w * y.x, to.y + w * y.y, to.z + w * y.z};
    const auto c = frame.covariance();
    for (std::size_t k = 0; k < 9; ++k) covariance[k] += times * c[k];
  }
  /// One rotation and one shift for all frames.
  RigidMotion motion(int flat) const {
    RigidMotion out{best_rotation(covariance, flat), {}};
    if (!(weight > 0)) return out;
    const double f = 1 / weight;
    out.shift = f * to - out.turned(f * from);
    return out;
  }
};

/// The deviation of a frame's own motion from that of the series, and its expectation by chance.
struct Deviation {
  double rotation = 0, own_rotation = 0;  ///< squared angle in radians^2; variance by chance about an axis
  double shift = 0, own_shift = 0;        ///< squared length; variance by chance along an axis
};

Deviation deviation_of(const FrameLinks& frame, const RigidMotion& whole, double variance, int dims,
                       int flat) {
  const double inertia = frame.sums.spread() * (dims == 2 ? 1 : 2.0 / 3);
  const RigidMotion own = fit_rigid(frame.sums, flat, {whole, 1e-6 * inertia, 0});
  const Vec3 turn = rotation_between(whole, own),
             off = frame.sums.mean_to() - whole.of(frame.sums.mean_from());
  return {dot(turn, turn), variance / inertia, dot(off, off), variance / frame.sums.weight()};
}

/// The variance along an axis of the deviation beyond chance: of this frame, at least that of most frames.
double variance_beyond(double squared, double own, double of_most, int axes) {
  return std::max(of_most, squared / axes - own);
}

/// Computes the motion of the series and the priors of the frames' motions around it.
SeriesSums set_priors(const SeriesPoints& points, int flat, double variance,
                      std::vector<FrameLinks>& frames) {
  SeriesSums sums;
  for (const FrameLinks& frame : frames) sums.add(frame.sums, 1);
  const RigidMotion whole = sums.motion(flat);
  const int dims = points.dims, turns = dims == 2 ? 1 : 3;
  std::vector<std::optional<Deviation>> deviations(frames.size());
  std::vector<double> rotations, shifts;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    if (frames[t].from.size() < kLeastLinks || !(frames[t].sums.spread() > 0)) continue;
    const Deviation& d = deviations[t].emplace(deviation_of(frames[t], whole, variance, dims, flat));
    rotations.push_back(d.rotation / kMedianSquare[at(turns) - 1] - d.own_rotation);
    shifts.push_back(d.shift / kMedianSquare[at(dims) - 1] - d.own_shift);
  }
  const double rotation = rotations.empty() ? 0 : std::max(0.0, quantile(rotations, 0.5));
  const double shift = shifts.empty() ? 0 : std::max(0.0, quantile(shifts, 0.5));
  for (std::size_t t = 0; t < frames.size(); ++t) {
    FrameLinks& frame = frames[t];
    const Deviation d = deviations[t].value_or(Deviation{});
    const double r = variance_beyond(d.rotation, d.own_rotation, rotation, turns),
                 s = variance_beyond(d.shift, d.own_shift, shift, dims);
    // If there is no deviation, the prior is as strong as rounding allows.
    frame.prior = {whole, std::min(variance / (2 * r), kStiff * (frame.sums.spread() + variance)),
                   std::min(variance / s, kStiff * (frame.sums.weight() + 1))};
    frame.belief_in_rotation = r > 0 ? r / (r + d.own_rotation) : 0;
    frame.belief_in_shift = s > 0 ? s / (s + d.own_shift) : 0;
  }
  return sums;
}

/// The cost in nats of the frames' own motions (see predict_by_rigid).
double price_of(const SeriesPoints& points, const std::vector<FrameLinks>& frames) {
  double price = 0, most = 0;
  for (std::size_t t = 0; t + 1 < frames.size(); ++t) {
    const std::size_t targets = points.frame(static_cast<std::int32_t>(t) + 1).size();
    if (targets == 0) continue;
    const double one = std::log(static_cast<double>(targets));
    price += one * (frames[t].belief_in_shift + (points.dims - 1) * frames[t].belief_in_rotation);
    most = std::max(most, one);
  }
  return price + points.dims * most;
}

/// predict_by_motions, except that `first`, if known, is the place in the next frame.
Prediction predict_from(const SeriesPoints& points, const std::vector<RigidMotion>& motions,
                        const std::vector<std::optional<Vec3>>& first, int lags) {
  Prediction out;
  out.by_lag.assign(at(lags), std::vector<Vec3>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3 place = points.at[i];
    for (std::size_t k = 0; k < at(lags); ++k) {
      const std::size_t t = at(points.slot[i]) + k;
      if (k == 0 && first[i])
        place = *first[i];
      else if (t < motions.size())
        place = motions[t].of(place);
      out.by_lag[k][i] = place - points.at[i];
    }
  }
  return out;
}

Vec3 middle_of(const std::vector<Vec3>& points) {
  Vec3 sum;
  for (const Vec3& p : points) sum += p;
  const double f = 1 / std::max(1.0, static_cast<double>(points.size()));
  return {f * sum.x, f * sum.y, f * sum.z};
}

}  // namespace

Prediction predict_by_motions(const SeriesPoints& points, const std::vector<RigidMotion>& motions, int lags) {
  return predict_from(points, motions, std::vector<std::optional<Vec3>>(points.size()), lags);
}

Prediction predict_by_rigid(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, std::vector<RigidMotion>& motions,
                            double* choices) {
  const int flat = flat_axis(points.at, points.dims);
  const Vec3 middle = middle_of(points.at);
  std::vector<FrameLinks> frames(at(points.frames()));
  for (std::size_t t = 0; t < frames.size(); ++t)
    frames[t] = links_of(points, linking, static_cast<std::int32_t>(t), middle);
  motions.resize(frames.size());
  SeriesSums sums;
  for (int round = 0; round < kReweightings; ++round) {
    const double variance = reweigh(points, motions, frames);
    sums = set_priors(points, flat, variance, frames);
    for (std::size_t t = 0; t < frames.size(); ++t)
      motions[t] = fit_rigid(frames[t].sums, flat, frames[t].prior);
  }
  if (choices != nullptr) *choices = price_of(points, frames);
  std::vector<std::optional<Vec3>> first(points.size());
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t slot) {
    const FrameLinks& frame = frames[at(slot)];
    for (std::size_t k = 0; k < frame.from.size(); ++k) {
      FrameLinks others;
      others.sums = frame.sums;
      others.sums -= one_of(points, frame, k);
      SeriesSums all = sums;
      all.add(frame.sums, -1);
      // With a single link, the sums of the others would be rounding errors.
      if (frame.from.size() < 2) others.sums = RigidSums(middle);
      all.add(others.sums, 1);
      RigidPrior prior = frame.prior;
      prior.motion = all.motion(flat);
      const Vec3& from = points.at[at(frame.from[k])];
      first[at(frame.from[k])] = fit_rigid(others.sums, flat, prior).of(from);
    }
  });
  return predict_from(points, motions, first, lags);
}

}  // namespace motes::tracking
