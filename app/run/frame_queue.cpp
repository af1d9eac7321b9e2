#include "app/run/frame_queue.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <motes/base/parallel_for.h>
#include <motes/base/timer.h>

namespace motes::app {
namespace {

/// Frames of at most kVoxelsAtOnce voxels in all are searched in parallel, each by one thread, so that
/// threads do not wait for each other within a frame. Batches have kFramesOfThread frames for each thread.
constexpr std::int64_t kVoxelsAtOnce = std::int64_t{1} << 25;
constexpr int kFramesOfThread = 2;

/// With a GPU: the frames read ahead for each one being searched, and the limit on the voxels of all these.
constexpr std::int64_t kFramesOfTurn = 4, kVoxelsOnGpu = std::int64_t{1} << 28;

}  // namespace

void FrameWork::add(const FrameWork& more) {
  read_s += more.read_s;
  wait_s += more.wait_s;
  detect_s += more.detect_s;
  for (const auto& [step, seconds] : more.device_s) {
    auto sum = std::find_if(device_s.begin(), device_s.end(),
                            [&name = step](const auto& s) { return s.first == name; });
    if (sum == device_s.end()) sum = device_s.insert(sum, {step, 0.0});
    sum->second += seconds;
  }
}

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
  if (!std::exchange(started_, true) && executions_.size() > 1 && frames_.size() > 1) start_threads();
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

SideBySide FrameQueue::side_by_side() const {
  if (goes_on_by_itself())
    return {own_readers_ ? std::ssize(threads_) : 1, std::min(std::ssize(executions_), std::ssize(threads_))};
  const std::int64_t threads = executions_.size() > 1 || ahead_ == 1 ? 1 : thread_count(executions_.front());
  return {1, threads};
}

/// One thread for each execution; if each thread has its own reader, one for each CPU thread, since decoding
/// a frame may take several times as long as searching it.
void FrameQueue::start_threads() {
  std::size_t wanted = executions_.size();
  bool readers = false;
  try {
    readers = finder_.another_source() != nullptr;
  } catch (...) {  // the series' own reader is used
  }
  if (readers) {
    std::size_t all = 0;
    for (const Execution& execution : executions_) all += static_cast<std::size_t>(thread_count(execution));
    wanted = std::min(all, std::max(wanted, ahead_));
  }
  for (const Execution& execution : executions_) idle_.push_back(&execution);
  own_readers_ = readers;
  try {
    for (std::size_t k = 0; k < std::min(wanted, frames_.size()); ++k)
      threads_.emplace_back([this, readers] { work(readers); });
  } catch (const std::system_error&) {  // threads that started do the work; without any, the caller
  }
}

void FrameQueue::work(bool own_reader) {
  Reader reader;
  try {
    if (own_reader) reader.source = finder_.another_source();
  } catch (...) {  // as above
  }
  while (const std::optional<std::size_t> place = take()) {
    SeenFrame seen;
    read(*place, reader, seen);
    const auto waiting = std::chrono::steady_clock::now();
    const Execution* const execution = borrow();
    seen.work.wait_s = seconds_since(waiting);
    look(*execution, seen);
    give_back(execution);
    finish(reader, seen);
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

const Execution* FrameQueue::borrow() {
  std::unique_lock lock(guard_);
  free_.wait(lock, [&] { return !idle_.empty(); });
  const Execution* const execution = idle_.back();  // used most recently
  idle_.pop_back();
  return execution;
}

void FrameQueue::give_back(const Execution* execution) {
  {
    const std::lock_guard lock(guard_);
    idle_.push_back(execution);
  }
  free_.notify_one();
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

/// Without threads of the queue: searches the frames of a batch in parallel on the CPU, or one frame.
void FrameQueue::see_batch() {
  const std::size_t count = std::min(ahead_, frames_.size() - next_);
  const auto see = [&](const Execution& execution, std::size_t place) {
    Reader shared;
    SeenFrame seen;
    read(place, shared, seen);
    look(execution, seen);
    finish(shared, seen);
    return seen;
  };
  const Execution& execution = executions_.front();
  if (executions_.size() > 1 || count == 1) {
    seen_.emplace_back(see(execution, next_));
    return;
  }
  Execution alone = execution;
  alone.threads = 1;
  alone.backend = Backend::cpu;
  alone.workspace = nullptr;
  std::vector<std::optional<SeenFrame>> batch(count);
  parallel_for(thread_count(execution), static_cast<std::int64_t>(count), [&](std::int64_t i) {
    batch[static_cast<std::size_t>(i)] = see(alone, next_ + static_cast<std::size_t>(i));
  });
  for (std::optional<SeenFrame>& seen : batch) seen_.push_back(std::move(seen));
}

void FrameQueue::read(std::size_t place, Reader& reader, SeenFrame& seen) {
  try {
    if (!reader.source) {
      seen.frame = finder_.read(frames_[place], &seen.work.read_s);
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    seen.frame = reader.source->read_over(frames_[place], std::move(reader.memory));
    seen.work.read_s = seconds_since(start);
  } catch (...) {
    seen.failure = std::current_exception();
  }
}

void FrameQueue::look(const Execution& execution, SeenFrame& seen) {
  if (seen.failure) return;
  try {
    const auto start = std::chrono::steady_clock::now();
    seen.found = finder_.look_at(execution, seen.frame, seen.report);
    seen.work.detect_s = seconds_since(start);
    seen.work.device_s = seen.report.device_s;
  } catch (...) {
    seen.failure = std::current_exception();
  }
}

/// Draws the frame; its memory goes back to the reader unless settle() needs it.
void FrameQueue::finish(Reader& reader, SeenFrame& seen) {
  if (seen.failure) return;
  try {
    if (draws_) seen.picture.add(seen.frame);
  } catch (...) {
    seen.failure = std::current_exception();
  }
  if (!reader.source || finder_.settles_by_voxels(seen.report)) return;
  reader.memory = std::move(seen.frame);
  seen.frame.voxels = {};
}

}  // namespace motes::app
