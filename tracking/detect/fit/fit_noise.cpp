#include "tracking/detect/fit/fit_noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kBins = 12, kFewest = 60;
constexpr double kMedianSquare = 0.4549;  // median of the square of a standard normal variable
constexpr double kCounts = 3;
constexpr double kSpreadOfVariance = 2.8;  // variance of a bin's variance in units of variance^2 / samples
constexpr double kLeastPhotons = 0.01;     // of a voxel whose noise comes only from the camera model

/// Squares of a normal variable are limited to kMostSquare times their mean, which multiplies the mean by
/// kLimitedMean.
constexpr double kMostSquare = 2.25, kLimitedMean = 0.77845;

struct Bin {
  double size, mean, variance;
};

/// A robust variance: missed spots and deviations from the model have little weight. It starts at `middle`,
/// the median of the squares. The median itself is not enough if the steps of the grey levels are as large as
/// the noise: it would only show the steps.
double limited_variance(const NoiseSample* begin, std::size_t size, double middle) {
  constexpr int kRounds = 12;
  double variance = middle;
  for (int round = 0; round < kRounds; ++round) {
    const double most = kMostSquare * variance;
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += std::min(static_cast<double>(begin[i].square), most);
    const double next = sum / (kLimitedMean * static_cast<double>(size));
    const bool still = std::abs(next - variance) < 1e-3 * variance;
    variance = next;
    if (still) break;
  }
  return variance;
}

Bin bin_of(const NoiseSample* begin, std::size_t size) {
  std::vector<float> squares(size);
  double mean = 0, mean_square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    squares[i] = begin[i].square;
    mean_square += static_cast<double>(begin[i].square) / static_cast<double>(size);
    mean += static_cast<double>(begin[i].expected) / static_cast<double>(size);
  }
  const double middle = static_cast<double>(quantile(squares, 0.5)) / kMedianSquare;
  const double limited = limited_variance(begin, size, middle);
  // With single photons most squares are close to 0 (voxels without photons), and their mean is the variance.
  const double variance = mean_square > kCounts * middle ? mean_square : limited;
  return {static_cast<double>(size), mean, variance};
}

/// weight(bin): inverse of the squared standard error of the bin's variance.
template <class Weight>
NoiseSums sums_of(const std::vector<Bin>& bins, const Weight& weight) {
  NoiseSums sums;
  for (const Bin& bin : bins) {
    if (!(bin.variance > 0)) continue;
    const double w = weight(bin);
    sums.w += w;
    sums.x += w * bin.mean;
    sums.y += w * bin.variance;
    sums.xx += w * bin.mean * bin.mean;
    sums.xy += w * bin.mean * bin.variance;
    sums.least = std::min(sums.least, bin.variance);
  }
  return sums;
}

double scatter(const NoiseSums& sums) { return sums.w * sums.xx - sums.x * sums.x; }

/// The slope of the line with no other condition; 0 if all voxels have the same expected value.
double free_slope(const NoiseSums& sums) {
  const double det = scatter(sums);
  return det > 1e-9 * sums.w * sums.xx ? std::max(0.0, (sums.w * sums.xy - sums.x * sums.y) / det) : 0;
}

/// The slope of a line through (x, y).
double slope_through(const NoiseSums& sums, double x, double y) {
  const double run = sums.xx - 2 * x * sums.x + x * x * sums.w;
  return run > 0 ? std::max(0.0, (sums.xy - x * sums.y - y * sums.x + x * y * sums.w) / run) : 0;
}

}  // namespace

NoiseSums noise_sums(std::vector<NoiseSample> all) {
  if (all.size() < 50) return {};
  // Each bin holds half of the remaining samples, so that the bright end, which determines the slope, has
  // several bins. Only the borders of bins need to be in order.
  const auto less = [](const NoiseSample& a, const NoiseSample& b) {
    return a.expected != b.expected ? a.expected < b.expected : a.square < b.square;
  };
  std::vector<Bin> bins;
  std::size_t begin = 0;
  for (std::size_t bin = 0; bin < kBins && all.size() - begin >= kFewest; ++bin) {
    const std::size_t left = all.size() - begin;
    const std::size_t size = bin + 1 == kBins || left < 2 * kFewest ? left : left / 2;
    if (size < left)
      std::nth_element(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(begin + size), all.end(), less);
    bins.push_back(bin_of(&all[begin], size));
    begin += size;
  }
  // A bin whose variance is small by chance must not weigh more, so the line gives the weights of the second
  // fit.
  const NoiseSums sums =
      sums_of(bins, [](const Bin& bin) { return bin.size / (bin.variance * bin.variance); });
  if (!(sums.w > 0)) return sums;
  const Noise line = noise_line(sums);
  return sums_of(bins, [&](const Bin& bin) {
    const double variance = std::max(line.least, line.base + line.slope * bin.mean);
    return bin.size / (variance * variance);
  });
}

Noise noise_line(const NoiseSums& sums, const CameraModel& camera) {
  const bool point = camera.offset && camera.read_noise, told = sums.w > 0;
  Noise noise;
  if (!told && !(camera.gain && point)) return noise;
  const double read = camera.read_noise.value_or(0), square = read * read;
  noise.slope = camera.gain ? *camera.gain
                : point     ? slope_through(sums, *camera.offset, square)
                            : free_slope(sums);
  noise.base = point ? square - noise.slope * *camera.offset : (sums.y - noise.slope * sums.x) / sums.w;
  noise.least = told ? 0.3 * sums.least : kLeastPhotons * noise.slope * noise.slope;
  if (point) noise.least = std::max(noise.least, square);
  return noise;
}

double slope_error(const NoiseSums& sums) {
  const double det = scatter(sums);
  return det > 1e-9 * sums.w * sums.xx ? std::sqrt(kSpreadOfVariance * sums.w / det)
                                       : std::numeric_limits<double>::infinity();
}

}  // namespace motes::tracking::detect
