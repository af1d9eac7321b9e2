/// Pairs by two passes over the tree: count, then fill.

#include <algorithm>
#include <tuple>

#include <cub/device/device_scan.cuh>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/assignment/canonical/canonical_form.cuh"
#include "matching/points/point_pairs.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffU;

struct GateParameters {
  detail::GeometricEntries entries;
  PointTreeView rows, cols;
  Index most;             ///< rows with more pairs are not counted to the end
  Index* counts;          ///< [rows]
  const Offset* offsets;  ///< [rows + 1] of the fill
  Index* col;
  Cost* cost;
};

/// A warp per row, rows in the order of their own curve, so that neighbours read the same nodes.
template <bool Fill>
__global__ void __launch_bounds__(kThreads) gate_kernel(GateParameters p) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto warps = static_cast<Index>(gridDim.x * (blockDim.x / 32));
  for (auto r = static_cast<Index>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32); r < p.rows.count;
       r += warps) {
    const Index i = p.rows.original[r];
    const double reach = PointTreeView::beyond(p.entries.gate);
    Index count = 0;
    Offset at = Fill ? p.offsets[i] : 0;
    const Point from{p.rows.x[r], p.rows.y[r], p.rows.z[r]};
    p.cols.walk(
        from, [&](Index, double squared) { return squared <= reach && (Fill || count <= p.most); },
        [&](Index, Index k) {
          const Cost c = k == -1 ? kInfiniteCost : p.entries.cost_of(p.cols.squared_to_point(from, k));
          const unsigned allowed = __ballot_sync(kAll, c != kInfiniteCost);
          if (Fill && c != kInfiniteCost) {
            const Offset place = at + __popc(allowed & ((1U << lane) - 1));
            p.col[place] = p.cols.original[k];
            p.cost[place] = c;
          }
          at += __popc(allowed);
          count += __popc(allowed);
        });
    if (!Fill && lane == 0) p.counts[i] = count;
  }
}

__global__ void most_kernel(const Index* counts, Index count, Index* most) {
  Index mine = 0;
  for (auto k = gpu::thread_index(); k < count; k += gpu::thread_total()) mine = max(mine, counts[k]);
  mine = __reduce_max_sync(kAll, mine);
  if (threadIdx.x % 32 == 0 && mine > 0) atomicMax(most, mine);
}

__global__ void widen_kernel(const Index* counts, Index count, Offset* offsets) {
  for (auto k = gpu::thread_index(); k <= count; k += gpu::thread_total())
    offsets[k] = k == 0 ? 0 : counts[k - 1];
}

int warp_blocks(const gpu::Arena& arena, Index rows) {
  constexpr int kRows = kThreads / 32;
  return std::clamp((rows + kRows - 1) / kRows, 1, 64 * arena.multiprocessors());
}

}  // namespace

Offset scan_counts(gpu::Arena& arena, const Index* counts, Index count, Offset* offsets) {
  const auto mark = arena.mark();
  widen_kernel<<<std::clamp(count / kThreads + 1, 1, 8 * arena.multiprocessors()), kThreads, 0,
                 arena.stream()>>>(counts, count, offsets);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, offsets, offsets, count + 1, arena.stream()));
  char* scratch = arena.take<char>(bytes);
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(scratch, bytes, offsets, offsets, count + 1, arena.stream()));
  arena.release(mark);
  return arena.download(offsets + count, 1)[0];
}

std::optional<PointPairs> pairs_within_gate(gpu::Arena& arena, const detail::GeometricEntries& entries,
                                            const PointTreeView& rows, const PointTreeView& cols,
                                            int most_per_row) {
  const auto n = static_cast<std::size_t>(entries.rows);
  GateParameters p{entries, rows, cols, 8 * most_per_row, arena.take<Index>(n), nullptr, nullptr, nullptr};
  PointPairs out;
  out.offsets = arena.take<Offset>(n + 1);
  const int blocks = warp_blocks(arena, entries.rows);
  Index* most = arena.take_filled<Index>(1, 0);
  if (entries.rows > 0) {
    gate_kernel<false><<<blocks, kThreads, 0, arena.stream()>>>(p);
    most_kernel<<<std::min(blocks, 2 * arena.multiprocessors()), kThreads, 0, arena.stream()>>>(
        p.counts, entries.rows, most);
    MOTES_CUDA_LAUNCHED();
  }
  out.edges = scan_counts(arena, p.counts, entries.rows, out.offsets);
  if (out.edges > Offset{most_per_row} * entries.rows || arena.download(most, 1)[0] > p.most)
    return std::nullopt;
  out.col = arena.take<Index>(static_cast<std::size_t>(out.edges));
  out.cost = arena.take<Cost>(static_cast<std::size_t>(out.edges));
  if (out.edges > 0) {
    p.offsets = out.offsets, p.col = out.col, p.cost = out.cost;
    gate_kernel<true><<<blocks, kThreads, 0, arena.stream()>>>(p);
    MOTES_CUDA_LAUNCHED();
  }
  return out;
}

}  // namespace motes::matching::device
