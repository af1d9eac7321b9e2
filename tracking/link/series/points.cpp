#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/hash.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_points.h>

#include "tracking/link/series/rounding.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

constexpr std::size_t kDensitySample = 512, kDensityNeighbours = 10;
/// Points this many times as far from their neighbours as most are outliers and do not count for the density.
constexpr double kOutlying = 100;

std::uint64_t hash_of(const Vec3& p) {
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v == 0 ? 0.0 : v); };
  return splitmix64_finaliser(splitmix64_finaliser(splitmix64_finaliser(bits(p.x)) + bits(p.y)) + bits(p.z));
}

/// The extent of the points along each axis.
std::array<double, 3> extent_of(std::span<const Vec3> points) {
  Vec3 low = points.front(), high = points.front();
  for (const Vec3& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return {high.x - low.x, high.y - low.y, high.z - low.z};
}

/// The largest extent along an axis of the middle nine tenths of the points.
double inner_extent(std::span<const Vec3> points) {
  double most = 0;
  for (double Vec3::*const along : {&Vec3::x, &Vec3::y, &Vec3::z}) {
    std::vector<double> place;
    for (const Vec3& p : points) place.push_back(p.*along);
    const double low = quantile(place, 0.05);
    most = std::max(most, quantile(place, 0.95) - low);
  }
  return most;
}

/// The number of axes along which the points differ by more than rounding errors. Outliers along one axis do
/// not hide the others.
int dims_of(std::span<const Vec3> points) {
  const std::array<double, 3> extent = extent_of(points);
  double most = *std::max_element(extent.begin(), extent.end());
  const auto differs = [&](double e) { return e > 1e-6 * most; };
  const auto tiny = [&](double e) { return e > 0 && !differs(e); };
  if (std::any_of(extent.begin(), extent.end(), tiny))
    if (const double inner = inner_extent(points); inner > 0) most = std::min(most, inner);
  return std::max(1, static_cast<int>(std::count_if(extent.begin(), extent.end(), differs)));
}

/// The density of one frame, from the distances of some points to their tenth neighbours; 0 if unknown.
double density_of(std::span<const Vec3> points, int dims) {
  if (points.size() < 2) return 0;
  const std::size_t wanted = std::min(kDensityNeighbours, points.size() - 1) + 1;
  const NearPoints near(points);
  std::array<std::size_t, kDensityNeighbours + 1> index{};
  std::array<double, kDensityNeighbours + 1> squared{};
  const std::size_t step = std::max<std::size_t>(1, points.size() / kDensitySample);
  std::vector<double> radius;
  for (std::size_t k = 0; k < points.size(); k += step) {
    near.nearest(points[k], wanted, index.data(), squared.data());
    radius.push_back(std::sqrt(squared[wanted - 1]));
  }
  std::vector<double> sorted = radius;
  const double middle = quantile(sorted, 0.5);
  double volume = 0, sampled = 0;
  for (const double r : radius) {
    if (middle > 0 && r > kOutlying * middle) continue;
    volume += ball_volume(dims, r) / static_cast<double>(wanted - 1);
    sampled += 1;
  }
  return volume > 0 ? sampled / volume : 0;
}

/// The number of detections per frame divided by the volume of a cube (square) with the largest extent of all
/// points. (In the box around all, a single particle that moves along one axis would have a high density.)
double density_of_cube(const SeriesPoints& points, const std::array<double, 3>& extent) {
  const double most = *std::max_element(extent.begin(), extent.end());
  const double a_frame = static_cast<double>(points.size()) / std::max(1, points.frames());
  return most > 0 ? std::max(a_frame, 1.0) / std::pow(most, points.dims) : 1;
}

/// Adds a column that every frame has, unless all values are unknown.
template <class Values>
void pool_column(std::span<const Detections> frames, const std::string& name, SeriesPoints& out,
                 const Values& values_of) {
  PropertyColumn column{name, {}};
  bool known = false;
  for (const Detections& d : frames) {
    const std::vector<double>* const values = values_of(d);
    if (d.empty()) continue;
    if (values == nullptr || values->size() != d.size()) return;
    column.values.insert(column.values.end(), values->begin(), values->end());
  }
  for (const double value : column.values) known = known || !std::isnan(value);
  if (known) out.properties.push_back(std::move(column));
}

void pool_properties(std::span<const Detections> frames, SeriesPoints& out) {
  using Known = std::vector<double> Detections::*;
  for (const auto& [name, field] : {std::pair<const char*, Known>{"quality", &Detections::quality},
                                    {"intensity", &Detections::intensity},
                                    {"radius", &Detections::radius_um}})
    pool_column(frames, name, out, [field = field](const Detections& d) { return &(d.*field); });
  const auto first =
      std::find_if(frames.begin(), frames.end(), [](const Detections& d) { return !d.empty(); });
  if (first == frames.end()) return;
  for (std::size_t k = 0; k < first->properties.size(); ++k) {
    const std::string& name = first->properties[k].name;
    pool_column(frames, name, out, [&](const Detections& d) {
      return k < d.properties.size() && d.properties[k].name == name ? &d.properties[k].values : nullptr;
    });
  }
}

}  // namespace

double ball_volume(int dims, double radius) {
  if (dims == 1) return 2 * radius;
  if (dims == 2) return std::numbers::pi * radius * radius;
  return 4 * std::numbers::pi / 3 * radius * radius * radius;
}

SeriesPoints pool_points(std::span<const Detections> frames, const Execution& execution, bool densities) {
  SeriesPoints out;
  out.offset.push_back(0);
  std::size_t all = 0;
  for (const Detections& d : frames) all += d.size();
  if (all > static_cast<std::size_t>(std::numeric_limits<matching::Index>::max()) / 2)
    throw ResourceError("linking.scope: series has " + std::to_string(all) +
                        " detections, more than one problem can hold; use linking.scope: pairs");
  out.at.reserve(all);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    const Detections& d = frames[t];
    for (std::size_t k = 0; k < d.size(); ++k) {
      const Vec3 p{d.x_um[k], d.y_um[k], d.z_um[k]};
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
        throw InputError("frame " + std::to_string(d.frame) + ", detection " + std::to_string(k) +
                         ": position is not finite; check the input's positions");
      out.at.push_back(p);
      out.slot.push_back(static_cast<std::int32_t>(t));
      out.hash.push_back(hash_of(p));
    }
    out.offset.push_back(static_cast<matching::Index>(out.at.size()));
  }
  if (out.at.empty()) return out;
  pool_properties(frames, out);
  out.dims = dims_of(out.at);
  out.rounded_um = rounding_steps(out.at);
  if (densities) estimate_densities(out, execution);
  return out;
}

void estimate_densities(SeriesPoints& points, const Execution& execution) {
  points.density.assign(motes::at(points.frames()), 0);
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    points.density[motes::at(t)] = density_of(points.frame(static_cast<std::int32_t>(t)), points.dims);
  });
  std::vector<double> known;
  for (const double density : points.density)
    if (density > 0) known.push_back(density);
  if (points.at.empty()) return;
  // Frames of one detection have no density; if there are no others, all points together give one.
  const double typical = known.empty() ? density_of_cube(points, extent_of(points.at)) : quantile(known, 0.5);
  for (double& density : points.density)
    if (!(density > 0)) density = typical;
  points.spacing_um = std::pow(typical, -1.0 / points.dims);
}

SeriesPart take_part(const SeriesPoints& points, std::span<const char> keep, const Execution& execution) {
  SeriesPart out;
  out.points.dims = points.dims;
  out.points.rounded_um = points.rounded_um;
  out.points.offset.push_back(0);
  out.part.assign(points.size(), -1);
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    for (matching::Index i = points.offset[motes::at(t)]; i < points.offset[motes::at(t) + 1]; ++i) {
      const auto k = motes::at(i);
      if (keep[k] == 0) continue;
      out.part[k] = static_cast<matching::Index>(out.whole.size());
      out.whole.push_back(i);
      out.points.at.push_back(points.at[k]);
      out.points.slot.push_back(t);
      out.points.hash.push_back(points.hash[k]);
    }
    out.points.offset.push_back(static_cast<matching::Index>(out.whole.size()));
  }
  estimate_densities(out.points, execution);
  return out;
}

}  // namespace motes::tracking
