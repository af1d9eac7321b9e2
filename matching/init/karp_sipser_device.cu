/// The Karp-Sipser start on the GPU: vertices are peeled (peel_device.cuh), then rows in their order
/// (cheap_device.cuh).

#include <algorithm>

#include "matching/cardinality/on_device.h"
#include "matching/init/cheap_device.cuh"
#include "matching/init/peel_kernels.cuh"

namespace motes::matching::device {

namespace {

/// Entries of a list: a hub has one for each stretch of its edges.
std::size_t most_entries(std::size_t vertices, std::size_t edges) {
  return vertices + 2 * (edges / static_cast<std::size_t>(peeling::kStretch));
}

}  // namespace

std::size_t peeling_bytes(std::size_t rows, std::size_t cols, std::size_t edges) {
  return (rows + cols) * sizeof(Left) + 2 * most_entries(rows + cols, edges) * sizeof(peeling::Entry) +
         sizeof(PeelCounters);
}

Peeling make_peeling(Arena& arena, const DeviceSides& sides) {
  const auto vertices = static_cast<std::size_t>(sides.rows) + static_cast<std::size_t>(sides.cols);
  return {arena.take<Left>(vertices), arena.take_filled<PeelCounters>(1, 0)};
}

void peel(Arena& arena, const DeviceSides& sides, Offset edges, const PeelPlan& plan, const Peeling& peeling,
          Index* row_to_col, Index* col_to_row) {
  using namespace peeling;
  if (edges == 0) return;
  const cudaStream_t stream = arena.stream();
  const auto mark = arena.mark();
  Peel p{sides, row_to_col, col_to_row, peeling.left, {}, peeling.n, plan};
  const auto vertices = static_cast<std::size_t>(sides.rows) + static_cast<std::size_t>(sides.cols);
  for (Entry*& list : p.list)
    list = arena.take<Entry>(most_entries(vertices, static_cast<std::size_t>(edges)));
  decide_kernel<<<1, kBlock, 0, stream>>>(p);
  MOTES_CUDA_LAUNCHED();
  const auto multiprocessors = static_cast<std::size_t>(arena.multiprocessors());
  weigh_kernel<<<static_cast<unsigned>(std::min((vertices + 2 * kWeighBlock - 1) / kWeighBlock,
                                                kWeighBlocks * multiprocessors)),
                 kWeighBlock, 0, stream>>>(p);
  MOTES_CUDA_LAUNCHED();
  const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(vertices / kBlock, 1, multiprocessors));
  void* arguments[] = {&p};
  auto kernel = peel_kernel;
  MOTES_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), blocks, kBlock, arguments,
                                         sizeof(Shared), stream));
  arena.release(mark);
}

std::vector<Index> karp_sipser_start(const Execution& execution, const CardinalityProblem& problem,
                                     std::uint64_t seed) {
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols);
  std::vector<Index> row_to_col;
  CardinalityStats stats;
  with_sides(execution, problem, true, stats, [&](Arena& arena, const DeviceSides& sides) {
    auto* mates = arena.take_filled<Index>(rows, 0xff);
    auto* col_mates = arena.take_filled<Index>(cols, 0xff);
    const Peeling peeling = make_peeling(arena, sides);
    peel(arena, sides, problem.graph.edges(), {}, peeling, mates, col_mates);
    cheap_start(arena, sides, problem.graph.edges(), true, detail::VisitOrder(sides.rows, seed), mates,
                col_mates);
    row_to_col = arena.download(mates, rows);
  });
  return row_to_col;
}

}  // namespace motes::matching::device
