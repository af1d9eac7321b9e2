/// Laplacian of Gaussian -> local maxima -> spots -> positions, at one scale or at several. Each step has its
/// own file: search (on the CPU, on the GPU), response, maxima, choice (evidence, selection), refine,
/// gaussian_fit; parts joins maxima of one object, scale_space joins scales.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/workspace.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/device_search.h"
#include "tracking/detect/filter/frame_rows.h"
#include "tracking/detect/filter/hot_voxels.h"
#include "tracking/detect/filter/missing.h"
#include "tracking/detect/filter/padding.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/filter/value_span.h"
#include "tracking/detect/fit/camera.h"
#include "tracking/detect/fit/positions.h"
#include "tracking/detect/fit/shapes.h"
#include "tracking/detect/maxima/parts.h"
#include "tracking/detect/scan.h"
#include "tracking/detect/size/scale_space.h"

namespace motes::tracking {
namespace {

using detect::Filter;
using detect::Peak;
using detect::Spots;
using detect::SpotSearch;
using detect::Voxel;

void check_options(const VolumeFrame& frame, const DetectionOptions& options) {
  if (options.threshold && !std::isfinite(*options.threshold))
    throw UsageError("detection.threshold must be a finite number");
  if (options.max_count < 0) throw UsageError("detection.max_count must be 0 (all) or more");
  const double rate = options.false_positives_per_frame.value_or(1);
  if (!(rate > 0) || !std::isfinite(rate))
    throw UsageError("detection.false_positives_per_frame must be a finite number over 0");
  const CameraModel& camera = options.camera;
  if (camera.gain && !(*camera.gain > 0 && std::isfinite(*camera.gain)))
    throw UsageError("detection.camera_gain must be a finite number over 0");
  if (camera.offset && !std::isfinite(*camera.offset))
    throw UsageError("detection.camera_offset must be a finite number");
  if (camera.read_noise && !(*camera.read_noise >= 0 && std::isfinite(*camera.read_noise)))
    throw UsageError("detection.read_noise must be a finite number not below 0");
  if (!options.mask.empty() && static_cast<std::int64_t>(options.mask.size()) != frame.shape.voxels())
    throw InputError("frame " + std::to_string(frame.index) + ": the mask has " +
                     std::to_string(options.mask.size()) + " voxels, the frame " +
                     std::to_string(frame.shape.voxels()) + "; give a mask of the frame's shape");
}

/// The frame to search, with or without hot voxels.
struct Task {
  const VolumeFrame& frame;
  const std::vector<Filter>& scales;
  const DetectionOptions& options;
  bool repair = false;  ///< remove hot voxels first, if there are any
};

/// The spots of every scale. If hot voxels are to be removed, stops after the first scale that shows some.
struct ScaleSpots {
  std::vector<Spots> spots;
  std::int64_t local_maxima = 0;  ///< of the first scale
  bool hot_voxels = false;
};

/// The spots of one scale, with one for each object.
Spots spots_at(const Execution& execution, SpotSearch& search, const Task& task, const Filter& filter) {
  Spots spots = detect::spots_of(search, task.options);
  if (detect::by_evidence(task.options))
    detect::join_parts(execution, task.frame, filter, task.options.polarity, spots);
  return spots;
}

ScaleSpots spots_of_scales(const Execution& execution, SpotSearch& search, const Task& task) {
  ScaleSpots all;
  for (const Filter& filter : task.scales) {
    search.respond(filter);
    const std::size_t maxima = search.find_maxima();
    if (all.spots.empty()) all.local_maxima = static_cast<std::int64_t>(maxima);
    all.spots.push_back(spots_at(execution, search, task, filter));
    if (task.repair && all.spots.back().hot_voxels) {
      all.hot_voxels = true;
      break;
    }
  }
  return all;
}

/// Removes spots that a stronger spot of another scale suppresses.
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

/// The detections with the indices `order`, in that order.
Detections picked(const Detections& found, const std::vector<std::size_t>& order) {
  Detections result = found;
  const auto pick = [&](const std::vector<double>& from, std::vector<double>& to) {
    to.clear();
    for (const std::size_t i : order) to.push_back(from[i]);
  };
  pick(found.x_um, result.x_um);
  pick(found.y_um, result.y_um);
  pick(found.z_um, result.z_um);
  pick(found.radius_um, result.radius_um);
  pick(found.intensity, result.intensity);
  pick(found.quality, result.quality);
  for (std::size_t c = 0; c < found.properties.size(); ++c)
    pick(found.properties[c].values, result.properties[c].values);
  return result;
}

Voxel voxel_of(const VolumeFrame& frame, const Detections& found, std::size_t i) {
  return {std::lround(found.z_um[i] / frame.voxel_um.z), std::lround(found.y_um[i] / frame.voxel_um.y),
          std::lround(found.x_um[i] / frame.voxel_um.x)};
}

/// `found` in order of z, then y, then x of the nearest voxel.
Detections sorted(const VolumeFrame& frame, const Detections& found) {
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Voxel> keys;
  for (std::size_t i = 0; i < found.size(); ++i) keys.push_back(voxel_of(frame, found, i));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return picked(found, order);
}

/// The detections in voxels where `is_data` is not 0. A fit may have moved a spot out of the data.
Detections within(const VolumeFrame& frame, const std::vector<std::uint8_t>& is_data,
                  const Detections& found) {
  const Shape3& shape = frame.shape;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Voxel v = voxel_of(frame, found, i);
    const std::int64_t z = std::clamp<std::int64_t>(v.z, 0, shape.nz - 1),
                       y = std::clamp<std::int64_t>(v.y, 0, shape.ny - 1),
                       x = std::clamp<std::int64_t>(v.x, 0, shape.nx - 1);
    if (is_data[static_cast<std::size_t>((z * shape.ny + y) * shape.nx + x)] != 0) kept.push_back(i);
  }
  return picked(found, kept);
}

void note(std::span<const Spots> all, DetectionReport& report) {
  report.threshold = all.front().threshold;
  for (const Spots& spots : all) report.blends = report.blends || spots.blends;
  report.faint = all.size() == 1 && all.front().faint;
  for (const Spots& spots : all)
    for (const std::string& warning : spots.warnings)
      if (std::find(report.warnings.begin(), report.warnings.end(), warning) == report.warnings.end())
        report.warnings.push_back(warning);
}

/// Stores the noise; of several scales, that of the one with most spots.
void note_noise(const std::optional<VoxelNoise>& noise, const DetectionOptions& options,
                DetectionReport& report) {
  if (!noise || (report.noise && report.noise->spots >= noise->spots)) return;
  report.noise = noise;
  const std::optional<std::string> doubt = detect::doubt_of_camera(options.camera, *noise);
  if (doubt) report.warnings.push_back(*doubt);
}

void note_shapes(const Task& task, const Detections& found, DetectionReport& report) {
  const auto doubt = detect::doubt_of_shapes(task.options, task.scales.front().dimensions, found);
  report.shapes_differ = doubt.has_value();
  if (doubt) report.warnings.push_back(*doubt);
}

/// Touching objects hardly respond to a filter of their size. Takes the spots of a finer one instead if these
/// are a crowd or solid objects as well, more, and no nearer to each other than objects can be.
void search_finer(const Execution& execution, SpotSearch& search, const Task& task, Filter& filter,
                  Spots& spots) {
  constexpr double kFiner = 0.7, kFinerSolid = 0.85;  // of the radius
  constexpr std::size_t kFarMore = 2;
  const double part = spots.solid ? kFinerSolid : kFiner;
  const Vec3& radius = task.options.radius_um;
  const Filter finer = detect::make_filter(task.frame.shape, task.frame.voxel_um,
                                           {part * radius.x, part * radius.y, part * radius.z});
  const auto respond = [&](const Filter& to) {
    search.respond(to);
    search.find_maxima();
  };
  respond(finer);
  Spots found = spots_at(execution, search, task, finer);
  const bool better =
      spots.solid
          ? found.solid && found.peaks.size() > spots.peaks.size()
          : found.crowd && found.peaks.size() >= kFarMore * std::max<std::size_t>(1, spots.peaks.size());
  if (better && detect::are_apart(filter, found.peaks)) {
    filter = finer;
    spots = std::move(found);
  } else {
    respond(filter);
  }
}

Detections detect_one_scale(const Execution& execution, SpotSearch& search, const Task& task,
                            DetectionReport& report, bool& hot_voxels, Detections found) {
  Filter filter = task.scales.front();
  search.respond(filter);
  report.local_maxima = static_cast<std::int64_t>(search.find_maxima());
  Spots spots = spots_at(execution, search, task, filter);
  const bool touch = spots.solid && detect::do_touch(filter, spots.peaks);
  if ((spots.missing || touch) && !spots.hot_voxels) search_finer(execution, search, task, filter, spots);
  hot_voxels = task.repair && spots.hot_voxels;
  if (hot_voxels) return found;
  note(std::span(&spots, 1), report);
  note_noise(detect::append_spots(execution, task.frame, filter, search, task.options, spots, found),
             task.options, report);
  note_shapes(task, found, report);
  return found.size() > spots.peaks.size() ? sorted(task.frame, found) : found;
}

/// The response is computed again at each scale that keeps spots, so that memory holds one response at a
/// time.
Detections detect_scales(const Execution& execution, SpotSearch& search, const Task& task,
                         DetectionReport& report, bool& hot_voxels, Detections found) {
  if (task.scales.size() == 1)
    return detect_one_scale(execution, search, task, report, hot_voxels, std::move(found));
  ScaleSpots all = spots_of_scales(execution, search, task);
  report.local_maxima = all.local_maxima;
  hot_voxels = all.hot_voxels;
  if (hot_voxels) return found;
  note(all.spots, report);
  keep_strongest(task.frame.shape, task.scales, task.options.max_count, all.spots);
  for (std::size_t k = 0; k < task.scales.size(); ++k) {
    if (all.spots[k].peaks.empty()) continue;
    const Filter& filter = task.scales[k];
    search.respond(filter);
    note_noise(detect::append_spots(execution, task.frame, filter, search, task.options, all.spots[k], found),
               task.options, report);
  }
  note_shapes(task, found, report);
  return sorted(task.frame, found);
}

using MakeSearch = std::unique_ptr<SpotSearch> (*)(const Execution&, const VolumeFrame&,
                                                   const DetectionOptions&);

Detections detect_with(MakeSearch make, const Execution& execution, const VolumeFrame& frame,
                       const DetectionOptions& given, DetectionReport& told) {
  const std::vector<Filter> scales = detect::make_scales(frame.shape, frame.voxel_um, given.radius_um,
                                                         given.largest_radius_um.value_or(given.radius_um));
  DetectionOptions options = given;
  if (options.refine == Refine::automatic) options.refine = Refine::fit;
  Detections found;
  found.frame = frame.index;
  found.time_s = frame.time_s;
  detect::add_columns(options, found);
  const std::unique_ptr<SpotSearch> search = make(execution, frame, options);
  detect::check_span(frame, search->range());
  if (!(search->range().high > search->range().low)) return found;
  Task task{frame, scales, options, detect::by_evidence(options)};
  bool hot_voxels = false;
  Detections result = detect_scales(execution, *search, task, told, hot_voxels, found);
  search->add_times(told);
  if (!hot_voxels) return result;
  const std::optional<VolumeFrame> clean = detect::without_hot_voxels(execution, frame, options.polarity);
  const VolumeFrame& repaired = clean ? *clean : frame;
  const Task again{repaired, scales, options, false};
  const std::unique_ptr<SpotSearch> second = make(execution, repaired, options);
  result = detect_scales(execution, *second, again, told, hot_voxels, std::move(found));
  second->add_times(told);
  return result;
}

/// Whether to search a frame on a GPU. Throws ResourceError if a GPU is asked for and missing.
bool on_gpu(const Execution& execution, const VolumeFrame& frame) {
  const bool asked = execution.backend == Backend::cuda;
  if (!asked && (execution.backend == Backend::cpu || !detect::worth_a_gpu(execution, frame.shape)))
    return false;  // without initialising a GPU
  if (execution.workspace != nullptr && execution.workspace->device_bytes() > 0)
    return true;  // a GPU is already in use
  const auto devices = gpu::list_devices();
  if (asked && devices.devices.empty())
    throw ResourceError("execution.backend: no GPU: " + devices.why_none + "; use execution.backend: cpu");
  return !devices.devices.empty();
}

Detections detect_in(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& given,
                     DetectionReport& told) {
  DetectionReport nothing;
  nothing.threshold = given.threshold.value_or(0);
  told = nothing;
  if (!on_gpu(execution, frame)) return detect_with(detect::search_on_host, execution, frame, given, told);
  try {
    told.backend = Backend::cuda;
    return detect_with(detect::search_on_device, execution, frame, given, told);
  } catch (const ResourceError& error) {
    told = nothing;
    Detections found = detect_with(detect::search_on_host, execution, frame, given, told);
    told.warnings.push_back(std::string("the frame was searched on the CPU: ") + error.what());
    return found;
  }
}

/// The frame without NaN and padding; none if it has neither.
std::optional<detect::Unpadded> bare_frame(const Execution& execution, const VolumeFrame& frame) {
  std::optional<detect::Unpadded> filled = detect::without_missing(execution, frame);
  std::optional<detect::Unpadded> bare = detect::without_padding(execution, filled ? filled->frame : frame);
  if (!bare) return filled;
  for (std::size_t i = 0; filled && i < bare->is_data.size(); ++i)
    if (filled->is_data[i] == 0) bare->is_data[i] = 0;
  return bare;
}

}  // namespace

Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& given,
                        DetectionReport* report) {
  check_options(frame, given);
  detect::check_sizes(frame);
  DetectionReport own;
  DetectionReport& told = report != nullptr ? *report : own;
  std::optional<detect::Unpadded> bare = bare_frame(execution, frame);
  if (!bare) return detect_in(execution, frame, given, told);
  for (std::size_t i = 0; i < given.mask.size(); ++i)
    if (given.mask[i] == 0) bare->is_data[i] = 0;
  DetectionOptions options = given;
  options.mask = bare->is_data;
  Detections found = within(bare->frame, bare->is_data, detect_in(execution, bare->frame, options, told));
  told.missing_voxels = detect::missing_voxels(execution, frame);
  return found;
}

}  // namespace motes::tracking
