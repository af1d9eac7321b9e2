/// The loop over frames: reading, detecting, progress, checkpoint and ranks.

#include "app/run/detecting.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/log_detector.h>

#include "app/interrupt.h"
#include "app/progress.h"
#include "app/ranks.h"
#include "app/run/frame_finder.h"
#include "app/run/frame_queue.h"

namespace motes::app {
namespace {

/// Warnings are printed for this many frames; of the others only the number is printed.
constexpr std::size_t kFramesWarnedOf = 3;

/// A change of the number of spots by more than this factor between two frames gives a warning, if the larger
/// number is at least kJumpFrom.
constexpr double kJump = 2;
constexpr std::size_t kJumpFrom = 20;

/// Prints the warnings of detection: those of the first frames, then the number of others.
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
        {fmt::format("{} spots after {} in frame {}; check both, and set detection.threshold if one "
                     "of them is wrong",
                     now.size(), before.size(), before.frame)});
  }
  void finish() {
    if (frames_ > kFramesWarnedOf)
      console_.warn(fmt::format("{} more {} of this kind about other frames", frames_ - kFramesWarnedOf,
                                frames_ - kFramesWarnedOf == 1 ? "warning" : "warnings"));
  }

 private:
  Console& console_;
  std::size_t frames_ = 0;
};

/// Counts voxels that are NaN, and says so at the end.
class MissingVoxels {
 public:
  explicit MissingVoxels(const Shape3& frame) : voxels_(frame.voxels()) {}

  void add(std::int64_t missing) {
    if (missing == 0) return;
    ++frames_;
    most_ = std::max(most_, missing);
  }
  void finish(std::int64_t frames, Console& console) const {
    if (frames_ == 0) return;
    console.warn(fmt::format(
        "voxels are NaN in {} of {} (at most {}, {:.3g} % of a frame); they are not searched", frames_,
        counted(frames, "frames"), most_, 100 * static_cast<double>(most_) / static_cast<double>(voxels_)));
  }

 private:
  std::int64_t voxels_, frames_ = 0, most_ = 0;
};

FrameSummary summary_of(const Detections& found, std::optional<double> threshold) {
  return {found.frame, static_cast<std::int64_t>(found.size()), threshold};
}

/// A frame's detections and its summary.
struct FinishedFrame {
  io::CheckpointRecord record;
  std::vector<std::string> warnings;
  std::int64_t missing_voxels = 0;
  Backend backend = Backend::cpu;
  FrameWork work;
};

FinishedFrame finish(FrameFinder& finder, SeenFrame&& seen) {
  FinishedFrame done;
  done.record.detections = finder.settle(seen.frame, std::move(seen.found), seen.report);
  done.record.threshold = seen.report.threshold;
  done.warnings = std::move(seen.report.warnings);
  done.missing_voxels = seen.report.missing_voxels;
  done.backend = seen.report.backend;
  done.work = std::move(seen.work);
  return done;
}

/// The stage of detection in report.json.
StageTime stage_of(const FrameWork& work, const SideBySide& threads, std::int64_t frames, double seconds) {
  StageTime stage{"detect", "frames", frames, seconds};
  stage.gpu = work.device_s;
  if (!(work.read_s + work.detect_s > 0)) return stage;  // all frames are from an earlier run
  stage.busy = {{"read", work.read_s}, {"detect", work.detect_s}};
  if (!work.device_s.empty()) stage.busy.emplace_back("gpu_wait", work.wait_s);
  const double reading = work.read_s / static_cast<double>(threads.readers),
               detecting = work.detect_s / static_cast<double>(threads.detectors);
  stage.bound_by = reading > detecting ? "read" : "detect";
  return stage;
}

/// Adds finished frames, which come in order, to the series and the checkpoint.
class Recorder {
 public:
  Recorder(PointSeries& series, std::int64_t frames, const Shape3& shape, Console& console,
           const Hooks& hooks, RunCheckpoint* checkpoint)
      : series_(series),
        frames_(frames),
        console_(console),
        hooks_(hooks),
        checkpoint_(checkpoint),
        warnings_(console),
        missing_(shape),
        progress_(console, "detecting", "frames", frames) {}

  /// Adds a frame of an earlier run.
  void add(const io::CheckpointRecord& record) { put(record.detections, record.threshold); }
  void add(FinishedFrame&& frame) {
    const io::CheckpointRecord& record = frame.record;
    if (checkpoint_ != nullptr) checkpoint_->append(record.detections, record.threshold);
    warnings_.add(record.detections.frame, frame.warnings);
    missing_.add(frame.missing_voxels);
    if (frame.backend == Backend::cuda) series_.backend = Backend::cuda;
    work_.add(frame.work);
    put(std::move(frame.record.detections), record.threshold);
  }
  void finish(const SideBySide& threads) {
    progress_.finish();
    warnings_.finish();
    missing_.finish(frames_, console_);
    series_.stage = stage_of(work_, threads, frames_, progress_.seconds());
  }

 private:
  void put(Detections detections, double threshold) {
    series_.frames.push_back(std::move(detections));
    series_.summaries.push_back(summary_of(series_.frames.back(), threshold));
    const std::size_t n = series_.frames.size();
    if (n > 1) warnings_.add_jump(series_.frames[n - 2], series_.frames[n - 1]);
    progress_.advance();
    if (hooks_.after_frame) hooks_.after_frame(static_cast<std::int32_t>(n));
  }

  PointSeries& series_;
  std::int64_t frames_;
  Console& console_;
  const Hooks& hooks_;
  RunCheckpoint* checkpoint_;
  FrameWork work_;
  FrameWarnings warnings_;
  MissingVoxels missing_;
  ProgressBar progress_;
};

std::string interrupted_text(std::size_t done, std::size_t count, bool resumable) {
  return fmt::format("interrupted after {} of {} frames{}", done, count,
                     resumable ? "; run the same command with --resume to go on" : "");
}

void add_picture(io::Projection&& of_frame, io::Projection& all) {
  if (all.empty())
    all = std::move(of_frame);
  else
    all.add(of_frame.xy(), of_frame.xz());
}

SideBySide detect_alone(FrameFinder& finder, io::FrameSource& source, std::span<const std::int32_t> kept,
                        io::Projection* picture, RunCheckpoint* checkpoint, Recorder& recorder) {
  const std::size_t logged = checkpoint != nullptr ? std::min(checkpoint->finished().size(), kept.size()) : 0;
  FrameQueue queue(finder, finder.executions(), source.info().shape, kept.subspan(logged),
                   picture != nullptr);
  for (std::size_t done = 0; done < kept.size(); ++done) {
    stop_if_interrupted(interrupted_text(done, kept.size(), checkpoint != nullptr));
    if (done < logged) {
      if (picture != nullptr) picture->add(source.read(kept[done]));
      recorder.add(checkpoint->finished()[done]);
      continue;
    }
    SeenFrame now = queue.next();
    if (picture != nullptr) add_picture(std::move(now.picture), *picture);
    recorder.add(finish(finder, std::move(now)));
  }
  return queue.side_by_side();
}

void put_bytes(std::string& out, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size).append(bytes);
}

std::string_view take_bytes(std::string_view& from) {
  std::uint64_t size = 0;
  std::memcpy(&size, from.data(), sizeof size);
  const std::string_view bytes = from.substr(sizeof size, size);
  from.remove_prefix(sizeof size + size);
  return bytes;
}

void put_seconds(std::string& out, double seconds) {
  out.append(reinterpret_cast<const char*>(&seconds), sizeof seconds);
}

double take_seconds(std::string_view& from) {
  double seconds = 0;
  std::memcpy(&seconds, from.data(), sizeof seconds);
  from.remove_prefix(sizeof seconds);
  return seconds;
}

void put_work(std::string& out, const FrameWork& work) {
  for (const double seconds : {work.read_s, work.wait_s, work.detect_s}) put_seconds(out, seconds);
  std::string steps;
  for (const auto& [step, seconds] : work.device_s) {
    put_bytes(steps, step);
    put_seconds(steps, seconds);
  }
  put_bytes(out, steps);
}

FrameWork take_work(std::string_view& from) {
  FrameWork work;
  for (double* seconds : {&work.read_s, &work.wait_s, &work.detect_s}) *seconds = take_seconds(from);
  for (std::string_view steps = take_bytes(from); !steps.empty();) {
    const std::string_view step = take_bytes(steps);
    work.device_s.emplace_back(step, take_seconds(steps));
  }
  return work;
}

/// Appends a frame as bytes, to send to another rank.
void put_frame(std::string& out, const FinishedFrame& frame) {
  put_bytes(out, io::bytes_of(frame.record));
  std::string warnings;
  for (const std::string& warning : frame.warnings) put_bytes(warnings, warning);
  put_bytes(out, warnings);
  const std::int64_t missing = frame.missing_voxels;
  out.append(reinterpret_cast<const char*>(&missing), sizeof missing);
  out.push_back(frame.backend == Backend::cuda ? 1 : 0);
  put_work(out, frame.work);
}

FinishedFrame take_frame(std::string_view& from) {
  FinishedFrame frame{io::record_of(take_bytes(from)), {}, 0, Backend::cpu, {}};
  for (std::string_view warnings = take_bytes(from); !warnings.empty();)
    frame.warnings.emplace_back(take_bytes(warnings));
  std::memcpy(&frame.missing_voxels, from.data(), sizeof frame.missing_voxels);
  from.remove_prefix(sizeof frame.missing_voxels);
  frame.backend = from.front() != 0 ? Backend::cuda : Backend::cpu;
  from.remove_prefix(1);
  frame.work = take_work(from);
  return frame;
}

/// Joins the maximum projections of all ranks on rank 0.
void join_projections(Communicator& ranks, io::Projection& projection) {
  const auto bytes = [](const std::vector<float>& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  const auto floats = [](std::string_view values) {
    std::vector<float> out(values.size() / sizeof(float));
    if (!out.empty()) std::memcpy(out.data(), values.data(), values.size());
    return out;
  };
  std::string mine;
  put_bytes(mine, bytes(projection.xy()));
  put_bytes(mine, bytes(projection.xz()));
  ranks.collect(mine, [&](int rank, std::string_view theirs) {
    const std::vector<float> xy = floats(take_bytes(theirs)), xz = floats(take_bytes(theirs));
    if (rank > 0 && !xy.empty()) projection.add(xy, xz);
  });
}

/// The results of a rank for its share of a round.
struct Share {
  SideBySide threads;
  std::string found;           ///< frames as bytes (put_frame), up to the first that failed
  std::exception_ptr failure;  ///< error of the frame that failed
};

Share look_at_share(FrameFinder& finder, io::FrameSource& source, std::span<const std::int32_t> frames,
                    io::Projection* picture) {
  Share share;
  try {
    FrameQueue queue(finder, finder.executions(), source.info().shape, frames, picture != nullptr);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      SeenFrame now = queue.next();
      if (picture != nullptr) add_picture(std::move(now.picture), *picture);
      put_frame(share.found, finish(finder, std::move(now)));
    }
    share.threads = queue.side_by_side();
  } catch (...) {
    share.failure = std::current_exception();
  }
  return share;
}

/// In each round, each rank searches a share of the next frames, and rank 0 records the results of all.
SideBySide detect_on_ranks(Communicator& ranks, FrameFinder& finder, io::FrameSource& source,
                           std::span<const std::int32_t> kept, io::Projection* picture,
                           RunCheckpoint* checkpoint, Recorder& recorder) {
  const int rank = ranks.rank(), size = ranks.size();
  SideBySide threads;
  const bool logged = ranks.all_reduce(checkpoint != nullptr ? 1 : 0, Reduction::max) != 0;
  const auto resumed = static_cast<Index>(
      ranks.all_reduce(checkpoint != nullptr ? std::ssize(checkpoint->finished()) : 0, Reduction::max));
  ranks.agreed([&] {
    const Block mine = block_of(resumed, rank, size);
    for (Index i = mine.first; picture != nullptr && i < mine.first + mine.count; ++i)
      picture->add(source.read(kept[at(i)]));
    for (Index i = 0; rank == 0 && i < resumed; ++i) recorder.add(checkpoint->finished()[at(i)]);
  });
  const std::int64_t batch = ranks.all_reduce(
      static_cast<std::int64_t>(frames_ahead(finder, finder.executions(), source.info().shape)),
      Reduction::min);
  for (std::size_t done = at(resumed); done < kept.size();) {
    const bool stop = ranks.all_reduce(interrupt_requested() ? 1 : 0, Reduction::max) != 0;
    ranks.agreed([&] {
      if (stop) throw Interrupted(interrupted_text(done, kept.size(), logged));
    });
    const auto width = static_cast<Index>(std::min(kept.size() - done, at(batch * size)));
    const Block mine = block_of(width, rank, size);
    const Share share =
        look_at_share(finder, source, kept.subspan(done + at(mine.first), at(mine.count)), picture);
    threads = share.threads;
    ranks.rest();
    bool gap = false;  // frames after one that failed are left out: the checkpoint is in order
    ranks.agreed([&] {
      ranks.collect(share.found, [&](int k, std::string_view theirs) {
        Index came = 0;
        for (; !gap && !theirs.empty(); ++came) recorder.add(take_frame(theirs));
        gap = gap || came < block_of(width, k, size).count;
      });
    });
    ranks.agreed([&] {
      if (share.failure) std::rethrow_exception(share.failure);
    });
    done += at(width);
  }
  ranks.agreed([&] {
    if (picture != nullptr) join_projections(ranks, *picture);
  });
  return {threads.readers * size, threads.detectors * size};
}

}  // namespace

std::vector<std::int32_t> kept_frames(std::int32_t frames, std::int32_t step, const FrameRange& range) {
  std::vector<std::int32_t> kept;
  for (std::int64_t t = 0; t < frames; t += step)
    if (range.holds(static_cast<std::int32_t>(t))) kept.push_back(static_cast<std::int32_t>(t));
  return kept;
}

std::vector<std::int32_t> frames_to_detect(const Config& config, const io::FrameSource& source) {
  std::vector<std::int32_t> kept =
      kept_frames(source.info().frames, config.input.frame_step, config.input.frames);
  if (kept.empty())
    throw UsageError(
        fmt::format("input.frames and input.frame_step select none of the frames 0 to {} of {}; change them",
                    source.info().frames - 1, source.info().path));
  return kept;
}

PointSeries detect_series(const Execution& execution, const Config& config, io::FrameSource& source,
                          Console& console, const Hooks& hooks, Purpose purpose, RunCheckpoint* checkpoint,
                          Communicator* ranks) try {
  std::vector<std::int32_t> kept;
  std::unique_ptr<FrameFinder> finder;
  everywhere(ranks, [&] {
    kept = frames_to_detect(config, source);
    const FrameRange& asked = config.input.frames;
    if (asked.end != FrameRange::kOpen && asked.end > source.info().frames)
      console.note(fmt::format("note:           input.frames is {}:{}, but the last frame is {}", asked.first,
                               asked.end, source.info().frames - 1));
    finder =
        std::make_unique<FrameFinder>(execution, config, source, console, share_of_devices(config), purpose);
  });
  PointSeries series;
  series.dt_s = source.info().dt_s;
  series.voxel_um = source.info().voxel_um.value_or(Vec3{1, 1, 1});
  if (finder->radius()) {
    series.radius_um = finder->radius()->um;
    series.largest_radius_um = finder->radius()->largest_um;
    series.radius_source = finder->radius()->source;
    series.camera = finder->camera();
    series.faint = finder->faint();
  } else {
    series.radius_source = "labels";
  }
  bool drawn =
      config.output.preview && checkpoint != nullptr;  // only a run with a checkpoint draws a picture
  if (ranks != nullptr) drawn = ranks->all_reduce(drawn ? 1 : 0, Reduction::max) != 0;
  io::Projection* const picture = drawn ? &series.projection : nullptr;
  Recorder recorder(series, std::ssize(kept), source.info().shape, console, hooks, checkpoint);
  recorder.finish(ranks != nullptr
                      ? detect_on_ranks(*ranks, *finder, source, kept, picture, checkpoint, recorder)
                      : detect_alone(*finder, source, kept, picture, checkpoint, recorder));
  return series;
} catch (const InputError& error) {
  // Errors in a frame's voxels do not name the file.
  if (!std::string_view(error.what()).starts_with("frame ")) throw;
  throw InputError(source.info().path + ": " + error.what());
}

nlohmann::ordered_json detection_json(const PointSeries& series) {
  nlohmann::ordered_json json{{"radius_um_zyx", nullptr},
                              {"radius_source", series.radius_source},
                              {"backend", series.backend == Backend::cuda ? "cuda" : "cpu"}};
  if (series.radius_um)
    json["radius_um_zyx"] = {series.radius_um->z, series.radius_um->y, series.radius_um->x};
  if (series.largest_radius_um)
    json["largest_radius_um_zyx"] = {series.largest_radius_um->z, series.largest_radius_um->y,
                                     series.largest_radius_um->x};
  if (series.camera) json["camera"] = camera_json(*series.camera);
  if (series.faint) {
    json["false_positives_per_frame"] = series.faint->false_per_frame;
    json["false_positives_source"] = series.faint->source;
  }
  return json;
}

PointSeries series_of_points(io::PointTable points, const Config& config) {
  PointSeries series;
  static_cast<DetectionSeries&>(series) = std::move(points);
  if (config.input.voxel_um) series.voxel_um = *config.input.voxel_um;
  const std::size_t given = series.frames.size();
  std::erase_if(series.frames, [&](const Detections& frame) {
    return frame.frame % config.input.frame_step != 0 || !config.input.frames.holds(frame.frame);
  });
  series.summaries.reserve(series.frames.size());
  for (const Detections& frame : series.frames) series.summaries.push_back(summary_of(frame, std::nullopt));
  if (series.frames.empty()) {
    throw InputError(
        fmt::format("{}: input.frames and input.frame_step = {} select none of its {} frames; change them",
                    config.input.path, config.input.frame_step, given));
  }
  return series;
}

}  // namespace motes::app
