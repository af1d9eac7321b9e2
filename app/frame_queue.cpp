#include "app/frame_queue.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>

namespace motes::app {
namespace {

/// Frames that together have at most so many voxels are looked at side by side, each by one thread: threads
/// then do not wait for each other within a frame. Two frames a thread are read at a time.
constexpr std::int64_t kVoxelsAtOnce = std::int64_t{1} << 25;
constexpr int kFramesOfThread = 2;

/// On a GPU so many frames may be waiting for each that is looked at, within so many voxels in all.
constexpr std::int64_t kFramesOfTurn = 4, kVoxelsOnGpu = std::int64_t{1} << 28;

}  // namespace

std::size_t frames_ahead(const FrameFinder& finder, std::span<const Execution> executions,
                         const Shape3& shape) {
  const auto turns = static_cast<std::int64_t>(executions.size());
  if (turns > 1)
    return static_cast<std::size_t>(
        std::clamp(kVoxelsOnGpu / std::max<std::int64_t>(1, shape.voxels()), turns,
                   std::min(kFramesOfTurn * turns, std::max(turns, finder.most_at_once()))));
  const Execution& execution = executions.front();
  const int threads = thread_count(execution);
  if (execution.backend == Backend::cuda || threads == 1 || shape.voxels() > kVoxelsAtOnce / threads ||
      !finder.looks_in_parallel())
    return 1;
  return static_cast<std::size_t>(std::min<std::int64_t>(kFramesOfThread * threads, finder.most_at_once()));
}

FrameQueue::FrameQueue(FrameFinder& finder, std::span<const Execution> executions, const Shape3& shape,
                       std::span<const std::int32_t> frames, bool draws)
    : finder_(finder),
      executions_(executions),
      frames_(frames),
      ahead_(frames_ahead(finder, executions, shape)),
      draws_(draws) {}

FrameQueue::~FrameQueue() {
  {
    const std::lock_guard lock(guard_);
    ended_ = true;
  }
  room_.notify_all();
}

SeenFrame FrameQueue::next() {
  if (next_ == 0 && taken_ == 0 && executions_.size() > 1 && frames_.size() > 1) start_threads();
  SeenFrame seen;
  if (goes_on_by_itself()) {
    seen = wait_for_next();
  } else {
    if (seen_.empty()) see_batch();
    seen = *std::move(seen_.front());
    seen_.pop_front();
    ++next_;
  }
  if (seen.failure) std::rethrow_exception(seen.failure);
  return seen;
}

void FrameQueue::start_threads() {
  const std::size_t wanted = std::min(executions_.size(), frames_.size());
  try {
    for (std::size_t k = 0; k < wanted; ++k) threads_.emplace_back([this, k] { work(executions_[k]); });
  } catch (const std::system_error&) {  // those that there are do all; without one, the caller
  }
}

void FrameQueue::work(const Execution& execution) {
  std::unique_ptr<io::FrameSource> own;
  try {
    own = finder_.another_source();
  } catch (...) {  // the series' own reader is open still
  }
  VolumeFrame memory;
  while (const std::optional<std::size_t> place = take()) {
    SeenFrame seen = see(execution, *place, own.get(), memory);
    {
      const std::lock_guard lock(guard_);
      seen_[*place - next_] = std::move(seen);
    }
    came_.notify_one();
  }
}

std::optional<std::size_t> FrameQueue::take() {
  std::unique_lock lock(guard_);
  room_.wait(lock, [&] { return ended_ || taken_ == frames_.size() || taken_ - next_ < ahead_; });
  if (ended_ || taken_ == frames_.size()) return std::nullopt;
  seen_.emplace_back();
  return taken_++;
}

SeenFrame FrameQueue::wait_for_next() {
  std::unique_lock lock(guard_);
  came_.wait(lock, [&] { return !seen_.empty() && seen_.front().has_value(); });
  SeenFrame seen = *std::move(seen_.front());
  seen_.pop_front();
  ++next_;
  lock.unlock();
  room_.notify_one();
  return seen;
}

/// Without threads of its own: the frames of a batch side by side on the CPU, or one.
void FrameQueue::see_batch() {
  const std::size_t count = std::min(ahead_, frames_.size() - next_);
  const Execution& execution = executions_.front();
  if (executions_.size() > 1 || count == 1) {
    VolumeFrame none;
    seen_.emplace_back(see(execution, next_, nullptr, none));
    return;
  }
  Execution alone = execution;
  alone.threads = 1;
  alone.backend = Backend::cpu;
  alone.workspace = nullptr;
  std::vector<std::optional<SeenFrame>> batch(count);
  parallel_for(thread_count(execution), static_cast<std::int64_t>(count), [&](std::int64_t i) {
    VolumeFrame none;
    batch[static_cast<std::size_t>(i)] = see(alone, next_ + static_cast<std::size_t>(i), nullptr, none);
  });
  for (std::optional<SeenFrame>& seen : batch) seen_.push_back(std::move(seen));
}

/// `own` (may be null: the series' reader, which threads share) reads the frame in `memory`, which gets the
/// frame's when that has been looked at.
SeenFrame FrameQueue::see(const Execution& execution, std::size_t place, io::FrameSource* own,
                          VolumeFrame& memory) {
  SeenFrame seen;
  try {
    seen.frame =
        own != nullptr ? own->read_over(frames_[place], std::move(memory)) : finder_.read(frames_[place]);
    seen.found = finder_.look_at(execution, seen.frame, seen.report);
    if (draws_) seen.picture.add(seen.frame);
    if (own != nullptr && !finder_.settles_by_voxels(seen.report)) {
      memory = std::move(seen.frame);
      seen.frame.voxels = {};
    }
  } catch (...) {
    seen.failure = std::current_exception();
  }
  return seen;
}

}  // namespace motes::app
