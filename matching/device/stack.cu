/// Sparse problems in device memory, block by block into one.

#include <algorithm>

#include "matching/detail/device_problem.h"
#include "matching/device/arena.cuh"

namespace motes::matching::detail {
namespace {

constexpr int kThreads = 256;

/// Values outside [low, high] raise `fault`; all who write it write the same.
template <class T>
__global__ void copy_shifted_kernel(const T* in, Offset count, T shift, T low, T high, T* out, int* fault) {
  for (Offset k = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += static_cast<Offset>(gridDim.x) * blockDim.x) {
    if (in[k] < low || in[k] > high) *fault = 1;
    out[k] = in[k] + shift;
  }
}

__global__ void check_ends_kernel(const Offset* offsets, Index rows, Offset edges, int* fault) {
  if (offsets[0] != 0 || offsets[rows] != edges) *fault = 1;
}

/// On the default stream.
template <class T>
void append(std::span<const T> from, T shift, T low, T high, T* to, int* fault) {
  const auto count = static_cast<Offset>(from.size());
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>(std::min<Offset>((count + kThreads - 1) / kThreads, 4096));
  copy_shifted_kernel<<<blocks, kThreads>>>(from.data(), count, shift, low, high, to, fault);
  MOTES_CUDA_LAUNCHED();
}
void append(std::span<const Cost> from, Cost* to) {
  if (from.empty()) return;
  MOTES_CUDA(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyDeviceToDevice, nullptr));
}

}  // namespace

DeviceStack::DeviceStack(std::span<const SparseCostsView> blocks, int device) {
  std::size_t rows = 0, cols = 0, edges = 0, row_costs = 0, col_costs = 0;
  for (const SparseCostsView& block : blocks) {
    rows += static_cast<std::size_t>(block.graph.rows);
    cols += static_cast<std::size_t>(block.graph.cols);
    edges += block.cost.size();
    row_costs += block.unmatched_row_cost.size();
    col_costs += block.unmatched_col_cost.size();
  }
  offsets_ = DeviceArray<Offset>(rows + 1, device);
  col_index_ = DeviceArray<Index>(edges, device);
  cost_ = DeviceArray<Cost>(edges, device);
  row_cost_ = DeviceArray<Cost>(row_costs, device);
  col_cost_ = DeviceArray<Cost>(col_costs, device);
  const int none = 0;
  DeviceArray<int> fault(std::span(&none, 1), device);
  std::size_t row = 0, col = 0, edge = 0, row_cost = 0, col_cost = 0;
  for (const SparseCostsView& block : blocks) {
    const auto block_edges = static_cast<Offset>(block.cost.size());
    check_ends_kernel<<<1, 1>>>(block.graph.row_offsets.data(), block.graph.rows, block_edges, fault.data());
    append(block.graph.row_offsets, static_cast<Offset>(edge), Offset{0}, block_edges, offsets_.data() + row,
           fault.data());
    append(block.graph.col_index, static_cast<Index>(col), Index{0}, block.graph.cols - 1,
           col_index_.data() + edge, fault.data());
    append(block.cost, cost_.data() + edge);
    append(block.unmatched_row_cost, row_cost_.data() + row_cost);
    append(block.unmatched_col_cost, col_cost_.data() + col_cost);
    row += static_cast<std::size_t>(block.graph.rows);
    col += static_cast<std::size_t>(block.graph.cols);
    edge += block.cost.size();
    row_cost += block.unmatched_row_cost.size();
    col_cost += block.unmatched_col_cost.size();
  }
  sound_ = fault.to_host()[0] == 0;  // waits for all of the above
  view_ = {{static_cast<Index>(rows), static_cast<Index>(cols), offsets_.span(), col_index_.span()},
           cost_.span(),
           row_cost_.span(),
           col_cost_.span(),
           Space::device,
           blocks.empty() ? 0 : blocks[0].fraction_bits};
}

}  // namespace motes::matching::detail
