#include "tracking/link/series/rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <motes/base/hash.h>
#include <motes/base/index.h>

namespace motes::tracking {
namespace {

constexpr std::size_t kRoundingSample = 4096;
/// On a grid, distances of neighbouring values are multiples of the step up to this share of them (and at
/// most kMostOff steps), and values repeat: at most the share kMostDifferent of them differ.
constexpr double kOffGrid = 1e-3, kMostOff = 0.1, kMostDifferent = 0.5;
constexpr std::size_t kLeastValues = 8;
/// Steps below this share of the spacing do not matter, since smaller displacements are all alike to the
/// model. Longer steps than kCoarseStep spacings are rather the pattern in which particles lie.
constexpr double kFineStep = 0.02, kCoarseStep = 0.5;

/// The step of the grid on which the values lie; 0: none.
double step_of(std::vector<double> values) {
  const auto all = static_cast<double>(values.size());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < kLeastValues || static_cast<double>(values.size()) > kMostDifferent * all) return 0;
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < values.size(); ++k) step = std::min(step, values[k] - values[k - 1]);
  for (std::size_t k = 1; k < values.size(); ++k) {
    const double steps = (values[k] - values[k - 1]) / step;
    if (std::abs(steps - std::round(steps)) > std::min(kOffGrid * steps, kMostOff)) return 0;
  }
  return step;
}

}  // namespace

Vec3 rounding_steps(std::span<const Vec3> points) {
  constexpr std::array kAxes{&Vec3::x, &Vec3::y, &Vec3::z};
  const std::size_t every = std::max<std::size_t>(1, points.size() / kRoundingSample);
  std::array<bool, 3> differ{};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < kAxes.size(); ++a) {
    std::vector<double> values;
    for (std::size_t k = 0; k < points.size(); k += every) values.push_back(points[k].*kAxes[a]);
    differ[a] = std::any_of(values.begin(), values.end(), [&](double v) { return v != values[0]; });
    if (differ[a]) least = std::min(least, step_of(std::move(values)));
  }
  Vec3 out;
  for (std::size_t a = 0; a < kAxes.size(); ++a) out.*kAxes[a] = differ[a] ? least : 0;
  return out;
}

bool is_rounded(const SeriesPoints& points) {
  const double step = std::max({points.rounded_um.x, points.rounded_um.y, points.rounded_um.z});
  return step > kFineStep * points.spacing_um && step < kCoarseStep * points.spacing_um;
}

Vec3 spread(const SeriesPoints& points, const Vec3& d, matching::Index i, matching::Index j) {
  if (!is_rounded(points)) return d;
  const Vec3& step = points.rounded_um;
  std::uint64_t state = splitmix64(points.hash[at(i)]) + points.hash[at(j)];
  const auto even = [&] { return static_cast<double>((state = splitmix64(state)) >> 11) * 0x1p-53 - 0.5; };
  const double x = even(), y = even(), z = even();
  return {d.x + x * step.x, d.y + y * step.y, d.z + z * step.z};
}

Vec3 to_grid(const SeriesPoints& points, const Vec3& p) {
  if (!is_rounded(points)) return p;
  const Vec3 &step = points.rounded_um, &origin = points.at.front();
  Vec3 out = p;
  for (double Vec3::*const axis : {&Vec3::x, &Vec3::y, &Vec3::z})
    if (const double s = step.*axis; s > 0)
      out.*axis = origin.*axis + s * std::round((p.*axis - origin.*axis) / s);
  return out;
}

}  // namespace motes::tracking
