/// There is a valley between two maxima if the frame, smoothed by half the filter's variance, lies below the
/// straight line from one maximum to the other. So a faint spot on the flank of a bright one has a valley,
/// too. Touching spots have one because of the neck between them. Inside a long object there is none, and
/// smoothing removes texture. No filter separates maxima closer than its sigma; those are rounding errors on
/// a broad top.

#include "tracking/detect/maxima/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tracking/detect/choice/spots_nearby.h"
#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {
namespace {

constexpr double kInsideSeen = 3;     // sigma in voxels: diffraction-limited spots are smaller
constexpr double kBroad = 12;         // sigma in voxels: response then has rounding errors that form maxima;
constexpr double kSame = 1;           // those closer than this are one, in sigma
constexpr double kPartsReach = 4;     // largest distance of parts, in sigma
constexpr double kSolidReach = 1.5;   // the same of objects that touch, in radii
constexpr double kApart = 1.6;        // least median distance of the nearest neighbour of objects, in radii
constexpr double kTouch = 2.5;        // largest median distance of objects that touch, in radii
constexpr double kValley = 0.1;       // least depth of a valley, relative to the response
constexpr int kValleySteps = 8;       // places examined between two maxima
constexpr double kKernelReach = 2.5;  // reach of the smoothing kernel, in its sigma

/// Weights of the blocks around a place along one axis; beyond a face the last block is repeated.
struct Weights {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

Weights weights_of(std::int64_t size, double place, double sigma) {
  if (!(sigma > 0)) return {{0}, {1}};
  Weights weights;
  double sum = 0;
  const auto low = static_cast<std::int64_t>(std::floor(place - kKernelReach * sigma));
  const auto high = static_cast<std::int64_t>(std::ceil(place + kKernelReach * sigma));
  for (std::int64_t i = low; i <= high; ++i) {
    const double u = (static_cast<double>(i) - place) / sigma;
    weights.index.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
    weights.weight.push_back(std::exp(-0.5 * u * u));
    sum += weights.weight.back();
  }
  for (double& w : weights.weight) w /= sum;
  return weights;
}

/// The frame at a place (voxels), smoothed by half the filter's variance.
double smooth_at(const Source& source, const Place& place) {
  std::array<Weights, 3> along;
  for (std::size_t a = 0; a < 3; ++a)
    along[a] = weights_of(source.size[a], source.to_blocks(place[a], a), std::sqrt(0.5) * source.sigma[a]);
  const Weights &wx = along[0], &wy = along[1], &wz = along[2];
  double value = 0;
  source.read([&](const auto* voxels) {
    for (std::size_t z = 0; z < wz.index.size(); ++z)
      for (std::size_t y = 0; y < wy.index.size(); ++y) {
        const auto* row = voxels + (wz.index[z] * source.size[1] + wy.index[y]) * source.size[0];
        double sum = 0;
        for (std::size_t x = 0; x < wx.index.size(); ++x)
          sum += wx.weight[x] * static_cast<double>(row[wx.index[x]]);
        value += wz.weight[z] * wy.weight[y] * sum;
      }
  });
  return value;
}

/// `sign`: 1 for bright spots, -1 for dark ones.
bool valley_between(const Source& source, double sign, const Peak& a, const Peak& b) {
  const auto at = [&](double t) {
    return Place{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
  };
  const double first = smooth_at(source, at(0)), last = smooth_at(source, at(1));
  for (int i = 1; i < kValleySteps; ++i) {
    const double t = static_cast<double>(i) / kValleySteps;
    const double line = first + t * (last - first), response = a.quality + t * (b.quality - a.quality);
    if (sign * (line - smooth_at(source, at(t))) > kValley * response) return true;
  }
  return false;
}

std::vector<Voxel> places_of(const std::vector<Peak>& peaks) {
  std::vector<Voxel> places;
  places.reserve(peaks.size());
  for (const Peak& peak : peaks)
    places.push_back({std::lround(peak.z), std::lround(peak.y), std::lround(peak.x)});
  return places;
}

/// Keeps the peaks where `keep` is not 0.
void keep_some(const std::vector<unsigned char>& keep, Spots& spots) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i] == 0) continue;
    spots.peaks[kept] = spots.peaks[i];
    if (!spots.scores.empty()) spots.scores[kept] = spots.scores[i];
    ++kept;
  }
  spots.peaks.resize(kept);
  if (!spots.scores.empty()) spots.scores.resize(kept);
}

/// Drops peaks closer than kSame to a stronger one.
void drop_same(const Filter& filter, Spots& spots) {
  for (bool dropped = true; dropped;) {
    const std::vector<Voxel> places = places_of(spots.peaks);
    const SpotsNearby nearby(filter, places, kSame);
    std::vector<unsigned char> keep(places.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      keep[i] = nearby.any_within(places[i],
                                  [&](std::size_t k) {
                                    const double own = spots.peaks[i].quality, other = spots.peaks[k].quality;
                                    return other > own || (other == own && k < i);
                                  })
                    ? 0
                    : 1;
    dropped = std::find(keep.begin(), keep.end(), 0) != keep.end();
    keep_some(keep, spots);
  }
}

/// The number of objects without a neighbour within `reach` of the filter's radii.
std::size_t alone_within(const Filter& filter, const std::vector<Peak>& peaks, double reach) {
  const std::vector<Voxel> places = places_of(peaks);
  const SpotsNearby nearby(filter, places, reach * std::sqrt(filter.dimensions));
  std::size_t alone = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!nearby.any_within(places[i], [i](std::size_t k) { return k != i; })) ++alone;
  return alone;
}

}  // namespace

bool are_apart(const Filter& filter, const std::vector<Peak>& peaks) {
  return 2 * alone_within(filter, peaks, kApart) >= peaks.size();
}

bool do_touch(const Filter& filter, const std::vector<Peak>& peaks) {
  return 2 * alone_within(filter, peaks, kTouch) <= peaks.size();
}

void join_parts(const Execution& execution, const VolumeFrame& frame, const Filter& filter, Polarity polarity,
                Spots& spots) {
  if (spots.peaks.size() < 2 || std::min(filter.sigma[0], filter.sigma[1]) < kInsideSeen) return;
  if (std::min(filter.sigma[0], filter.sigma[1]) >= kBroad) drop_same(filter, spots);
  const std::size_t n = spots.peaks.size();
  const std::vector<Voxel> places = places_of(spots.peaks);
  const double reach =
      spots.solid && do_touch(filter, spots.peaks) ? kSolidReach * std::sqrt(filter.dimensions) : kPartsReach;
  const SpotsNearby nearby(filter, places, reach);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return spots.peaks[a].quality > spots.peaks[b].quality;
  });
  const double sign = polarity == Polarity::bright ? 1 : -1;
  std::optional<Source> source;
  std::vector<unsigned char> done(n), part(n);
  std::vector<Peak> joined = spots.peaks;
  for (const std::size_t i : order) {
    if (part[i] != 0) continue;
    done[i] = 1;
    const Peak& own = spots.peaks[i];
    double weight = own.quality;
    std::array<double, 3> sum{weight * own.x, weight * own.y, weight * own.z};
    nearby.any_within(places[i], [&](std::size_t k) {
      if (done[k] != 0 || part[k] != 0) return false;
      if (!source) source = make_source(execution, frame, filter);
      const Peak& other = spots.peaks[k];
      if (valley_between(*source, sign, own, other)) return false;
      part[k] = 1;
      weight += other.quality;
      sum[0] += other.quality * other.x;
      sum[1] += other.quality * other.y;
      sum[2] += other.quality * other.z;
      return false;
    });
    joined[i] = {sum[2] / weight, sum[1] / weight, sum[0] / weight, own.quality};
  }
  std::vector<unsigned char> keep(n);
  for (std::size_t i = 0; i < n; ++i) keep[i] = part[i] == 0 ? 1 : 0;
  spots.peaks = std::move(joined);
  keep_some(keep, spots);
}

}  // namespace motes::tracking::detect
