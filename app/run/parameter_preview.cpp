/// Detects with every combination of parameters, and writes the picture.

#include "app/run/parameter_preview.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/quantile.h>
#include <motes/io/parameter_preview.h>
#include <motes/tracking/crop.h>

#include "app/interrupt.h"
#include "app/progress.h"
#include "app/run/detecting.h"
#include "app/run/frame_finder.h"

namespace motes::app {
namespace {

constexpr std::array<double, 3> kRadii{0.7, 1, 1.4};
constexpr std::array<double, 3> kThresholds{0.5, 1, 2};
constexpr std::int64_t kThinStack = 24, kFewestPlanes = 4;
constexpr std::int64_t kBestOf = 100;  // if nothing is found: the threshold that gives this many spots

/// Detects with these parameters, without messages.
Detections found_with(const Execution& execution, Config config, const Vec3& radius,
                      std::optional<double> threshold, std::int64_t max_count, io::FrameSource& source,
                      const VolumeFrame& frame) {
  stop_if_interrupted("interrupted while trying parameters");
  config.detection.radius_um = radius;
  config.detection.largest_radius_um.reset();
  config.detection.threshold = threshold;
  config.detection.max_count = max_count;
  config.detection.refine = tracking::Refine::parabola;
  std::ostringstream unseen;
  Console silent(unseen, unseen, false);
  tracking::DetectionReport report;
  return FrameFinder(execution, config, source, silent).find(frame, report);
}

/// The threshold around which others are tried: the given one, else about the lowest quality of the spots
/// found with an automatic one.
double middle_threshold(const Execution& execution, const Config& config, const Vec3& radius,
                        io::FrameSource& source, const VolumeFrame& frame) {
  if (config.detection.threshold) return *config.detection.threshold;
  Detections found = found_with(execution, config, radius, std::nullopt, 0, source, frame);
  if (found.empty()) found = found_with(execution, config, radius, std::nullopt, kBestOf, source, frame);
  return found.empty() ? 0 : quantile(found.quality, 0.05);
}

/// The planes that are drawn: all of a thin stack; of a thick one those within about two radii of the middle,
/// so that spots do not hide each other.
tracking::Region drawn_planes(const VolumeFrame& frame, const Vec3& radius) {
  tracking::Region planes{0, frame.shape.nx, 0, frame.shape.ny, 0, frame.shape.nz};
  if (frame.shape.nz <= kThinStack) return planes;
  const auto half = std::max<std::int64_t>(kFewestPlanes, std::lround(2 * radius.z / frame.voxel_um.z));
  planes.z0 = std::max<std::int64_t>(0, frame.shape.nz / 2 - half);
  planes.z1 = std::min(frame.shape.nz, frame.shape.nz / 2 + half + 1);
  return planes;
}

Detections within(const Detections& found, const tracking::Region& planes, double voxel_z) {
  Detections inside;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double z = found.z_um[i] / voxel_z;
    if (z < static_cast<double>(planes.z0) - 0.5 || z >= static_cast<double>(planes.z1) - 0.5) continue;
    inside.x_um.push_back(found.x_um[i]);
    inside.y_um.push_back(found.y_um[i]);
    inside.z_um.push_back(found.z_um[i]);
  }
  return inside;
}

}  // namespace

nlohmann::ordered_json preview_parameters(const Execution& execution, Config config, io::FrameSource& source,
                                          const std::filesystem::path& picture, Console& console) {
  if (finds_labels(config)) throw UsageError("--preview-parameters: labels have no parameters to choose");
  const auto kept = kept_frames(source.info().frames, config.input.frame_step, config.input.frames);
  if (kept.empty()) throw UsageError("input.frames: the series has no such frame");
  const SpotRadius base = choose_radius(execution, config, source, console);
  config.detection.polarity = base.polarity;
  const VolumeFrame frame = source.read(kept.front());
  const double middle = middle_threshold(execution, config, base.um, source, frame);
  const tracking::Region planes = drawn_planes(frame, base.um);
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  std::vector<std::vector<io::ParameterPanel>> rows;
  for (std::size_t t = 0; t <= kThresholds.size(); ++t) {
    std::optional<double> threshold;
    if (t > 0) threshold = kThresholds[t - 1] * middle;
    rows.emplace_back();
    for (const double factor : kRadii) {
      const Vec3 radius = factor * base.um;
      const Detections found = found_with(execution, config, radius, threshold, 0, source, frame);
      console.print(fmt::format("radius [{:.4g}, {:.4g}, {:.4g}] um, threshold {}: {}", radius.z, radius.y,
                                radius.x, threshold ? fmt::format("{:.4g}", *threshold) : "auto",
                                counted(static_cast<std::int64_t>(found.size()), "detections")));
      nlohmann::ordered_json entry{{"radius_um_zyx", {radius.z, radius.y, radius.x}},
                                   {"threshold", nullptr},
                                   {"detections", found.size()}};
      if (threshold) entry["threshold"] = *threshold;
      table.push_back(entry);
      rows.back().push_back(
          {radius.x, threshold.value_or(-1), found.size(), within(found, planes, frame.voxel_um.z)});
    }
  }
  io::Projection ground;
  ground.add(tracking::crop_frame(frame, planes));
  io::write_parameter_preview_png(picture, ground, rows);
  console.print(
      fmt::format("frame {}, planes {} to {}: {}", frame.index, planes.z0, planes.z1 - 1, picture.string()));
  return table;
}

}  // namespace motes::app
