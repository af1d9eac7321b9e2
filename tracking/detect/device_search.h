#pragma once
/// The search for spots on a GPU. Without CUDA search_on_device throws ResourceError.

#include <cstdint>
#include <memory>

#include "tracking/detect/search.h"

namespace motes::tracking::detect {

/// As search_on_host, with the same bits. Memory comes from the execution's workspace, if it has one. This
/// function and the search throw ResourceError if the device's memory does not suffice.
std::unique_ptr<SpotSearch> search_on_device(const Execution& execution, const VolumeFrame& frame,
                                             const DetectionOptions& options);

/// Whether a frame of that shape is searched faster on a GPU, including its start-up if the execution has
/// none running.
bool worth_a_gpu(const Execution& execution, const Shape3& shape);

/// Bytes of device memory for a frame of that shape, without its maxima.
std::size_t device_bytes(const Shape3& shape, std::size_t voxel_bytes);

/// The same with room for the maxima.
constexpr std::size_t room_wanted(std::size_t device_bytes) {
  return device_bytes + device_bytes / 4 + (std::size_t{64} << 20);
}

}  // namespace motes::tracking::detect
