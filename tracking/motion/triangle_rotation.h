#pragma once
/// The rotation of one triangle onto another, by least squares, in closed form.
///
/// With both triangles centred, C = sum of to from^T has rank 2: C = U diag(s1, s2, 0) V^T. Its
/// cofactors are s1 s2 Q with Q = u3 v3^T, signed so that U diag(1, 1, 0) V^T + Q is a rotation; and
/// cof(C + Q) = U diag(s2, s1, 0) V^T + s1 s2 Q. The rotation follows from these without singular values, and
/// is that of best_rotation up to rounding.

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

#include "tracking/motion/rigid_fit.h"

namespace motes::tracking {

/// Row by row.
constexpr std::array<double, 9> cofactors(const std::array<double, 9>& m) {
  return {m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6],
          m[2] * m[7] - m[1] * m[8], m[0] * m[8] - m[2] * m[6], m[1] * m[6] - m[0] * m[7],
          m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3]};
}

/// None if a triangle is so flat that rounding errors matter. Otherwise the error of a position is below 1e-9
/// of its distance from the triangle.
inline std::optional<RigidMotion> triangle_rotation(const std::array<Vec3, 3>& from,
                                                    const std::array<Vec3, 3>& to) {
  constexpr double kFlat = 1e-3, kThird = 1.0 / 3;
  const Vec3 x = kThird * (from[0] + from[1] + from[2]), y = kThird * (to[0] + to[1] + to[2]);
  std::array<double, 9> c{};
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 a = from[k] - x, b = to[k] - y;
    c[0] += b.x * a.x, c[1] += b.x * a.y, c[2] += b.x * a.z;
    c[3] += b.y * a.x, c[4] += b.y * a.y, c[5] += b.y * a.z;
    c[6] += b.z * a.x, c[7] += b.z * a.y, c[8] += b.z * a.z;
  }
  double squares = 0, products = 0;
  for (const double v : c) squares += v * v;
  const double unit = 1 / std::sqrt(squares);
  for (double& v : c) v *= unit;
  std::array<double, 9> third = cofactors(c), sum;  // third: Q
  for (const double v : third) products += v * v;
  const double product = std::sqrt(products);  // s1 s2, where s1^2 + s2^2 = 1
  if (!(product > kFlat)) return std::nullopt;
  for (std::size_t k = 0; k < 9; ++k) third[k] /= product, sum[k] = c[k] + third[k];
  const std::array<double, 9> other = cofactors(sum);
  const double both = std::sqrt(1 + 2 * product), per_both = 1 / both;  // s1 + s2
  RigidMotion out;
  for (std::size_t k = 0; k < 9; ++k)
    out.rotation[k] = (c[k] + other[k] + (both - product) * third[k]) * per_both;
  out.shift = y - out.turned(x);
  return out;
}

}  // namespace motes::tracking
