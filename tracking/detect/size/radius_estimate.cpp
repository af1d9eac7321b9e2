/// Radius. Scales cannot be compared by their strongest maxima, which are noise at small scales. So: (1) at
/// each scale of a ladder, equal along all axes in um, spots are chosen as in detect_spots (choice.h),
/// weighted by the ratio of their score to the level and by their amplitude. The scale with the largest sum
/// gives the spots. (2) Gaussians with free widths are fitted to the best of them, starting from that scale,
/// then from the medians of the fitted widths, which are the result. If two thirds of the fits fail, the
/// spots are lumps of background, and the scale with the next largest sum is tried. Objects side by side fail
/// too: if they are above a clear gap and many, the fitted width, their scale and the fitted width with that
/// along z as across are compared, and the one that finds most is the result. Without a result the scales
/// between are tried.
///
/// Objects. At the ladder's scales, objects side by side or with grain inside look like noise. Two larger
/// scales are added. If most of the total strength is of wide objects (scale_space.h separates these from
/// their grain), their scale is the result if the fits' scale finds less than half as many, or if solid
/// objects (solid_objects.h) are seen there and not at the fits' scale, or fits fail. If most of it is of
/// spots smaller than the fitted ones, such as spots in cells, and these score over the level, fits to
/// them give the result. In thin stacks where fits fail and objects are wider than the stack is deep, the
/// scale is that found in the mean of the planes, if it is larger and no second size is seen.
///
/// Sizes. The spots of all scales are joined as in detect_spots. Those that remain at scales far from the
/// result are spots of another size if they are not few, score far over the level, and are Gaussians of about
/// their scale's width. Backgrounds and clusters of spots fail one of the three.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <motes/base/quantile.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/filter/central_part.h"
#include "tracking/detect/filter/hot_voxels.h"
#include "tracking/detect/filter/mean_plane.h"
#include "tracking/detect/filter/missing.h"
#include "tracking/detect/filter/padding.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/filter/value_span.h"
#include "tracking/detect/fit/gaussian_fit.h"
#include "tracking/detect/fit/refine.h"
#include "tracking/detect/maxima/maxima.h"
#include "tracking/detect/maxima/parts.h"
#include "tracking/detect/size/ladder.h"
#include "tracking/detect/size/rival_size.h"
#include "tracking/detect/size/scale_space.h"
#include "tracking/detect/size/spot_width.h"

namespace motes::tracking {
namespace {

using detect::climb;
using detect::filter_of;
using detect::fits_in;
using detect::fitted_sigma;
using detect::kResolved;
using detect::kThin;
using detect::kWidthSpread;
using detect::radius_of;
using detect::Rung;
using detect::rung_of;
using detect::Sigma;
using detect::sigma_of_rung;

constexpr std::size_t kSpots = 150;    // most spots fitted
constexpr double kVoxelWidth = 0.62;   // sigma in voxels: narrower spots are skewed noise, such as shot noise
constexpr double kWider = 1.15;        // spots wider by this ratio than their rung are searched again
constexpr int kWidenings = 4;          // at most this often,
constexpr double kKept = 0.2;          // if at least this share of spots is found again
constexpr double kMostKept = 0.97;     // share of a crowd's spots that a right width finds
constexpr double kOtherSize = 1.7;     // from this ratio of widths on, sizes differ
constexpr double kClearScore = 1.7;    // ratio to the level of a clear spot
constexpr double kOfScale = 1.6;       // largest ratio of a fitted width to its scale
constexpr int kLargerScales = 2;       // scales added in the search for objects
constexpr std::size_t kObjects = 8;    // fewest at their scale and its neighbours,
constexpr double kObjectsShare = 0.5;  // least share of the total strength,
constexpr double kFinerShare = 1.0 / 3;  // and most strength at finer scales, relative to theirs
constexpr std::size_t kFarMore = 2;      // least ratio of their number to that at the fitted scale
constexpr double kOverLevel = 1.25;      // ratio to the level of small spots, unlike rims of objects
constexpr double kFewestShare = 0.05;    // least share of spots of another size,
constexpr std::size_t kFewestSpots = 3;  // and their number
constexpr double kClearShare = 0.5;      // least share of clear ones at those scales

/// The median ratio of the spots' scores to the level.
double median_over(const Rung& rung) {
  std::vector<double> over;
  for (const detect::ChosenSpot& spot : rung.spots) over.push_back(spot.over);
  return quantile(over, 0.5);
}

/// A second ladder has as many chances to see spots in texture, so only crowds and clear spots count.
void drop_unclear(Rung& rung) {
  if (!rung.crowd && (rung.spots.empty() || median_over(rung) < kClearScore)) rung.evidence = 0;
}

/// The rungs at which spots stand out, in falling order of how much they do.
std::vector<const Rung*> best_rungs(const std::vector<Rung>& ladder) {
  std::vector<const Rung*> best;
  for (const Rung& rung : ladder)
    if (rung.evidence > 0) best.push_back(&rung);
  std::ranges::stable_sort(best, {}, [](const Rung* rung) { return -rung->evidence; });
  return best;
}

/// Starts of fits: the best spots; if many, every second of them, since the best are often outliers.
std::vector<detect::FitStart> starts_of(std::vector<detect::ChosenSpot> spots, Polarity polarity) {
  std::ranges::stable_sort(spots, {}, [](const auto& spot) { return -spot.score; });
  const std::size_t step = spots.size() >= 2 * kSpots ? 2 : 1;
  std::vector<detect::FitStart> starts;
  for (std::size_t i = 0; i < spots.size() && starts.size() < kSpots; i += step) {
    const detect::Voxel& v = spots[i].voxel;
    starts.push_back({{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)},
                      (polarity == Polarity::bright ? 1 : -1) * std::abs(spots[i].amplitude)});
  }
  return starts;
}

/// Spots that remain at a rung after scales are joined.
struct Left {
  std::vector<detect::FitStart> starts;
  std::vector<double> over;  ///< ChosenSpot::over
};

std::vector<Left> joined(const Shape3& shape, const std::vector<Rung>& ladder, Polarity polarity) {
  std::vector<detect::Filter> filters;
  std::vector<detect::ScaleCandidate> candidates;
  std::vector<std::size_t> spot;  // index among the spots of its rung
  for (std::size_t k = 0; k < ladder.size(); ++k) {
    filters.push_back(ladder[k].filter);
    for (std::size_t i = 0; i < ladder[k].peaks.size(); ++i) {
      const detect::Peak& peak = ladder[k].peaks[i];
      candidates.push_back({{peak.x, peak.y, peak.z}, peak.quality, k});
      spot.push_back(i);
    }
  }
  std::vector<Left> left(ladder.size());
  for (const std::size_t c : detect::strongest_over_scales(shape, filters, candidates)) {
    const Rung& rung = ladder[candidates[c].scale];
    const detect::ChosenSpot& chosen = rung.spots[spot[c]];
    const double height = (polarity == Polarity::bright ? 1 : -1) * std::abs(chosen.amplitude);
    left[candidates[c].scale].starts.push_back({candidates[c].place, height});
    left[candidates[c].scale].over.push_back(chosen.over);
  }
  return left;
}

/// Widths in um, in xy and along z, of the spots of another size; empty if there are too few.
struct OtherSize {
  std::vector<double> across, along;
};

OtherSize other_size(const Execution& execution, const VolumeFrame& frame, const std::vector<Rung>& ladder,
                     const std::vector<Left>& left, double base, bool larger) {
  OtherSize other;
  std::size_t all = 0, there = 0;
  for (std::size_t k = 0; k < ladder.size(); ++k) {
    all += left[k].starts.size();
    const double ratio = ladder[k].sigma[0] / base;
    if (left[k].starts.empty() || (larger ? ratio < kOtherSize : ratio * kOtherSize > 1)) continue;
    there += left[k].starts.size();
    const auto fits = detect::fit_spots(execution, frame, ladder[k].filter, left[k].starts,
                                        {kWidthSpread, false, false, {}})
                          .spots;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      const double wide = fits[i].sigma[0] / ladder[k].filter.sigma[0];
      if (!fits[i].good || left[k].over[i] < kClearScore || wide > kOfScale || wide * kOfScale < 1) continue;
      other.across.push_back(fits[i].sigma[0] * frame.voxel_um.x);
      other.along.push_back(fits[i].sigma[2] * frame.voxel_um.z);
    }
  }
  const auto clear = static_cast<double>(other.across.size());
  if (other.across.size() < kFewestSpots || clear < kFewestShare * static_cast<double>(all) ||
      clear < kClearShare * static_cast<double>(there))
    return {};
  return other;
}

/// The quantile `share` of the widths; along z that of `base` if it is not known.
Sigma width_at(OtherSize other, double share, const Sigma& base) {
  const double across = quantile(other.across, share), along = quantile(other.along, share);
  return {across, across, along > 0 ? along : base[2]};
}

/// Whether the widths are about those of single voxels.
bool is_voxel(const VolumeFrame& frame, const Sigma& sigma) {
  return sigma[0] < kVoxelWidth * std::min(frame.voxel_um.x, frame.voxel_um.y) &&
         (frame.shape.nz == 1 || sigma[2] < kVoxelWidth * frame.voxel_um.z);
}

/// Spots far wider than their rung's scale may be parts of wider spots. They are searched again at their
/// width, starting with `sigma`, until it does not change, or only few are found.
Sigma widened(const Execution& execution, const VolumeFrame& frame, Polarity polarity, const Rung& first,
              Sigma sigma) {
  double scale = first.sigma[0];
  std::size_t spots = first.spots.size();
  for (int round = 0; round < kWidenings; ++round) {
    if (sigma[0] < kWider * scale || sigma[0] < kResolved * std::min(frame.voxel_um.x, frame.voxel_um.y) ||
        !fits_in(frame, filter_of(frame, sigma)))
      break;
    bool hot_voxels = false;
    const Rung rung = rung_of(execution, frame, polarity, sigma, hot_voxels);
    if (rung.evidence == 0 || kKept * static_cast<double>(spots) > static_cast<double>(rung.spots.size()))
      break;
    const std::optional<Sigma> next =
        fitted_sigma(execution, frame, starts_of(rung.spots, polarity), rung.sigma);
    if (!next) break;
    scale = sigma[0];
    spots = rung.spots.size();
    sigma = *next;
  }
  return sigma;
}

std::size_t spots_at(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                     const Sigma& sigma, bool keep_blending) {
  DetectionOptions options;
  options.polarity = polarity;
  options.radius_um = radius_of(frame, sigma);
  options.keep_blending = keep_blending;
  return detect_spots(execution, frame, options).size();
}

/// The width of a crowd: the fitted one, unless the rung's scale, or the fitted width with that along z as
/// across, finds more spots. Wide filters join touching balls.
Sigma width_of_crowd(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                     const Rung& rung, const Sigma& fitted) {
  const auto found_at = [&](const Sigma& sigma) {
    return static_cast<double>(spots_at(execution, frame, polarity, sigma, true));
  };
  Sigma best = fitted;
  double most = found_at(fitted), across = fitted[0];
  for (const Sigma& other : {rung.sigma, Sigma{across, across, std::min(across, fitted[2])}}) {
    const double found = other == fitted ? 0 : found_at(other);
    if (most < kMostKept * found) best = other, most = found;
  }
  return best;
}

/// Whether kObjects discs that respond most at this scale fit into the frame, apart or touching.
bool holds_objects(const VolumeFrame& frame, const Sigma& sigma) {
  constexpr double kDisc = 6.28;  // area, in sigma squared
  const double area = static_cast<double>(frame.shape.nx) * frame.voxel_um.x *
                      static_cast<double>(frame.shape.ny) * frame.voxel_um.y;
  return static_cast<double>(kObjects) * kDisc * sigma[0] * sigma[0] <= area &&
         fits_in(frame, filter_of(frame, sigma));
}

/// The rungs of the ladder and the larger ones at which objects fit into the frame. The number of maxima
/// falls with the scale until maxima are rounding errors.
std::vector<Rung> with_larger(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                              const std::vector<Rung>& ladder) {
  std::vector<Rung> rungs;
  for (std::size_t i = 0; i < ladder.size() + kLargerScales; ++i) {
    const Sigma sigma = sigma_of_rung(frame, static_cast<double>(i));
    if (i > 2 && !holds_objects(frame, sigma)) break;
    bool hot_voxels = false;
    Rung rung = i < ladder.size() ? ladder[i] : rung_of(execution, frame, polarity, sigma, hot_voxels);
    if (i > 0 && rung.maxima > rungs.back().maxima) break;
    rungs.push_back(std::move(rung));
  }
  return rungs;
}

/// The rung with most of the strength of all scales; none if no scale has most.
std::optional<Rung> main_rung(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                              const std::vector<Rung>& ladder) {
  std::vector<Rung> rungs = with_larger(execution, frame, polarity, ladder);
  std::vector<detect::Filter> filters;
  std::vector<detect::ScaleCandidate> candidates;
  for (const Rung& rung : rungs) {
    for (const detect::Peak& peak : rung.wide ? rung.objects : rung.peaks)
      candidates.push_back({{peak.x, peak.y, peak.z}, peak.quality, filters.size()});
    filters.push_back(rung.filter);
  }
  if (candidates.empty()) return std::nullopt;
  const detect::ObjectScale found = detect::object_scale(filters, candidates);
  if (found.objects < kObjects || found.strength < kObjectsShare * found.all ||
      found.finer > (rungs[found.scale].solid ? 1 : kFinerShare) * found.strength)
    return std::nullopt;
  return std::move(rungs[found.scale]);
}

/// The scale with most of the frame's strength, if it is that of wide objects, of which few are found at the
/// scale `fitted`, or of spots smaller than those.
std::optional<Sigma> sigma_of_most(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                                   const std::vector<Rung>& ladder, const Sigma& fitted, bool& objects) {
  const std::optional<Rung> rung = main_rung(execution, frame, polarity, ladder);
  if (!rung) return std::nullopt;
  if (!rung->wide) {
    if (kWider * rung->sigma[0] > fitted[0] || median_over(*rung) < kOverLevel) return std::nullopt;
    const auto small = fitted_sigma(execution, frame, starts_of(rung->spots, polarity), rung->sigma);
    return small && is_voxel(frame, *small) ? std::nullopt : small;
  }
  if (kFarMore * spots_at(execution, frame, polarity, fitted, false) >= rung->objects.size()) {
    if (!rung->solid) return std::nullopt;
    bool hot_voxels = false;
    objects = rung_of(execution, frame, polarity, fitted, hot_voxels).solid;
    if (objects) return std::nullopt;  // the fitted scale is that of the objects
  }
  objects = detect::are_apart(rung->filter, rung->objects);
  return objects ? std::optional(rung->sigma) : std::nullopt;
}

struct Estimate {
  VolumeFrame frame;  ///< the part of the frame that was searched, without hot voxels
  std::vector<Rung> ladder{};
  Sigma sigma{};
  bool objects = false;  ///< of one size; finer spots are their grain
  std::optional<RivalSize> rival{};
};

/// The result of fits to the spots of the best rung, or of the next one if they fail; for a crowd its scale.
/// `failed`: spots were seen, but no fits give the result.
std::optional<Sigma> sigma_of_fits(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                                   const std::vector<Rung>& ladder, bool& failed) {
  const std::vector<const Rung*> best = best_rungs(ladder);
  failed = !best.empty();
  for (const Rung* rung : best) {
    const std::optional<Sigma> sigma =
        fitted_sigma(execution, frame, starts_of(rung->spots, polarity), rung->sigma);
    if (!sigma && (!rung->crowd || !detect::are_apart(rung->filter, rung->peaks))) continue;
    if (sigma && is_voxel(frame, *sigma) && median_over(*rung) < kClearScore) continue;
    const Sigma wide = sigma ? widened(execution, frame, polarity, *rung, *sigma) : rung->sigma;
    const Sigma width = rung->crowd ? width_of_crowd(execution, frame, polarity, *rung, wide) : wide;
    failed = width == rung->sigma;
    return width;
  }
  return std::nullopt;
}

/// Takes wide objects that stand out from their grain.
void settle_rival(const Execution& execution, Polarity polarity, Estimate& result) {
  Vec3 radius = radius_of(result.frame, result.sigma);
  const double factor = radius.x / result.sigma[0];
  const auto rival = detect::find_rival(execution, result.frame, radius, polarity);
  if (!rival) return;
  result.rival = rival->size;
  if (!rival->stands_out) return;
  std::swap(radius, result.rival->radius_um);
  std::swap(result.rival->found, result.rival->taken);
  result.sigma = {radius.x / factor, radius.y / factor, radius.z / factor};
  result.objects = true;
}

/// The size that stands out most, without a second one. `failed`: as in sigma_of_fits.
std::optional<Estimate> estimate_one(const Execution& execution, const VolumeFrame& given, Polarity polarity,
                                     bool& failed) {
  const detect::ValueRange whole_range = detect::check_frame(execution, given);
  if (!(whole_range.high > whole_range.low)) return std::nullopt;
  Estimate result{detect::central_part(given)};
  if (auto bare = detect::without_padding(execution, result.frame)) result.frame = std::move(bare->frame);
  const detect::ValueRange range = detect::check_frame(execution, result.frame);
  detect::check_span(result.frame, range);
  if (!(range.high > range.low)) return std::nullopt;
  for (const double higher : {0.0, 0.5}) {
    result.ladder = climb(execution, result.frame, polarity, higher);
    if (higher > 0) std::ranges::for_each(result.ladder, drop_unclear);
    bool unclear = false;
    const auto fitted = sigma_of_fits(execution, result.frame, polarity, result.ladder, unclear);
    failed = unclear || (!fitted && failed);
    if (!fitted) {
      const std::optional<Rung> rung = main_rung(execution, result.frame, polarity, result.ladder);
      if (!rung || !rung->solid || !detect::are_apart(rung->filter, rung->objects)) continue;
      result.sigma = rung->sigma;
      result.objects = true;
      return result;
    }
    result.sigma = sigma_of_most(execution, result.frame, polarity, result.ladder, *fitted, result.objects)
                       .value_or(*fitted);
    return result;
  }
  return std::nullopt;
}

/// Objects wider than a thin stack is deep, in the mean of its planes, if they are wider than `known`.
std::optional<Estimate> estimate_in_mean(const Execution& execution, const VolumeFrame& given,
                                         Polarity polarity, double known) {
  if (given.shape.nz < 2 || given.shape.nz > kThin) return std::nullopt;
  bool failed = false;
  Estimate result{detect::central_part(given)};
  const auto flat = estimate_one(execution, detect::mean_of_planes(result.frame), polarity, failed);
  const double deepest = static_cast<double>(given.shape.nz) * given.voxel_um.z / 3;
  if (!flat || flat->sigma[0] < deepest || flat->sigma[0] <= known) return std::nullopt;
  result.sigma = {flat->sigma[0], flat->sigma[0], flat->sigma[0]};
  result.objects = true;
  settle_rival(execution, polarity, result);
  return result;
}

std::optional<Estimate> estimate(const Execution& execution, const VolumeFrame& given, Polarity polarity) {
  bool failed = false;
  detect::check_sizes(given);
  const std::optional<detect::Unpadded> filled = detect::without_missing(execution, given);
  const VolumeFrame& frame = filled ? filled->frame : given;
  std::optional<Estimate> result = estimate_one(execution, frame, polarity, failed);
  if (result) settle_rival(execution, polarity, *result);
  if (!failed || (result && result->rival)) return result;
  auto objects = estimate_in_mean(execution, frame, polarity, result ? result->sigma[0] : 0);
  return objects ? std::move(objects) : std::move(result);
}

}  // namespace

std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& frame, Polarity polarity) {
  const std::optional<Estimate> found = estimate(execution, frame, polarity);
  if (!found) return std::nullopt;
  return radius_of(found->frame, found->sigma);
}

std::optional<SpotSizes> estimate_sizes(const Execution& execution, const VolumeFrame& frame,
                                        Polarity polarity) {
  constexpr double kLow = 0.1, kHigh = 0.9;  // quantiles of a population's widths
  const std::optional<Estimate> found = estimate(execution, frame, polarity);
  if (!found) return std::nullopt;
  if (found->objects) return SpotSizes{radius_of(found->frame, found->sigma), std::nullopt, found->rival};
  const std::vector<Left> left = joined(found->frame.shape, found->ladder, polarity);
  const OtherSize large = other_size(execution, found->frame, found->ladder, left, found->sigma[0], true);
  const OtherSize small = other_size(execution, found->frame, found->ladder, left, found->sigma[0], false);
  Sigma least = found->sigma, most = found->sigma;
  if (!small.across.empty()) least = width_at(small, kLow, found->sigma);
  if (!large.across.empty()) most = width_at(large, kHigh, found->sigma);
  for (std::size_t a = 0; a < 3; ++a) {
    least[a] = std::min(least[a], found->sigma[a]);
    most[a] = std::max(most[a], found->sigma[a]);
  }
  SpotSizes sizes{radius_of(found->frame, least), std::nullopt, found->rival};
  if (least != most) sizes.largest_radius_um = radius_of(found->frame, most);
  return sizes;
}

}  // namespace motes::tracking
