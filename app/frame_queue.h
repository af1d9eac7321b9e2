#pragma once
/// The frames of a series, one after the other, each with what it shows by itself. Several are read and
/// looked at side by side: those of a batch by the CPU's threads, or, on a GPU, as many as there are
/// executions, by threads that read the next frame as soon as they are done.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <motes/io/preview.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/log_detector.h>

#include "app/frame_finder.h"

namespace motes::app {

/// How long the work on frames takes, summed over the threads that do it side by side.
struct FrameWork {
  double read_s = 0;                                     ///< reading and decoding
  double wait_s = 0;                                     ///< frames that are read, for their turn on the GPU
  double detect_s = 0;                                   ///< from voxels to what the frame shows by itself
  std::vector<std::pair<std::string, double>> device_s;  ///< of detect_s, on the GPU, by step

  void add(const FrameWork& more);
};

/// How many threads may read, and how many frames may be looked at, at the same time.
struct SideBySide {
  std::int64_t readers = 1, detectors = 1;
};

struct SeenFrame {
  VolumeFrame frame;  ///< without voxels where FrameFinder::settle needs none
  Detections found;
  tracking::DetectionReport report;
  FrameWork work;
  io::Projection picture;      ///< empty where none was asked for
  std::exception_ptr failure;  ///< of reading or looking at it
};

/// Frames that are read and looked at before the first of them is asked for, at least 1.
std::size_t frames_ahead(const FrameFinder& finder, std::span<const Execution> executions,
                         const Shape3& shape);

class FrameQueue {
 public:
  /// Of `frames`, the numbers of frames of the finder's series, with a picture of each if `draws`, looked at
  /// with `executions`, as those of the finder. All must outlive it, and the finder is asked for nothing but
  /// settle() meanwhile. Work begins with the first next().
  FrameQueue(FrameFinder& finder, std::span<const Execution> executions, const Shape3& shape,
             std::span<const std::int32_t> frames, bool draws);
  /// Waits for the frames that are being looked at.
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  /// The next frame, of those that are left. Throws as reading and looking at it have thrown.
  SeenFrame next();

  /// Once the first frame has come.
  SideBySide side_by_side() const;

 private:
  /// A thread's own, with the memory of a frame; without a source: the series' reader, which threads share.
  struct Reader {
    std::unique_ptr<io::FrameSource> source;
    VolumeFrame memory;
  };

  bool goes_on_by_itself() const { return !threads_.empty(); }
  void start_threads();
  void work(bool own_reader);
  /// The place of the next frame to look at, once there is room for it; none where there is nothing to do.
  std::optional<std::size_t> take();
  const Execution* borrow();
  void give_back(const Execution* execution);
  SeenFrame wait_for_next();
  void see_batch();
  void read(std::size_t place, Reader& reader, SeenFrame& seen);
  void look(const Execution& execution, SeenFrame& seen);
  void finish(Reader& reader, SeenFrame& seen);

  FrameFinder& finder_;
  std::span<const Execution> executions_;
  std::span<const std::int32_t> frames_;
  std::size_t ahead_;
  bool draws_, started_ = false, own_readers_ = false;

  std::mutex guard_;  // of what follows
  std::condition_variable came_, room_, free_;
  std::deque<std::optional<SeenFrame>> seen_;  ///< from place next_ on
  std::size_t next_ = 0, taken_ = 0;
  bool ended_ = false;
  std::vector<const Execution*> idle_;
  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

}  // namespace motes::app
