/// Replaces device_search.cu in a build without CUDA.

#include <motes/base/gpu/no_device.h>

#include "tracking/detect/device_search.h"

namespace motes::tracking::detect {

std::unique_ptr<SpotSearch> search_on_device(const Execution&, const VolumeFrame&, const DetectionOptions&) {
  gpu::throw_no_device();
}

}  // namespace motes::tracking::detect
