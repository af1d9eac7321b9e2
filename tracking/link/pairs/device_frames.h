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

/// The frames of a series on the device, while several threads link pairs of them. The thread that needs a
/// frame first loads it. When both of its pairs are finished, its memory is used for another frame. Safe to
/// use from several threads.
class DeviceFrames {
 public:
  /// Memory of frames that are finished, for reuse.
  using Spare = std::vector<std::unique_ptr<DeviceFrame>>;

  /// The detections and `spare` must outlive the object. `spare`: of one device; no other code may use it
  /// during this time.
  DeviceFrames(std::span<const Detections* const> frames, const CandidateTerms& terms, Spare& spare);

  /// Frame k, loaded at the first call. Valid until release(k) has been called as often as frame(k). Every
  /// call throws if DeviceFrame::load does.
  const DeviceFrame& frame(const Execution& execution, std::size_t k);
  /// Tells that a pair is finished with frame k.
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
  std::mutex mutex_;  ///< protects uses_left and spare_
  Spare& spare_;
};

}  // namespace motes::tracking
