#include "matching/cardinality/device_graph.cuh"

#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "matching/detail/parallel_copy.h"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

__device__ Offset thread_index() { return Offset{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ Offset thread_total() { return Offset{gridDim.x} * blockDim.x; }

__global__ void count_kernel(const Index* col_index, Offset edges, unsigned long long* count) {
  for (Offset e = thread_index(); e < edges; e += thread_total()) atomicAdd(count + col_index[e], 1ULL);
}

/// Edges to their columns, a warp per row; where in its column an edge lands depends on timing.
__global__ void scatter_kernel(const Offset* row_offsets, const Index* col_index, Index rows,
                               unsigned long long* next, Index* row_index) {
  const unsigned lane = threadIdx.x % 32;
  for (Offset i = thread_index() / 32; i < rows; i += thread_total() / 32) {
    const Offset end = row_offsets[i + 1];
    for (Offset e = row_offsets[i] + lane; e < end; e += 32)
      row_index[atomicAdd(next + col_index[e], 1ULL)] = static_cast<Index>(i);
  }
}

std::int64_t pairs_in(const std::vector<Index>& row_to_col) {
  return std::ssize(row_to_col) - std::count(row_to_col.begin(), row_to_col.end(), -1);
}

}  // namespace

bool DeviceMates::upload(const Arena& arena, const Mates& mates) {
  given = pairs_in(mates.row_to_col);
  const auto copy = [&](Index* to, const std::vector<Index>& from, std::size_t count) {
    if (count == 0) return;
    const std::size_t bytes = count * sizeof(Index);
    if (given == 0)
      MOTES_CUDA(cudaMemsetAsync(to, 0xff, bytes, arena.stream()));
    else
      MOTES_CUDA(cudaMemcpyAsync(to, from.data(), bytes, cudaMemcpyHostToDevice, arena.stream()));
  };
  copy(row_to_col, mates.row_to_col, rows);
  copy(col_to_row, mates.col_to_row, cols);
  return given > 0;
}

void DeviceMates::make_room(Mates& mates) const {
  mates.row_to_col.resize(rows);
  mates.col_to_row.resize(cols);
}

std::int64_t DeviceMates::download(Arena& arena, Mates& mates, int threads) const {
  char* staged = arena.staging((rows + cols) * sizeof(Index));
  char* staged_cols = staged + rows * sizeof(Index);
  const auto fetch = [&](char* to, const Index* from, std::size_t count) {
    if (count > 0)
      MOTES_CUDA(cudaMemcpyAsync(to, from, count * sizeof(Index), cudaMemcpyDeviceToHost, arena.stream()));
  };
  fetch(staged, row_to_col, rows);
  fetch(staged_cols, col_to_row, cols);
  make_room(mates);
  arena.synchronize();
  detail::parallel_copy(mates.row_to_col.data(), staged, rows * sizeof(Index), threads);
  detail::parallel_copy(mates.col_to_row.data(), staged_cols, cols * sizeof(Index), threads);
  return pairs_in(mates.row_to_col) - given;
}

DeviceSides bring_over(Arena& arena, const CardinalityProblem& problem, bool columns) {
  const bool host = problem.space == Space::host;
  const auto there = [&]<class T>(std::span<const T> values) {
    return host ? arena.upload(values) : values.data();
  };
  DeviceSides sides{problem.graph.rows, problem.graph.cols, there(problem.graph.row_offsets),
                    there(problem.graph.col_index)};
  if (!columns) return sides;
  if (!problem.col_offsets.empty()) {
    sides.col_offsets = there(problem.col_offsets);
    sides.row_index = there(problem.row_index);
    return sides;
  }
  const auto cols = static_cast<std::size_t>(sides.cols);
  const Offset edges = problem.graph.edges();
  const cudaStream_t stream = arena.stream();
  const auto blocks = static_cast<unsigned>(16 * arena.multiprocessors());
  auto* count = arena.take_filled<unsigned long long>(cols + 1, 0);
  count_kernel<<<blocks, kThreads, 0, stream>>>(sides.col_index, edges, count);
  MOTES_CUDA_LAUNCHED();
  auto* offsets = arena.take<unsigned long long>(cols + 1);
  std::size_t bytes = 0;
  MOTES_CUDA(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, count, offsets, static_cast<int>(cols + 1), stream));
  char* scratch = arena.take<char>(bytes);
  MOTES_CUDA(
      cub::DeviceScan::ExclusiveSum(scratch, bytes, count, offsets, static_cast<int>(cols + 1), stream));
  MOTES_CUDA(cudaMemcpyAsync(count, offsets, (cols + 1) * sizeof *count, cudaMemcpyDeviceToDevice, stream));
  auto* row_index = arena.take<Index>(static_cast<std::size_t>(edges));
  scatter_kernel<<<blocks, kThreads, 0, stream>>>(sides.row_offsets, sides.col_index, sides.rows, count,
                                                  row_index);
  MOTES_CUDA_LAUNCHED();
  sides.col_offsets = reinterpret_cast<const Offset*>(offsets);
  sides.row_index = row_index;
  return sides;
}

}  // namespace motes::matching::device
