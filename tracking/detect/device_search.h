#pragma once
/// The search for spots on a GPU. Without CUDA search_on_device throws ResourceError.

#include <cstdint>
#include <memory>

#include "tracking/detect/search.h"

namespace motes::tracking::detect {

/// As search_on_host, bit for bit. Memory is the execution's workspace's, if it has one. Throws
/// ResourceError, also later, where the device's memory does not suffice.
std::unique_ptr<SpotSearch> search_on_device(const Execution& execution, const VolumeFrame& frame,
                                             const DetectionOptions& options);

/// Whether a frame of that shape is searched faster on a GPU, the start of one included where the execution
/// has none at work.
bool worth_a_gpu(const Execution& execution, const Shape3& shape);

/// Device memory that a frame of that shape takes beside its maxima.
std::size_t device_bytes(const Shape3& shape, std::size_t voxel_bytes);

/// With room for the maxima, too.
constexpr std::size_t room_wanted(std::size_t device_bytes) {
  return device_bytes + device_bytes / 4 + (std::size_t{64} << 20);
}

}  // namespace motes::tracking::detect
