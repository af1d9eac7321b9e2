#include "tracking/detect/fit_noise.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kBins = 12, kFewest = 60;
constexpr double kMedianSquare = 0.4549;  // of a standard normal
constexpr double kCounts = 4;

/// Weighted sums of a line through (mean, variance).
struct LineSums {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0, least = std::numeric_limits<double>::infinity();
};

void add_bin(const NoiseSample* begin, std::size_t size, LineSums& sums) {
  std::vector<float> squares(size);
  double mean = 0, mean_square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    squares[i] = begin[i].square;
    mean_square += static_cast<double>(begin[i].square) / static_cast<double>(size);
    mean += static_cast<double>(begin[i].expected) / static_cast<double>(size);
  }
  // The median is not misled by spots that were missed; but of single photons most squares are next to 0.
  const double middle = static_cast<double>(quantile(squares, 0.5)) / kMedianSquare;
  const double variance = mean_square > kCounts * middle ? mean_square : middle;
  if (!(variance > 0)) return;
  const double weight = static_cast<double>(size) / (variance * variance);
  sums.w += weight;
  sums.x += weight * mean;
  sums.y += weight * variance;
  sums.xx += weight * mean * mean;
  sums.xy += weight * mean * variance;
  sums.least = std::min(sums.least, variance);
}

}  // namespace

Noise noise_line(std::vector<NoiseSample> all) {
  Noise noise;
  if (all.size() < 50) return noise;
  // Bins hold half of what is left each, so that the bright end, which tells the slope, has bins of its own.
  // Only their borders need order.
  LineSums sums;
  const auto less = [](const NoiseSample& a, const NoiseSample& b) {
    return a.expected != b.expected ? a.expected < b.expected : a.square < b.square;
  };
  std::size_t begin = 0;
  for (std::size_t bin = 0; bin < kBins && all.size() - begin >= kFewest; ++bin) {
    const std::size_t left = all.size() - begin;
    const std::size_t size = bin + 1 == kBins || left < 2 * kFewest ? left : left / 2;
    if (size < left)
      std::nth_element(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(begin + size), all.end(), less);
    add_bin(&all[begin], size, sums);
    begin += size;
  }
  if (!(sums.w > 0)) return noise;
  const double det = sums.w * sums.xx - sums.x * sums.x;
  noise.slope = det > 1e-9 * sums.w * sums.xx ? std::max(0.0, (sums.w * sums.xy - sums.x * sums.y) / det) : 0;
  noise.base = (sums.y - noise.slope * sums.x) / sums.w;
  noise.least = 0.3 * sums.least;
  return noise;
}

}  // namespace motes::tracking::detect
