/// Launches the kernels of peel_kernels.cuh.

#include <algorithm>

#include "matching/init/peel_kernels.cuh"

namespace motes::matching::device {

namespace {

/// The largest number of entries of a list; a hub has one for each chunk of its edges.
std::size_t most_entries(std::size_t vertices, std::size_t edges) {
  return vertices + 2 * (edges / static_cast<std::size_t>(peeling::kChunkEdges));
}

}  // namespace

std::size_t peeling_bytes(std::size_t rows, std::size_t cols, std::size_t edges) {
  return (rows + cols) * sizeof(Left) + 2 * most_entries(rows + cols, edges) * sizeof(peeling::Entry) +
         sizeof(PeelCounters);
}

Peeling make_peeling(gpu::Arena& arena, const DeviceSides& sides) {
  const auto vertices = static_cast<std::size_t>(sides.rows) + static_cast<std::size_t>(sides.cols);
  return {arena.take<Left>(vertices), arena.take_filled<PeelCounters>(1, 0)};
}

void peel(gpu::Arena& arena, const DeviceSides& sides, Offset edges, const PeelPlan& plan,
          const Peeling& peeling, Index* row_to_col, Index* col_to_row) {
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

}  // namespace motes::matching::device
