/// The Karp-Sipser start on the GPU: vertices with one neighbour left take it, on both sides and with what
/// follows from them, round by round in one cooperative kernel; then rows in their order (cheap_device.cuh).
///
/// A warp takes a listed vertex, its neighbour that is left, and counts that one's other neighbours down; who
/// comes down to one is listed for the next round. A vertex is listed once at most.
///
/// Races. A pair is made by two exchanges, the row's first; whoever fails at the column frees the row again,
/// which meanwhile nobody else can need: the row's only neighbour left, or the column's, is in that pair. A
/// vertex counts down from two to one once, whoever does it. Which of several vertices gets their one
/// neighbour depends on timing.

#include <cooperative_groups.h>

#include <algorithm>

#include "matching/cardinality/on_device.h"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 512, kWarp = 32;
constexpr unsigned kAll = 0xffffffffU;

struct KarpSipser {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  unsigned* left;       ///< [rows + cols] neighbours that are free, rows before columns
  unsigned* listed[2];  ///< [rows + cols] vertices, numbered alike
  unsigned* count;      ///< [3] length of the list of round r at r % 3
};

__device__ bool is_free(const KarpSipser& k, bool row, Index vertex) {
  return __ldcg((row ? k.row_to_col : k.col_to_row) + vertex) == -1;
}

__device__ bool pair_up(const KarpSipser& k, Index row, Index col) {
  if (atomicCAS(k.row_to_col + row, -1, col) != -1) return false;
  if (atomicCAS(k.col_to_row + col, -1, row) == -1) return true;
  atomicExch(k.row_to_col + row, -1);
  return false;
}

/// One listed vertex; all lanes of a warp.
__device__ void settle(const KarpSipser& k, unsigned vertex, unsigned* next, unsigned* next_count) {
  const auto rows = static_cast<unsigned>(k.graph.rows);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const bool row = vertex < rows;
  const auto mine = static_cast<Index>(row ? vertex : vertex - rows);
  if (!is_free(k, row, mine)) return;
  const Offset* offsets = row ? k.graph.row_offsets : k.graph.col_offsets;
  const Index* neighbours = row ? k.graph.col_index : k.graph.row_index;
  const Offset end = offsets[mine + 1];
  Index other = -1;
  for (Offset e = offsets[mine]; e < end && other == -1; e += kWarp) {
    const Index seen = e + lane < end ? neighbours[e + lane] : -1;
    const unsigned open = __ballot_sync(kAll, seen != -1 && is_free(k, !row, seen));
    if (open == 0) continue;
    const int chosen = __ffs(static_cast<int>(open)) - 1;
    bool paired = false;
    if (lane == chosen) paired = row ? pair_up(k, mine, seen) : pair_up(k, seen, mine);
    if (__shfl_sync(kAll, static_cast<int>(paired), chosen) == 0) return;  // its one neighbour is gone
    other = __shfl_sync(kAll, seen, chosen);
  }
  if (other == -1) return;
  const Offset* other_offsets = row ? k.graph.col_offsets : k.graph.row_offsets;
  const Index* other_neighbours = row ? k.graph.row_index : k.graph.col_index;
  const Offset last = other_offsets[other + 1];
  for (Offset e = other_offsets[other] + lane; e < last; e += kWarp) {
    const unsigned neighbour = static_cast<unsigned>(other_neighbours[e]) + (row ? 0 : rows);
    if (atomicSub(k.left + neighbour, 1U) == 2) next[atomicAdd(next_count, 1U)] = neighbour;
  }
}

__global__ void __launch_bounds__(kThreads) karp_sipser_kernel(KarpSipser k) {
  const auto grid = cooperative_groups::this_grid();
  const auto me = static_cast<unsigned>(blockIdx.x * kThreads + threadIdx.x);
  const unsigned total = gridDim.x * kThreads;
  const auto rows = static_cast<unsigned>(k.graph.rows), cols = static_cast<unsigned>(k.graph.cols);
  for (unsigned v = me; v < rows + cols; v += total) {
    const Offset* offsets = v < rows ? k.graph.row_offsets + v : k.graph.col_offsets + (v - rows);
    const auto degree = static_cast<unsigned>(offsets[1] - offsets[0]);
    k.left[v] = degree;
    if (degree == 1) k.listed[0][atomicAdd(k.count, 1U)] = v;
  }
  grid.sync();
  for (int round = 0;; ++round) {
    const unsigned count = k.count[round % 3];
    if (count == 0) return;
    if (me == 0) k.count[(round + 2) % 3] = 0;
    for (unsigned place = me / kWarp; place < count; place += total / kWarp)
      settle(k, k.listed[round % 2][place], k.listed[(round + 1) % 2], k.count + (round + 1) % 3);
    grid.sync();
  }
}

}  // namespace

std::vector<Index> karp_sipser_start(const Execution& execution, const CardinalityProblem& problem,
                                     std::uint64_t seed) {
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols);
  std::vector<Index> row_to_col;
  CardinalityStats stats;
  with_sides(execution, problem, true, stats, [&](Arena& arena, const DeviceSides& sides) {
    KarpSipser k{};
    k.graph = sides;
    k.row_to_col = arena.take_filled<Index>(rows, 0xff);
    k.col_to_row = arena.take_filled<Index>(cols, 0xff);
    k.left = arena.take<unsigned>(rows + cols);
    for (unsigned*& list : k.listed) list = arena.take<unsigned>(rows + cols);
    k.count = arena.take_filled<unsigned>(3, 0);
    int fit = 0;
    MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, karp_sipser_kernel, kThreads, 0));
    const auto most = static_cast<std::size_t>(std::min(fit, 2) * arena.multiprocessors());
    const auto blocks = std::clamp<std::size_t>((rows + cols) / kThreads, 1, most);
    void* arguments[] = {&k};
    MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(karp_sipser_kernel),
                                           static_cast<unsigned>(blocks), kThreads, arguments, 0,
                                           arena.stream()));
    cheap_start(arena, sides, problem.graph.edges(), true, detail::VisitOrder(sides.rows, seed), k.row_to_col,
                k.col_to_row);
    row_to_col = arena.download(k.row_to_col, rows);
  });
  return row_to_col;
}

}  // namespace motes::matching::device
