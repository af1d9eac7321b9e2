/// Each weight is the integral of a Gaussian over its voxel, which is right at any width. Samples of the
/// Gaussian at the voxel centres are wrong for widths under about half a voxel, which are common along the z
/// axis of stacks. The integration adds the variance of a box one voxel wide, which is subtracted beforehand;
/// a sigma below that of this box gives the identity.
///
/// Where a wide Gaussian is cut, its step would dominate second differences, and a smooth frame would have
/// hundreds of maxima. So a parabola is subtracted from wide kernels, which then end with slope 0; the
/// variance that this costs is added beforehand.
///
/// The second derivative is the plain second difference of the smoothed signal, so a Laplacian takes three
/// smoothing passes and one 7-point stencil instead of six convolutions. (With Lindeberg's discrete Gaussian
/// this would be an exact scale space. But for sigma near 1 it passes far more of the finest noise, and fewer
/// dim spots are found.)

#include "tracking/detect/filter/gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <motes/base/function_clones.h>

#include "tracking/detect/filter/response_view.h"

namespace motes::tracking::detect {
namespace {
constexpr double kCut = 4;         // sigmas kept on each side
constexpr double kSmoothEnd = 12;  // sigma in voxels from which on a kernel ends smoothly
constexpr double kParabolaVariance = 1.016;
constexpr std::int64_t kBlockSize = 64;  // elements whose sums stay in registers or the first cache
constexpr double kBoxVariance = 1.0 / 12;

/// Mass of a Gaussian around 0 within half a voxel of n.
double integral_over_voxel(int n, double sigma) {
  if (sigma == 0) return n == 0 ? 1 : 0;
  const double scale = 1 / (sigma * std::numbers::sqrt2);
  return 0.5 * (std::erf((n + 0.5) * scale) - std::erf((n - 0.5) * scale));
}

}  // namespace

HalfKernel gaussian_kernel(double sigma) {
  const double variance = sigma * sigma * (sigma < kSmoothEnd ? 1 : kParabolaVariance);
  const double kept = std::sqrt(std::max(0.0, variance - kBoxVariance));
  const int radius = static_cast<int>(std::ceil(kCut * sigma));
  std::vector<double> weights;
  double sum = 0;
  const double end = radius + 1, last = sigma < kSmoothEnd ? 0 : integral_over_voxel(radius + 1, kept);
  for (int n = 0; n <= radius; ++n) {
    const double parabola = last == 0 ? 0 : last * (1 + (end * end - n * n) / (2 * kept * kept));
    weights.push_back(integral_over_voxel(n, kept) - parabola);
    sum += (n == 0 ? 1 : 2) * weights.back();
  }
  HalfKernel kernel;
  for (const double w : weights) kernel.weights.push_back(static_cast<float>(w / sum));
  return kernel;
}

KernelProducts kernel_products(const HalfKernel& kernel) {
  const int r = kernel.radius();
  const auto smooth = [&](int n) {
    return std::abs(n) <= r ? static_cast<double>(kernel.weights[static_cast<std::size_t>(std::abs(n))])
                            : 0.0;
  };
  KernelProducts products{0, 0, 0};
  for (int n = -r - 1; n <= r + 1; ++n) {
    const double second = smooth(n - 1) - 2 * smooth(n) + smooth(n + 1);
    products.smooth_smooth += smooth(n) * smooth(n);
    products.smooth_second += smooth(n) * second;
    products.second_second += second * second;
  }
  return products;
}

MOTES_CLONES
void weighted_pair_sums(const HalfKernel& kernel, const float* const* minus, const float* const* plus,
                        std::int64_t n, float* out) {
  const float* weights = kernel.weights.data();
  const int radius = kernel.radius();
  for (std::int64_t begin = 0; begin < n; begin += kBlockSize) {
    const int size = static_cast<int>(std::min(kBlockSize, n - begin));
    float sums[kBlockSize];
    const float* centre = minus[0] + begin;
#pragma omp simd
    for (int i = 0; i < size; ++i) sums[i] = weights[0] * centre[i];
    for (int k = 1; k <= radius; ++k) {
      const float weight = weights[k];
      const float* left = minus[k] + begin;
      const float* right = plus[k] + begin;
#pragma omp simd
      for (int i = 0; i < size; ++i) sums[i] = with_pair(sums[i], weight, left[i], right[i]);
    }
    std::copy(sums, sums + size, out + begin);
  }
}

void mean_of_rows(const float* const* rows, std::int64_t count, std::int64_t n, float* out) {
  std::fill_n(out, n, 0.0F);
  const float share = 1.0F / static_cast<float>(count);
  for (std::int64_t r = 0; r < count; ++r) {
    const float* row = rows[r];
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) out[i] += share * row[i];
  }
}

MOTES_CLONES
void laplacian_row(StencilRows rows, float weight_x, float weight_y, float weight_z, std::int64_t n,
                   float* out) {
#pragma omp simd
  for (std::int64_t x = 0; x < n; ++x)
    out[x] = laplacian_of(rows.centre[x], rows.centre[x - 1], rows.centre[x + 1], rows.y_before[x],
                          rows.y_after[x], rows.z_before[x], rows.z_after[x], weight_x, weight_y, weight_z);
}

}  // namespace motes::tracking::detect
