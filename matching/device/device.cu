#include <cuda_runtime.h>

#include "matching/device/device.h"

namespace motes::matching {

DeviceReport list_devices() {
  DeviceReport report;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    report.why_none = error == cudaSuccess ? "no CUDA device was found" : cudaGetErrorString(error);
    return report;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    report.devices.push_back({index, properties.name, properties.major, properties.minor,
                              properties.multiProcessorCount, properties.totalGlobalMem});
  }
  if (report.devices.empty()) report.why_none = "the CUDA devices do not answer";
  return report;
}

}  // namespace motes::matching
