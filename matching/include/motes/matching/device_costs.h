#pragma once
/// Problems kept in device memory by callers that do not compile with nvcc.

#include <vector>

#include <motes/base/gpu/device.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// Copies of a host problem's arrays on a device. Throws ResourceError where there is no device or no
/// room.
class DeviceCosts {
 public:
  explicit DeviceCosts(const CostsView& host, int device = 0);
  /// The problem with all arrays on the device; valid as long as this lives.
  const CostsView& view() const { return view_; }

 private:
  std::vector<gpu::DeviceBytes> arrays_;
  CostsView view_;
};

/// A host copy of a sparse problem in either space. Throws ResourceError in a build without CUDA.
SparseCosts copy_to_host(const SparseCostsView& view);

}  // namespace motes::matching
