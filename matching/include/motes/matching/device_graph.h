#pragma once
/// Graphs in device memory, for callers that do not compile with nvcc.

#include <vector>

#include <motes/base/gpu/device.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

/// A host graph, copied to a device with its column side if the problem has one. Throws ResourceError if
/// there is no device or not enough memory on it.
class DeviceGraph {
 public:
  explicit DeviceGraph(const CardinalityProblem& host, int device = 0);
  /// The problem with all arrays on the device; valid for the lifetime of this object.
  const CardinalityProblem& view() const { return view_; }

 private:
  gpu::DeviceArray<Offset> row_offsets_, col_offsets_;
  gpu::DeviceArray<Index> col_index_, row_index_;
  CardinalityProblem view_;
};

}  // namespace motes::matching
