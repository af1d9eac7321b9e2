/// The response is L = -sum over axes a of sigma_a^2 D_a G, where G is the smoothed frame and D_a the second
/// difference along a. Each axis is in units of its sigma, so that spots and voxels may be anisotropic.
///
/// Beyond each end of an axis the frame is continued by the mean of its outermost voxels, over two sigma.
/// (Mirroring or repeating the outermost voxel would double its noise, so that the border planes of a thin
/// stack fill with false spots, and would double a spot there. A fixed value would create edges under uneven
/// light. A mean of more voxels would create ghosts of spots further in.) The stencil needs the smoothed
/// frame one voxel beyond the frame.
///
/// There are two sweeps over tasks that fit into the second-level cache: (1) per plane and band of rows:
/// voxels to float, along x, along y; (2) per band of rows, plane after plane: along z into a ring of three
/// slabs, and the stencil. Every element is computed by the same operations in the same order for any bands,
/// so the number of threads does not change the result.

#include "tracking/detect/filter/response.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>

namespace motes::tracking::detect {
namespace {

constexpr std::int64_t kPlaneBand = 64;  // rows per task of the first sweep
constexpr std::int64_t kDepthBand = 16;  // rows per task of the second sweep
constexpr double kLargestRadius = 1000;  // voxels

std::int64_t clamped(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }

/// The values beyond both ends of an axis: one row (or slab) for each.
struct Beyond {
  std::vector<float> before, after;

  /// row_at(i) gives row i of n, `width` elements long. An end is computed only if needed.
  template <class RowAt>
  Beyond(const HalfKernel& kernel, std::int64_t n, std::int64_t width, bool need_before, bool need_after,
         const RowAt& row_at) {
    const std::int64_t count = edge_voxels(kernel.radius(), n);
    std::vector<const float*> rows(static_cast<std::size_t>(count));
    const auto fill = [&](std::int64_t first, std::vector<float>& out) {
      for (std::int64_t i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = row_at(first + i);
      out.resize(static_cast<std::size_t>(width));
      mean_of_rows(rows.data(), count, width, out.data());
    };
    if (need_before) fill(0, before);
    if (need_after) fill(n - count, after);
  }
};

/// Fills `margin` elements at both ends of a row with the mean of the outermost elements next to them.
void extend_row(std::vector<float>& row, std::int64_t margin, const HalfKernel& kernel) {
  const std::int64_t n = static_cast<std::int64_t>(row.size()) - 2 * margin,
                     count = edge_voxels(kernel.radius(), n);
  float before = 0, after = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    before += row[static_cast<std::size_t>(margin + i)];
    after += row[static_cast<std::size_t>(margin + n - 1 - i)];
  }
  std::fill_n(row.begin(), margin, before / static_cast<float>(count));
  std::fill_n(row.end() - margin, margin, after / static_cast<float>(count));
}

double sigma_of_axis(std::int64_t voxels, double voxel_um, double radius_um, int dimensions, double least) {
  const double radius = radius_um / voxel_um;
  if (!(radius > 0) || !(radius <= kLargestRadius))
    throw UsageError("detection.radius_um: " + std::to_string(radius_um) + " um is " +
                     std::to_string(radius) + " voxels; give a radius over 0 and of at most 1000 voxels");
  return voxels > 1 ? std::max(least, radius / std::sqrt(static_cast<double>(dimensions))) : 0;
}

/// Pointers to the input rows of one output row, for weighted_pair_sums.
struct Taps {
  explicit Taps(int radius) : minus(static_cast<std::size_t>(radius) + 1), plus(minus.size()) {}
  template <class RowAt>
  void point(std::int64_t centre, const RowAt& row_at) {
    for (std::size_t k = 0; k < minus.size(); ++k) {
      minus[k] = row_at(centre - static_cast<std::int64_t>(k));
      plus[k] = row_at(centre + static_cast<std::int64_t>(k));
    }
  }
  std::vector<const float*> minus, plus;
};

}  // namespace

double Filter::noise_gain() const {
  std::array<KernelProducts, 3> p;
  for (std::size_t a = 0; a < 3; ++a) p[a] = kernel_products(kernels[a]);
  double variance = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      double term = sigma[a] * sigma[a] * sigma[b] * sigma[b];
      for (std::size_t c = 0; c < 3; ++c) {
        if (c == a && c == b) {
          term *= p[c].second_second;
        } else {
          term *= c == a || c == b ? p[c].smooth_second : p[c].smooth_smooth;
        }
      }
      variance += term;
    }
  }
  return std::sqrt(std::max(0.0, variance));
}

Filter make_filter(const Shape3& shape, const Vec3& voxel_um, const Vec3& radius_um, double least_sigma) {
  Filter filter;
  for (const std::int64_t n : {shape.nx, shape.ny, shape.nz}) filter.dimensions += n > 1 ? 1 : 0;
  const int d = filter.dimensions;
  filter.sigma = {sigma_of_axis(shape.nx, voxel_um.x, radius_um.x, d, least_sigma),
                  sigma_of_axis(shape.ny, voxel_um.y, radius_um.y, d, least_sigma),
                  sigma_of_axis(shape.nz, voxel_um.z, radius_um.z, d, least_sigma)};
  for (std::size_t a = 0; a < 3; ++a) filter.kernels[a] = gaussian_kernel(filter.sigma[a]);
  return filter;
}

Response::Response(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                   Polarity polarity, float offset)
    : shape_(frame.shape), filter_(filter), offset_(offset) {
  const std::int64_t padded = shape_.nz * (shape_.ny + 2) * (shape_.nx + 2);
  plane_smoothed_ = ScratchArray<float>(scratch_of(frame), static_cast<std::size_t>(padded));
  log_ = ScratchArray<float>(scratch_of(frame), static_cast<std::size_t>(shape_.voxels()));
  smooth_planes(execution, frame);
  laplacian(execution, polarity);
}

void Response::smooth_planes(const Execution& execution, const VolumeFrame& frame) {
  const std::int64_t bands = (shape_.ny + 2 + kPlaneBand - 1) / kPlaneBand;
  parallel_for(thread_count(execution), shape_.nz * bands, [&](std::int64_t task) {
    const std::int64_t begin = task % bands * kPlaneBand - 1;
    smooth_band(frame, task / bands, begin, std::min(begin + kPlaneBand, shape_.ny + 1));
  });
}

/// Smooths rows [begin, end) of plane z along x and y, begin >= -1, end <= ny + 1.
void Response::smooth_band(const VolumeFrame& frame, std::int64_t z, std::int64_t begin, std::int64_t end) {
  const HalfKernel &along_x = filter_.kernels[0], &along_y = filter_.kernels[1];
  const std::int64_t width = shape_.nx + 2, margin = along_x.radius() + 1, ny = shape_.ny;
  const std::int64_t edge = edge_voxels(along_y.radius(), ny);
  const bool before = begin - along_y.radius() < 0, after = end - 1 + along_y.radius() >= ny;
  const std::int64_t first = std::min(clamped(begin - along_y.radius(), ny), after ? ny - edge : ny);
  const std::int64_t last = std::max(clamped(end - 1 + along_y.radius(), ny), before ? edge - 1 : 0);

  std::vector<float> source(static_cast<std::size_t>(shape_.nx + 2 * margin));
  std::vector<float> rows(static_cast<std::size_t>((last - first + 1) * width));
  const auto row = [&](std::int64_t y) { return rows.data() + (y - first) * width; };
  Taps taps(along_x.radius());
  taps.point(margin - 1, [&](std::int64_t x) { return source.data() + x; });
  for (std::int64_t y = first; y <= last; ++y) {
    read_row(frame, z, y, 0, shape_.nx, offset_, source.data() + margin);
    extend_row(source, margin, along_x);
    weighted_pair_sums(along_x, taps.minus.data(), taps.plus.data(), width, row(y));
  }

  const Beyond beyond(along_y, ny, width, before, after, row);
  Taps column(along_y.radius());
  for (std::int64_t y = begin; y < end; ++y) {
    column.point(y, [&](std::int64_t at) -> const float* {
      return at < 0 ? beyond.before.data() : at >= ny ? beyond.after.data() : row(at);
    });
    weighted_pair_sums(along_y, column.minus.data(), column.plus.data(), width,
                       &plane_smoothed_[static_cast<std::size_t>((z * (ny + 2) + y + 1) * width)]);
  }
}

void Response::laplacian(const Execution& execution, Polarity polarity) {
  const float sign = polarity == Polarity::bright ? -1.0F : 1.0F;
  const std::int64_t bands = (shape_.ny + kDepthBand - 1) / kDepthBand;
  parallel_for(thread_count(execution), bands, [&](std::int64_t band) {
    laplacian_band(band * kDepthBand, std::min((band + 1) * kDepthBand, shape_.ny), sign);
  });
}

/// Computes the response in rows [begin, end) of all planes.
void Response::laplacian_band(std::int64_t begin, std::int64_t end, float sign) {
  const HalfKernel& along_z = filter_.kernels[2];
  const std::int64_t width = shape_.nx + 2, size = (end - begin + 2) * width;
  const auto weight = [&](std::size_t a) {
    return sign * static_cast<float>(filter_.sigma[a] * filter_.sigma[a]);
  };
  const float wx = weight(0), wy = weight(1), wz = weight(2);
  std::vector<float> ring(static_cast<std::size_t>(3 * size));
  const auto source = [&](std::int64_t z) { return padded_row(z, begin - 1); };
  const Beyond beyond(along_z, shape_.nz, size, true, true, source);
  Taps taps(along_z.radius());
  const auto slab = [&](std::int64_t z) { return ring.data() + (z + 3) % 3 * size; };
  for (std::int64_t next = -1; next <= shape_.nz; ++next) {
    taps.point(next, [&](std::int64_t z) {
      return z < 0 ? beyond.before.data() : z >= shape_.nz ? beyond.after.data() : source(z);
    });
    weighted_pair_sums(along_z, taps.minus.data(), taps.plus.data(), size, slab(next));
    const std::int64_t z = next - 1;
    if (z < 0) continue;
    for (std::int64_t y = begin; y < end; ++y) {
      const std::int64_t at = (y - begin + 1) * width + 1;
      const float* centre = slab(z) + at;
      laplacian_row({centre, centre - width, centre + width, slab(z - 1) + at, slab(z + 1) + at}, wx, wy, wz,
                    shape_.nx, &log_[index(z, y, 0)]);
    }
  }
}

ResponseView Response::view() const {
  const HalfKernel& along_z = filter_.kernels[2];
  return {log_.data(), plane_smoothed_.data(), shape_.nz,        shape_.ny,
          shape_.nx,   along_z.weights.data(), along_z.radius(), offset_};
}

}  // namespace motes::tracking::detect
