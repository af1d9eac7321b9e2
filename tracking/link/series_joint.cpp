#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/series_joint.h>

namespace motes::tracking {
namespace {

using matching::Index;
using matching::Offset;

constexpr double kMostOdds = 1e9;
constexpr double kLeastWeight = 1e-12;
constexpr std::int64_t kBlock = 512;

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
  std::vector<float> pair;                ///< [triplets] g(f | e), by detection, link in, link out
};

Weights weights_of(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                   const SeriesModel& model, const VelocityModel& velocity,
                   const SeriesCandidates& candidates, const Incoming& in) {
  Weights out;
  const auto n = points.size();
  out.link.resize(candidates.to.size());
  out.end.resize(n), out.birth.resize(n), out.alone.resize(n);
  out.offsets.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    out.offsets[i + 1] = out.offsets[i] + (in.offsets[i + 1] - in.offsets[i]) *
                                              (candidates.row_offsets[i + 1] - candidates.row_offsets[i]);
  out.pair.resize(at(out.offsets.back()));
  const std::int32_t last = points.frames() - 1;
  const auto count = static_cast<std::int64_t>(n);
  parallel_for(thread_count(execution), (count + kBlock - 1) / kBlock, [&](std::int64_t b) {
    std::vector<Vec3> moves;
    for (std::int64_t point = b * kBlock; point < std::min(count, (b + 1) * kBlock); ++point) {
      const auto i = at(point);
      const std::int32_t t = points.slot[i];
      const double density = points.density[at(t)], unit = 1 / model.scale[at(t)];
      out.end[i] = std::exp(-model.end_cost(last - t));
      out.birth[i] = std::exp(-model.birth_cost(density, t)) / density;
      out.alone[i] = model.lone + out.birth[i] * out.end[i];
      moves.clear();
      for (Offset f = candidates.row_offsets[i]; f < candidates.row_offsets[i + 1]; ++f) {
        const Index j = candidates.to[at(f)];
        const Vec3 d = residual(points, prediction, static_cast<Index>(i), j);
        const int lag = points.slot[at(j)] - t;
        out.link[at(f)] = std::max(kLeastWeight, std::exp(-model.link_cost(t, lag, length_of(d))) /
                                                     points.density[at(points.slot[at(j)])]);
        moves.push_back({d.x * unit, d.y * unit, d.z * unit});
      }
      std::size_t place = at(out.offsets[i]);
      for (Offset k = in.offsets[i]; k < in.offsets[i + 1]; ++k) {
        const Index p = candidates.from[in.links[at(k)]];
        const int before = t - points.slot[at(p)];
        const double f = unit / before;
        Vec3 v = residual(points, prediction, p, static_cast<Index>(i));
        v = {v.x * f, v.y * f, v.z * f};
        for (std::size_t m = 0; m < moves.size(); ++m) {
          const Index j = candidates.to[at(candidates.row_offsets[i]) + m];
          const double gain =
              velocity_gain(velocity, model, points.slot[at(j)] - t, 0, before > 1 ? 1 : 0, moves[m], v);
          out.pair[place++] = static_cast<float>(std::exp(std::clamp(gain, -25.0, 25.0)));
        }
      }
    }
  });
  return out;
}

double damped(double old_odds, double new_odds) {
  return std::clamp(std::sqrt(old_odds * new_odds), 1 / kMostOdds, kMostOdds);
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
                       const SeriesCandidates& candidates, int iterations, JointBeliefs& beliefs) {
  const Incoming in = incoming(points, candidates);
  const Weights w = weights_of(execution, points, prediction, model, velocity, candidates, in);
  if (beliefs.from_source.size() != candidates.to.size()) {
    beliefs.from_source.assign(candidates.to.size(), 1);
    beliefs.from_target.assign(candidates.to.size(), 1);
  }
  JointBeliefs next = beliefs;
  const auto count = static_cast<std::int64_t>(points.size());
  for (int iteration = 0; iteration < iterations; ++iteration) {
    parallel_for(thread_count(execution), (count + kBlock - 1) / kBlock, [&](std::int64_t b) {
      std::vector<double> out_sum, in_sum;
      for (std::int64_t point = b * kBlock; point < std::min(count, (b + 1) * kBlock); ++point) {
        const auto i = at(point);
        const auto first = at(candidates.row_offsets[i]), ins = at(in.offsets[i + 1] - in.offsets[i]);
        const auto outs = at(candidates.row_offsets[i + 1]) - first;
        const std::size_t* const link_in = in.links.data() + in.offsets[i];
        out_sum.assign(outs, w.birth[i]);
        in_sum.assign(ins, w.end[i]);
        const float* pair = w.pair.data() + w.offsets[i];
        for (std::size_t e = 0; e < ins; ++e) {
          const double arriving = beliefs.from_source[link_in[e]];
          double sum = 0;
          for (std::size_t f = 0; f < outs; ++f, ++pair) {
            const double g = static_cast<double>(*pair);
            out_sum[f] += arriving * g;
            sum += beliefs.from_target[first + f] * w.link[first + f] * g;
          }
          in_sum[e] += sum;
        }
        double all = w.alone[i];
        for (std::size_t e = 0; e < ins; ++e) all += beliefs.from_source[link_in[e]] * w.end[i];
        for (std::size_t f = 0; f < outs; ++f) {
          out_sum[f] *= w.link[first + f];
          all += beliefs.from_target[first + f] * out_sum[f];
        }
        const double least = 1e-9 * all;
        for (std::size_t f = 0; f < outs; ++f) {
          const double others = std::max(all - beliefs.from_target[first + f] * out_sum[f], least);
          next.from_source[first + f] = damped(beliefs.from_source[first + f], out_sum[f] / others);
        }
        for (std::size_t e = 0; e < ins; ++e) {
          const double others = std::max(all - beliefs.from_source[link_in[e]] * in_sum[e], least);
          next.from_target[link_in[e]] = damped(beliefs.from_target[link_in[e]], in_sum[e] / others);
        }
      }
    });
    std::swap(beliefs, next);
  }
}

}  // namespace motes::tracking
