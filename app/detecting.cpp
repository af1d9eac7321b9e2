#include "app/detecting.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/log_detector.h>

#include "app/frame_finder.h"
#include "app/interrupt.h"
#include "app/progress.h"

namespace motes::app {
namespace {

/// Frames whose warnings are printed one by one; of the rest only the number is.
constexpr std::size_t kFramesWarnedOf = 3;

/// A change of the number of spots between two frames that is worth a warning, and the least number for it.
constexpr double kJump = 2;
constexpr std::size_t kJumpFrom = 20;

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
    const std::size_t less = std::min(before.size(), now.size()), more = std::max(before.size(), now.size());
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

/// A frame and what it shows by itself.
struct SeenFrame {
  VolumeFrame frame;
  Detections found;
  tracking::DetectionReport report;
  std::exception_ptr failure;  ///< of reading or detecting it
};

/// Frames that together have at most so many voxels are looked at side by side, each by one thread: threads
/// then do not wait for each other within a frame. Two frames a thread are read at a time.
constexpr std::int64_t kVoxelsAtOnce = std::int64_t{1} << 25;
constexpr int kFramesOfThread = 2;

std::size_t batch_size(const Execution& execution, const FrameFinder& finder, const Shape3& shape) {
  const int threads = thread_count(execution);
  if (execution.backend == Backend::cuda || threads == 1 || shape.voxels() > kVoxelsAtOnce / threads ||
      !finder.looks_in_parallel())
    return 1;
  return static_cast<std::size_t>(kFramesOfThread * threads);
}

/// The first of `frames`, as many as make a batch; at least one.
std::vector<SeenFrame> see_frames(const Execution& execution, FrameFinder& finder, io::FrameSource& source,
                                  std::span<const std::int32_t> frames) {
  std::vector<SeenFrame> seen(std::min(frames.size(), batch_size(execution, finder, source.info().shape)));
  const auto see = [&](const Execution& own, std::size_t i) {
    try {
      {
        static std::mutex reading;  // of any source
        const std::lock_guard guard(reading);
        seen[i].frame = source.read(frames[i]);
      }
      seen[i].found = finder.look_at(own, seen[i].frame, seen[i].report);
    } catch (...) {
      seen[i].failure = std::current_exception();
    }
  };
  if (seen.size() == 1) {
    see(execution, 0);
    return seen;
  }
  Execution alone = execution;
  alone.threads = 1;
  alone.backend = Backend::cpu;
  alone.workspace = nullptr;
  parallel_for(thread_count(execution), static_cast<std::int64_t>(seen.size()),
               [&](std::int64_t i) { see(alone, static_cast<std::size_t>(i)); });
  return seen;
}

FrameSummary summary_of(const Detections& found, std::optional<double> threshold) {
  return {found.frame, static_cast<std::int64_t>(found.size()), threshold};
}

}  // namespace

std::vector<std::int32_t> kept_frames(std::int32_t frames, std::int32_t step, const FrameRange& range) {
  std::vector<std::int32_t> kept;
  for (std::int64_t t = 0; t < frames; t += step)
    if (range.holds(static_cast<std::int32_t>(t))) kept.push_back(static_cast<std::int32_t>(t));
  return kept;
}

PointSeries detect_series(const Execution& execution, const Config& config, io::FrameSource& source,
                          Console& console, const Hooks& hooks, FrameLog* log) {
  const std::vector<std::int32_t> kept =
      kept_frames(source.info().frames, config.input.frame_step, config.input.frames);
  if (kept.empty())
    throw UsageError(fmt::format("input.frames: {} has {} frames, from 0 on, and none of those asked for",
                                 source.info().path, source.info().frames));
  FrameFinder finder(execution, config, source, console);
  PointSeries series;
  series.dt_s = source.info().dt_s;
  series.voxel_um = source.info().voxel_um.value_or(Vec3{1, 1, 1});
  if (finder.radius()) {
    series.radius_um = finder.radius()->um;
    series.largest_radius_um = finder.radius()->largest_um;
    series.radius_source = finder.radius()->source;
  } else {
    series.radius_source = "labels";
  }

  const auto count = static_cast<std::int64_t>(kept.size());
  const bool picture = config.output.preview && log != nullptr;  // only a run with a log draws one
  FrameWarnings warnings(console);
  Progress progress(console, "detecting", "frames", count);
  std::vector<SeenFrame> seen;  // a batch, from the frame `first` on
  std::size_t first = 0;
  for (const std::int32_t t : kept) {
    const std::size_t done = series.frames.size();
    stop_if_interrupted(fmt::format("interrupted after {} of {} frames{}", done, count,
                                    log != nullptr ? "; run the same command with --resume to go on" : ""));
    const bool finished = log != nullptr && done < log->finished().size();
    SeenFrame now;
    if (finished) {
      if (picture) now.frame = source.read(t);
    } else {
      if (done >= first + seen.size()) {
        first = done;
        seen = see_frames(execution, finder, source, std::span(kept).subspan(done));
      }
      now = std::move(seen[done - first]);
      if (now.failure) std::rethrow_exception(now.failure);
    }
    if (picture) series.projection.add(now.frame);
    if (finished) {
      series.frames.push_back(log->finished()[done].detections);
      series.summaries.push_back(summary_of(series.frames.back(), log->finished()[done].threshold));
    } else {
      series.frames.push_back(finder.settle(now.frame, std::move(now.found), now.report));
      series.summaries.push_back(summary_of(series.frames.back(), now.report.threshold));
      if (log != nullptr) log->append(series.frames.back(), now.report.threshold);
      warnings.add(t, now.report.warnings);
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
  if (series.largest_radius_um)
    json["largest_radius_um_zyx"] = {series.largest_radius_um->z, series.largest_radius_um->y,
                                     series.largest_radius_um->x};
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
