/// Laplacian of Gaussian -> local maxima -> those that are spots -> positions, at one scale or at several.
/// Each step is in its own file: response, maxima, choice (evidence, selection), refine, gaussian_fit;
/// scale_space joins scales.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/hot_voxels.h"
#include "tracking/detect/positions.h"
#include "tracking/detect/response.h"
#include "tracking/detect/scale_space.h"
#include "tracking/detect/scan.h"

namespace motes::tracking {
namespace {

using detect::Filter;
using detect::Peak;
using detect::Scan;
using detect::Spots;

void check_options(const VolumeFrame& frame, const DetectionOptions& options) {
  if (options.threshold && !std::isfinite(*options.threshold))
    throw UsageError("detection.threshold must be a finite number");
  if (options.max_count < 0) throw UsageError("detection.max_count must be 0 (all) or more");
  const double rate = options.false_positives_per_frame.value_or(1);
  if (!(rate > 0) || !std::isfinite(rate))
    throw UsageError("detection.false_positives_per_frame must be a finite number over 0");
  if (!options.mask.empty() && static_cast<std::int64_t>(options.mask.size()) != frame.shape.voxels())
    throw InputError("frame " + std::to_string(frame.index) + ": the mask has " +
                     std::to_string(options.mask.size()) + " voxels, the frame " +
                     std::to_string(frame.shape.voxels()) + "; give a mask of the frame's shape");
}

constexpr double kFittedUpTo = 3;  // voxels of sigma, by Refine::automatic

bool is_small(const Filter& filter) {
  return std::all_of(filter.sigma.begin(), filter.sigma.end(), [](double s) { return s <= kFittedUpTo; });
}

/// A frame whose spots are looked for: `frame` itself, or that without hot voxels.
struct Task {
  const VolumeFrame& frame;
  const std::vector<Filter>& scales;
  const DetectionOptions& options;
  detect::ValueRange range;
  bool repair = false;  ///< hot voxels, if there are any, are to be removed first
  bool refine_large = false;
};

/// The spots of every scale. Stops after the first scale that shows hot voxels where these are to be removed.
struct ScaleSpots {
  std::vector<Spots> spots;
  std::int64_t local_maxima = 0;  ///< of the first scale
  bool hot_voxels = false;
};

ScaleSpots spots_of_scales(const Execution& execution, const Task& task) {
  ScaleSpots all;
  for (const Filter& filter : task.scales) {
    const Scan scan(execution, task.frame, filter, task.options.polarity, task.range, task.options.mask);
    if (all.spots.empty()) all.local_maxima = static_cast<std::int64_t>(scan.maxima.size());
    all.spots.push_back(detect::spots_of(execution, task.frame, filter, scan, task.options));
    if (task.repair && all.spots.back().hot_voxels) {
      all.hot_voxels = true;
      break;
    }
  }
  return all;
}

/// Keeps of each scale's spots those that no stronger spot of another scale suppresses.
void keep_strongest(const Shape3& shape, const std::vector<Filter>& scales, std::int64_t max_count,
                    std::vector<Spots>& all) {
  std::vector<detect::ScaleCandidate> candidates;
  std::vector<Peak> peaks;
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const Peak& peak : all[k].peaks) {
      candidates.push_back({{peak.x, peak.y, peak.z}, peak.quality, k});
      peaks.push_back(peak);
    }
  std::vector<std::size_t> kept = detect::strongest_over_scales(shape, scales, candidates);
  if (max_count > 0) {
    std::vector<Peak> left;
    for (const std::size_t i : kept) left.push_back(peaks[i]);
    std::vector<std::size_t> best;
    for (const std::size_t i : detect::best_of(left, static_cast<std::size_t>(max_count)))
      best.push_back(kept[i]);
    kept = std::move(best);
  }
  std::vector<unsigned char> keep(candidates.size(), 0);
  for (const std::size_t i : kept) keep[i] = 1;
  std::size_t next = 0;
  for (Spots& spots : all) {
    Spots left = spots;
    left.peaks.clear();
    left.scores.clear();
    for (std::size_t i = 0; i < spots.peaks.size(); ++i, ++next) {
      if (keep[next] == 0) continue;
      left.peaks.push_back(spots.peaks[i]);
      if (!spots.scores.empty()) left.scores.push_back(spots.scores[i]);
    }
    spots = std::move(left);
  }
}

/// `found` in order of z, then y, then x of the nearest voxel.
Detections sorted(const VolumeFrame& frame, const Detections& found) {
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::array<std::int64_t, 3>{std::lround(found.z_um[i] / frame.voxel_um.z),
                                       std::lround(found.y_um[i] / frame.voxel_um.y),
                                       std::lround(found.x_um[i] / frame.voxel_um.x)};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  Detections result = found;
  const auto permute = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < order.size(); ++i) to[i] = from[order[i]];
  };
  permute(found.x_um, result.x_um);
  permute(found.y_um, result.y_um);
  permute(found.z_um, result.z_um);
  permute(found.radius_um, result.radius_um);
  permute(found.intensity, result.intensity);
  permute(found.quality, result.quality);
  for (std::size_t c = 0; c < found.properties.size(); ++c)
    permute(found.properties[c].values, result.properties[c].values);
  return result;
}

void note(const std::vector<Spots>& all, DetectionReport& report) {
  report.threshold = all.front().threshold;
  for (const Spots& spots : all) report.blends = report.blends || spots.blends;
  for (const Spots& spots : all)
    for (const std::string& warning : spots.warnings)
      if (std::find(report.warnings.begin(), report.warnings.end(), warning) == report.warnings.end())
        report.warnings.push_back(warning);
}

Detections detect_one_scale(const Execution& execution, const Task& task, DetectionReport& report,
                            bool& hot_voxels, Detections found) {
  const Filter& filter = task.scales.front();
  const Scan scan(execution, task.frame, filter, task.options.polarity, task.range, task.options.mask);
  const Spots spots = detect::spots_of(execution, task.frame, filter, scan, task.options);
  report.local_maxima = static_cast<std::int64_t>(scan.maxima.size());
  hot_voxels = task.repair && spots.hot_voxels;
  if (hot_voxels) return found;
  note({spots}, report);
  detect::append_spots(execution, task.frame, filter, scan.response, task.options, spots, true, found);
  return found.size() > spots.peaks.size() ? sorted(task.frame, found) : found;
}

/// Responses are made twice, at each scale of which a spot is left, so that memory holds one at a time.
Detections detect_scales(const Execution& execution, const Task& task, DetectionReport& report,
                         bool& hot_voxels, Detections found) {
  if (task.scales.size() == 1) return detect_one_scale(execution, task, report, hot_voxels, std::move(found));
  ScaleSpots all = spots_of_scales(execution, task);
  report.local_maxima = all.local_maxima;
  hot_voxels = all.hot_voxels;
  if (hot_voxels) return found;
  note(all.spots, report);
  keep_strongest(task.frame.shape, task.scales, task.options.max_count, all.spots);
  for (std::size_t k = 0; k < task.scales.size(); ++k) {
    if (all.spots[k].peaks.empty()) continue;
    const Filter& filter = task.scales[k];
    const detect::Response response(execution, task.frame, filter, task.options.polarity, task.range.low);
    detect::append_spots(execution, task.frame, filter, response, task.options, all.spots[k],
                         task.refine_large || is_small(filter), found);
  }
  return sorted(task.frame, found);
}

}  // namespace

Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& given,
                        DetectionReport* report) {
  check_options(frame, given);
  const detect::ValueRange range = detect::check_frame(execution, frame);
  const std::vector<Filter> scales = detect::make_scales(frame.shape, frame.voxel_um, given.radius_um,
                                                         given.largest_radius_um.value_or(given.radius_um));
  DetectionOptions options = given;
  if (options.refine == Refine::automatic)
    options.refine = is_small(scales.front()) ? Refine::fit : Refine::parabola;
  Detections found;
  found.frame = frame.index;
  found.time_s = frame.time_s;
  detect::add_columns(options, found);
  DetectionReport own;
  DetectionReport& told = report != nullptr ? *report : own;
  told = {options.threshold.value_or(0), 0, false, {}};
  if (!(range.high > range.low)) return found;
  Task task{frame, scales, options, range, detect::by_evidence(options), given.refine == Refine::fit};
  bool hot_voxels = false;
  Detections result = detect_scales(execution, task, told, hot_voxels, found);
  if (!hot_voxels) return result;
  const std::optional<VolumeFrame> clean = detect::without_hot_voxels(execution, frame, options.polarity);
  const VolumeFrame& repaired = clean ? *clean : frame;
  const Task again{repaired, scales,           options, detect::check_frame(execution, repaired),
                   false,    task.refine_large};
  return detect_scales(execution, again, told, hot_voxels, std::move(found));
}

}  // namespace motes::tracking
