#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>

#include <motes/base/function_clones.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/raw_array.h>
#include <motes/tracking/series_joint.h>

#include "tracking/link/series/occlusion.h"

namespace motes::tracking {
namespace {

using matching::Index;
using matching::Offset;

constexpr double kMostOdds = 1e9;
constexpr double kLeastWeight = 1e-12;
constexpr std::int64_t kBlock = 512, kSweepBlock = 128;
/// The last sweeps are damped, because messages can oscillate where candidates form loops.
constexpr int kDampedSweeps = 2;
/// Pairs of links are summed in this many lanes, on every machine.
constexpr std::size_t kLanes = 8;

/// Candidates, grouped by their later detection.
struct Incoming {
  std::vector<Offset> offsets;     ///< [points + 1]
  std::vector<std::size_t> links;  ///< [candidates]
};

Incoming incoming(int threads, const SeriesPoints& points, int lags, const SeriesCandidates& candidates) {
  Incoming out;
  out.offsets.assign(points.size() + 1, 0);
  // Calls act(e, detection) for the links into the detections of frame t, by rising e.
  const auto into_frame = [&](std::int64_t t, const auto& act) {
    const Index first = points.offset[at(t)], last = points.offset[at(t) + 1],
                source = points.offset[at(std::max<std::int64_t>(0, t - lags))];
    for (Offset e = candidates.row_offsets[at(source)]; e < candidates.row_offsets[at(first)]; ++e)
      if (const Index j = candidates.to[at(e)]; j >= first && j < last) act(at(e), at(j));
  };
  parallel_for(threads, points.frames(), [&](std::int64_t t) {
    into_frame(t, [&](std::size_t, std::size_t j) { ++out.offsets[j + 1]; });
  });
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.links.resize(candidates.to.size());
  std::vector<Offset> next(out.offsets.begin(), out.offsets.end() - 1);
  parallel_for(threads, points.frames(), [&](std::int64_t t) {
    into_frame(t, [&](std::size_t e, std::size_t j) { out.links[at(next[j]++)] = e; });
  });
  return out;
}

/// The weights of all factors (see series_joint.h).
struct Weights {
  std::vector<double> link;               ///< [candidates] L_f
  std::vector<double> end, birth, alone;  ///< [points]
  std::vector<Offset> offsets;            ///< [points + 1] into `pair`; empty if each g(f | e) is 1
  RawArray<float> pair;  ///< [triplets] g(f | e), by detection, link in, link out; then padding of 0
};

/// Whether any link depends on the one before.
bool persists(const VelocityModel& velocity) {
  return std::any_of(velocity.by_lag.begin(), velocity.by_lag.end(),
                     [](const auto& sides) { return sides[0][0].known || sides[0][1].known; });
}

Weights weights_of(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                   const SeriesModel& model, const VelocityModel& velocity,
                   const SeriesCandidates& candidates, const Incoming& in, const Occlusion* occlusion) {
  Weights out;
  const auto n = points.size();
  out.link.resize(candidates.to.size());
  out.end.resize(n), out.birth.resize(n), out.alone.resize(n);
  const bool pairs = persists(velocity);
  if (pairs) {
    out.offsets.assign(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i)
      out.offsets[i + 1] = out.offsets[i] + (in.offsets[i + 1] - in.offsets[i]) *
                                                (candidates.row_offsets[i + 1] - candidates.row_offsets[i]);
    // The last read of whole lanes goes beyond the last pair.
    out.pair = RawArray<float>(at(out.offsets.back()) + kLanes);
    std::fill_n(out.pair.data() + out.offsets.back(), kLanes, 0.0F);
  }
  const MeetingGains gains(velocity, model);
  const std::int32_t last = points.frames() - 1;
  const auto count = static_cast<std::int64_t>(n);
  parallel_for(thread_count(execution), (count + kBlock - 1) / kBlock, [&](std::int64_t b) {
    std::vector<MeetingGains::Leaving> moves;
    for (std::int64_t point = b * kBlock; point < std::min(count, (b + 1) * kBlock); ++point) {
      const auto i = at(point);
      const std::int32_t t = points.slot[i];
      const double density = points.density_at(i), unit = 1 / model.scale[at(t)];
      out.end[i] = std::exp(-model.end_cost(last - t));
      out.birth[i] = std::exp(-model.birth_cost(density, t)) / density;
      const double lost = points.log_odds.empty() ? model.clutter : std::exp(-points.log_odds[i]);
      out.alone[i] = lost + out.birth[i] * out.end[i];
      moves.clear();
      for (Offset f = candidates.row_offsets[i]; f < candidates.row_offsets[i + 1]; ++f) {
        const Index j = candidates.to[at(f)];
        const Vec3 d = residual(points, prediction, static_cast<Index>(i), j);
        const int lag = points.slot[at(j)] - t;
        double cost = model.link_cost(t, lag, length_of(d));
        if (lag > 1 && occlusion != nullptr) cost -= occlusion->gain(prediction, static_cast<Index>(i), j);
        out.link[at(f)] = std::max(kLeastWeight, std::exp(-cost) / points.density_at(at(j)));
        if (pairs) moves.push_back(gains.leaving(lag, {d.x * unit, d.y * unit, d.z * unit}));
      }
      if (!pairs) continue;
      std::size_t place = at(out.offsets[i]);
      for (Offset k = in.offsets[i]; k < in.offsets[i + 1]; ++k) {
        const Index p = candidates.from[in.links[at(k)]];
        const int before = t - points.slot[at(p)];
        const double f = unit / before;
        const Vec3 v = residual(points, prediction, p, static_cast<Index>(i));
        const auto arriving = gains.arriving(before > 1 ? 1 : 0, {v.x * f, v.y * f, v.z * f});
        for (const MeetingGains::Leaving& move : moves)
          out.pair[place++] = static_cast<float>(std::exp(std::clamp(gains(move, arriving), -25.0, 25.0)));
      }
    }
  });
  return out;
}

typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));

/// The work space of a sweep for one detection.
struct Meeting {
  std::vector<double> arriving;  ///< [links in] messages from their sources
  std::vector<double> weighed;   ///< [links out, padded to whole lanes] messages from their targets times L_f
  std::vector<double> sum;       ///< [links out, padded to whole lanes] or [links in]
};

std::size_t whole_lanes(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// sum[f] += arriving[e] pair[e][f] for all f, in whole lanes.
MOTES_CLONES void add_arriving(const float* pair, const std::vector<double>& arriving, std::size_t outs,
                               std::vector<double>& sum) {
  for (std::size_t e = 0; e < arriving.size(); ++e, pair += outs)
    for (std::size_t f = 0; f < outs; f += kLanes) {
      Floats narrow;
      Doubles lanes;
      std::memcpy(&narrow, pair + f, sizeof narrow);
      std::memcpy(&lanes, sum.data() + f, sizeof lanes);
      lanes += arriving[e] * __builtin_convertvector(narrow, Doubles);
      std::memcpy(sum.data() + f, &lanes, sizeof lanes);
    }
}

/// sum[e] += weighed[f] pair[e][f] for all e, in whole lanes.
MOTES_CLONES void add_leaving(const float* pair, const std::vector<double>& weighed, std::size_t outs,
                              std::vector<double>& sum) {
  for (std::size_t e = 0; e < sum.size(); ++e, pair += outs) {
    Doubles lanes{};
    for (std::size_t f = 0; f < outs; f += kLanes) {
      Floats narrow;
      Doubles weight;
      std::memcpy(&narrow, pair + f, sizeof narrow);
      std::memcpy(&weight, weighed.data() + f, sizeof weight);
      lanes += weight * __builtin_convertvector(narrow, Doubles);
    }
    sum[e] +=
        ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

/// The sum of whole lanes, in the order of add_leaving.
double sum_of(const std::vector<double>& weighed) {
  double lanes[kLanes] = {};
  for (std::size_t f = 0; f < weighed.size(); ++f) lanes[f % kLanes] += weighed[f];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/// The new message along a link. `sum`: weight of all states with the link, for a message of 1 from its other
/// end; `back`: that message; `all`: weight of all states. A damped message is the geometric mean of the old
/// and the new one.
double renewed(double sum, double back, double all, double old, bool damped) {
  const double others = std::max(all - back * sum, 1e-9 * all), full = sum / others;
  return std::clamp(damped ? std::sqrt(old * full) : full, 1 / kMostOdds, kMostOdds);
}

/// Updates the messages of all detections, frame by frame. Detections of one frame are independent.
struct Sweeper {
  const SeriesPoints& points;
  const SeriesCandidates& candidates;
  const Incoming& in;
  const Weights& w;
  int threads;

  /// Messages from each detection along its links out, from the first frame to the last.
  void forward(bool damped, JointBeliefs& beliefs) const {
    for (std::int32_t t = 0; t < points.frames(); ++t)
      each_of_frame(t, [&](std::size_t i, Meeting& m) {
        const std::size_t first = at(candidates.row_offsets[i]),
                          outs = at(candidates.row_offsets[i + 1]) - first;
        const std::span<const std::size_t> links_in = into(i);
        double all = w.alone[i];
        m.arriving.clear();
        for (const std::size_t e : links_in) {
          m.arriving.push_back(beliefs.from_source[e]);
          all += m.arriving.back() * w.end[i];
        }
        if (w.offsets.empty()) {
          m.sum.assign(outs, std::accumulate(m.arriving.begin(), m.arriving.end(), w.birth[i]));
        } else {
          m.sum.assign(whole_lanes(outs), w.birth[i]);
          add_arriving(w.pair.data() + w.offsets[i], m.arriving, outs, m.sum);
        }
        for (std::size_t f = 0; f < outs; ++f) {
          m.sum[f] *= w.link[first + f];
          all += beliefs.from_target[first + f] * m.sum[f];
        }
        for (std::size_t f = 0; f < outs; ++f) {
          double& message = beliefs.from_source[first + f];
          message = renewed(m.sum[f], beliefs.from_target[first + f], all, message, damped);
        }
      });
  }

  /// Messages from each detection along its links in, from the last frame to the first.
  void backward(bool damped, JointBeliefs& beliefs) const {
    for (std::int32_t t = points.frames() - 1; t >= 0; --t)
      each_of_frame(t, [&](std::size_t i, Meeting& m) {
        const std::size_t first = at(candidates.row_offsets[i]),
                          outs = at(candidates.row_offsets[i + 1]) - first;
        const std::span<const std::size_t> links_in = into(i);
        double all = w.alone[i];
        m.weighed.assign(whole_lanes(outs), 0);
        for (std::size_t f = 0; f < outs; ++f) {
          m.weighed[f] = beliefs.from_target[first + f] * w.link[first + f];
          all += m.weighed[f] * w.birth[i];
        }
        if (w.offsets.empty()) {
          m.sum.assign(links_in.size(), w.end[i] + sum_of(m.weighed));
        } else {
          m.sum.assign(links_in.size(), w.end[i]);
          add_leaving(w.pair.data() + w.offsets[i], m.weighed, outs, m.sum);
        }
        for (std::size_t e = 0; e < links_in.size(); ++e) all += beliefs.from_source[links_in[e]] * m.sum[e];
        for (std::size_t e = 0; e < links_in.size(); ++e) {
          double& message = beliefs.from_target[links_in[e]];
          message = renewed(m.sum[e], beliefs.from_source[links_in[e]], all, message, damped);
        }
      });
  }

 private:
  std::span<const std::size_t> into(std::size_t i) const {
    return std::span(in.links).subspan(at(in.offsets[i]), at(in.offsets[i + 1] - in.offsets[i]));
  }
  /// Calls act(detection, work space) for each detection of frame t, in parallel.
  template <class Act>
  void each_of_frame(std::int32_t t, const Act& act) const {
    const std::int64_t begin = points.offset[at(t)], end = points.offset[at(t) + 1],
                       blocks = (end - begin + kSweepBlock - 1) / kSweepBlock;
    parallel_for(blocks > 1 ? threads : 1, blocks, [&](std::int64_t b) {
      Meeting m;
      const std::int64_t last = std::min(end, begin + (b + 1) * kSweepBlock);
      for (std::int64_t i = begin + b * kSweepBlock; i < last; ++i) act(at(i), m);
    });
  }
};

}  // namespace

SeriesCandidates prune_candidates(const SeriesCandidates& candidates, const std::vector<double>& costs,
                                  const SeriesLinking& linking, double nats, std::size_t most) {
  SeriesCandidates out;
  out.row_offsets.push_back(0);
  std::vector<double> row;
  for (std::size_t i = 0; i + 1 < candidates.row_offsets.size(); ++i) {
    const auto begin = candidates.row_offsets[i], end = candidates.row_offsets[i + 1];
    row.assign(costs.begin() + begin, costs.begin() + end);
    double limit = row.empty() ? 0 : *std::min_element(row.begin(), row.end()) + nats;
    if (row.size() > most) {
      std::nth_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(most) - 1, row.end());
      limit = std::min(limit, row[most - 1]);
    }
    for (auto e = begin; e < end; ++e) {
      if (costs[at(e)] > limit && linking.next[i] != candidates.to[at(e)]) continue;
      out.to.push_back(candidates.to[at(e)]);
      out.from.push_back(static_cast<Index>(i));
    }
    out.row_offsets.push_back(static_cast<Offset>(out.to.size()));
  }
  return out;
}

JointBeliefs beliefs_of(const SeriesCandidates& candidates, const SeriesCandidates& before,
                        const JointBeliefs& beliefs) {
  JointBeliefs out;
  out.from_source.assign(candidates.to.size(), 1);
  out.from_target.assign(candidates.to.size(), 1);
  const auto to = before.to.begin();
  for (std::size_t i = 0; i + 1 < candidates.row_offsets.size(); ++i) {
    const auto begin = to + before.row_offsets[i], end = to + before.row_offsets[i + 1];
    for (auto e = candidates.row_offsets[i]; e < candidates.row_offsets[i + 1]; ++e) {
      const auto same = std::find(begin, end, candidates.to[at(e)]);
      if (same == end) continue;
      out.from_source[at(e)] = beliefs.from_source[at(same - to)];
      out.from_target[at(e)] = beliefs.from_target[at(same - to)];
    }
  }
  return out;
}

std::int64_t joint_triplets(const SeriesCandidates& candidates) {
  std::vector<std::int64_t> into(candidates.row_offsets.size(), 0);
  for (const Index j : candidates.to) ++into[at(j)];
  std::int64_t all = 0;
  for (std::size_t i = 0; i + 1 < candidates.row_offsets.size(); ++i)
    all += into[i] * (candidates.row_offsets[i + 1] - candidates.row_offsets[i]);
  return all;
}

void propagate_beliefs(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                       const SeriesModel& model, const VelocityModel& velocity,
                       const SeriesCandidates& candidates, int sweeps, JointBeliefs& beliefs,
                       const Occlusion* occlusion) {
  const Incoming in = incoming(thread_count(execution), points, model.lags(), candidates);
  const Weights w = weights_of(execution, points, prediction, model, velocity, candidates, in, occlusion);
  if (beliefs.from_source.size() != candidates.to.size()) {
    beliefs.from_source.assign(candidates.to.size(), 1);
    beliefs.from_target.assign(candidates.to.size(), 1);
  }
  const Sweeper sweeper{points, candidates, in, w, thread_count(execution)};
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool damped = sweep + kDampedSweeps >= sweeps;
    sweeper.forward(damped, beliefs);
    sweeper.backward(damped, beliefs);
  }
}

}  // namespace motes::tracking
