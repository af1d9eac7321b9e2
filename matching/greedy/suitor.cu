/// Suitor on the GPU: the launches of suitor_kernels.cuh, and what goes in and comes out.

#include <algorithm>

#include "matching/greedy/device_problem.cuh"
#include "matching/greedy/on_device.h"
#include "matching/greedy/suitor_kernels.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

/// A general graph's words as mates, -1 = none.
__global__ void mates_kernel(const Word* word, Index vertices, Index* mate) {
  for (Offset v = Offset{blockIdx.x} * blockDim.x + threadIdx.x; v < vertices;
       v += Offset{gridDim.x} * blockDim.x)
    mate[v] = word[v] != 0 ? static_cast<Index>(vertex_of(word[v])) : -1;
}

/// A bipartite graph's; row_to_col holds -1 before.
__global__ void sides_kernel(const Word* word, Index cols, Index* row_to_col, Index* col_to_row) {
  for (Offset j = Offset{blockIdx.x} * blockDim.x + threadIdx.x; j < cols;
       j += Offset{gridDim.x} * blockDim.x) {
    const Index row = word[j] != 0 ? static_cast<Index>(vertex_of(word[j])) : -1;
    col_to_row[j] = row;
    if (row != -1) row_to_col[row] = static_cast<Index>(j);
  }
}

unsigned blocks_for(const Arena& arena, Offset threads, int block, int most) {
  return static_cast<unsigned>(
      std::clamp<Offset>((threads + block - 1) / block, 1, Offset{most} * arena.multiprocessors()));
}

template <class Weights>
void launch(const Arena& arena, const suitor::Suitor& s) {
  using namespace suitor;
  suitor_kernel<Weights><<<blocks_for(arena, s.lists.count, kBlock, kBlocks), kBlock, 0, arena.stream()>>>(s);
  if (s.lists.entries >= kWide)
    wide_kernel<Weights>
        <<<blocks_for(arena, s.lists.entries / 2, kWideBlock, kWideBlocks), kWideBlock, 0, arena.stream()>>>(
            s);
  if (s.lists.entries >= kHub)
    hub_kernel<Weights>
        <<<blocks_for(arena, s.lists.entries, kHubBlock, kHubBlocks), kHubBlock, 0, arena.stream()>>>(s);
  MOTES_CUDA_LAUNCHED();
}

}  // namespace

void greedy_suitor(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) {
  with_lists(execution, problem, answer.stats, [&](Arena& arena, const GreedyLists& lists) {
    const bool general = problem.kind == GraphKind::general;
    const auto rows = static_cast<std::size_t>(problem.graph.rows);
    const auto cols = static_cast<std::size_t>(problem.graph.cols);
    const auto entries = static_cast<std::size_t>(lists.entries);
    const cudaStream_t stream = arena.stream();
    const suitor::Suitor s{
        lists, arena.take<Word>(cols), arena.take<suitor::Waiting>(entries / suitor::kWide + 1),
        arena.take<suitor::Waiting>(entries / suitor::kHub + 1), arena.take<suitor::Counters>(1)};
    Index* row_to_col = arena.take<Index>(rows);
    Index* col_to_row = general ? nullptr : arena.take<Index>(cols);
    StreamTimer timer(stream);
    MOTES_CUDA(cudaMemsetAsync(s.word, 0, cols * sizeof(Word), stream));
    MOTES_CUDA(cudaMemsetAsync(s.n, 0, sizeof *s.n, stream));
    with_form(lists.form, [&]<class Weights>(Weights) { launch<Weights>(arena, s); });
    if (general) {
      mates_kernel<<<blocks_for(arena, problem.graph.rows, kThreads, 8), kThreads, 0, stream>>>(
          s.word, problem.graph.rows, row_to_col);
    } else {
      MOTES_CUDA(cudaMemsetAsync(row_to_col, 0xff, rows * sizeof(Index), stream));
      sides_kernel<<<blocks_for(arena, problem.graph.cols, kThreads, 8), kThreads, 0, stream>>>(
          s.word, problem.graph.cols, row_to_col, col_to_row);
    }
    MOTES_CUDA_LAUNCHED();
    timer.stop();
    const auto counters = arena.download(s.n, 1);
    answer.matching.row_to_col = arena.download(row_to_col, rows);
    if (!general) answer.matching.col_to_row = arena.download(col_to_row, cols);
    if (problem.space == Space::device)
      answer.matching.objective = weight_of_pairs(arena, problem, row_to_col);
    answer.stats.proposals = static_cast<std::int64_t>(counters[0].proposals);
    answer.stats.arcs_scanned = static_cast<std::int64_t>(counters[0].entries);
    answer.stats.seconds["device"] = timer.seconds();
  });
}

}  // namespace motes::matching::device
