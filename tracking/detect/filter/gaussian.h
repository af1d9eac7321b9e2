#pragma once
/// Separable Gaussian smoothing: the loops in which the detector spends most time.

#include <cstdint>
#include <vector>

namespace motes::tracking::detect {

/// One half of a symmetric kernel: weights[0] is the centre, weights[k] the weight at distance k.
/// The whole kernel sums to one.
struct HalfKernel {
  std::vector<float> weights;  ///< [radius + 1]
  int radius() const { return static_cast<int>(weights.size()) - 1; }
};

/// Gaussian of variance sigma^2 (in voxels), integrated over each voxel and cut at 4 sigma, smoothly if it is
/// wide. A sigma up to sqrt(1/12), that of one voxel's box, gives the identity.
HalfKernel gaussian_kernel(double sigma);

/// Inner products of a kernel T and its second difference D = T(n-1) - 2 T(n) + T(n+1), over all n. They give
/// the response to white noise.
struct KernelProducts {
  double smooth_smooth = 1;  ///< <T, T>
  double smooth_second = 0;  ///< <T, D>
  double second_second = 0;  ///< <D, D>
};
KernelProducts kernel_products(const HalfKernel& kernel);

/// out[i] = w[0] minus[0][i] + sum over k >= 1 of w[k] (minus[k][i] + plus[k][i]), i in [0, n).
/// `minus` and `plus` hold radius + 1 pointers each (plus[0] is not read); `out` overlaps none of them.
/// Along x they point into one padded row, along y and z to whole rows: every pass is this loop. The order of
/// the operations on one element is fixed, so the result is the same on every machine.
void weighted_pair_sums(const HalfKernel& kernel, const float* const* minus, const float* const* plus,
                        std::int64_t n, float* out);

/// out[i] = mean of rows[0][i] .. rows[count - 1][i], i in [0, n).
void mean_of_rows(const float* const* rows, std::int64_t count, std::int64_t n, float* out);

/// One row of a 7-point stencil and its neighbour rows; x - 1 and x + 1 of `centre` must be readable.
struct StencilRows {
  const float *centre, *y_before, *y_after, *z_before, *z_after;
};

/// out[x] = sum over the axes of weight * second difference, x in [0, n).
void laplacian_row(StencilRows rows, float weight_x, float weight_y, float weight_z, std::int64_t n,
                   float* out);

}  // namespace motes::tracking::detect
