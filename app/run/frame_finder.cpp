/// Resolves the settings of detection from the first frame, and detects in every frame.

#include "app/run/frame_finder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <motes/base/timer.h>
#include <motes/tracking/crop.h>
#include <motes/tracking/label_detector.h>

#include "app/bounded_memory.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/run/detecting.h"

namespace motes::app {
namespace {

/// Frames, spread over the series, that decide whether a few spots near the noise are spots or texture.
constexpr std::size_t kFramesTriedForTexture = 9;

/// Frames, spread over the series, from which the camera's gain is estimated.
constexpr std::size_t kFramesTriedForCamera = 5;

std::string short_vector(const Vec3& v) { return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", v.z, v.y, v.x); }

/// 1 for each voxel of the mask above 0, else 0.
ScratchArray<std::uint8_t> mask_of(const VolumeFrame& image) {
  return visit_voxels(image.voxels, [&](auto voxels) {
    ScratchArray<std::uint8_t> mask(scratch_of(image), voxels.size());
    for (std::size_t i = 0; i < voxels.size(); ++i) mask[i] = voxels[i] > 0 ? 1 : 0;
    return mask;
  });
}

double value_at(const VolumeFrame& image, double z_um, double y_um, double x_um) {
  const auto nearest = [](double um, double voxel, std::int64_t n) {
    return std::clamp<std::int64_t>(std::lround(um / voxel), 0, n - 1);
  };
  const Shape3& s = image.shape;
  const std::int64_t z = nearest(z_um, image.voxel_um.z, s.nz), y = nearest(y_um, image.voxel_um.y, s.ny),
                     x = nearest(x_um, image.voxel_um.x, s.nx);
  return visit_voxels(image.voxels, [&](auto v) {
    return static_cast<double>(v[static_cast<std::size_t>((z * s.ny + y) * s.nx + x)]);
  });
}

/// The device for each of the frames that are searched in parallel. Each device gets as many as fit into its
/// memory.
std::vector<int> device_turns(const Execution& execution, const Shape3& frame, std::span<const int> devices) {
  std::vector<int> room;
  Execution there = execution;
  for (const int device : devices) {
    there.device = device;
    room.push_back(tracking::frames_at_once(there, frame));
  }
  std::vector<int> turns;
  for (int round = 0; round < *std::max_element(room.begin(), room.end()); ++round)
    for (std::size_t k = 0; k < devices.size(); ++k)
      if (round < room[k]) turns.push_back(devices[k]);
  return turns;
}

}  // namespace

bool finds_labels(const Config& config) {
  return config.detection.method == DetectionMethod::labels || config.input.labels.has_value();
}

FrameFinder::FrameFinder(const Execution& execution, const Config& config, io::FrameSource& source,
                         Console& console, std::vector<int> devices, Purpose purpose)
    : executions_{execution}, config_(config), source_(source) {
  const io::SeriesInfo& info = source.info();
  check_camera(config.detection);
  if (config.input.crop) tracking::region_within(*config.input.crop, info.shape);
  if (config.input.mask)
    mask_ = std::make_unique<Companion>("input.mask", *config.input.mask, config, info, true);
  if (config.input.labels)
    labels_ = std::make_unique<Companion>("input.labels", *config.input.labels, config, info, false);
  if (finds_labels(config)) {
    console.note("detections: the labels of " + config.input.labels.value_or(info.path));
    return;
  }
  settle_executions(execution, std::move(devices));
  Execution all_threads = executions_.front();
  all_threads.threads = execution.threads;
  radius_ = choose_radius(all_threads, config, source, console);
  const auto text = [&](const Vec3& um) {
    return info.shape.nz == 1 ? fmt::format("[{:.4g}, {:.4g}]", um.y, um.x) : short_vector(um);
  };
  console.note(fmt::format("spot radius {}{} um [{}y, x] ({})", text(radius_->um),
                           radius_->largest_um ? " to " + text(*radius_->largest_um) : "",
                           info.shape.nz == 1 ? "" : "z, ", radius_->source));
  settle_camera(all_threads, console);
  if (purpose == Purpose::tracks) settle_faint(all_threads, console);
}

void FrameFinder::settle_camera(const Execution& execution, Console& console) {
  const std::vector<std::int32_t> frames = kept_frames(source_.info().frames, config_.input.frame_step);
  const std::size_t tried = std::min(kFramesTriedForCamera, frames.size());
  tracking::DetectionOptions fitting = options();
  fitting.refine = tracking::Refine::fit;
  const auto noise_of = [&](std::size_t k) {
    stop_if_interrupted("interrupted while estimating the camera's gain");
    tracking::DetectionReport report;
    find_with(execution, read(frames[k * frames.size() / tried]), fitting, report);
    return report.noise;
  };
  camera_ = app::settle_camera(config_.detection, tried, noise_of, console);
  if (camera_) console.note("camera: " + camera_text(*camera_));
}

void FrameFinder::settle_faint(const Execution& execution, Console& console) {
  const std::vector<std::int32_t> frames = kept_frames(source_.info().frames, config_.input.frame_step);
  tracking::DetectionOptions searching = options();
  searching.refine = tracking::Refine::parabola;
  const auto look = [&](std::size_t k, std::optional<double> false_spots) {
    stop_if_interrupted("interrupted while looking for faint spots in some frames");
    searching.false_positives_per_frame = false_spots;
    tracking::DetectionReport report;
    SampledFrame seen{find_with(execution, read(frames[k]), searching, report), false};
    seen.faint = report.faint;
    return seen;
  };
  faint_ = settle_faint_spots(execution, config_, source_.info(), radius_->largest_um.has_value(), look);
  if (faint_) console.note(faint_text(*faint_));
}

/// On a GPU some frames are uploaded, searched and fitted while the threshold of others is chosen on the CPU.
/// Together they have one and a half times the threads of the execution, since a frame's thread sometimes
/// waits for the GPU. Frames go to the devices in turn, so that few frames are spread over all of them.
void FrameFinder::settle_executions(const Execution& execution, std::vector<int> devices) {
  const io::SeriesInfo& info = source_.info();
  const auto frames = static_cast<std::int64_t>(kept_frames(info.frames, config_.input.frame_step).size());
  Execution each = execution;
  each.backend = tracking::detection_backend(execution, info.shape, frames);
  const bool side_by_side = each.backend == Backend::cuda && !mask_ && frames > 1;
  if (!side_by_side || devices.empty()) devices = {execution.device};
  std::vector<int> device_of_turn;
  if (side_by_side) device_of_turn = device_turns(each, info.shape, devices);
  device_of_turn.resize(
      std::max<std::size_t>(1, std::min(device_of_turn.size(), static_cast<std::size_t>(most_at_once()))),
      execution.device);
  const std::size_t count = device_of_turn.size();
  if (count > 1) each.threads = std::max(1, 3 * thread_count(execution) / 2 / static_cast<int>(count));
  workspaces_.resize(count + (count > 1 ? 1 : 0));
  executions_.assign(count, each);
  for (std::size_t i = 0; i < count; ++i) {
    executions_[i].workspace = &workspaces_[i];
    executions_[i].device = device_of_turn[i];
  }
  if (count == 1) return;
  settling_ = each;
  settling_->workspace = &workspaces_[count];
}

VolumeFrame FrameFinder::read(std::int32_t t, double* seconds) {
  const std::lock_guard lock(reading_);
  const auto start = std::chrono::steady_clock::now();
  VolumeFrame frame = source_.read(t);
  if (seconds != nullptr) *seconds = seconds_since(start);
  return frame;
}

std::int64_t FrameFinder::most_at_once() const {
  return std::max<std::int64_t>(1, frames_in_memory(config_, source_.info()));
}

VolumeFrame FrameFinder::part_of(const VolumeFrame& frame) const {
  return tracking::crop_frame(frame, *config_.input.crop);
}

Detections FrameFinder::find(const VolumeFrame& frame, tracking::DetectionReport& report) {
  return settle(frame, look_at(executions_.front(), frame, report), report);
}

tracking::DetectionOptions FrameFinder::options() const {
  const Config::Detection& d = config_.detection;
  tracking::DetectionOptions options;
  options.radius_um = radius_->um;
  options.largest_radius_um = radius_->largest_um;
  options.threshold = d.threshold;
  options.max_count = d.max_count;
  options.polarity = radius_->polarity;
  options.false_positives_per_frame = d.false_positives_per_frame;
  if (faint_) options.false_positives_per_frame = faint_->false_per_frame;
  options.refine = d.refine;
  if (camera_) options.camera = camera_->model;
  return options;
}

Detections FrameFinder::look_at(const Execution& execution, const VolumeFrame& frame,
                                tracking::DetectionReport& report) {
  if (finds_labels(config_)) return find_labels(frame);
  return find_with(execution, frame, options(), report);
}

Detections FrameFinder::settle(const VolumeFrame& frame, Detections found,
                               tracking::DetectionReport& report) {
  if (finds_labels(config_)) return found;
  if (report.blends && series_shows_spots(options())) {
    tracking::DetectionOptions keeping = options();
    keeping.keep_blending = true;
    found = find_with(settling(), frame, keeping, report);
  }
  if (mask_) {
    const VolumeFrame& image = mask_->read(frame.index, scratch_of(frame));
    PropertyColumn column{"mask_label", {}};
    for (std::size_t i = 0; i < found.size(); ++i)
      column.values.push_back(value_at(image, found.z_um[i], found.y_um[i], found.x_um[i]));
    found.properties.push_back(std::move(column));
  }
  return found;
}

Detections FrameFinder::find_with(const Execution& execution, const VolumeFrame& frame,
                                  tracking::DetectionOptions options, tracking::DetectionReport& report) {
  ScratchArray<std::uint8_t> mask;
  if (mask_) {
    const VolumeFrame& image = mask_->read(frame.index, scratch_of(frame));
    mask = mask_of(config_.input.crop ? part_of(image) : image);
  }
  options.mask = {mask.data(), mask.size()};
  if (!config_.input.crop) return tracking::detect_spots(execution, frame, options, &report);
  const tracking::Region region = tracking::region_within(*config_.input.crop, frame.shape);
  Detections found = tracking::detect_spots(execution, part_of(frame), options, &report);
  tracking::shift_by_region(found, region, frame.voxel_um);
  return found;
}

bool FrameFinder::series_shows_spots(const tracking::DetectionOptions& asked) {
  if (series_shows_spots_) return *series_shows_spots_;
  tracking::DetectionOptions options = asked;
  options.refine = tracking::Refine::parabola;  // only the number of spots matters
  const std::vector<std::int32_t> frames = kept_frames(source_.info().frames, config_.input.frame_step);
  const std::size_t tried = std::min(kFramesTriedForTexture, frames.size());
  std::size_t clear = 0;
  for (std::size_t k = 0; k < tried; ++k) {
    stop_if_interrupted("interrupted while looking for spots in some frames");
    tracking::DetectionReport report;
    const Detections found = find_with(settling(), read(frames[k * frames.size() / tried]), options, report);
    if (!report.blends && found.size() > 0) ++clear;
  }
  series_shows_spots_ = 4 * clear >= 3 * tried;
  return *series_shows_spots_;
}

Detections FrameFinder::find_labels(const VolumeFrame& frame) {
  VolumeFrame labels = labels_ ? labels_->read(frame.index, scratch_of(frame)) : frame;
  labels.voxel_um = frame.voxel_um;
  labels.time_s = frame.time_s;
  if (!config_.input.crop) return tracking::detect_labels(labels, labels_ ? &frame : nullptr);
  const VolumeFrame part = part_of(labels);
  Detections found;
  if (labels_) {
    const VolumeFrame image = part_of(frame);
    found = tracking::detect_labels(part, &image);
  } else {
    found = tracking::detect_labels(part);
  }
  tracking::shift_by_region(found, tracking::region_within(*config_.input.crop, frame.shape), frame.voxel_um);
  return found;
}

}  // namespace motes::app
