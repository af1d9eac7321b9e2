#include "tracking/detect/filter/point_response.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace motes::tracking::detect {
namespace {

constexpr double kReach = 3.5;  // of a kernel, in its sigma

/// G and -sigma^2 G'' around a place along one axis, for the blocks of a window; G sums to 1, the other to 0.
struct Kernel {
  std::vector<std::int64_t> index;  ///< beyond a face: the last block
  std::vector<double> smooth, second;
};

Kernel kernel_of(std::int64_t size, double place, double sigma) {
  if (!(sigma > 0)) return {{std::clamp<std::int64_t>(std::lround(place), 0, size - 1)}, {1}, {0}};
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

}  // namespace

double response_at(const Source& source, const Place& place, const std::array<double, 3>& sigma) {
  std::array<Kernel, 3> kernels;
  for (std::size_t a = 0; a < 3; ++a) kernels[a] = kernel_of(source.size[a], place[a], sigma[a]);
  double response = 0;
  source.read([&](const auto* voxels) { response = respond(voxels, source, kernels); });
  return response;
}

}  // namespace motes::tracking::detect
