#include "tracking/link/pairs/device_frames.h"

#include <utility>

namespace motes::tracking {

DeviceFrames::DeviceFrames(std::span<const Detections* const> frames, const CandidateTerms& terms,
                           Spare& spare)
    : detections_(frames), terms_(terms), entries_(frames.size()), spare_(spare) {
  for (std::size_t k = 0; k < frames.size(); ++k) entries_[k].uses_left = (k > 0) + (k + 1 < frames.size());
}

const DeviceFrame& DeviceFrames::frame(const Execution& execution, std::size_t k) {
  Entry& entry = entries_[k];
  std::call_once(entry.loaded, [&] {
    std::unique_ptr<DeviceFrame> room;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!spare_.empty()) {
        room = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (!room) room = std::make_unique<DeviceFrame>(execution.device);
    room->load(execution, *detections_[k], terms_);
    entry.frame = std::move(room);
  });
  return *entry.frame;
}

void DeviceFrames::release(std::size_t k) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--entries_[k].uses_left == 0) spare_.push_back(std::move(entries_[k].frame));
}

}  // namespace motes::tracking
