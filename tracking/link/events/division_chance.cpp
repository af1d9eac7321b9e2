#include "tracking/link/events/division_chance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <motes/base/quantile.h>

namespace motes::tracking::detail {
namespace {

constexpr double kMostByChance = 0.5;
/// Least median gain, and that from which most divisions are sure, in nats.
constexpr double kLeastGain = 1.5, kSureGain = 10;
/// Standard deviations of counts and of the rank sum; if most divisions are sure, and otherwise.
constexpr double kCountsIfSure = 2.5, kCounts = 3, kRanksIfSure = 3, kRanks = 4;

double median_gain(const SearchGains& search) {
  std::vector<double> gain = search.gain;
  return quantile(gain, 0.5);
}

}  // namespace

std::int64_t explained_by(const SearchGains& chance, const SearchGains& found) {
  if (found.gain.empty()) return 0;
  const double least = median_gain(found);
  return 2 * std::count_if(chance.gain.begin(), chance.gain.end(), [&](double g) { return g >= least; });
}

double rank_sum(const SearchGains& found, const SearchGains& chance) {
  std::vector<std::pair<double, bool>> all;  // gain, and whether it is of `found`
  const auto add = [&](const SearchGains& search, bool is_found) {
    for (const double g : search.gain) all.emplace_back(g, is_found);
    for (auto k = std::ssize(search.gain); k < search.starts; ++k) all.emplace_back(0.0, is_found);
  };
  add(found, true);
  const auto n = static_cast<double>(all.size());
  add(chance, false);
  const double m = static_cast<double>(all.size()) - n;
  std::sort(all.begin(), all.end());
  double ranks = 0, ties = 0;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::size_t ours = 0;
    for (; end < all.size() && all[end].first == all[begin].first; ++end) ours += all[end].second ? 1 : 0;
    const auto equal = static_cast<double>(end - begin);
    ranks += static_cast<double>(ours) * 0.5 * static_cast<double>(begin + end + 1);
    ties += equal * (equal * equal - 1);
  }
  if (n == 0 || m == 0) return 0;
  const double variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
  return variance > 0 ? (ranks - n * (n + m + 1) / 2) / std::sqrt(variance) : 0;
}

bool exceed_chance(const SearchGains& found, const SearchGains& misplaced, std::int64_t explained) {
  if (std::ssize(found.gain) < kLeastDivisions) return false;
  const auto count = static_cast<double>(found.gain.size()), chance = static_cast<double>(explained);
  const double gain = median_gain(found);
  const bool sure = gain >= kSureGain;
  return gain >= kLeastGain && chance <= kMostByChance * count &&
         count - chance > (sure ? kCountsIfSure : kCounts) * std::sqrt(count + chance) &&
         rank_sum(found, misplaced) > (sure ? kRanksIfSure : kRanks);
}

}  // namespace motes::tracking::detail
