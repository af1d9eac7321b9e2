#pragma once
/// The frames of a series in order, each with its own detections (FrameFinder::look_at). Several are read and
/// searched in parallel: on the CPU those of a batch, by its threads; on a GPU as many as there are
/// executions, by threads that each read the next frame as soon as they are done.

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

/// The time of the work on frames, summed over the threads that share it.
struct FrameWork {
  double read_s = 0;                                     ///< reading and decoding
  double wait_s = 0;                                     ///< frames that are read, for their turn on the GPU
  double detect_s = 0;                                   ///< from voxels to what the frame shows by itself
  std::vector<std::pair<std::string, double>> device_s;  ///< of detect_s, on the GPU, by step

  void add(const FrameWork& more);
};

/// How many threads may read, and how many frames may be searched, at the same time.
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

/// The number of frames that are read and searched ahead of next(), at least 1.
std::size_t frames_ahead(const FrameFinder& finder, std::span<const Execution> executions,
                         const Shape3& shape);

class FrameQueue {
 public:
  /// `frames`: numbers of frames of the finder's series; `draws`: whether to draw a picture of each;
  /// `executions`: those of the finder. All must outlive the queue, and of the finder only settle() may be
  /// called meanwhile. Work begins with the first next().
  FrameQueue(FrameFinder& finder, std::span<const Execution> executions, const Shape3& shape,
             std::span<const std::int32_t> frames, bool draws);
  /// Waits for the frames that are being looked at.
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  /// The next frame. Throws what reading or searching it has thrown.
  SeenFrame next();

  /// Valid after the first next().
  SideBySide side_by_side() const;

 private:
  /// The reader of one thread, with the memory of a frame. Without a source, threads share the series'
  /// reader.
  struct Reader {
    std::unique_ptr<io::FrameSource> source;
    VolumeFrame memory;
  };

  bool goes_on_by_itself() const { return !threads_.empty(); }
  void start_threads();
  void work(bool own_reader);
  /// The place of the next frame to search, once there is room for it; none if no frame is left.
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
