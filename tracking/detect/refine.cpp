/// The quadratic is the weighted least-squares one over the 3x3x3 neighbourhood, weights 1-2-1 along each
/// axis: with noise it is steadier than differences through the centre alone, and corners count little. By
/// the symmetry of the grid its coefficients are plain weighted sums (no system to solve): along an axis the
/// slope is the smoothed first difference, the curvature the smoothed second difference. Its mixed terms are
/// independent of these and are left out: optics blur along the axes, where a round peak that is not a
/// parabola shows mixed terms they are an error (measured: .1 voxel for a spot of sigma 1 that is off along
/// all axes).
///
/// A frame's outermost voxel has no neighbour on one side. There the difference to the one neighbour there is
/// (the slope half way to it) and the curvature that a spot of the filter's own radius has tell the offset.
/// If the vertex lies more than half a voxel off, the fit moves there and is repeated.
///
/// A parabola through three points of a peak that is none puts its vertex too near the voxel's centre. The
/// profile below, with the width of a spot of the filter's own radius, tells by how much; correct_bias takes
/// it back.
///
/// Width: a Gaussian spot of variance s0^2 seen through a LoG of variance s^2 in d dimensions answers, at a
/// distance r from its centre, in proportion to (1 - r^2 / (d v)) exp(-r^2 / (2 v)), v = s0^2 + s^2. Along
/// each axis v is what makes the two neighbours as high as they are. The spot's radius is sqrt(d) s0, as the
/// filter's is sqrt(d) s.

#include "tracking/detect/refine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace motes::tracking::detect {
namespace {

constexpr int kMoves = 4;         // steps to a neighbour voxel before the fit is taken as it is
constexpr double kSettled = 0.5;  // voxels of offset at most
constexpr double kNarrowest = 0.2, kWidest = 20;  // of the filter's variance: the spots told apart

using Index3 = std::array<std::int64_t, 3>;  // x, y, z

using Offset = std::array<double, 3>;  // x, y, z

Index3 size_of(const Shape3& shape) { return {shape.nx, shape.ny, shape.nz}; }

struct Fit {
  std::array<double, 3> slope{}, curvature{};
  std::array<bool, 3> free{};  ///< axes with neighbours on both sides; the others have slope and curvature 0
};

Fit fit_quadratic(const Response& response, const Index3& at) {
  const Index3 size = size_of(response.shape());
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

/// Vertex relative to the voxel; 0 along an axis where the quadratic has no maximum.
Offset vertex(const Fit& fit) {
  Offset offset{};
  for (std::size_t a = 0; a < 3; ++a)
    if (fit.curvature[a] < 0) offset[a] = -fit.slope[a] / fit.curvature[a];
  return offset;
}

/// v (see above) of a spot of the filter's own sigma.
double own_variance(const Filter& filter, std::size_t axis) {
  return filter.sigma[axis] * filter.sigma[axis] * 2;
}

/// Response at a distance r from a spot's centre, relative to that at the centre.
double profile(double r, double v, double d) { return (1 - r * r / (d * v)) * std::exp(-r * r / (2 * v)); }

/// Where a parabola through three voxels sees a spot that is `offset` off the middle one.
double parabola_offset(double offset, double v, double d) {
  const double before = profile(1 + offset, v, d), here = profile(offset, v, d),
               after = profile(1 - offset, v, d);
  return 0.5 * (before - after) / (before - 2 * here + after);
}

/// Offset along an axis that ends at the voxel, from the slope towards its one neighbour; see above.
double border_offset(const Response& response, const Filter& filter, const Index3& at, std::size_t axis) {
  const Index3 size = size_of(response.shape());
  if (size[axis] < 2) return 0;
  const int inwards = at[axis] == 0 ? 1 : -1;
  Index3 next = at;
  next[axis] += inwards;
  const double here = response.at(at[2], at[1], at[0]), there = response.at(next[2], next[1], next[0]);
  const double curvature = (filter.dimensions + 2.0) / filter.dimensions / own_variance(filter, axis);
  const double height = std::max(0.5 * (here + there), 0.25 * here);
  return inwards * std::clamp(0.5 - (here - there) / (curvature * height), 0.0, kSettled);
}

/// Moves `at` one voxel towards an offset of more than half a voxel; false where there is no such need or
/// room.
bool step_towards(const Offset& offset, const Index3& size, Index3& at) {
  bool moved = false;
  for (std::size_t a = 0; a < 3; ++a) {
    const double o = offset[a];
    if (std::abs(o) <= kSettled + 0.1) continue;  // the margin keeps a tie between two voxels from swinging
    const std::int64_t next = at[a] + (o > 0 ? 1 : -1);
    if (next < 0 || next >= size[a]) continue;
    at[a] = next;
    moved = true;
  }
  return moved;
}

/// Mean of the two neighbours over the voxel itself, for a spot `offset` off the voxel.
double neighbour_ratio(double v, double offset, double d) {
  return 0.5 * (profile(1 + offset, v, d) + profile(1 - offset, v, d)) / profile(offset, v, d);
}

/// The v of that ratio, by bisection between `least` and `most`.
double variance_of(double ratio, double offset, double d, double least, double most) {
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (least + most);
    (neighbour_ratio(middle, offset, d) < ratio ? least : most) = middle;
  }
  return 0.5 * (least + most);
}

}  // namespace

Peak refine(const Response& response, const Filter& filter, const Voxel& maximum) {
  Index3 at{maximum.x, maximum.y, maximum.z};
  Fit fit = fit_quadratic(response, at);
  Offset offset = vertex(fit);
  for (int move = 0; move < kMoves && step_towards(offset, size_of(response.shape()), at); ++move) {
    fit = fit_quadratic(response, at);
    offset = vertex(fit);
  }
  double fitted = response.at(at[2], at[1], at[0]);
  for (std::size_t a = 0; a < 3; ++a) {
    offset[a] = std::clamp(offset[a], -kSettled, kSettled);
    fitted += 0.5 * fit.slope[a] * offset[a];
    if (!fit.free[a]) offset[a] = border_offset(response, filter, at, a);
  }

  const double voxel_value = response.at(maximum.z, maximum.y, maximum.x);
  Peak peak;
  peak.x = static_cast<double>(at[0]) + offset[0];
  peak.y = static_cast<double>(at[1]) + offset[1];
  peak.z = static_cast<double>(at[2]) + offset[2];
  peak.quality = std::clamp(fitted, voxel_value, 2 * voxel_value);
  return peak;
}

Peak correct_bias(const Response& response, const Filter& filter, const Peak& peak) {
  const Shape3& shape = response.shape();
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
  better.x = corrected(peak.x, shape.nx, 0);
  better.y = corrected(peak.y, shape.ny, 1);
  better.z = corrected(peak.z, shape.nz, 2);
  return better;
}

double fitted_radius_um(const Response& response, const Filter& filter, const Vec3& voxel_um,
                        const Peak& peak) {
  const std::array<double, 3> place{peak.x, peak.y, peak.z}, voxel{voxel_um.x, voxel_um.y, voxel_um.z};
  const Index3 size = size_of(response.shape());
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
    log_sum += std::log(std::sqrt(filter.dimensions * (v - filter_variance)) * voxel[a]);
    ++axes;
  }
  return axes > 0 ? std::exp(log_sum / axes) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace motes::tracking::detect
