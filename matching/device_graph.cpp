/// Copies of graphs to a device.

#include <motes/matching/device_graph.h>

namespace motes::matching {

DeviceGraph::DeviceGraph(const CardinalityProblem& host, int device)
    : row_offsets_(host.graph.row_offsets, device), col_index_(host.graph.col_index, device), view_(host) {
  view_.graph.row_offsets = row_offsets_.span();
  view_.graph.col_index = col_index_.span();
  if (!host.col_offsets.empty()) {
    col_offsets_ = gpu::DeviceArray<Offset>(host.col_offsets, device);
    row_index_ = gpu::DeviceArray<Index>(host.row_index, device);
    view_.col_offsets = col_offsets_.span();
    view_.row_index = row_index_.span();
  }
  view_.space = Space::device;
}

}  // namespace motes::matching
