#pragma once
/// How many ranks of tests with a GPU each this machine allows.

#include <vector>

#include <motes/base/gpu/device.h>

namespace motes::testing {

/// Of 1 and 2, those that this machine has a GPU for each rank of; 1 where it has none.
inline std::vector<int> gpu_ranks() {
  return gpu::list_devices().devices.size() > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
}

}  // namespace motes::testing
