#pragma once
/// The frames of a series on a GPU, each brought over once.

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <motes/tracking/detections.h>

#include "tracking/candidates/device_candidates.h"

namespace motes::tracking {

/// Pairs of frames are linked side by side by several threads; a frame is loaded by the thread that needs it
/// first, and its memory serves another frame once both of its pairs are done. Safe to use from several
/// threads.
class DeviceFrames {
 public:
  /// Memory for a frame each, of frames that are done with.
  using Spare = std::vector<std::unique_ptr<DeviceFrame>>;

  /// The detections must stay while this lives; so must `spare`, all of one device, which no other code may
  /// use meanwhile.
  DeviceFrames(std::span<const Detections* const> frames, const CandidateTerms& terms, Spare& spare);

  /// Frame k, until release(k) was called as often as frame(k). Throws as DeviceFrame::load does, each time.
  const DeviceFrame& frame(const Execution& execution, std::size_t k);
  /// A pair is done with frame k.
  void release(std::size_t k);

 private:
  struct Entry {
    std::once_flag loaded;
    std::unique_ptr<DeviceFrame> frame;
    int uses_left = 0;
  };
  std::span<const Detections* const> detections_;
  CandidateTerms terms_;
  std::vector<Entry> entries_;
  std::mutex mutex_;  ///< of uses_left and spare_
  Spare& spare_;
};

}  // namespace motes::tracking
