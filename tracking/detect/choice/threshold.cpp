/// Level. For a smooth Gaussian random field the expected number of maxima above a high level u is, to
/// leading order, its expected Euler characteristic: V sqrt(det M) (2 pi)^-(d+1)/2 H(u) exp(-u^2/2), where M
/// is the covariance of the gradient of the field of variance 1, and H(u) = u^2 - 1, u, 1 in 3, 2, 1
/// dimensions (Adler 1981, The Geometry of Random Fields, theorem 6.9.1; Worsley 1992). LoG-filtered white
/// noise has the spectrum r^4 exp(-r^2) in units of sigma, so that M = (d + 4) / (2 d) / sigma^2 along each
/// axis. Solved for u by bisection.
///
/// Deviation. If spots fill little of the frame, the median absolute response measures the noise, for any
/// correlation. If spots fill much of it, it measures the spots, and a threshold based on it would lose them
/// all. The finest detail of the frame is still noise then: the second difference along x and y, to which
/// spots wider than a voxel contribute little. The response to white noise of that strength bounds the
/// deviation.

#include "tracking/detect/choice/threshold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include <motes/base/parallel_for.h>

#include "tracking/detect/choice/noise_sample_rules.h"

namespace motes::tracking::detect {
namespace {

constexpr double kMadToSigma = 1.4826;  // standard deviation over median absolute value of a Gaussian
// Largest ratio of the response to correlated noise to that to white noise.
constexpr double kWhiteMargin = 1.5;
constexpr double kLeastScale = 0.7;  // in voxels: maxima cannot be denser than voxels allow

double median_of(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

/// Calls visit(k, voxel) for all elements k of the sample, row by row. The voxel is sample.at(k), computed
/// without its divisions.
template <class Visit>
void visit_sample(const Execution& execution, const rules::NoiseSample& sample, const Visit& visit) {
  std::vector<std::int64_t> columns;
  for (std::int64_t j = 0; j < sample.columns; ++j) columns.push_back(sample.column_of(j));
  parallel_for(thread_count(execution), sample.taken, [&](std::int64_t i) {
    const std::int64_t row = sample.row_of(i), z = row / sample.ny, shift = sample.shift_of(i);
    for (std::int64_t j = 0; j < sample.columns; ++j) {
      const std::int64_t x = columns[static_cast<std::size_t>(j)] + shift;
      visit(static_cast<std::size_t>(i * sample.columns + j),
            rules::SampledVoxel{z, row - z * sample.ny, x < sample.nx ? x : x - sample.nx});
    }
  });
}

/// Absolute values of the finest detail in a sample of the frame; empty for frames that are too small.
template <class T>
std::vector<float> details_of(const Execution& execution, std::span<const T> voxels,
                              const rules::NoiseSample& sample) {
  if (sample.nx < 3) return {};
  std::vector<float> details(static_cast<std::size_t>(sample.count()));
  const auto value = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<float>(voxels[static_cast<std::size_t>((z * sample.ny + y) * sample.nx + x)]);
  };
  visit_sample(execution, sample, [&](std::size_t k, const rules::SampledVoxel& v) {
    details[k] = std::fabs(rules::finest_detail(sample, v, value));
  });
  return details;
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

NoiseSeen noise_of_medians(const Shape3& shape, double response, double detail) {
  const double norm = std::sqrt(6.0) * (shape.ny >= 3 ? std::sqrt(6.0) : 1);
  const double deviation = kMadToSigma * detail / norm;
  // If over half of the details are exactly 0, the background is empty or saturated and does not show the
  // noise.
  const bool tells = shape.nx >= 3 && deviation > 0;
  return {kMadToSigma * response, tells ? deviation : std::numeric_limits<double>::infinity()};
}

NoiseSeen noise_seen(const Execution& execution, const Response& response, const VolumeFrame& frame) {
  const rules::NoiseSample sample(frame.shape);
  std::vector<float> responses(static_cast<std::size_t>(sample.count()));
  visit_sample(execution, sample, [&](std::size_t k, const rules::SampledVoxel& v) {
    responses[k] = std::fabs(response.at(v.z, v.y, v.x));
  });
  std::vector<float> details =
      visit_voxels(frame.voxels, [&](auto voxels) { return details_of(execution, voxels, sample); });
  std::array<double, 2> medians{};
  parallel_for(thread_count(execution), 2, [&](std::int64_t which) {
    medians[static_cast<std::size_t>(which)] = median_of(which == 0 ? responses : details);
  });
  return noise_of_medians(frame.shape, medians[0], medians[1]);
}

double noise_deviation(const NoiseSeen& seen, const Filter& filter, double margin) {
  return std::min(seen.response, margin * kWhiteMargin * filter.noise_gain() * seen.voxel);
}

double noise_deviation(const Execution& execution, const Response& response, const VolumeFrame& frame,
                       const Filter& filter, double margin) {
  return noise_deviation(noise_seen(execution, response, frame), filter, margin);
}

float rounding_floor(const Filter& filter, ValueRange range) {
  const double span = static_cast<double>(range.high) - static_cast<double>(range.low);
  double scale = 0;
  for (const double sigma : filter.sigma) scale += sigma * sigma;
  constexpr double kRoundings = 8;
  return static_cast<float>(kRoundings * std::numeric_limits<float>::epsilon() * span * scale);
}

}  // namespace motes::tracking::detect
