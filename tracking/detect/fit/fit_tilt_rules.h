#pragma once
/// The slope of the background around a spot. In a box, centred coordinates are orthogonal to each other and
/// to the constant, even if the frame cuts the box. So slopes follow from sums over the voxels without a
/// system of equations. Sums are kept for each column of the box and added up in the order of columns.

#include <array>
#include <cmath>
#include <cstdint>

#include <motes/base/exact_math.h>
#include <motes/base/host_device.h>

#include "tracking/detect/filter/response_view.h"
#include "tracking/detect/fit/fit_tilt.h"

namespace motes::tracking::detect::rules {

/// The box along one axis. The coordinate c is the distance from its middle.
struct TiltAxis {
  std::int64_t first = 0;
  int count = 1;
  MOTES_HOST_DEVICE double c(int i) const { return static_cast<double>(i) - 0.5 * (count - 1); }
};

MOTES_HOST_DEVICE inline TiltAxis tilt_axis(double place, std::int64_t size, std::int64_t half) {
  const auto centre = limited<std::int64_t>(std::lround(place), 0, size - 1);
  const std::int64_t first = centre - half > 0 ? centre - half : 0;
  const std::int64_t last = centre + half < size ? centre + half : size - 1;
  return {first, static_cast<int>(last - first + 1)};
}

/// exp(-u^2 / 2) of the i-th voxel of an axis.
MOTES_HOST_DEVICE inline double tilt_profile(const TiltAxis& axis, const SpotModel& spot, std::size_t a,
                                             int i) {
  const double u =
      spot.sigma[a] > 0 ? (static_cast<double>(axis.first + i) - spot.place[a]) / spot.sigma[a] : 0;
  return exact_exp(-0.5 * u * u);
}

/// Sums of the spot's profile along one axis with 1, itself and c.
struct TiltSums {
  double n = 1, g = 0, gg = 0, gc = 0, cc = 0;
};
MOTES_HOST_DEVICE inline TiltSums tilt_sums(const TiltAxis& axis, const double* g) {
  TiltSums s;
  s.n = axis.count;
  for (int i = 0; i < axis.count; ++i) {
    const double c = axis.c(i);
    s.g += g[i];
    s.gg += g[i] * g[i];
    s.gc += g[i] * c;
    s.cc += c * c;
  }
  return s;
}

/// Sums over the voxels of one column, minus the value at the box's first voxel.
struct TiltColumn {
  double y = 0, yy = 0, y_cy = 0, y_cz = 0, yg = 0;
  MOTES_HOST_DEVICE void add(double v, double cy, double cz, double g) {
    y += v;
    yy += v * v;
    y_cy += v * cy;
    y_cz += v * cz;
    yg += v * g;
  }
};

/// Sums over the box; columns are added in a fixed order.
struct TiltBox {
  double y = 0, yy = 0, yg = 0;
  std::array<double, 3> yc{};
  MOTES_HOST_DEVICE void add(const TiltColumn& column, double c, double g) {
    y += column.y;
    yy += column.yy;
    yg += column.yg * g;
    yc[0] += column.y * c;
    yc[1] += column.y_cy;
    yc[2] += column.y_cz;
  }
};

/// See tilt_around.
MOTES_HOST_DEVICE inline Tilt tilt_of(const SpotModel& spot, const std::array<TiltSums, 3>& axis, TiltBox box,
                                      double errors) {
  const double n = axis[0].n * axis[1].n * axis[2].n, sum_g = axis[0].g * axis[1].g * axis[2].g;
  double gg = axis[0].gg * axis[1].gg * axis[2].gg - sum_g * sum_g / n;
  box.yy -= box.y * box.y / n;
  box.yg -= box.y * sum_g / n;
  std::array<double, 3> cc{}, gc{};
  double dof = n - 2;
  for (std::size_t a = 0; a < 3; ++a) {
    const TiltSums &b = axis[(a + 1) % 3], &c = axis[(a + 2) % 3];
    cc[a] = axis[a].cc * b.n * c.n;
    gc[a] = axis[a].gc * b.g * c.g;
    if (!(cc[a] > 0)) continue;
    dof -= 1;
    gg -= gc[a] * gc[a] / cc[a];
    box.yg -= box.yc[a] * gc[a] / cc[a];
    box.yy -= box.yc[a] * box.yc[a] / cc[a];
  }
  Tilt tilt;
  tilt.place = spot.place;
  if (!(gg > 0) || !(dof > 0)) return tilt;
  const double height = box.yg / gg, left = box.yy - box.yg * height, variance = (left > 0 ? left : 0) / dof;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(cc[a] > 0)) continue;
    const double slope = (box.yc[a] - height * gc[a]) / cc[a];
    const double error = std::sqrt(variance * (1 + gc[a] * gc[a] / (cc[a] * gg)) / cc[a]);
    if (std::abs(slope) > errors * error) tilt.slope[a] = slope;
  }
  return tilt;
}

}  // namespace motes::tracking::detect::rules
