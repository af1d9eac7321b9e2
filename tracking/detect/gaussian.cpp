/// The discrete Gaussian T(n; t) = exp(-t) I_n(t), t = sigma^2 (Lindeberg 1990, "Scale-space for discrete
/// signals"). It is the exact solution of the diffusion equation on a lattice: its variance is t at any scale,
/// it forms a semigroup, and it is right where a sampled Gaussian is not (sigma under about half a voxel, as the
/// z axis of a stack often has). Its second derivative is the plain second difference of the smoothed signal, so
/// a Laplacian needs three smoothing passes and one 7-point stencil instead of six convolutions.
///
/// T is computed from its Fourier transform exp(t (cos w - 1)) by the trapezoidal rule, which for a periodic
/// analytic function is exact up to aliasing far below float precision.

#include "tracking/detect/gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>

// One clone per instruction set, chosen at load time. Sanitizers run before the resolvers can, so not there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MOTES_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MOTES_CLONES
#endif

namespace motes::tracking::detect {
namespace {
constexpr double kCut = 4;               // sigmas kept on each side
constexpr std::int64_t kBlockSize = 64;  // elements whose sums stay in registers or the first cache
}  // namespace

HalfKernel discrete_gaussian(double sigma) {
  const double t = sigma * sigma;
  const int radius = static_cast<int>(std::ceil(kCut * sigma));
  const int samples = 4 * radius + 64;
  std::vector<double> spectrum(static_cast<std::size_t>(samples));
  for (int j = 0; j < samples; ++j)
    spectrum[static_cast<std::size_t>(j)] = std::exp(t * (std::cos(2 * std::numbers::pi * j / samples) - 1));
  std::vector<double> weights;
  double sum = 0;
  for (int n = 0; n <= radius; ++n) {
    double value = 0;
    for (int j = 0; j < samples; ++j) {
      const int phase = static_cast<int>(static_cast<std::int64_t>(n) * j % samples);
      value += spectrum[static_cast<std::size_t>(j)] * std::cos(2 * std::numbers::pi * phase / samples);
    }
    weights.push_back(std::max(0.0, value / samples));
    sum += (n == 0 ? 1 : 2) * weights.back();
  }
  HalfKernel kernel;
  for (const double w : weights) kernel.weights.push_back(static_cast<float>(w / sum));
  return kernel;
}

KernelProducts kernel_products(const HalfKernel& kernel) {
  const int r = kernel.radius();
  const auto smooth = [&](int n) {
    return std::abs(n) <= r ? static_cast<double>(kernel.weights[static_cast<std::size_t>(std::abs(n))]) : 0.0;
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
      for (int i = 0; i < size; ++i) sums[i] += weight * (left[i] + right[i]);
    }
    std::copy(sums, sums + size, out + begin);
  }
}

MOTES_CLONES
void laplacian_row(StencilRows rows, float weight_x, float weight_y, float weight_z, std::int64_t n, float* out) {
#pragma omp simd
  for (std::int64_t x = 0; x < n; ++x) {
    const float twice = 2 * rows.centre[x];
    out[x] = weight_x * (rows.centre[x - 1] - twice + rows.centre[x + 1]) +
             weight_y * (rows.y_before[x] - twice + rows.y_after[x]) +
             weight_z * (rows.z_before[x] - twice + rows.z_after[x]);
  }
}

}  // namespace motes::tracking::detect
