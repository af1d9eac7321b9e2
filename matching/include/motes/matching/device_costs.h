#pragma once
/// Assignment problems in device memory, for callers that do not compile with nvcc.

#include <vector>

#include <motes/base/gpu/device.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// A host problem's arrays, copied to a device. Throws ResourceError if there is no device or not enough
/// memory on it.
class DeviceCosts {
 public:
  explicit DeviceCosts(const CostsView& host, int device = 0);
  /// The problem with all arrays on the device; valid for the lifetime of this object.
  const CostsView& view() const { return view_; }

 private:
  std::vector<gpu::DeviceBytes> arrays_;
  CostsView view_;
};

/// A host copy of a sparse problem in either memory space. Throws ResourceError in a build without CUDA.
SparseCosts copy_to_host(const SparseCostsView& view);

}  // namespace motes::matching
