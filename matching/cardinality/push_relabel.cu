/// Push-relabel on the GPU: one launch of push_kernels.cuh, and what goes in and comes out.

#include <algorithm>

#include "matching/cardinality/on_device.h"
#include "matching/cardinality/push_device.cuh"
#include "matching/cardinality/push_kernels.cuh"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace pushing {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(Index count) {
  return static_cast<unsigned>(std::clamp((count + kThreads - 1) / kThreads, 1, 1 << 16));
}

/// Words, and the list of rows that are free and have columns.
__global__ void begin_kernel(Push p, const Index* row_to_col, const Index* col_to_row) {
  for (Index j = thread_index(); j < p.graph.cols; j += thread_total()) p.word[j] = word_of(0, col_to_row[j]);
  for (Index i = thread_index(); i < p.graph.rows; i += thread_total()) {
    if (row_to_col[i] != -1) continue;
    p.sight[i] = kGone;
    if (p.graph.row_offsets[i] == p.graph.row_offsets[i + 1]) continue;
    const auto together = cooperative_groups::coalesced_threads();
    int place = 0;
    if (together.thread_rank() == 0) place = atomicAdd(p.n->active, static_cast<int>(together.size()));
    p.active[0][together.shfl(place, 0) + static_cast<int>(together.thread_rank())] = i;
  }
}

/// The table of near columns, a thread for each of its places.
template <int kWidth>
__global__ void near_kernel(DeviceSides graph, Index* near) {
  const Offset places = Offset{graph.rows} * kWidth, step = Offset{gridDim.x} * blockDim.x;
  for (Offset place = Offset{blockIdx.x} * blockDim.x + threadIdx.x; place < places; place += step) {
    const Offset row = place / kWidth, k = place % kWidth;
    const Offset begin = graph.row_offsets[row], count = graph.row_offsets[row + 1] - begin;
    near[place] = k == kWidth - 1 && count > kWidth ? kMore : k < count ? graph.col_index[begin + k] : -1;
  }
}

__global__ void finish_kernel(const Word* word, Index cols, Index* row_to_col, Index* col_to_row) {
  for (Index j = thread_index(); j < cols; j += thread_total()) {
    const Index row = row_of(word[j]);
    col_to_row[j] = row;
    if (row != -1) row_to_col[row] = j;
  }
}

template <class S>
void launch(Arena& arena, Push p) {
  auto* near = arena.take<Index>(static_cast<std::size_t>(p.graph.rows) * S::kNear);
  near_kernel<S::kNear>
      <<<static_cast<unsigned>(16 * arena.multiprocessors()), kThreads, 0, arena.stream()>>>(p.graph, near);
  MOTES_CUDA_LAUNCHED();
  p.near = near;
  auto kernel = push_relabel_kernel<S>;
  const Offset wanted = std::max<Offset>(1, (Offset{p.graph.rows} * S::kLanes + kBlock - 1) / kBlock);
  const auto blocks = static_cast<unsigned>(std::min<Offset>(arena.multiprocessors(), wanted));
  void* arguments[] = {&p};
  MOTES_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), blocks, kBlock, arguments,
                                         sizeof(Shared), arena.stream()));
}

/// Calls f(Shape) for a graph's mean degree.
template <class F>
void with_shape(Index rows, Offset edges, F&& f) {
  const Offset degree = edges / std::max(1, rows);
  if (degree <= 5)
    f(Shape<4, 2>{});
  else if (degree <= 12)
    f(Shape<8, 2>{});
  else
    f(Shape<32, 1>{});
}

void tell(const Counters& n, CardinalityStats& stats) {
  stats.phases += n.phases;
  stats.global_relabels += n.phases;
  stats.edges_traversed += static_cast<std::int64_t>(n.edges);
  double relabel = 0, push = 0;
  for (int k = 0; k < std::min(n.phases, kRecords); ++k) {
    const PhaseRecord& record = n.record[k];
    relabel += 1e-9 * static_cast<double>(record.relabel_ns);
    push += 1e-9 * static_cast<double>(record.push_ns);
    stats.pushes += static_cast<std::int64_t>(record.pushes);
    stats.levels.push_back(record.levels);
  }
  stats.relabels += 2 * stats.pushes;
  stats.seconds["global_relabel"] = relabel;
  stats.seconds["push"] = push;
}

}  // namespace
}  // namespace pushing

bool fits_push_relabel(const CardinalityProblem& problem) {
  return problem.graph.rows < 1 << pushing::kMostColumnBits &&
         problem.graph.edges() < Offset{1} << pushing::kMostEdgeBits;
}

std::size_t push_relabel_bytes(const CardinalityProblem& problem) {
  using namespace pushing;
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols),
             edges = static_cast<std::size_t>(problem.graph.edges());
  std::size_t near = 0;
  with_shape(problem.graph.rows, problem.graph.edges(),
             [&](auto shape) { near = sizeof(Index) * decltype(shape)::kNear; });
  return rows * (near + sizeof(Word) + 2 * sizeof(Index)) + cols * sizeof(Word) +
         2 * sizeof(Stretch) * (cols + edges / kStretch) + sizeof(Counters);
}

const pushing::Counters* enqueue_push_relabel(Arena& arena, const DeviceSides& sides, Offset edges,
                                              std::int64_t chain, const DeviceMates& there) {
  using namespace pushing;
  const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
  const cudaStream_t stream = arena.stream();
  Push p{};
  p.graph = sides;
  p.chain = static_cast<int>(std::min<std::int64_t>(chain, 1 << 30));
  p.word = arena.take<Word>(cols);
  p.sight = arena.take<Word>(rows);
  for (Index*& list : p.active) list = arena.take<Index>(rows);
  for (Stretch*& list : p.frontier)
    list = arena.take<Stretch>(cols + static_cast<std::size_t>(edges / kStretch));
  p.n = arena.take_filled<Counters>(1, 0);
  begin_kernel<<<blocks_for(std::max(sides.rows, sides.cols)), kThreads, 0, stream>>>(p, there.row_to_col,
                                                                                      there.col_to_row);
  MOTES_CUDA_LAUNCHED();
  with_shape(sides.rows, edges, [&](auto shape) { launch<decltype(shape)>(arena, p); });
  MOTES_CUDA(cudaMemsetAsync(there.row_to_col, 0xff, rows * sizeof(Index), stream));
  finish_kernel<<<blocks_for(sides.cols), kThreads, 0, stream>>>(p.word, sides.cols, there.row_to_col,
                                                                 there.col_to_row);
  MOTES_CUDA_LAUNCHED();
  return p.n;
}

void tell_push_relabel(Arena& arena, const pushing::Counters* counters, CardinalityStats& stats) {
  pushing::tell(arena.download(counters, 1)[0], stats);
}

void push_relabel(const Execution& execution, const CardinalityProblem& problem, std::int64_t chain,
                  const GivenStart& start, Mates& mates, CardinalityStats& stats) {
  if (!fits_push_relabel(problem))
    throw ResourceShortage(
        "push-relabel on the GPU: more than 2^29 rows or 2^34 edges; use the cpu back end");
  const auto run = [&](Arena& arena, const DeviceSides& sides) {
    const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
    const Offset edges = problem.graph.edges();
    StreamTimer timer(arena.stream());
    DeviceMates there(arena, rows, cols);
    const bool warm = there.upload(arena, problem, sides, start);
    StreamTimer cheap(arena.stream());
    cheap_start(arena, sides, edges, warm, detail::VisitOrder(sides.rows, 0), there.row_to_col,
                there.col_to_row);
    cheap.stop();
    const pushing::Counters* counters = enqueue_push_relabel(arena, sides, edges, chain, there);
    timer.stop();
    stats.augmentations += there.download(arena, execution, mates);
    stats.seconds["device"] = timer.seconds();
    stats.seconds["start"] = cheap.seconds();
    tell_push_relabel(arena, counters, stats);
  };
  with_sides(execution, problem, true, stats, run, push_relabel_bytes(problem));
}

}  // namespace motes::matching::device
