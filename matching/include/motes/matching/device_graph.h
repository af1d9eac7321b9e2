#pragma once
/// Graphs kept in device memory by callers that do not compile with nvcc.

#include <vector>

#include <motes/base/gpu/device.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

/// A host graph's copy on a device, of its columns' side too where the problem holds it. Throws
/// ResourceError where there is no device or no room.
class DeviceGraph {
 public:
  explicit DeviceGraph(const CardinalityProblem& host, int device = 0);
  /// The problem with all arrays on the device; valid as long as this lives.
  const CardinalityProblem& view() const { return view_; }

 private:
  gpu::DeviceArray<Offset> row_offsets_, col_offsets_;
  gpu::DeviceArray<Index> col_index_, row_index_;
  CardinalityProblem view_;
};

}  // namespace motes::matching
