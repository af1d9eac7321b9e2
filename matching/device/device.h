#pragma once
/// The GPUs of this machine, as far as this build can use them. CUDA itself stays hidden.

#include <cstddef>
#include <string>
#include <vector>

namespace motes::matching {

struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

struct DeviceReport {
  std::vector<DeviceInfo> devices;
  std::string why_none;  ///< in words, where devices is empty
};

/// Never throws; asks the driver anew each time.
DeviceReport list_devices();

}  // namespace motes::matching
