/// Strength. The scale-normalised response of a Gaussian spot of deviation s at scale sigma is, in d
/// dimensions, proportional to sigma^2 / (sigma^2 + s^2)^(d/2 + 1); times sigma^(d/2 - 1) it is largest at
/// sigma = s (in Lindeberg 1998 the maximum is at another multiple of s; both give the scale).
///
/// Suppression. At small scales noise breaks a large spot into parts, and at large scales a group of small
/// spots is one blob. Of candidates that lie within each other's spot, the strongest is the spot. Beyond a
/// face of the frame the voxels are not data, so the flank of a large spot cut by the face can have a maximum
/// there.
///
/// Grain. A candidate that responds more at a large scale than the typical finer spots within it is an
/// object, and these are its grain. One or two brighter speckles do not change that.

#include "tracking/detect/size/scale_space.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include <motes/base/quantile.h>

namespace motes::tracking::detect {
namespace {

constexpr double kStep = 1.4142135623730951;  // largest ratio of neighbouring scales
constexpr double kNearScale = 1.6;            // scales up to this ratio may belong to two spots side by side,
constexpr double kNearReach = 0.8;      // which suppress each other within this many radii of the larger one;
constexpr double kFarReach = 1.0;       // the same for scales further apart
constexpr double kGhostReach = 1.6;     // a spot makes ghosts on faces within this many of its radii,
constexpr double kGhostStrength = 0.2;  // of at most this strength, relative to it
constexpr double kGrainReach = 1.5;     // grain is within this many radii of an object, which may be unround
constexpr double kOnFace = 0.6;         // largest distance from a face's voxel centres, in voxels

double geometric_mean(const Filter& filter) {
  double product = 1;
  for (const double sigma : filter.sigma)
    if (sigma > 0) product *= sigma;
  return std::pow(product, 1.0 / std::max(1, filter.dimensions));
}

/// The spots taken so far, in cells as wide as the reach of the largest spot.
class Taken {
 public:
  explicit Taken(std::array<double, 3> cell) : cell_(cell) {}

  void add(std::size_t index, const std::array<double, 3>& place) {
    cells_[key_of(place, {})].push_back(index);
  }

  template <class Visit>
  bool any_near(const std::array<double, 3>& place, const Visit& visit) const {
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const auto cell = cells_.find(key_of(place, {dx, dy, dz}));
          if (cell != cells_.end() && std::any_of(cell->second.begin(), cell->second.end(), visit))
            return true;
        }
    return false;
  }

 private:
  using Key = std::array<std::int64_t, 3>;
  Key key_of(const std::array<double, 3>& place, const std::array<int, 3>& step) const {
    Key key{};
    for (std::size_t a = 0; a < 3; ++a)
      key[a] = static_cast<std::int64_t>(std::floor(place[a] / cell_[a])) + step[a];
    return key;
  }

  std::array<double, 3> cell_;
  std::map<Key, std::vector<std::size_t>> cells_;
};

/// Distance in radii of the larger of the two scales.
double distance(const Filter& larger, const ScaleCandidate& a, const ScaleCandidate& b) {
  double square = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(larger.sigma[i] > 0)) continue;
    const double d = (a.place[i] - b.place[i]) / larger.sigma[i];
    square += d * d;
  }
  return std::sqrt(square / std::max(1, larger.dimensions));
}

bool on_face(const Shape3& shape, const ScaleCandidate& c) {
  const std::array<std::int64_t, 3> size{shape.nx, shape.ny, shape.nz};
  for (std::size_t a = 0; a < 3; ++a)
    if (size[a] > 1 && (c.place[a] < kOnFace || c.place[a] > static_cast<double>(size[a] - 1) - kOnFace))
      return true;
  return false;
}

}  // namespace

double scale_strength(const Filter& filter, double quality) {
  return quality * std::pow(geometric_mean(filter), 0.5 * filter.dimensions - 1);
}

std::vector<Filter> make_scales(const Shape3& shape, const Vec3& voxel_um, const Vec3& smallest,
                                const Vec3& largest) {
  const double ratio = std::max({largest.x / smallest.x, largest.y / smallest.y, largest.z / smallest.z});
  const int steps = std::max(0, static_cast<int>(std::ceil(std::log(ratio) / std::log(kStep) - 1e-6)));
  std::vector<Filter> scales;
  for (int k = 0; k <= steps; ++k) {
    const double part = steps > 0 ? static_cast<double>(k) / steps : 0;
    const auto between = [&](double a, double b) { return a * std::pow(b / a, part); };
    scales.push_back(make_filter(
        shape, voxel_um,
        {between(smallest.x, largest.x), between(smallest.y, largest.y), between(smallest.z, largest.z)}));
  }
  return scales;
}

std::vector<std::size_t> strongest_over_scales(const Shape3& shape, std::span<const Filter> scales,
                                               std::span<const ScaleCandidate> candidates) {
  std::vector<double> strength(candidates.size()), size(scales.size());
  for (std::size_t k = 0; k < scales.size(); ++k) size[k] = geometric_mean(scales[k]);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    strength[i] = scale_strength(scales[candidates[i].scale], candidates[i].quality);
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return strength[a] != strength[b] ? strength[a] > strength[b] : a < b;
  });
  std::array<double, 3> cell{1, 1, 1};
  for (const Filter& filter : scales)
    for (std::size_t a = 0; a < 3; ++a)
      cell[a] = std::max(cell[a], kGhostReach * std::sqrt(filter.dimensions) * filter.sigma[a]);
  Taken taken(cell);
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    const ScaleCandidate& own = candidates[i];
    const bool face = on_face(shape, own);
    const bool suppressed = taken.any_near(own.place, [&](std::size_t j) {
      const ScaleCandidate& other = candidates[j];
      if (other.scale == own.scale) return false;
      const auto [small, large] = std::minmax(
          own.scale, other.scale, [&](std::size_t a, std::size_t b) { return size[a] < size[b]; });
      const double apart = distance(scales[large], own, other);
      if (face && apart < kGhostReach && strength[i] < kGhostStrength * strength[j]) return true;
      return apart < (size[large] > kNearScale * size[small] ? kFarReach : kNearReach);
    });
    if (suppressed) continue;
    taken.add(i, own.place);
    kept.push_back(i);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

ObjectScale object_scale(std::span<const Filter> scales, std::span<const ScaleCandidate> candidates) {
  std::vector<double> strength, sum(scales.size());
  for (const ScaleCandidate& one : candidates)
    strength.push_back(scale_strength(scales[one.scale], one.quality));
  std::vector<std::size_t> kept(scales.size());
  std::vector<unsigned char> grain(candidates.size());
  std::size_t first = candidates.size();
  for (std::size_t k = scales.size(); k-- > 0;) {
    const std::size_t end = first;
    while (first > 0 && candidates[first - 1].scale == k) --first;
    std::array<double, 3> cell{1, 1, 1};
    for (std::size_t a = 0; a < 3; ++a)
      cell[a] = std::max(cell[a], kGrainReach * std::sqrt(scales[k].dimensions) * scales[k].sigma[a]);
    Taken finer(cell);
    for (std::size_t j = 0; j < first; ++j) finer.add(j, candidates[j].place);
    for (std::size_t i = first; i < end; ++i) {
      if (grain[i] != 0) continue;
      std::vector<std::size_t> within;
      std::vector<std::vector<double>> inside(k);  // strengths, by scale
      finer.any_near(candidates[i].place, [&](std::size_t j) {
        if (distance(scales[k], candidates[i], candidates[j]) >= kGrainReach) return false;
        within.push_back(j);
        inside[candidates[j].scale].push_back(strength[j]);
        return false;
      });
      const auto stronger = [&](std::vector<double>& of) {
        return !of.empty() && quantile(of, 0.5) > strength[i];
      };
      if (std::any_of(inside.begin(), inside.end(), stronger)) continue;
      for (const std::size_t j : within) grain[j] = 1;
      sum[k] += strength[i];
      ++kept[k];
    }
  }
  ObjectScale best;
  for (std::size_t k = 0; k < sum.size(); ++k) {
    best.all += sum[k];
    if (sum[k] > sum[best.scale]) best.scale = k;
  }
  for (std::size_t k = 0; k < sum.size() && k <= best.scale + 1; ++k) {
    const bool beside = k + 1 >= best.scale;
    (beside ? best.strength : best.finer) += sum[k];
    if (beside) best.objects += kept[k];
  }
  return best;
}

}  // namespace motes::tracking::detect
