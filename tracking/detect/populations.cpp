#include "tracking/detect/populations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kFewest = 3;
constexpr std::size_t kLeastShare = 20;  // one in so many

}  // namespace

double split_populations(std::span<const double> qualities) {
  std::vector<double> logs;
  logs.reserve(qualities.size());
  for (const double q : qualities)
    if (q > 0) logs.push_back(std::log(q));
  const std::size_t n = logs.size();
  if (n < 2 * kFewest) return 0;
  std::sort(logs.begin(), logs.end());
  double sum = 0, squares = 0;
  for (const double x : logs) sum += x, squares += x * x;

  // Otsu: the split of the largest variance between the parts is that of the smallest within them.
  std::size_t best = 0;
  double best_within = squares, best_distance = 0, low_sum = 0, low_squares = 0;
  for (std::size_t k = 1; k < n; ++k) {
    low_sum += logs[k - 1];
    low_squares += logs[k - 1] * logs[k - 1];
    const auto low = static_cast<double>(k), high = static_cast<double>(n - k);
    const double low_mean = low_sum / low, high_mean = (sum - low_sum) / high;
    const double within =
        low_squares - low * low_mean * low_mean + (squares - low_squares) - high * high_mean * high_mean;
    if (within >= best_within) continue;
    best = k;
    best_within = within;
    best_distance = high_mean - low_mean;
  }
  const std::size_t upper = n - best;
  const double deviation = std::sqrt(std::max(0.0, best_within) / static_cast<double>(n));
  const bool two = best >= kFewest && upper >= std::max(kFewest, n / kLeastShare) &&
                   best_distance >= std::log(kPopulationRatio) &&
                   best_distance >= kPopulationSpread * deviation;
  return two ? std::exp(0.5 * (logs[best - 1] + logs[best])) : 0;
}

}  // namespace motes::tracking::detect
