#pragma once
/// The quadratic is the weighted least-squares one over the 3x3x3 neighbourhood, weights 1-2-1 along each
/// axis: it is less sensitive to noise than differences through the centre only, and corners have little
/// weight. The grid is symmetric, so the coefficients are weighted sums without a system of equations: along
/// an axis the slope is the smoothed first difference, the curvature the smoothed second difference. Mixed
/// terms are independent of these and are omitted. Optics blur along the axes; the mixed terms of a round
/// peak that is not a parabola are an error (measured: 0.1 voxel for a spot of sigma 1 off the voxel centre
/// along all axes).
///
/// A frame's outermost voxel has no neighbour on one side. There the offset follows from the difference to
/// the one neighbour (the slope half-way to it) and the curvature of a spot of the filter's own radius. If
/// the vertex lies more than half a voxel from the voxel, the fit moves there and is repeated.
///
/// The peak is not a parabola: the vertex of one through three points is too near the voxel's centre.
/// correct_bias computes this bias from the profile below, for a spot of the filter's own radius, and removes
/// it.
///
/// Width: a Gaussian spot of variance s0^2 filtered by a LoG of variance s^2 in d dimensions has a response,
/// at a distance r from its centre, proportional to (1 - r^2 / (d v)) exp(-r^2 / (2 v)), v = s0^2 + s^2.
/// Along each axis v follows from the response of the two neighbours. The spot's radius is sqrt(d) s0, as the
/// filter's is sqrt(d) s.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <motes/base/exact_math.h>
#include <motes/base/host_device.h>

#include "tracking/detect/filter/response_view.h"

namespace motes::tracking::detect {

struct Peak {
  double z = 0, y = 0, x = 0;  ///< voxels
  double quality = 0;          ///< response there: between the response of the voxel and twice that
};

/// A spot as measured in the response.
struct Measured {
  Peak peak;             ///< with corrected bias, unless its place was fitted
  double radius_um = 0;  ///< see fitted_radius_um; 0 if the place was fitted
  double intensity = 0;
};

namespace rules {

constexpr int kMoves = 4;         // most steps to a neighbour voxel
constexpr double kSettled = 0.5;  // largest offset in voxels that needs no step
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kNarrowest = 0.2, kWidest = 20;  // range of a spot's variance, relative to the filter's

using Index3 = std::array<std::int64_t, 3>;  // x, y, z
using Offset = std::array<double, 3>;        // x, y, z

MOTES_HOST_DEVICE inline Index3 size_of(const ResponseView& r) { return {r.nx, r.ny, r.nz}; }

struct Fit {
  std::array<double, 3> slope{}, curvature{};
  std::array<bool, 3> free{};  ///< axes with neighbours on both sides; the others have slope and curvature 0
};

MOTES_HOST_DEVICE inline Fit fit_quadratic(const ResponseView& response, const Index3& at) {
  const Index3 size = size_of(response);
  Fit fit;
  for (std::size_t a = 0; a < 3; ++a) fit.free[a] = at[a] > 0 && at[a] + 1 < size[a];
  const auto step_of = [&](std::size_t axis, int from) { return fit.free[axis] ? from : 0; };
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const std::array<int, 3> d{dx, dy, dz};
        const double value =
            response.at(at[2] + step_of(2, dz), at[1] + step_of(1, dy), at[0] + step_of(0, dx));
        const auto smooth = [&](std::size_t a) { return d[a] == 0 ? 0.5 : 0.25; };
        for (std::size_t a = 0; a < 3; ++a) {
          if (!fit.free[a]) continue;
          const double others = smooth((a + 1) % 3) * smooth((a + 2) % 3) * value;
          fit.slope[a] += 0.5 * d[a] * others;
          fit.curvature[a] += (d[a] == 0 ? -2 : 1) * others;
        }
      }
    }
  }
  return fit;
}

/// Vertex relative to the voxel; 0 along axes without a maximum of the quadratic.
MOTES_HOST_DEVICE inline Offset vertex(const Fit& fit) {
  Offset offset{};
  for (std::size_t a = 0; a < 3; ++a)
    if (fit.curvature[a] < 0) offset[a] = -fit.slope[a] / fit.curvature[a];
  return offset;
}

/// v (see above) of a spot of the filter's own sigma.
MOTES_HOST_DEVICE inline double own_variance(const FilterView& filter, std::size_t axis) {
  return filter.sigma[axis] * filter.sigma[axis] * 2;
}

/// The responses at a voxel `offset` from a spot's centre and one voxel before and after it, up to a common
/// factor. The response at a distance r is (1 - r^2 / (d v)) exp(-r^2 / (2 v)).
struct Profile {
  double before, here, after;
};
MOTES_HOST_DEVICE inline Profile profile_around(double offset, double v, double d) {
  const auto bend = [&](double r) { return 1 - r * r / (d * v); };
  return {bend(1 + offset) * exact_exp(-(1 + 2 * offset) / (2 * v)), bend(offset),
          bend(1 - offset) * exact_exp(-(1 - 2 * offset) / (2 * v))};
}

/// The offset by a parabola through three voxels for a spot that is `offset` from the middle one.
MOTES_HOST_DEVICE inline double parabola_offset(double offset, double v, double d) {
  const Profile p = profile_around(offset, v, d);
  return 0.5 * (p.before - p.after) / (p.before - 2 * p.here + p.after);
}

/// Offset along an axis on which the voxel has only one neighbour, from the slope towards it; see above.
MOTES_HOST_DEVICE inline double border_offset(const ResponseView& response, const FilterView& filter,
                                              const Index3& at, std::size_t axis) {
  const Index3 size = size_of(response);
  if (size[axis] < 2) return 0;
  const int inwards = at[axis] == 0 ? 1 : -1;
  Index3 next = at;
  next[axis] += inwards;
  const double here = response.at(at[2], at[1], at[0]), there = response.at(next[2], next[1], next[0]);
  const double curvature = (filter.dimensions + 2.0) / filter.dimensions / own_variance(filter, axis);
  const double height = std::max(0.5 * (here + there), 0.25 * here);
  return inwards * limited(0.5 - (here - there) / (curvature * height), 0.0, kSettled);
}

/// Moves `at` one voxel towards an offset of more than half a voxel; false where no offset is that
/// long, or where the frame ends.
MOTES_HOST_DEVICE inline bool step_towards(const Offset& offset, const Index3& size, Index3& at) {
  bool moved = false;
  for (std::size_t a = 0; a < 3; ++a) {
    const double o = offset[a];
    if (std::abs(o) <= kSettled + 0.1) continue;  // the margin prevents oscillation between two voxels
    const std::int64_t next = at[a] + (o > 0 ? 1 : -1);
    if (next < 0 || next >= size[a]) continue;
    at[a] = next;
    moved = true;
  }
  return moved;
}

/// Ratio of the mean of the two neighbours to the voxel itself, for a spot `offset` from the voxel.
MOTES_HOST_DEVICE inline double neighbour_ratio(double v, double offset, double d) {
  const Profile p = profile_around(offset, v, d);
  return 0.5 * (p.before + p.after) / p.here;
}

/// The v with that ratio, by bisection between `least` and `most`.
MOTES_HOST_DEVICE inline double variance_of(double ratio, double offset, double d, double least,
                                            double most) {
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (least + most);
    (neighbour_ratio(middle, offset, d) < ratio ? least : most) = middle;
  }
  return 0.5 * (least + most);
}

/// Fits a quadratic to the 27 responses around a maximum. O(1).
MOTES_HOST_DEVICE inline Peak refine(const ResponseView& response, const FilterView& filter, std::int64_t z,
                                     std::int64_t y, std::int64_t x) {
  Index3 at{x, y, z};
  Fit fit = fit_quadratic(response, at);
  Offset offset = vertex(fit);
  for (int move = 0; move < kMoves && step_towards(offset, size_of(response), at); ++move) {
    fit = fit_quadratic(response, at);
    offset = vertex(fit);
  }
  double fitted = response.at(at[2], at[1], at[0]);
  for (std::size_t a = 0; a < 3; ++a) {
    offset[a] = limited(offset[a], -kSettled, kSettled);
    fitted += 0.5 * fit.slope[a] * offset[a];
    if (!fit.free[a]) offset[a] = border_offset(response, filter, at, a);
  }

  const double voxel_value = response.at(z, y, x);
  Peak peak;
  peak.x = static_cast<double>(at[0]) + offset[0];
  peak.y = static_cast<double>(at[1]) + offset[1];
  peak.z = static_cast<double>(at[2]) + offset[2];
  peak.quality = limited(fitted, voxel_value, 2 * voxel_value);
  return peak;
}

/// See refine.h.
MOTES_HOST_DEVICE inline Peak correct_bias(const ResponseView& response, const FilterView& filter,
                                           const Peak& peak) {
  const auto corrected = [&](double place, std::int64_t n, std::size_t axis) {
    const std::int64_t voxel = std::lround(place);
    if (voxel == 0 || voxel + 1 == n) return place;
    const double seen = place - static_cast<double>(voxel);
    double low = 0, high = kSettled;
    for (int i = 0; i < 30; ++i) {
      const double middle = 0.5 * (low + high);
      (parabola_offset(middle, own_variance(filter, axis), filter.dimensions) < std::abs(seen) ? low : high) =
          middle;
    }
    return static_cast<double>(voxel) + std::copysign(0.5 * (low + high), seen);
  };
  Peak better = peak;
  better.x = corrected(peak.x, response.nx, 0);
  better.y = corrected(peak.y, response.ny, 1);
  better.z = corrected(peak.z, response.nz, 2);
  return better;
}

/// See refine.h. `voxel_um`: x, y, z.
MOTES_HOST_DEVICE inline double fitted_radius_um(const ResponseView& response, const FilterView& filter,
                                                 const Offset& voxel_um, const Peak& peak) {
  const std::array<double, 3> place{peak.x, peak.y, peak.z};
  const Index3 size = size_of(response);
  const Index3 at{std::lround(peak.x), std::lround(peak.y), std::lround(peak.z)};
  const auto value = [&](const Index3& i) { return static_cast<double>(response.at(i[2], i[1], i[0])); };
  double log_sum = 0;
  int axes = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (at[a] == 0 || at[a] + 1 == size[a]) continue;
    Index3 before = at, after = at;
    --before[a];
    ++after[a];
    const double ratio = 0.5 * (value(before) + value(after)) / value(at);
    const double offset = place[a] - static_cast<double>(at[a]);
    const double filter_variance = filter.sigma[a] * filter.sigma[a];
    const double v = variance_of(ratio, offset, filter.dimensions, (1 + kNarrowest) * filter_variance,
                                 (1 + kWidest) * filter_variance);
    log_sum += exact_log(std::sqrt(filter.dimensions * (v - filter_variance)) * voxel_um[a]);
    ++axes;
  }
  return axes > 0 ? exact_exp(log_sum / axes) : kUnknown;
}

MOTES_HOST_DEVICE inline Measured measure(const ResponseView& response, const FilterView& filter,
                                          const Offset& voxel_um, const Peak& peak, bool fitted) {
  Measured measured{peak, 0, 0};
  if (!fitted) {
    measured.peak = correct_bias(response, filter, peak);
    measured.radius_um = fitted_radius_um(response, filter, voxel_um, measured.peak);
  }
  measured.intensity = response.smoothed(measured.peak.z, measured.peak.y, measured.peak.x);
  return measured;
}

}  // namespace rules
}  // namespace motes::tracking::detect
