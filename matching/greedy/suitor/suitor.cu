/// Suitor on the GPU: the launches of suitor_kernels.cuh, with their input and output.

#include <algorithm>

#include "matching/greedy/device_problem.cuh"
#include "matching/greedy/suitor/device_suitor.h"
#include "matching/greedy/suitor/dominant_pairs.cuh"
#include "matching/greedy/suitor/suitor_kernels.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;

/// Converts the words of a general graph to mates, -1 = none; a vertex without a word has a mate already.
template <class S>
__global__ void mates_kernel(S s, Index* mate) {
  for (Offset v = Offset{blockIdx.x} * blockDim.x + threadIdx.x; v < s.columns;
       v += Offset{gridDim.x} * blockDim.x) {
    const int place = suitor::place_of(s, static_cast<std::uint32_t>(v));
    if (place == -1) continue;
    const Word word = s.word[place];
    mate[v] = word != 0 ? static_cast<Index>(vertex_of(word)) : -1;
  }
}

/// The same for a bipartite graph; row_to_col must hold -1.
__global__ void sides_kernel(const Word* word, Index cols, Index* row_to_col, Index* col_to_row) {
  for (Offset j = Offset{blockIdx.x} * blockDim.x + threadIdx.x; j < cols;
       j += Offset{gridDim.x} * blockDim.x) {
    const Index row = word[j] != 0 ? static_cast<Index>(vertex_of(word[j])) : -1;
    col_to_row[j] = row;
    if (row != -1) row_to_col[row] = static_cast<Index>(j);
  }
}

unsigned blocks_for(const gpu::Arena& arena, Offset threads, int block, int most) {
  return static_cast<unsigned>(
      std::clamp<Offset>((threads + block - 1) / block, 1, Offset{most} * arena.multiprocessors()));
}

Offset cache_bytes(const gpu::Arena& arena) {
  int bytes = 0;
  MOTES_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, arena.device()));
  return bytes;
}

/// The number of parts, at most eight, into which `bytes` bytes read at random are divided so that each fits
/// the cache.
Index cache_shares(const gpu::Arena& arena, Offset bytes) {
  const Offset most = cache_bytes(arena) / 5 * 4;
  return static_cast<Index>(std::clamp<Offset>((bytes + most - 1) / most, 1, 8));
}

/// The fastest launches, by measurement: from the mean number of entries of a vertex, and whether the words
/// fit half of the cache.
SuitorPlan plan_for(const gpu::Arena& arena, const GreedyLists& lists) {
  constexpr Offset kManyEntries = 16;
  if (lists.entries >= kManyEntries * lists.count) return SuitorPlan::wide_first;
  const Offset words = Offset{lists.count} * static_cast<Offset>(sizeof(Word));
  return lists.shift == 0 && words > cache_bytes(arena) / 2 ? SuitorPlan::pairs_first : SuitorPlan::wide_last;
}

/// Pairs, and the suitors of the vertices that are left, except wide ones; pairs are written to `mate`.
template <class Weights>
suitor::SuitorOfLeft launch_pairs(gpu::Arena& arena, const suitor::Suitor& s, Index* mate) {
  using namespace suitor;
  const cudaStream_t stream = arena.stream();
  const Index count = s.lists.count;
  const unsigned blocks = blocks_for(arena, count, kBlock, kBlocks);
  const unsigned agree_blocks = blocks_for(arena, count, kAgreeChunk, 2048 / kAgreeBlock);
  const unsigned chase_blocks = blocks_for(arena, count, kChaseBlock, kChaseBlocks);
  const int warps = static_cast<int>(chase_blocks) * (kChaseBlock / 32);
  const int page = std::max(32, count / warps / 32);
  const auto n = static_cast<std::size_t>(count);
  const Choices choices{mate,
                        arena.take<Kept>(n),
                        arena.take<Left>(n / 32 + 1),
                        arena.take<Waiting>(n + static_cast<std::size_t>(page) * warps),
                        page,
                        warps};
  const SuitorOfLeft left{s, choices.left};
  choose_kernel<Weights><<<blocks, kBlock, 0, stream>>>(s, choices);
  const Index ranges = cache_shares(arena, Offset{count} * static_cast<Offset>(sizeof(Index)));
  const Index range = count / ranges + 1;
  for (Index k = 0; k + 1 < ranges; ++k)
    agree_kernel<false><<<agree_blocks, kAgreeBlock, 0, stream>>>(s, choices, k * range, (k + 1) * range);
  agree_kernel<true><<<agree_blocks, kAgreeBlock, 0, stream>>>(s, choices, (ranges - 1) * range, count);
  chase_kernel<<<chase_blocks, kChaseBlock, 0, stream>>>(left, choices);
  late_kernel<Weights><<<blocks, kBlock, 0, stream>>>(left, choices);
  MOTES_CUDA_LAUNCHED();
  return left;
}

template <class Weights, class S>
void launch_wide(gpu::Arena& arena, const S& s) {
  using namespace suitor;
  if (s.lists.entries < kWide) return;
  wide_kernel<Weights>
      <<<blocks_for(arena, s.lists.entries / 2, kWideBlock, kWideBlocks), kWideBlock, 0, arena.stream()>>>(s);
}

template <class Weights, class S>
void launch_hubs(gpu::Arena& arena, const S& s) {
  using namespace suitor;
  if (s.lists.entries < kHub) return;
  hub_kernel<Weights>
      <<<blocks_for(arena, s.lists.entries, kHubBlock, kHubBlocks), kHubBlock, 0, arena.stream()>>>(s);
}

template <class S>
void launch_mates(gpu::Arena& arena, const S& s, Index* mate) {
  mates_kernel<<<blocks_for(arena, s.columns, kThreads, 8), kThreads, 0, arena.stream()>>>(s, mate);
}

/// col_to_row: nullptr of general graphs.
template <class Weights>
void launch(gpu::Arena& arena, const suitor::Suitor& s, SuitorPlan plan, Index* row_to_col,
            Index* col_to_row) {
  using namespace suitor;
  const cudaStream_t stream = arena.stream();
  const unsigned blocks = blocks_for(arena, s.lists.count, kBlock, kBlocks);
  MOTES_CUDA(cudaMemsetAsync(s.n, 0, sizeof *s.n, stream));
  if (plan == SuitorPlan::pairs_first) {
    const SuitorOfLeft left = launch_pairs<Weights>(arena, s, row_to_col);
    launch_wide<Weights>(arena, left);
    launch_hubs<Weights>(arena, left);
    launch_mates(arena, left, row_to_col);
    MOTES_CUDA_LAUNCHED();
    return;
  }
  MOTES_CUDA(cudaMemsetAsync(s.word, 0, static_cast<std::size_t>(s.columns) * sizeof(Word), stream));
  if (plan == SuitorPlan::wide_first) {
    list_kernel<<<blocks_for(arena, s.lists.count, kThreads, 8), kThreads, 0, stream>>>(s);
    merged_kernel<Weights><<<blocks_for(arena, s.lists.count, kBlock, kMergedBlocks), kBlock, 0, stream>>>(s);
  } else {
    suitor_kernel<Weights><<<blocks, kBlock, 0, stream>>>(s);
    launch_wide<Weights>(arena, s);
  }
  launch_hubs<Weights>(arena, s);
  if (col_to_row == nullptr) {
    launch_mates(arena, s, row_to_col);
  } else {
    MOTES_CUDA(
        cudaMemsetAsync(row_to_col, 0xff, static_cast<std::size_t>(s.lists.count) * sizeof(Index), stream));
    sides_kernel<<<blocks_for(arena, s.columns, kThreads, 8), kThreads, 0, stream>>>(s.word, s.columns,
                                                                                     row_to_col, col_to_row);
  }
  MOTES_CUDA_LAUNCHED();
}

}  // namespace

void greedy_suitor(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer,
                   SuitorPlan plan) {
  with_lists(execution, problem, answer.stats, [&](gpu::Arena& arena, const GreedyLists& lists) {
    const bool general = problem.kind == GraphKind::general;
    const auto rows = static_cast<std::size_t>(problem.graph.rows);
    const auto cols = static_cast<std::size_t>(problem.graph.cols);
    const auto entries = static_cast<std::size_t>(lists.entries);
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
    gpu::StreamTimer timer(arena.stream());
    with_form(lists.form,
              [&]<class Weights>(Weights) { launch<Weights>(arena, s, chosen, row_to_col, col_to_row); });
    timer.stop();
    const auto counters = arena.download(s.n, 1);
    answer.matching.row_to_col = arena.download(row_to_col, rows);
    if (!general) answer.matching.col_to_row = arena.download(col_to_row, cols);
    if (problem.space == Space::device)
      answer.matching.objective = weight_of_pairs(arena, problem, row_to_col);
    answer.stats.proposals = static_cast<std::int64_t>(counters[0].total[0]);
    answer.stats.arcs_scanned = static_cast<std::int64_t>(counters[0].total[1]);
    answer.stats.seconds["device"] = timer.seconds();
  });
}

}  // namespace motes::matching::device
