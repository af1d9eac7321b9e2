#include <algorithm>

#include <motes/base/gpu/device.h>

#include "tracking/detect/device_search.h"

namespace motes::tracking::detect {
namespace {

// A CPU thread takes about 0.1 us per voxel (16 threads of a Xeon beside an H200: 0.108 s for 512 x 512 x
// 64). A GPU takes far less, but 0.5 s to start.
constexpr std::int64_t kWorthStarting = std::int64_t{1} << 24;  // voxels of a series for each thread
constexpr std::int64_t kWorthGoing = std::int64_t{1} << 20;     // of a frame, once a GPU is at work

bool worth_starting(const Execution& execution, std::int64_t voxels) {
  return voxels >= kWorthStarting * thread_count(execution);
}

}  // namespace

bool worth_a_gpu(const Execution& execution, const Shape3& shape) {
  const bool at_work = execution.workspace != nullptr && execution.workspace->device_bytes() > 0;
  return at_work ? shape.voxels() >= kWorthGoing : worth_starting(execution, shape.voxels());
}

std::size_t device_bytes(const Shape3& s, std::size_t voxel_bytes) {
  const auto padded = static_cast<std::size_t>((s.nz + 2) * (s.ny + 2) * (s.nx + 2));
  // The voxels, three volumes of floats, and two bits per voxel with their counts.
  return padded * (voxel_bytes + 12) + padded / 2;
}

}  // namespace motes::tracking::detect

namespace motes::tracking {

Backend detection_backend(const Execution& execution, const Shape3& frame, std::int64_t frames) {
  if (execution.backend != Backend::automatic) return execution.backend;
  return frame.voxels() >= detect::kWorthGoing &&
                 detect::worth_starting(execution, frames * frame.voxels()) &&
                 !gpu::list_devices().devices.empty()
             ? Backend::cuda
             : Backend::cpu;
}

int frames_at_once(const Execution& execution, const Shape3& frame) {
  constexpr std::int64_t kVoxels = std::int64_t{1} << 27, kFew = 3;
  const auto devices = gpu::list_devices().devices;
  const auto device = static_cast<std::size_t>(execution.device);
  if (device >= devices.size() || frame.voxels() == 0) return 1;
  const std::int64_t threads = thread_count(execution);
  const std::size_t bytes = detect::room_wanted(detect::device_bytes(frame, sizeof(float)));
  const auto room = static_cast<std::int64_t>(devices[device].memory_bytes / 10 * 9 / bytes);
  const std::int64_t wanted = std::min(threads, std::max(kFew, kVoxels / frame.voxels()));
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, room)));
}

}  // namespace motes::tracking
