#pragma once
/// The evidence of one extremum, on the CPU and on the GPU; evidence.cpp describes the method.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <motes/base/exact_math.h>
#include <motes/base/host_device.h>

#include "tracking/detect/filter/response_view.h"

namespace motes::tracking::detect {

/// The evidence of one extremum of the response.
struct Evidence {
  double score = 0;  ///< signed root of twice the log-likelihood ratio, times the root of roundness; 0 if a
                     ///< single voxel explains the window better than a spot
  double roundness = 0;  ///< 0 to 1: least curvature of the response over half of an ideal spot's, at most 1
  double single = 0;     ///< as the score, but for a single voxel in place of a spot
  /// Height of the spot in the frame's units; positive for the kind of extremum that is searched.
  double amplitude = 0;
  MOTES_HOST_DEVICE bool is_round() const { return roundness >= 1; }
};

/// The score with the fourth root of roundness in place of its square root.
MOTES_HOST_DEVICE inline double softened(const Evidence& e) {
  return e.roundness > 0 ? e.score / std::sqrt(std::sqrt(e.roundness)) : 0;
}

namespace rules {

constexpr double kRound = 0.5;  // an extremum is round from this share of an ideal spot's least curvature on
constexpr int kPhases = 16;     // number of sub-voxel places of a spot along an axis

/// Sums along one axis of the box: of 1, the profile g, g g, g c and c c, with c the centred coordinate.
struct AxisSums {
  double n = 1, g = 1, gg = 1, gc = 0, cc = 0;
};

/// The sums of a profile of n values that begins at g.
MOTES_HOST_DEVICE inline AxisSums axis_sums(const float* g, std::int64_t n) {
  AxisSums s;
  s.n = static_cast<double>(n);
  s.g = s.gg = 0;
  const double middle = 0.5 * (s.n - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(g[i]), c = static_cast<double>(i) - middle;
    s.g += v;
    s.gg += v * v;
    s.gc += v * c;
    s.cc += c * c;
  }
  return s;
}

/// One axis of a frame in blocks (see blocks.h) and of the response.
struct EvidenceAxis {
  std::int64_t size = 1;           ///< blocks
  std::int64_t block = 1;          ///< voxels per block
  std::int64_t response_size = 1;  ///< voxels
  int half = 0, core = 0;          ///< blocks from the middle to the sides of the box and of its core
  double curvature_scale = 0;
  const float* profiles = nullptr;  ///< [kPhases + 1][2 half + 1], relative to the middle value
  const AxisSums* whole = nullptr;  ///< [kPhases + 1], of the whole profile
};

/// The parameters that all extrema of one frame at one scale share. Trivially copyable.
struct EvidenceModel {
  std::array<EvidenceAxis, 3> axes;  ///< x, y, z
  double side = 1, sign = 1;
  double lowest = 0, unit = 0;  ///< see Counting; unit > 0: a frame of counts
};

using Index3 = std::array<std::int64_t, 3>;  // x, y, z
using Place3 = std::array<double, 3>;        // x, y, z; blocks

/// The part within the frame of the box around a place.
struct EvidenceBox {
  Index3 centre{}, first{}, count{};
  std::array<const float*, 3> g{};
  std::array<AxisSums, 3> axis;
};

/// Sums over the voxels of one column (x) of the box, minus the offset.
struct ColumnSums {
  float y = 0, yy = 0, y_dy = 0, y_dz = 0, yg = 0;
};

/// Sums over the box; columns are added in a fixed order.
struct BoxSums {
  double y = 0, yy = 0, yg = 0;
  std::array<double, 3> yc{};
  MOTES_HOST_DEVICE void add(const ColumnSums& c, float g, double from_middle) {
    y += static_cast<double>(c.y);
    yy += static_cast<double>(c.yy);
    yg += static_cast<double>(c.yg) * static_cast<double>(g);
    yc[0] += static_cast<double>(c.y) * from_middle;
    yc[1] += static_cast<double>(c.y_dy);
    yc[2] += static_cast<double>(c.y_dz);
  }
};

/// Sums of products of y, g and a single voxel d after removal of constant and slope.
struct Moments {
  double yy = 0, yg = 0, gg = 0, yd = 0, dd = 0, dof = 1;
};

MOTES_HOST_DEVICE inline double signed_root(double yx, double yy, double xx, double dof) {
  if (!(yy > 0) || !(xx > 0)) return 0;
  const double rho = yx / std::sqrt(yy * xx);
  const double left = 1 - rho * rho, unexplained = left < 1e-12 ? 1e-12 : left;
  return std::copysign(std::sqrt(-dof * exact_log(unexplained)), rho);
}

using Matrix3 = std::array<std::array<double, 3>, 3>;

/// The smallest root of x^3 - 3 x - 2 r, |r| <= 1. It is between -2 and -1, where the cubic rises and is
/// concave, so Newton's steps from -2 do not pass it.
MOTES_HOST_DEVICE inline double least_root(double r) {
  double x = -2;
  for (int i = 0; i < 40; ++i) {
    const double slope = 3 * (x * x - 1);
    if (!(slope > 0)) break;
    const double next = x - ((x * x - 3) * x - 2 * r) / slope;
    if (!(next > x)) break;
    x = next;
  }
  return x < -1 ? x : -1;
}

/// Smallest eigenvalue of a symmetric matrix of n rows (1 to 3).
MOTES_HOST_DEVICE inline double least_eigenvalue(const Matrix3& m, int n) {
  if (n == 1) return m[0][0];
  if (n == 2) {
    const double half = 0.5 * (m[0][0] + m[1][1]), d = 0.5 * (m[0][0] - m[1][1]);
    return half - std::sqrt(d * d + m[0][1] * m[0][1]);
  }
  const double q = (m[0][0] + m[1][1] + m[2][2]) / 3;
  const double off = m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2];
  const double a = m[0][0] - q, b = m[1][1] - q, c = m[2][2] - q;
  const double p = std::sqrt((a * a + b * b + c * c + 2 * off) / 6);
  if (!(p > 0)) return q;
  const double det = a * (b * c - m[1][2] * m[1][2]) - m[0][1] * (m[0][1] * c - m[1][2] * m[0][2]) +
                     m[0][2] * (m[0][1] * m[1][2] - b * m[0][2]);
  return q + p * least_root(limited(det / (2 * p * p * p), -1.0, 1.0));
}

/// Is m - level * 1 positive definite?
MOTES_HOST_DEVICE inline bool exceeds(const Matrix3& m, int n, double level) {
  const double a = m[0][0] - level;
  if (!(a > 0)) return false;
  if (n == 1) return true;
  const double b = m[1][1] - level, ab = a * b - m[0][1] * m[0][1];
  if (!(ab > 0)) return false;
  if (n == 2) return true;
  const double c = m[2][2] - level;
  return a * (b * c - m[1][2] * m[1][2]) - m[0][1] * (m[0][1] * c - m[1][2] * m[0][2]) +
             m[0][2] * (m[0][1] * m[1][2] - b * m[0][2]) >
         0;
}

/// Responses around an extremum, with the sign that makes it a maximum. Neighbours are found by their
/// distance in memory, since a copied index with one changed axis would delay the next load.
struct Around {
  const float* centre;
  std::array<std::int64_t, 3> stride;  ///< of x, y, z
  double side;

  MOTES_HOST_DEVICE Around(const EvidenceModel& model, const ResponseView& response, const Index3& at)
      : centre(response.log + (at[2] * response.ny + at[1]) * response.nx + at[0]),
        stride{1, response.nx, response.ny * response.nx},
        side(model.side) {}
  MOTES_HOST_DEVICE double at(std::int64_t distance) const {
    return side * static_cast<double>(centre[distance]);
  }
};

/// The extremum's place by a parabola along each axis, in blocks. `at`: voxels.
MOTES_HOST_DEVICE inline Place3 sub_voxel(const EvidenceModel& model, const ResponseView& response,
                                          const Index3& at) {
  Place3 place{};
  const Around around(model, response, at);
  const double here = around.at(0);
  for (std::size_t a = 0; a < 3; ++a) {
    double offset = 0;
    if (at[a] > 0 && at[a] + 1 < model.axes[a].response_size) {
      const double low = around.at(-around.stride[a]), high = around.at(around.stride[a]),
                   bend = 2 * here - low - high;
      if (bend > 0) offset = limited(0.5 * (high - low) / bend, -0.5, 0.5);
    }
    place[a] = (static_cast<double>(at[a]) + offset + 0.5) / static_cast<double>(model.axes[a].block) - 0.5;
  }
  return place;
}

/// Least curvature over that of an ideal spot, divided by kRound and limited to 0..1.
MOTES_HOST_DEVICE inline double roundness(const EvidenceModel& model, const ResponseView& response,
                                          const Index3& at) {
  const Around around(model, response, at);
  const double here = around.at(0);
  std::array<std::size_t, 3> axes{};
  int n = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (at[a] > 0 && at[a] + 1 < model.axes[a].response_size) axes[static_cast<std::size_t>(n++)] = a;
  if (n == 0 || !(here > 0)) return 1;
  Matrix3 m{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::size_t a = axes[i];
    const std::int64_t along = around.stride[a];
    const double scale = model.axes[a].curvature_scale;
    m[i][i] = (2 * here - around.at(along) - around.at(-along)) * scale * scale / here;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t b = axes[j];
      const std::int64_t across = around.stride[b];
      m[i][j] = m[j][i] = -0.25 *
                          (around.at(along + across) + around.at(-along - across) -
                           around.at(along - across) - around.at(across - along)) *
                          scale * model.axes[b].curvature_scale / here;
    }
  }
  if (exceeds(m, n, kRound)) return 1;
  return limited(least_eigenvalue(m, n) / kRound, 0.0, 1.0);
}

MOTES_HOST_DEVICE inline std::int64_t nearest_block(const EvidenceModel& model, const Place3& place,
                                                    std::size_t a) {
  return limited<std::int64_t>(std::lround(place[a]), 0, model.axes[a].size - 1);
}

MOTES_HOST_DEVICE inline EvidenceBox box_around(const EvidenceModel& model, const Place3& place) {
  EvidenceBox box;
  for (std::size_t a = 0; a < 3; ++a) {
    const EvidenceAxis& axis = model.axes[a];
    const std::int64_t centre = nearest_block(model, place, a), last = centre + axis.half;
    box.centre[a] = centre;
    box.first[a] = centre - axis.half > 0 ? centre - axis.half : 0;
    box.count[a] = (last < axis.size ? last : axis.size - 1) - box.first[a] + 1;
    const double phase_place = (place[a] - static_cast<double>(centre) + 0.5) * kPhases;
    const std::int64_t phase = limited<std::int64_t>(std::lround(phase_place), 0, kPhases);
    box.g[a] = axis.profiles + phase * (2 * axis.half + 1) + (box.first[a] - (centre - axis.half));
    box.axis[a] = box.count[a] == 2 * axis.half + 1 ? axis.whole[phase] : axis_sums(box.g[a], box.count[a]);
  }
  return box;
}

/// `own`: the value at the centre minus the offset.
MOTES_HOST_DEVICE inline Moments moments_of(const EvidenceBox& box, const BoxSums& sums, float own) {
  const std::array<AxisSums, 3>& axis = box.axis;
  const double n = axis[0].n * axis[1].n * axis[2].n;
  const double sum_g = axis[0].g * axis[1].g * axis[2].g;
  Moments m;
  m.yy = sums.yy - sums.y * sums.y / n;
  m.yg = sums.yg - sums.y * sum_g / n;
  m.gg = axis[0].gg * axis[1].gg * axis[2].gg - sum_g * sum_g / n;
  m.yd = static_cast<double>(own) - sums.y / n;
  m.dd = 1 - 1 / n;
  int slopes = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(axis[a].cc > 0)) continue;
    ++slopes;
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    const double cc = axis[a].cc * axis[b].n * axis[c].n;
    const double gc = axis[a].gc * axis[b].g * axis[c].g;
    const double dc = static_cast<double>(box.centre[a] - box.first[a]) - 0.5 * (axis[a].n - 1);
    m.yy -= sums.yc[a] * sums.yc[a] / cc;
    m.yg -= sums.yc[a] * gc / cc;
    m.gg -= gc * gc / cc;
    m.yd -= sums.yc[a] * dc / cc;
    m.dd -= dc * dc / cc;
  }
  const double dof = n - slopes - 2, floor = 1e-7 * sums.yy;
  m.dof = dof < 1 ? 1 : dof;
  if (m.yy < 1e-6 * sums.yy && m.yy < floor)
    m.yy = floor;  // float sums are not exact enough to distinguish smaller values from 0
  return m;
}

/// Signed root of twice the Poisson log-likelihood ratio of different to equal densities of counts in the
/// box's core and around it. `values`: the voxels or blocks, x fastest.
template <class T>
MOTES_HOST_DEVICE double count_root(const EvidenceModel& model, const T* values, const Place3& place) {
  Index3 first{}, last{}, core_first{}, core_last{};
  double core_voxels = 1, voxels = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const EvidenceAxis& axis = model.axes[a];
    const std::int64_t centre = nearest_block(model, place, a);
    const auto clip = [&](std::int64_t i) { return limited<std::int64_t>(i, 0, axis.size - 1); };
    first[a] = clip(centre - axis.half);
    last[a] = clip(centre + axis.half);
    core_first[a] = clip(centre - axis.core);
    core_last[a] = clip(centre + axis.core);
    voxels *= static_cast<double>(last[a] - first[a] + 1);
    core_voxels *= static_cast<double>(core_last[a] - core_first[a] + 1);
  }
  double inside = 0, all = 0;
  for (std::int64_t z = first[2]; z <= last[2]; ++z)
    for (std::int64_t y = first[1]; y <= last[1]; ++y)
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        const std::int64_t index = (z * model.axes[1].size + y) * model.axes[0].size + x;
        const double v = (static_cast<double>(values[index]) - model.lowest) / model.unit;
        all += v;
        if (z >= core_first[2] && z <= core_last[2] && y >= core_first[1] && y <= core_last[1] &&
            x >= core_first[0] && x <= core_last[0])
          inside += v;
      }
  const double outside = all - inside, expected = all * core_voxels / voxels;
  const auto term = [](double n, double mean) { return n > 0 ? n * exact_log(n / mean) : 0; };
  const double ratio = 2 * (term(inside, expected) + term(outside, all - expected));
  return std::copysign(std::sqrt(ratio > 0 ? ratio : 0), inside - expected);
}

/// `counts`: count_root at the place for frames of counts; unused for others.
MOTES_HOST_DEVICE inline Evidence evidence_of(const EvidenceModel& model, const Moments& m, double round,
                                              double counts) {
  Evidence evidence;
  evidence.roundness = round;
  evidence.amplitude = m.gg > 0 ? model.sign * m.yg / m.gg : 0;
  const double t = model.sign * signed_root(m.yg, m.yy, m.gg, m.dof);
  evidence.single = model.sign * signed_root(m.yd, m.yy, m.dd, m.dof);
  const double most = model.unit > 0 ? model.sign * counts : t;
  evidence.score = t > evidence.single ? (most < t ? most : t) * std::sqrt(round) : 0;
  return evidence;
}

}  // namespace rules
}  // namespace motes::tracking::detect
