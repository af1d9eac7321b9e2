#include "tracking/detect/size/response_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kSpots = 60;
constexpr std::size_t kFewest = 5;
constexpr double kReach = 3.5;                                              // reach of a kernel, in its sigma
constexpr std::array kScales{0.5, 0.63, 0.79, 1.0, 1.26, 1.59, 2.0, 2.52};  // times the width
constexpr std::size_t kFrom = 2;  // first scale considered; maxima at smaller scales are texture

/// G and -sigma^2 G'' around a place along one axis, for the blocks of a window; G sums to 1, the other to 0.
struct Kernel {
  std::vector<std::int64_t> index;  ///< beyond a face: the last block
  std::vector<double> smooth, second;
};

Kernel kernel_of(std::int64_t size, double place, double sigma) {
  if (!(sigma > 0)) return {{0}, {1}, {0}};
  Kernel kernel;
  double sum = 0, sum_second = 0;
  const auto low = static_cast<std::int64_t>(std::floor(place - kReach * sigma));
  const auto high = static_cast<std::int64_t>(std::ceil(place + kReach * sigma));
  for (std::int64_t i = low; i <= high; ++i) {
    const double u = (static_cast<double>(i) - place) / sigma;
    const double g = std::exp(-0.5 * u * u);
    kernel.index.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
    kernel.smooth.push_back(g);
    kernel.second.push_back((1 - u * u) * g);
    sum += g;
    sum_second += kernel.second.back();
  }
  for (std::size_t i = 0; i < kernel.smooth.size(); ++i) {
    kernel.second[i] = (kernel.second[i] - sum_second / sum * kernel.smooth[i]) / sum;
    kernel.smooth[i] /= sum;
  }
  return kernel;
}

template <class T>
double respond(const T* voxels, const Source& source, const std::array<Kernel, 3>& kernels) {
  const auto& [kx, ky, kz] = kernels;
  double response = 0;
  for (std::size_t z = 0; z < kz.index.size(); ++z)
    for (std::size_t y = 0; y < ky.index.size(); ++y) {
      const T* row = voxels + (kz.index[z] * source.size[1] + ky.index[y]) * source.size[0];
      double smooth = 0, second = 0;
      for (std::size_t x = 0; x < kx.index.size(); ++x) {
        const auto value = static_cast<double>(row[kx.index[x]]);
        smooth += kx.smooth[x] * value;
        second += kx.second[x] * value;
      }
      response += kz.smooth[z] * ky.smooth[y] * second +
                  (kz.second[z] * ky.smooth[y] + kz.smooth[z] * ky.second[y]) * smooth;
    }
  return response;
}

/// The place of the maximum of the parabola through three values at -1, 0 and 1.
double vertex(double left, double middle, double right) {
  return 0.5 * (left - right) / (left - 2 * middle + right);
}

/// ln of the scale of the largest response, in fitted widths; none if it is at an end of the range of scales.
std::optional<double> best_scale(const Source& source, const FittedSpot& spot) {
  std::array<double, kScales.size()> responses{};
  for (std::size_t k = 0; k < kScales.size(); ++k) {
    std::array<Kernel, 3> kernels;
    for (std::size_t a = 0; a < 3; ++a)
      kernels[a] = kernel_of(source.size[a], source.to_blocks(spot.place[a], a),
                             kScales[k] * spot.sigma[a] / static_cast<double>(source.block[a]));
    source.read([&](const auto* voxels) { responses[k] = respond(voxels, source, kernels); });
    if (spot.amplitude < 0) responses[k] = -responses[k];
    if (k < kFrom + 1 || responses[k] >= responses[k - 1]) continue;
    const std::size_t m = k - 1;
    if (responses[m] <= responses[m - 1] || responses[m] <= 0) return std::nullopt;
    return std::log(kScales[m]) +
           std::log(kScales[1] / kScales[0]) * vertex(responses[m - 1], responses[m], responses[k]);
  }
  return std::nullopt;
}

}  // namespace

double response_scale(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                      std::span<const FittedSpot> spots) {
  const Source source = make_source(execution, frame, filter);
  std::vector<FittedSpot> chosen;
  for (const FittedSpot& spot : spots)
    if (spot.good && chosen.size() < kSpots) chosen.push_back(spot);
  std::vector<std::optional<double>> scales(chosen.size());
  parallel_for(thread_count(execution), static_cast<std::int64_t>(chosen.size()), [&](std::int64_t i) {
    scales[static_cast<std::size_t>(i)] = best_scale(source, chosen[static_cast<std::size_t>(i)]);
  });
  std::vector<double> logs;
  for (const auto& scale : scales)
    if (scale) logs.push_back(*scale);
  if (logs.size() < kFewest || 2 * logs.size() < chosen.size()) return 0;
  return std::exp(quantile(logs, 0.5));
}

}  // namespace motes::tracking::detect
