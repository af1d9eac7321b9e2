#include "app/detecting.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>

#include "app/interrupt.h"
#include "app/progress.h"

namespace motes::app {
namespace {

/// Frames that show nothing are skipped; so many, spread over the series, are looked at for a radius.
constexpr std::size_t kFramesTriedForRadius = 10;

/// Frames whose warnings are printed one by one; of the rest only the number is.
constexpr std::size_t kFramesWarnedOf = 3;

/// A change of the number of spots between two frames that is worth a warning, and the least number for it.
constexpr double kJump = 2;
constexpr std::size_t kJumpFrom = 20;

/// For series that show no spots: the radius of spots of a standard deviation of 1.5 of the finest voxels.
SpotRadius radius_without_spots(const io::FrameSource& source, const VolumeFrame& frame, std::size_t tried,
                                Console& console) {
  const Vec3& voxel = frame.voxel_um;
  const double um = 1.5 * std::min({voxel.x, voxel.y, voxel.z}) * std::sqrt(frame.shape.nz > 1 ? 3.0 : 2.0);
  console.warn(
      fmt::format("{}: {} frames looked at show no spots to estimate a radius from; set "
                  "detection.radius_um (and check detection.polarity). {:.4g} um is taken",
                  source.info().path, tried, um));
  return {{um, um, um}, "no spots seen: 1.5 voxels of standard deviation"};
}

/// Passes on what detection warns of: the first frames' warnings, then how many more there were.
class FrameWarnings {
 public:
  explicit FrameWarnings(Console& console) : console_(console) {}

  void add(std::int32_t frame, const std::vector<std::string>& warnings) {
    if (warnings.empty()) return;
    if (++frames_ > kFramesWarnedOf) return;
    for (const std::string& warning : warnings) console_.warn(fmt::format("frame {}: {}", frame, warning));
  }
  void add_jump(const Detections& before, const Detections& now) {
    const auto [less, more] = std::minmax(before.size(), now.size());
    if (more < kJumpFrom || static_cast<double>(more) <= kJump * static_cast<double>(less)) return;
    add(now.frame,
        {fmt::format("{} spots after {} in frame {}; look at both, and set detection.threshold if one "
                     "of them is wrong",
                     now.size(), before.size(), before.frame)});
  }
  void finish() {
    if (frames_ > kFramesWarnedOf)
      console_.warn(
          fmt::format("{} more warnings of this kind about other frames", frames_ - kFramesWarnedOf));
  }

 private:
  Console& console_;
  std::size_t frames_ = 0;
};

FrameSummary summary_of(const Detections& found, std::optional<double> threshold) {
  return {found.frame, static_cast<std::int64_t>(found.size()), threshold};
}

tracking::DetectionOptions detection_options(const Config& config, const Vec3& radius_um) {
  const Config::Detection& d = config.detection;
  return {radius_um, d.threshold, d.max_count, d.polarity, d.false_positives_per_frame, d.refine};
}

}  // namespace

std::vector<std::int32_t> kept_frames(std::int32_t frames, std::int32_t step, const FrameRange& range) {
  std::vector<std::int32_t> kept;
  for (std::int64_t t = 0; t < frames; t += step)
    if (range.holds(static_cast<std::int32_t>(t))) kept.push_back(static_cast<std::int32_t>(t));
  return kept;
}

SpotRadius choose_radius(const Execution& execution, const Config& config, io::FrameSource& source,
                         Console& console) {
  if (config.detection.radius_um) return {*config.detection.radius_um, "detection.radius_um"};
  const std::vector<std::int32_t> frames = kept_frames(source.info().frames, config.input.frame_step);
  const std::size_t tried = std::min(kFramesTriedForRadius, frames.size());
  VolumeFrame frame;
  for (std::size_t k = 0; k < tried; ++k) {
    stop_if_interrupted("interrupted while estimating the spot radius");
    const std::int32_t t = frames[k * frames.size() / tried];
    frame = source.read(t);
    const auto radius = tracking::estimate_radius(execution, frame, config.detection.polarity);
    if (radius) return {*radius, fmt::format("estimated on frame {}", t)};
  }
  return radius_without_spots(source, frame, tried, console);
}

PointSeries detect_series(const Execution& execution, const Config& config, io::FrameSource& source,
                          Console& console, const Hooks& hooks, FrameLog* log) {
  const std::vector<std::int32_t> kept =
      kept_frames(source.info().frames, config.input.frame_step, config.input.frames);
  if (kept.empty())
    throw UsageError(fmt::format("input.frames: {} has {} frames, from 0 on, and none of those asked for",
                                 source.info().path, source.info().frames));
  const SpotRadius radius = choose_radius(execution, config, source, console);
  console.note(fmt::format("spot radius [{:.4g}, {:.4g}, {:.4g}] um [z, y, x] ({})", radius.um.z, radius.um.y,
                           radius.um.x, radius.source));
  PointSeries series;
  series.dt_s = source.info().dt_s;
  series.voxel_um = source.info().voxel_um.value_or(Vec3{1, 1, 1});
  series.radius_um = radius.um;
  series.radius_source = radius.source;

  const tracking::DetectionOptions options = detection_options(config, radius.um);
  const auto count = static_cast<std::int64_t>(kept.size());
  const bool picture = config.output.preview && log != nullptr;  // only a run with a log draws one
  FrameWarnings warnings(console);
  Progress progress(console, "detecting", "frames", count);
  for (const std::int32_t t : kept) {
    const std::size_t done = series.frames.size();
    stop_if_interrupted(fmt::format("interrupted after {} of {} frames{}", done, count,
                                    log != nullptr ? "; run the same command with --resume to go on" : ""));
    const bool finished = log != nullptr && done < log->finished().size();
    VolumeFrame frame;
    if (!finished || picture) frame = source.read(t);
    if (picture) series.projection.add(frame);
    if (finished) {
      series.frames.push_back(log->finished()[done].detections);
      series.summaries.push_back(summary_of(series.frames.back(), log->finished()[done].threshold));
    } else {
      tracking::DetectionReport report;
      series.frames.push_back(tracking::detect_spots(execution, frame, options, &report));
      series.summaries.push_back(summary_of(series.frames.back(), report.threshold));
      if (log != nullptr) log->append(series.frames.back(), report.threshold);
      warnings.add(t, report.warnings);
    }
    if (done > 0) warnings.add_jump(series.frames[done - 1], series.frames[done]);
    progress.advance();
    if (hooks.after_frame) hooks.after_frame(static_cast<std::int32_t>(series.frames.size()));
  }
  progress.finish();
  warnings.finish();
  series.stage = {"detect", "frames", count, progress.seconds()};
  return series;
}

nlohmann::ordered_json detection_json(const PointSeries& series) {
  nlohmann::ordered_json json{{"radius_um_zyx", nullptr}, {"radius_source", series.radius_source}};
  if (series.radius_um)
    json["radius_um_zyx"] = {series.radius_um->z, series.radius_um->y, series.radius_um->x};
  return json;
}

PointSeries series_of_points(io::PointTable points, const Config& config) {
  PointSeries series;
  series.length_unit = points.length_unit;
  series.dt_s = points.dt_s;
  if (config.input.voxel_um) series.voxel_um = *config.input.voxel_um;
  for (Detections& frame : points.frames) {
    if (frame.frame % config.input.frame_step != 0 || !config.input.frames.holds(frame.frame)) continue;
    series.summaries.push_back(summary_of(frame, std::nullopt));
    series.frames.push_back(std::move(frame));
  }
  if (series.frames.empty()) {
    throw InputError(fmt::format("{}: input.frames and input.frame_step = {} leave no frame; change them",
                                 config.input.path, config.input.frame_step));
  }
  return series;
}

}  // namespace motes::app
