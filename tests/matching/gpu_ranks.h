#pragma once
/// How many ranks of tests with a GPU each this machine allows.

#include <algorithm>
#include <vector>

#include <motes/base/gpu/device.h>

namespace motes::testing {

/// Of 1 to 4, those that this machine has a GPU for each rank of; 1 where it has none.
inline std::vector<int> gpu_ranks() {
  const int gpus = static_cast<int>(gpu::list_devices().devices.size());
  std::vector<int> counts{1};
  for (int ranks = 2; ranks <= std::min(gpus, 4); ++ranks) counts.push_back(ranks);
  return counts;
}

}  // namespace motes::testing
