#pragma once
/// How many ranks of tests with a GPU each this machine allows.

#include <algorithm>
#include <vector>

#include <motes/base/gpu/device.h>

namespace motes::testing {

/// The numbers of ranks from 1 to 4 for which this machine has a GPU per rank; 1 if it has no GPU.
inline std::vector<int> gpu_ranks() {
  const int gpus = static_cast<int>(gpu::list_devices().devices.size());
  std::vector<int> counts{1};
  for (int ranks = 2; ranks <= std::min(gpus, 4); ++ranks) counts.push_back(ranks);
  return counts;
}

}  // namespace motes::testing
