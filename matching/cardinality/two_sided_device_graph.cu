/// Uploads a graph, or builds its column side on the device.

#include <algorithm>

#include <cub/device/device_scan.cuh>

#include <motes/base/gpu/staged_download.cuh>
#include <motes/base/gpu/thread_index.cuh>
#include <motes/base/make_room.h>

#include "matching/cardinality/two_sided_device_graph.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

__global__ void count_kernel(const Index* col_index, Offset edges, unsigned long long* count) {
  for (Offset e = gpu::thread_index<Offset>(); e < edges; e += gpu::thread_total<Offset>())
    atomicAdd(count + col_index[e], 1ULL);
}

/// Copies edges to their columns, one warp per row; the position of an edge within its column depends on
/// timing.
__global__ void scatter_kernel(const Offset* row_offsets, const Index* col_index, Index rows,
                               unsigned long long* next, Index* row_index) {
  const unsigned lane = threadIdx.x % 32;
  for (Offset i = gpu::thread_index<Offset>() / 32; i < rows; i += gpu::thread_total<Offset>() / 32) {
    const Offset end = row_offsets[i + 1];
    for (Offset e = row_offsets[i] + lane; e < end; e += 32)
      row_index[atomicAdd(next + col_index[e], 1ULL)] = static_cast<Index>(i);
  }
}

__device__ bool has_edge(const DeviceSides& sides, Index row, Index col) {
  Offset begin = sides.row_offsets[row], end = sides.row_offsets[row + 1];
  while (begin < end) {
    const Offset middle = (begin + end) / 2;
    const Index seen = sides.col_index[middle];
    if (seen == col) return true;
    if (seen < col)
      begin = middle + 1;
    else
      end = middle;
  }
  return false;
}

/// Copies the start to the mates; if two rows have the same column, one of them wins.
__global__ void enter_kernel(DeviceSides sides, const Index* start, bool ask_edges, Index* row_to_col,
                             Index* col_to_row, Tally* tally) {
  for (Offset k = gpu::thread_index<Offset>(); k < sides.rows; k += gpu::thread_total<Offset>()) {
    const auto i = static_cast<Index>(k);
    const Index j = start[i];
    if (j == -1) continue;
    const bool edge = j >= 0 && j < sides.cols && (!ask_edges || has_edge(sides, i, j));
    if (edge && atomicCAS(col_to_row + j, -1, i) == -1)
      row_to_col[i] = j;
    else
      tally->fault = 1;
  }
}

__global__ void count_pairs_kernel(const Index* row_to_col, Index rows, Tally* tally) {
  unsigned pairs = 0;
  for (Offset i = gpu::thread_index<Offset>(); i < rows; i += gpu::thread_total<Offset>())
    pairs += row_to_col[i] != -1;
  pairs = __reduce_add_sync(0xffffffffU, pairs);
  if (threadIdx.x % 32 == 0 && pairs > 0) atomicAdd(&tally->pairs, static_cast<unsigned long long>(pairs));
}

}  // namespace

DeviceMates::DeviceMates(gpu::Arena& arena, std::size_t row_count, std::size_t col_count)
    : row_to_col(arena.take_filled<Index>(row_count, 0xff)),
      col_to_row(arena.take_filled<Index>(col_count, 0xff)),
      rows(row_count),
      cols(col_count),
      tally_(arena.take_filled<Tally>(1, 0)) {}

bool DeviceMates::upload(gpu::Arena& arena, const CardinalityProblem& problem, const DeviceSides& sides,
                         const GivenStart& start) {
  given_ = start.pairs;
  if (given_ == 0) return false;
  const Index* there = arena.upload(start.row_to_col);
  enter_kernel<<<static_cast<unsigned>(8 * arena.multiprocessors()), kThreads, 0, arena.stream()>>>(
      sides, there, problem.space == Space::host, row_to_col, col_to_row, tally_);
  MOTES_CUDA_LAUNCHED();
  return true;
}

void DeviceMates::make_room(const Execution& execution, Mates& mates) const {
  motes::make_room(mates.row_to_col, rows, mates.col_to_row, cols, execution.threads);
}

std::int64_t DeviceMates::download(gpu::Arena& arena, const Execution& execution, Mates& mates) const {
  count_pairs_kernel<<<static_cast<unsigned>(4 * arena.multiprocessors()), kThreads, 0, arena.stream()>>>(
      row_to_col, static_cast<Index>(rows), tally_);
  MOTES_CUDA_LAUNCHED();
  const auto fetch = [&](void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) MOTES_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, arena.stream()));
  };
  if (execution.workspace == nullptr) {
    make_room(execution, mates);
    fetch(mates.row_to_col.data(), row_to_col, rows * sizeof(Index));
    fetch(mates.col_to_row.data(), col_to_row, cols * sizeof(Index));
  } else {
    gpu::StagedDownload staged(arena, (rows + cols) * sizeof(Index));
    staged.add(row_to_col, rows * sizeof(Index));
    staged.add(col_to_row, cols * sizeof(Index));
    make_room(execution, mates);
    staged.take(mates.row_to_col.data(), rows * sizeof(Index), execution.threads);
    staged.take(mates.col_to_row.data(), cols * sizeof(Index), execution.threads);
  }
  const Tally tally = arena.download(tally_, 1)[0];
  if (tally.fault != 0) throw FaultyStart();
  return static_cast<std::int64_t>(tally.pairs) - given_;
}

std::size_t bytes_on_device(const CardinalityProblem& problem, bool columns) {
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols);
  const auto edges = static_cast<std::size_t>(problem.graph.edges());
  std::size_t bytes = 2 * (rows + cols) * sizeof(Index);
  const bool host = problem.space == Space::host, given = !problem.col_offsets.empty();
  if (host) bytes += rows * sizeof(Offset) + edges * sizeof(Index);
  if (columns && given && host) bytes += cols * sizeof(Offset) + edges * sizeof(Index);
  if (columns && !given) bytes += 3 * cols * sizeof(Offset) + edges * sizeof(Index);
  return bytes;
}

DeviceSides bring_over(gpu::Arena& arena, const CardinalityProblem& problem, bool columns) {
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
