/// (1) The median response of all maxima is a first estimate of the noise (too large if spots are many).
/// Maxima far above it are taken for spots. (2) Maxima farther than kApart from these are noise. Their median
/// gives the scale of the noise, and the median of each group of about kGroup neighbours the local scale. (3)
/// They also give its skew (maxima_law.h). (4) The level in these units comes from the false-discovery rate,
/// and is raised to the first valley.

#include "tracking/detect/choice/response_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include <motes/base/quantile.h>

#include "tracking/detect/choice/maxima_law.h"
#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/spots_nearby.h"

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kFewest = 100;  // fewest maxima, and fewest of noise among them
constexpr double kFalseShare = 0.05;  // of false spots among those found
constexpr double kOnlyOne = 0.2;      // expected false spots at which a single one is accepted
constexpr double kApart = 3.5;        // least distance of noise from a spot, in sigma
constexpr std::size_t kGroup = 60;    // maxima of noise that give the local scale
constexpr std::array kUneven{0.75, 0.9, 0.97};
constexpr double kMostUneven = 1.09;  // largest ratio of the noise's upper quantiles to those of its law

constexpr double kNone = std::numeric_limits<double>::infinity();

/// The lowest of `heights` (deviations, over 0) from which on at most kFalseShare are expected to be noise,
/// of which there are `noise` maxima; infinite if not even the highest is clear.
template <class Law>
double false_discovery(std::vector<double> heights, const Law& law, double noise) {
  std::sort(heights.begin(), heights.end(), std::greater<>());
  for (std::size_t n = heights.size(); n > 0; --n) {
    const double allowed = kFalseShare * std::max(kOnlyOne, static_cast<double>(n) - 1);
    if (noise * law.beyond(heights[n - 1]) <= allowed) return heights[n - 1];
  }
  return kNone;
}

using Indices = std::vector<std::size_t>;

/// The deviation of the noise at each maximum: that of its group of noise maxima. Groups are boxes, made by
/// halving boxes along their longest side at the median of their noise maxima.
class LocalNoise {
 public:
  LocalNoise(const Filter& filter, std::span<const LikelySpot> maxima, const GaussianMaxima& law)
      : filter_(filter), maxima_(maxima), law_(law), deviation_(maxima.size()) {}

  std::vector<double> told_from(Indices noise, double cut) {
    cut_ = cut;
    Indices all(maxima_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    settle(all, std::move(noise));
    return deviation_;
  }

 private:
  double place(std::size_t i, std::size_t axis) const {
    const Voxel& v = maxima_[i].spot.voxel;
    if (!(filter_.sigma[axis] > 0)) return 0;
    return static_cast<double>(axis == 0 ? v.x : axis == 1 ? v.y : v.z) / filter_.sigma[axis];
  }

  void settle(const Indices& all, const Indices& noise) {
    if (noise.size() >= 2 * kGroup && halve(all, noise)) return;
    std::vector<double> responses;
    for (const std::size_t i : noise) responses.push_back(maxima_[i].response);
    const double median = quantile(responses, 0.5);
    const double deviation = law_.deviation(median, std::max(cut_, 3 * median));
    for (const std::size_t i : all) deviation_[i] = deviation;
  }

  bool halve(const Indices& all, const Indices& noise) {
    std::size_t longest = 0;
    double extent = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto [low, high] =
          std::minmax_element(noise.begin(), noise.end(),
                              [&](std::size_t i, std::size_t k) { return place(i, a) < place(k, a); });
      if (place(*high, a) - place(*low, a) <= extent) continue;
      extent = place(*high, a) - place(*low, a);
      longest = a;
    }
    std::vector<double> places;
    for (const std::size_t i : noise) places.push_back(place(i, longest));
    const double middle = quantile(places, 0.5);
    const auto part = [&](const Indices& of, bool lower) {
      Indices some;
      for (const std::size_t i : of)
        if ((place(i, longest) < middle) == lower) some.push_back(i);
      return some;
    };
    const Indices below = part(noise, true), above = part(noise, false);
    if (below.size() < kGroup / 2 || above.size() < kGroup / 2) return false;
    settle(part(all, true), below);
    settle(part(all, false), above);
    return true;
  }

  const Filter& filter_;
  std::span<const LikelySpot> maxima_;
  const GaussianMaxima& law_;
  std::vector<double> deviation_;
  double cut_ = 0;
};

/// Maxima that are neither spots nor near a spot.
Indices between(const Filter& filter, std::span<const LikelySpot> maxima,
                const std::vector<unsigned char>& is_spot) {
  std::vector<Voxel> spots;
  for (std::size_t i = 0; i < maxima.size(); ++i)
    if (is_spot[i] != 0) spots.push_back(maxima[i].spot.voxel);
  const SpotsNearby nearby(filter, spots, kApart);
  Indices noise;
  for (std::size_t i = 0; i < maxima.size(); ++i)
    if (is_spot[i] == 0 && !nearby.any_within(maxima[i].spot.voxel, [](std::size_t) { return true; }))
      noise.push_back(i);
  return noise;
}

/// Whether these heights of noise, all below `cut`, have the law's upper quantiles, up to a scale.
bool has_law(const SkewedMaxima& law, const Indices& noise, const std::vector<double>& height, double cut) {
  std::vector<double> heights;
  for (const std::size_t i : noise) heights.push_back(height[i]);
  return std::all_of(kUneven.begin(), kUneven.end(), [&](double share) {
    return quantile(heights, share) <= kMostUneven * law.quantile_below(share, cut);
  });
}

}  // namespace

std::optional<ResponseSpots> spots_by_response(const Filter& filter, std::span<const LikelySpot> maxima,
                                               double least_score) {
  if (maxima.size() < kFewest) return std::nullopt;
  const GaussianMaxima law(filter.dimensions);
  std::vector<double> responses;
  for (const LikelySpot& m : maxima) responses.push_back(m.response);
  const auto n = static_cast<double>(maxima.size());
  const double first = law.deviation(quantile(responses, 0.5), kNone);
  std::vector<double> height(maxima.size());
  for (std::size_t i = 0; i < maxima.size(); ++i) height[i] = maxima[i].response / first;
  const double cut = first * false_discovery(height, law, n);

  std::vector<unsigned char> is_spot(maxima.size());
  for (std::size_t i = 0; i < maxima.size(); ++i) is_spot[i] = maxima[i].response >= cut ? 1 : 0;
  Indices noise = between(filter, maxima, is_spot);
  if (noise.size() < kFewest) return std::nullopt;
  const std::vector<double> deviation = LocalNoise(filter, maxima, law).told_from(noise, cut);
  std::vector<double> likely;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    height[i] = maxima[i].response / deviation[i];
    if (maxima[i].is_round && maxima[i].spot.score > least_score) likely.push_back(height[i]);
  }
  const auto spots = static_cast<double>(std::count(is_spot.begin(), is_spot.end(), 1));
  std::vector<double> below, deviations;
  for (const std::size_t i : noise) {
    below.push_back(height[i]);
    deviations.push_back(deviation[i]);
  }
  const SkewedMaxima skewed(law, std::move(below), cut / quantile(deviations, 0.5));
  double least = false_discovery(likely, skewed, n - spots);
  for (std::size_t i = 0; i < maxima.size(); ++i)
    is_spot[i] = height[i] >= least && maxima[i].spot.score > least_score ? 1 : 0;
  noise = between(filter, maxima, is_spot);
  if (noise.size() < kFewest || !has_law(skewed, noise, height, least)) return std::nullopt;
  least = first_valley(likely, least);
  ResponseSpots found;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    const bool may_be = maxima[i].is_round && maxima[i].spot.score > least_score;
    found.over.push_back(height[i] / least);
    found.is_spot.push_back(may_be && height[i] >= least ? 1 : 0);
    found.spots += found.is_spot.back();
  }
  found.noise = noise.size();
  deviations.clear();
  for (const std::size_t i : noise) deviations.push_back(deviation[i]);
  found.deviation = quantile(deviations, 0.5);
  return found;
}

}  // namespace motes::tracking::detect
