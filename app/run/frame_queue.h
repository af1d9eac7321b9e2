#pragma once
/// Returns the frames of a series in order, with their detections (FrameFinder::look_at). Several frames are
/// read and searched in parallel: on the CPU in batches; on a GPU one for each execution, by threads that
/// take the next frame as soon as they are free.

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

#include "app/run/frame_finder.h"

namespace motes::app {

/// The time of the work on frames, summed over the threads that share it.
struct FrameWork {
  double read_s = 0;                                     ///< reading and decoding
  double wait_s = 0;                                     ///< waiting for the GPU, after reading
  double detect_s = 0;                                   ///< FrameFinder::look_at
  std::vector<std::pair<std::string, double>> device_s;  ///< part of detect_s on the GPU, by step

  void add(const FrameWork& more);
};

/// The number of threads that may read, and of frames that may be searched, at the same time.
struct SideBySide {
  std::int64_t readers = 1, detectors = 1;
};

struct SeenFrame {
  VolumeFrame frame;  ///< without voxels if FrameFinder::settle needs none
  Detections found;
  tracking::DetectionReport report;
  FrameWork work;
  io::Projection picture;      ///< empty if not requested
  std::exception_ptr failure;  ///< error of reading or searching it
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
  /// Waits for the frames in progress.
  ~FrameQueue();
  FrameQueue(const FrameQueue&) = delete;
  FrameQueue& operator=(const FrameQueue&) = delete;

  /// The next frame. Throws the error of reading or searching it.
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
  /// The place of the next frame to search, once the queue has room for it; none if no frame is left.
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

  std::mutex guard_;  // protects the members below
  std::condition_variable came_, room_, free_;
  std::deque<std::optional<SeenFrame>> seen_;  ///< from place next_ on
  std::size_t next_ = 0, taken_ = 0;
  bool ended_ = false;
  std::vector<const Execution*> idle_;
  std::vector<std::jthread> threads_;  // last, so that threads end before other members are destroyed
};

}  // namespace motes::app
