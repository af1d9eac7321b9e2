#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>

#include <motes/base/function_clones.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/series_joint.h>

#include "tracking/link/occlusion.h"

namespace motes::tracking {
namespace {

using matching::Index;
using matching::Offset;

constexpr double kMostOdds = 1e9;
constexpr double kLeastWeight = 1e-12;
constexpr std::int64_t kBlock = 512;
/// Pairs of links are summed in so many lanes, on every machine.
constexpr std::size_t kLanes = 8;

/// Candidates by their later detection.
struct Incoming {
  std::vector<Offset> offsets;     ///< [points + 1]
  std::vector<std::size_t> links;  ///< [candidates]
};

Incoming incoming(const SeriesPoints& points, const SeriesCandidates& candidates) {
  Incoming out;
  out.offsets.assign(points.size() + 1, 0);
  for (const Index j : candidates.to) ++out.offsets[at(j) + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<Offset> next(out.offsets.begin(), out.offsets.end() - 1);
  out.links.resize(candidates.to.size());
  for (std::size_t e = 0; e < candidates.to.size(); ++e) out.links[at(next[at(candidates.to[e])]++)] = e;
  return out;
}

/// Everything a factor weighs.
struct Weights {
  std::vector<double> link;               ///< [candidates] L_f
  std::vector<double> end, birth, alone;  ///< [points]
  std::vector<Offset> offsets;            ///< [points + 1] into `pair`
  std::vector<float> pair;                ///< [triplets] g(f | e), by detection, link in, link out; some 0
};

Weights weights_of(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                   const SeriesModel& model, const VelocityModel& velocity,
                   const SeriesCandidates& candidates, const Incoming& in, const Occlusion* occlusion) {
  Weights out;
  const auto n = points.size();
  out.link.resize(candidates.to.size());
  out.end.resize(n), out.birth.resize(n), out.alone.resize(n);
  out.offsets.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    out.offsets[i + 1] = out.offsets[i] + (in.offsets[i + 1] - in.offsets[i]) *
                                              (candidates.row_offsets[i + 1] - candidates.row_offsets[i]);
  // Whole lanes are read beyond the last pair.
  out.pair.resize(at(out.offsets.back()) + kLanes);
  const MeetingGains gains(velocity, model);
  const std::int32_t last = points.frames() - 1;
  const auto count = static_cast<std::int64_t>(n);
  parallel_for(thread_count(execution), (count + kBlock - 1) / kBlock, [&](std::int64_t b) {
    std::vector<MeetingGains::Leaving> moves;
    for (std::int64_t point = b * kBlock; point < std::min(count, (b + 1) * kBlock); ++point) {
      const auto i = at(point);
      const std::int32_t t = points.slot[i];
      const double density = points.density[at(t)], unit = 1 / model.scale[at(t)];
      out.end[i] = std::exp(-model.end_cost(last - t));
      out.birth[i] = std::exp(-model.birth_cost(density, t)) / density;
      out.alone[i] = model.clutter + out.birth[i] * out.end[i];
      moves.clear();
      for (Offset f = candidates.row_offsets[i]; f < candidates.row_offsets[i + 1]; ++f) {
        const Index j = candidates.to[at(f)];
        const Vec3 d = residual(points, prediction, static_cast<Index>(i), j);
        const int lag = points.slot[at(j)] - t;
        double cost = model.link_cost(t, lag, length_of(d));
        if (lag > 1 && occlusion != nullptr) cost -= occlusion->gain(prediction, static_cast<Index>(i), j);
        out.link[at(f)] = std::max(kLeastWeight, std::exp(-cost) / points.density[at(points.slot[at(j)])]);
        moves.push_back(gains.leaving(lag, {d.x * unit, d.y * unit, d.z * unit}));
      }
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

/// The links of one detection: into it, out of it, and what they weigh.
struct Meeting {
  std::vector<double> arriving, old_in, in_sum, new_in;             ///< [links in]
  std::vector<double> leaving, weighed, old_out, out_sum, new_out;  ///< [links out, filled up to whole lanes]
  std::size_t ins = 0, outs = 0;

  void resize(std::size_t links_in, std::size_t links_out) {
    ins = links_in, outs = links_out;
    for (auto* const values : {&arriving, &old_in, &in_sum, &new_in}) values->resize(ins);
    const std::size_t filled = (outs + kLanes - 1) / kLanes * kLanes;
    for (auto* const values : {&leaving, &weighed, &old_out, &out_sum, &new_out}) values->assign(filled, 0);
  }
};

/// Adds the pairs to in_sum and out_sum.
MOTES_CLONES void add_pairs(const float* pair, Meeting& m) {
  for (std::size_t e = 0; e < m.ins; ++e, pair += m.outs) {
    Doubles lanes{};
    const double arriving = m.arriving[e];
    for (std::size_t f = 0; f < m.outs; f += kLanes) {
      Floats narrow;
      std::memcpy(&narrow, pair + f, sizeof narrow);
      const Doubles g = __builtin_convertvector(narrow, Doubles);
      Doubles weighed, sum;
      std::memcpy(&weighed, m.weighed.data() + f, sizeof weighed);
      std::memcpy(&sum, m.out_sum.data() + f, sizeof sum);
      lanes += weighed * g;
      sum += arriving * g;
      std::memcpy(m.out_sum.data() + f, &sum, sizeof sum);
    }
    m.in_sum[e] +=
        ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

/// New messages: each the geometric mean of the old one and the new one.
MOTES_CLONES void damp(const double* message, const double* sum, const double* old_odds, double all,
                       std::size_t size, double* out) {
  const double least = 1e-9 * all;
  for (std::size_t k = 0; k < size; ++k) {
    const double others = all - message[k] * sum[k],
                 product = old_odds[k] * (sum[k] / (others < least ? least : others));
    const double root = std::sqrt(product), low = root < 1 / kMostOdds ? 1 / kMostOdds : root;
    out[k] = low > kMostOdds ? kMostOdds : low;
  }
}

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
                       const SeriesCandidates& candidates, int iterations, JointBeliefs& beliefs,
                       const Occlusion* occlusion) {
  const Incoming in = incoming(points, candidates);
  const Weights w = weights_of(execution, points, prediction, model, velocity, candidates, in, occlusion);
  if (beliefs.from_source.size() != candidates.to.size()) {
    beliefs.from_source.assign(candidates.to.size(), 1);
    beliefs.from_target.assign(candidates.to.size(), 1);
  }
  JointBeliefs next = beliefs;
  const auto count = static_cast<std::int64_t>(points.size());
  for (int iteration = 0; iteration < iterations; ++iteration) {
    parallel_for(thread_count(execution), (count + kBlock - 1) / kBlock, [&](std::int64_t b) {
      Meeting m;
      for (std::int64_t point = b * kBlock; point < std::min(count, (b + 1) * kBlock); ++point) {
        const auto i = at(point);
        const auto first = at(candidates.row_offsets[i]);
        m.resize(at(in.offsets[i + 1] - in.offsets[i]), at(candidates.row_offsets[i + 1]) - first);
        const std::size_t* const link_in = in.links.data() + in.offsets[i];
        for (std::size_t e = 0; e < m.ins; ++e) {
          m.arriving[e] = beliefs.from_source[link_in[e]];
          m.old_in[e] = beliefs.from_target[link_in[e]];
          m.in_sum[e] = w.end[i];
        }
        for (std::size_t f = 0; f < m.outs; ++f) {
          m.leaving[f] = beliefs.from_target[first + f];
          m.old_out[f] = beliefs.from_source[first + f];
          m.weighed[f] = m.leaving[f] * w.link[first + f];
          m.out_sum[f] = w.birth[i];
        }
        add_pairs(w.pair.data() + w.offsets[i], m);
        double all = w.alone[i];
        for (std::size_t e = 0; e < m.ins; ++e) all += m.arriving[e] * w.end[i];
        for (std::size_t f = 0; f < m.outs; ++f) {
          m.out_sum[f] *= w.link[first + f];
          all += m.leaving[f] * m.out_sum[f];
        }
        damp(m.leaving.data(), m.out_sum.data(), m.old_out.data(), all, m.outs, m.new_out.data());
        damp(m.arriving.data(), m.in_sum.data(), m.old_in.data(), all, m.ins, m.new_in.data());
        for (std::size_t f = 0; f < m.outs; ++f) next.from_source[first + f] = m.new_out[f];
        for (std::size_t e = 0; e < m.ins; ++e) next.from_target[link_in[e]] = m.new_in[e];
      }
    });
    std::swap(beliefs, next);
  }
}

}  // namespace motes::tracking
