/// Aspect. The ratio of the least to the greatest curvature of the response at an extremum, in units of the
/// filter's sigma. The rank-sum test of Mann and Whitney (1947) compares those of maxima and of minima. The
/// median is about .6 for ellipses that touch, .35 for gaps between them, and .45 for both in Gaussian
/// textures in 2D.
///
/// Peakedness. The response at half the scale, plus kWeight of that at sqrt(2) times the scale, relative to
/// that at the scale, less kWeight * kOffset. In 2D it is .62 to .64 for Gaussian spots for which the filter
/// is right to .7 times too narrow, .2 or less for discs, and below .45 for discs that touch.

#include "tracking/detect/choice/solid_objects.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/detect/choice/spots_nearby.h"
#include "tracking/detect/evidence/evidence_rules.h"
#include "tracking/detect/filter/blocks.h"
#include "tracking/detect/filter/point_response.h"

namespace motes::tracking::detect {
namespace {

constexpr std::array<std::size_t, 3> kSampled{200, 200, 60};  // most extrema of each kind that are used,
                                                              // by dimensions: windows grow
constexpr std::size_t kFewest = 8;                            // fewest
constexpr double kBlocks = 0.75;                              // of the filter's sigma, for the size of blocks
constexpr double kDeep = 4;           // least size of the frame along an axis, in sigma, for curvatures
constexpr double kStep = 0.5;         // of the finite differences, in sigma
constexpr double kRounder = 1.25;     // least ratio of the median aspects of maxima and minima,
constexpr double kDeviations = 3;     // and least deviation of the rank sum, in standard deviations
constexpr double kMostPeaked = 0.47;  // largest median peakedness of maxima
constexpr double kWeight = 0.85, kOffset = 0.89;

struct ExtremumShape {
  double aspect = 0, peakedness = 0;
};

/// Responses around one extremum, with the sign that makes it a maximum.
class ShapeProbe {
 public:
  ShapeProbe(const Source& source, const std::array<double, 3>& sigma, double sign)
      : source_(source), sigma_(sigma), sign_(sign) {
    for (std::size_t a = 0; a < 3; ++a)
      if (sigma[a] > 0 && static_cast<double>(source.size[a]) >= kDeep * sigma[a])
        axes_[static_cast<std::size_t>(dimensions_++)] = a;
  }

  ExtremumShape shape(const Place& place) const {
    const double here = at(place, sigma_);
    if (!(here > 0)) return {};
    std::array<double, 3> half = sigma_, wide = sigma_;
    for (double& s : half) s *= 0.5;
    for (double& s : wide) s *= std::numbers::sqrt2;
    rules::Matrix3 bend{}, opposite{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(dimensions_); ++i) {
      bend[i][i] = 2 * here - at(moved(place, i, 1), sigma_) - at(moved(place, i, -1), sigma_);
      for (std::size_t j = 0; j < i; ++j)
        bend[i][j] = bend[j][i] = -0.25 * (corner(place, i, 1, j, 1) + corner(place, i, -1, j, -1) -
                                           corner(place, i, 1, j, -1) - corner(place, i, -1, j, 1));
    }
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) opposite[i][j] = -bend[i][j];
    const double least = rules::least_eigenvalue(bend, dimensions_),
                 greatest = -rules::least_eigenvalue(opposite, dimensions_);
    return {greatest > 0 ? std::max(0.0, least / greatest) : 0,
            at(place, half) / here + kWeight * (at(place, wide) / here - kOffset)};
  }

  int dimensions() const { return dimensions_; }

 private:
  double at(const Place& place, const std::array<double, 3>& sigma) const {
    return sign_ * response_at(source_, place, sigma);
  }
  Place moved(Place place, std::size_t i, int steps) const {
    place[axes_[i]] += steps * kStep * sigma_[axes_[i]];
    return place;
  }
  double corner(const Place& place, std::size_t i, int along, std::size_t j, int across) const {
    return at(moved(moved(place, i, along), j, across), sigma_);
  }

  const Source& source_;
  std::array<double, 3> sigma_;
  double sign_;
  std::array<std::size_t, 3> axes_{};
  int dimensions_ = 0;
};

std::vector<ExtremumShape> shapes_of(const Execution& execution, const Source& source,
                                     const ShapeProbe& probe, std::span<const Voxel> extrema) {
  const std::size_t n = std::min(extrema.size(), kSampled[static_cast<std::size_t>(probe.dimensions()) - 1]);
  std::vector<ExtremumShape> shapes(n);
  parallel_for(thread_count(execution), static_cast<std::int64_t>(n), [&](std::int64_t i) {
    const auto k = static_cast<std::size_t>(i);
    const Voxel& v = extrema[k * extrema.size() / n];
    shapes[k] = probe.shape({source.to_blocks(static_cast<double>(v.x), 0),
                             source.to_blocks(static_cast<double>(v.y), 1),
                             source.to_blocks(static_cast<double>(v.z), 2)});
  });
  return shapes;
}

/// The extrema without those closer than a sigma to an earlier one. On broad tops rounding errors make
/// several.
std::vector<Voxel> without_same(const Filter& filter, const std::vector<Voxel>& extrema) {
  const SpotsNearby nearby(filter, extrema, 1);
  std::vector<Voxel> kept;
  for (std::size_t i = 0; i < extrema.size(); ++i)
    if (!nearby.any_within(extrema[i], [i](std::size_t k) { return k < i; })) kept.push_back(extrema[i]);
  return kept;
}

std::vector<double> aspects_of(const std::vector<ExtremumShape>& shapes) {
  std::vector<double> aspects;
  for (const ExtremumShape& shape : shapes) aspects.push_back(shape.aspect);
  return aspects;
}

}  // namespace

double rank_sum_deviation(std::vector<double> a, std::vector<double> b) {
  std::sort(b.begin(), b.end());
  double wins = 0;  // pairs in which the value of `a` is higher; ties count half
  for (const double value : a) {
    const auto [low, high] = std::equal_range(b.begin(), b.end(), value);
    wins += 0.5 * static_cast<double>((low - b.begin()) + (high - b.begin()));
  }
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return (wins - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
}

bool are_solid_objects(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                       Polarity polarity, const std::vector<Voxel>& all_maxima,
                       const std::vector<Voxel>& all_minima) {
  const std::vector<Voxel> maxima = without_same(filter, all_maxima),
                           minima = without_same(filter, all_minima);
  if (maxima.size() < kFewest || minima.size() < kFewest) return false;
  Filter finer = filter;  // so that half the scale is at least a block
  for (double& s : finer.sigma) s *= kBlocks;
  const Source source = make_source(execution, frame, finer);
  std::array<double, 3> sigma = source.sigma;
  for (double& s : sigma) s /= kBlocks;
  const double sign = polarity == Polarity::bright ? 1 : -1;
  const ShapeProbe bright(source, sigma, sign), dark(source, sigma, -sign);
  if (bright.dimensions() == 0) return false;
  const auto high = shapes_of(execution, source, bright, maxima),
             low = shapes_of(execution, source, dark, minima);
  std::vector<double> peakedness, up = aspects_of(high), down = aspects_of(low);
  for (const ExtremumShape& shape : high) peakedness.push_back(shape.peakedness);
  return quantile(peakedness, 0.5) <= kMostPeaked && quantile(up, 0.5) >= kRounder * quantile(down, 0.5) &&
         rank_sum_deviation(std::move(up), std::move(down)) >= kDeviations;
}

}  // namespace motes::tracking::detect
