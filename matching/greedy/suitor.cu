/// Suitor on the GPU: the launches of suitor_kernels.cuh, and what goes in and comes out.

#include <algorithm>

#include "matching/greedy/device_problem.cuh"
#include "matching/greedy/dominant_kernels.cuh"
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

/// Which launches are the fastest, as far as has been measured (docs/algorithms.md): by how many entries a
/// vertex has, and whether the words fit the cache.
SuitorPlan plan_for(const Arena& arena, const GreedyLists& lists) {
  constexpr Offset kManyEntries = 16;
  if (lists.entries >= kManyEntries * lists.count) return SuitorPlan::wide_first;
  int cache_bytes = 0;
  MOTES_CUDA(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, arena.device()));
  const Offset words = Offset{lists.count} * static_cast<Offset>(sizeof(Word));
  return lists.shift == 0 && words > cache_bytes ? SuitorPlan::pairs_first : SuitorPlan::wide_last;
}

template <class Weights>
void launch(Arena& arena, const suitor::Suitor& s, SuitorPlan plan) {
  using namespace suitor;
  const cudaStream_t stream = arena.stream();
  const unsigned blocks = blocks_for(arena, s.lists.count, kBlock, kBlocks);
  const unsigned simple_blocks = blocks_for(arena, s.lists.count, kThreads, 8);
  if (plan != SuitorPlan::pairs_first)
    MOTES_CUDA(cudaMemsetAsync(s.word, 0, static_cast<std::size_t>(s.columns) * sizeof(Word), stream));
  MOTES_CUDA(cudaMemsetAsync(s.n, 0, sizeof *s.n, stream));
  if (plan == SuitorPlan::pairs_first) {
    const auto count = static_cast<std::size_t>(s.lists.count);
    const Choices choices{arena.take<Index>(count), arena.take<std::uint32_t>(count), arena.take<Word>(count),
                          arena.take<unsigned>(count / 32 + 1)};
    choose_kernel<Weights><<<blocks, kBlock, 0, stream>>>(s, choices);
    agree_kernel<<<simple_blocks, kThreads, 0, stream>>>(s, choices);
    late_kernel<Weights><<<blocks, kBlock, 0, stream>>>(s, choices);
  } else if (plan == SuitorPlan::wide_first) {
    list_kernel<<<simple_blocks, kThreads, 0, stream>>>(s);
    merged_kernel<Weights><<<blocks_for(arena, s.lists.count, kBlock, kMergedBlocks), kBlock, 0, stream>>>(s);
  } else {
    suitor_kernel<Weights><<<blocks, kBlock, 0, stream>>>(s);
  }
  if (plan != SuitorPlan::wide_first && s.lists.entries >= kWide)
    wide_kernel<Weights>
        <<<blocks_for(arena, s.lists.entries / 2, kWideBlock, kWideBlocks), kWideBlock, 0, stream>>>(s);
  if (s.lists.entries >= kHub)
    hub_kernel<Weights>
        <<<blocks_for(arena, s.lists.entries, kHubBlock, kHubBlocks), kHubBlock, 0, stream>>>(s);
  MOTES_CUDA_LAUNCHED();
}

}  // namespace

void greedy_suitor(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer,
                   SuitorPlan plan) {
  with_lists(execution, problem, answer.stats, [&](Arena& arena, const GreedyLists& lists) {
    const bool general = problem.kind == GraphKind::general;
    const auto rows = static_cast<std::size_t>(problem.graph.rows);
    const auto cols = static_cast<std::size_t>(problem.graph.cols);
    const auto entries = static_cast<std::size_t>(lists.entries);
    const cudaStream_t stream = arena.stream();
    const suitor::Suitor s{lists,
                           problem.graph.cols,
                           arena.take<Word>(cols),
                           arena.take<suitor::Waiting>(entries / suitor::kWide + 1),
                           arena.take<suitor::Waiting>(entries / suitor::kHub + 1),
                           arena.take<suitor::Counters>(1)};
    Index* row_to_col = arena.take<Index>(rows);
    Index* col_to_row = general ? nullptr : arena.take<Index>(cols);
    SuitorPlan chosen = plan == SuitorPlan::automatic ? plan_for(arena, lists) : plan;
    if (!general && chosen == SuitorPlan::pairs_first) chosen = SuitorPlan::wide_last;
    StreamTimer timer(stream);
    with_form(lists.form, [&]<class Weights>(Weights) { launch<Weights>(arena, s, chosen); });
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
