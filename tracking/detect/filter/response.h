#pragma once
/// The detector's filter: scale-normalised Laplacian of Gaussian of a frame.

#include <array>
#include <cstdint>

#include <motes/base/index.h>
#include <motes/base/scratch.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/filter/frame_rows.h"
#include "tracking/detect/filter/gaussian.h"
#include "tracking/detect/filter/response_view.h"

namespace motes::tracking::detect {

/// The filter at one scale, in the order x, y, z. Axes of one voxel are not filtered: their sigma is 0.
struct Filter {
  std::array<double, 3> sigma{};  ///< voxels
  std::array<HalfKernel, 3> kernels;
  int dimensions = 0;  ///< axes of more than one voxel

  FilterView view() const { return {sigma, dimensions}; }

  /// Standard deviation of the response to white noise of standard deviation 1.
  double noise_gain() const;
};

/// Filter for spots of radius_um (per axis; sigma = radius / sqrt(dimensions)). `least_sigma`: lower bound of
/// sigma along each axis, in voxels. Throws UsageError for a radius that is not positive or is over 1000
/// voxels.
Filter make_filter(const Shape3& shape, const Vec3& voxel_um, const Vec3& radius_um, double least_sigma = 0);

/// The LoG of a frame (higher: more spot-like), and the frame smoothed along x and y, from which the fully
/// smoothed value at a place is quickly computed. Both are in files if the frame is.
class Response {
 public:
  /// `offset` is subtracted from every voxel first, so that a constant frame gives exact zeros.
  /// O(voxels * (sigma_x + sigma_y + sigma_z)); the same for any thread count.
  Response(const Execution& execution, const VolumeFrame& frame, const Filter& filter, Polarity polarity,
           float offset);

  const Shape3& shape() const { return shape_; }
  const float* row(std::int64_t z, std::int64_t y) const { return &log_[index(z, y, 0)]; }
  float at(std::int64_t z, std::int64_t y, std::int64_t x) const { return log_[index(z, y, x)]; }

  double smoothed(double z, double y, double x) const { return view().smoothed(z, y, x); }
  ResponseView view() const;  ///< valid as long as this object
  operator ResponseView() const { return view(); }

 private:
  std::size_t index(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>((z * shape_.ny + y) * shape_.nx + x);
  }
  const float* padded_row(std::int64_t z, std::int64_t y) const {
    return &plane_smoothed_[static_cast<std::size_t>((z * (shape_.ny + 2) + y + 1) * (shape_.nx + 2))];
  }
  void smooth_planes(const Execution& execution, const VolumeFrame& frame);
  void smooth_band(const VolumeFrame& frame, std::int64_t z, std::int64_t begin, std::int64_t end);
  void laplacian(const Execution& execution, Polarity polarity);
  void laplacian_band(std::int64_t begin, std::int64_t end, float sign);

  Shape3 shape_;
  Filter filter_;
  float offset_;
  /// [nz][ny + 2][nx + 2]: with a border of one voxel; x and y begin at -1.
  ScratchArray<float> plane_smoothed_;
  ScratchArray<float> log_;  ///< [nz][ny][nx]
};

}  // namespace motes::tracking::detect
