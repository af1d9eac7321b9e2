/// Level. For a smooth Gaussian random field the expected number of maxima above a high level u is, to
/// leading order, its expected Euler characteristic: V sqrt(det M) (2 pi)^-(d+1)/2 H(u) exp(-u^2/2), with M
/// the covariance of the gradient of the unit field and H(u) = u^2 - 1, u, 1 in 3, 2, 1 dimensions (Adler
/// 1981, The Geometry of Random Fields, theorem 6.9.1; Worsley 1992). White noise seen through the LoG has
/// the spectrum r^4 exp(-r^2) in units of sigma, which makes M = (d + 4) / (2 d) / sigma^2 along each axis.
/// Solved for u by bisection.
///
/// Deviation. The median absolute response is the noise where spots fill little of the frame, whatever the
/// noise's colour. Where spots fill much of it, it is the spots, and a multiple of it would lose them all;
/// then the finest detail of the frame still is noise: the second difference along x times that along y, in
/// which spots wider than a voxel hardly show. Passed through the filter as white noise it bounds the
/// deviation.

#include "tracking/detect/threshold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace motes::tracking::detect {
namespace {

constexpr double kMadToSigma = 1.4826;  // of a Gaussian distribution
constexpr double kWhiteMargin = 1.5;    // how far coloured noise may exceed what white noise would give
constexpr std::int64_t kSampledRows = 512;
constexpr std::int64_t kSampledColumns = 256;
constexpr double kLeastScale = 0.7;  // voxels: maxima cannot lie denser than the lattice allows

double median_of(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

/// Calls use(z, y, x) for about kSampledRows rows x kSampledColumns columns spread over a volume.
template <class Use>
void each_sampled(const Shape3& shape, const Use& use) {
  const std::int64_t rows = shape.nz * shape.ny;
  const std::int64_t taken = std::min(rows, kSampledRows), columns = std::min(shape.nx, kSampledColumns);
  for (std::int64_t i = 0; i < taken; ++i) {
    const std::int64_t row = (2 * i + 1) * rows / (2 * taken);
    for (std::int64_t j = 0; j < columns; ++j) {
      // Rows start at different columns, lest a frame's regular pattern is met in step.
      const std::int64_t x = ((2 * j + 1) * shape.nx / (2 * columns) + 7 * i) % shape.nx;
      use(row / shape.ny, row % shape.ny, x);
    }
  }
}

/// Weights of the second difference of an axis that has room for one, else the voxel alone.
std::array<float, 3> detail_weights(std::int64_t n) {
  return n >= 3 ? std::array<float, 3>{1, -2, 1} : std::array<float, 3>{0, 1, 0};
}

double white_deviation(const VolumeFrame& frame) {
  const Shape3& shape = frame.shape;
  if (shape.nx < 3) return std::numeric_limits<double>::infinity();
  const std::array<float, 3> along_x = detail_weights(shape.nx), along_y = detail_weights(shape.ny);
  const auto detail = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::int64_t left = std::clamp<std::int64_t>(x - 1, 0, shape.nx - 3);
    float sum = 0;
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      const float weight = along_y[static_cast<std::size_t>(dy + 1)];
      if (weight == 0) continue;
      const std::int64_t middle = shape.ny >= 3 ? std::clamp<std::int64_t>(y, 1, shape.ny - 2) : y;
      std::array<float, 3> values{};
      read_row(frame, z, middle + dy, left, 3, 0, values.data());
      for (std::size_t i = 0; i < 3; ++i) sum += weight * along_x[i] * values[i];
    }
    return sum;
  };
  std::vector<float> details;
  each_sampled(shape, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    details.push_back(std::fabs(detail(z, y, x)));
  });
  const double norm = std::sqrt(6.0) * (shape.ny >= 3 ? std::sqrt(6.0) : 1);
  const double deviation = kMadToSigma * median_of(details) / norm;
  // Over half of the details exactly zero: an empty or saturated background, which tells nothing of noise.
  return deviation > 0 ? deviation : std::numeric_limits<double>::infinity();
}

double expected_maxima(double u, int dimensions, double density) {
  const double hermite = dimensions >= 3 ? u * u - 1 : dimensions == 2 ? u : 1;
  return density * hermite * std::exp(-u * u / 2);
}

}  // namespace

double noise_level(const Filter& filter, const Shape3& shape, double false_spots) {
  const int d = filter.dimensions;
  double density = static_cast<double>(shape.voxels()) * std::pow(2 * std::numbers::pi, -0.5 * (d + 1));
  for (const double sigma : filter.sigma)
    if (sigma > 0) density *= std::sqrt((d + 4) / (2.0 * d)) / std::max(sigma, kLeastScale);
  double low = 3, high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (expected_maxima(middle, d, density) > false_spots ? low : high) = middle;
  }
  return high;
}

std::vector<std::int64_t> noise_sample(const Shape3& shape) {
  std::vector<std::int64_t> voxels;
  each_sampled(shape, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    voxels.push_back((z * shape.ny + y) * shape.nx + x);
  });
  return voxels;
}

double noise_deviation(std::vector<float> responses, const VolumeFrame& frame, const Filter& filter,
                       double margin) {
  for (float& v : responses) v = std::fabs(v);
  const double seen = kMadToSigma * median_of(responses);
  return std::min(seen, margin * kWhiteMargin * filter.noise_gain() * white_deviation(frame));
}

double noise_deviation(const Response& response, const VolumeFrame& frame, const Filter& filter,
                       double margin) {
  std::vector<float> responses;
  for (const std::int64_t voxel : noise_sample(frame.shape)) responses.push_back(response.view().log[voxel]);
  return noise_deviation(std::move(responses), frame, filter, margin);
}

float rounding_floor(const Filter& filter, ValueRange range) {
  const double span = static_cast<double>(range.high) - static_cast<double>(range.low);
  double scale = 0;
  for (const double sigma : filter.sigma) scale += sigma * sigma;
  constexpr double kRoundings = 8;
  return static_cast<float>(kRoundings * std::numeric_limits<float>::epsilon() * span * scale);
}

}  // namespace motes::tracking::detect
