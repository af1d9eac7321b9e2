#include "tracking/link/pairs/partner_share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/quantile.h>

#include "tracking/link/pairs/gate_sample.h"
#include "tracking/link/series/pairs.h"

namespace motes::tracking {
namespace {

/// This many standard deviations are subtracted from counts: kSure if next frames have the same density,
/// kMostSure if they are at least twice as dense. The best of many lengths is taken. With one deviation,
/// chance looks like partners if the next frames are much denser. With two, if there are few particles of
/// which some move far, these look like false detections.
constexpr double kSure = 1, kMostSure = 2;
/// Pairs within a frame are counted from both ends.
constexpr double kEnds = 2;
/// The shortest length, relative to the reach, and the ratio of successive lengths.
constexpr double kShortest = 1.0 / 256, kLengthRatio = 1.15;

/// [lengths] number of pairs that are not longer.
std::vector<double> counts_of(const SampledPairs& pairs, std::span<const double> lengths) {
  std::vector<double> counts(lengths.size() + 1, 0);
  for (const matching::Cost squared : pairs.costs.cost) {
    const double length = std::sqrt(static_cast<double>(squared) * pairs.unit_um2);
    counts[static_cast<std::size_t>(std::lower_bound(lengths.begin(), lengths.end(), length) -
                                    lengths.begin())] += 1;
  }
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  counts.pop_back();
  return counts;
}

/// Sums over the sampled frames.
struct PairCounts {
  std::vector<double> lengths, excess, variance, rows, denser;  ///< [lengths]
};

PairCounts pair_counts(const Execution& execution, const SeriesPoints& points) {
  PairCounts out;
  const std::vector<GateSample> samples = sample_pairs(thread_count(execution), frames_of(points));
  std::vector<double> reaches;
  for (const GateSample& s : samples)
    if (s.reach_um > 0) reaches.push_back(s.reach_um);
  if (reaches.empty()) return out;
  const double reach = quantile(reaches, 0.5);
  auto& [lengths, excess, variance, rows, denser] = out;
  for (double g = reach * kShortest; g <= reach * 1.001; g *= kLengthRatio) lengths.push_back(g);
  for (auto* sums : {&excess, &variance, &rows, &denser}) sums->assign(lengths.size(), 0);
  for (const GateSample& s : samples) {
    const auto reached = std::upper_bound(lengths.begin(), lengths.end(), s.reach_um) - lengths.begin();
    const std::span seen = std::span(lengths).first(static_cast<std::size_t>(reached));
    const std::vector<double> next = counts_of(s.with_next, seen), within = counts_of(s.within, seen);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      rows[k] += static_cast<double>(s.rows);
      denser[k] += static_cast<double>(s.rows) * s.density_ratio;
      excess[k] += next[k] - s.density_ratio * within[k];
      variance[k] += within[k] * s.density_ratio * (1 + kEnds * s.density_ratio);
    }
  }
  return out;
}

}  // namespace

double partner_distance(const Execution& execution, const SeriesPoints& points) {
  const PairCounts counts = pair_counts(execution, points);
  double most = 0;
  for (std::size_t k = 0; k < counts.lengths.size(); ++k)
    if (counts.rows[k] > 0)
      most = std::max(most, (counts.excess[k] - std::sqrt(counts.variance[k])) / counts.rows[k]);
  for (std::size_t k = 0; k < counts.lengths.size(); ++k)
    if (counts.rows[k] > 0 && most > 0 && counts.excess[k] >= 0.5 * most * counts.rows[k])
      return counts.lengths[k];
  return 0;
}

double sure_partners(const Execution& execution, const SeriesPoints& points) {
  const auto [lengths, excess, variance, rows, denser] = pair_counts(execution, points);
  double most = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    if (rows[k] == 0) continue;
    const double share = std::clamp(excess[k] / rows[k], 0.0, 1.0);
    const double deviation = std::sqrt(variance[k] + rows[k] * share * (1 - share));
    const double sure = std::clamp(denser[k] / rows[k], kSure, kMostSure);
    most = std::max(most, (excess[k] - sure * deviation) / rows[k]);
  }
  return std::min(most, 1.0);
}

}  // namespace motes::tracking
