/// Push-relabel on the GPU: the launch of push_kernels.cuh, with its input and output.
///
/// It starts from the cheap matching or, if many vertices have a single neighbour, from peeling. In such
/// graphs most pushes are made by rows that cannot be matched, since their labels rise until a search
/// proves it; peeling proves it at once.

#include <algorithm>
#include <optional>

#include "matching/cardinality/device_solvers.h"
#include "matching/cardinality/push_relabel/push_kernels.cuh"
#include "matching/cardinality/push_relabel/push_relabel.cuh"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace pushing {
namespace {

constexpr int kThreads = 256;
constexpr int kFewPeeled = 1024;         ///< vertices of a round below which peeling stops
constexpr Offset kMostPeeledDegree = 5;  ///< mean degree up to which a graph may be peeled

unsigned blocks_for(Index count) {
  return static_cast<unsigned>(std::clamp((count + kThreads - 1) / kThreads, 1, 1 << 16));
}

/// Gathers a block's part of a list, so that one atomic addition per block appends it to the grid's list.
struct Gathered {
  Index item[2 * kThreads];
  int count, base;

  __device__ void put(Index index) { item[atomicAdd(&count, 1)] = index; }
  /// The whole block must call it, with `count` at 0 before the first put and at most kThreads put in
  /// between.
  __device__ void flush(int least, Index* list, int* list_count) {
    __syncthreads();
    const int held = count;
    __syncthreads();
    if (held < least) return;
    if (threadIdx.x == 0) {
      base = held > 0 ? atomicAdd(list_count, held) : 0;
      count = 0;
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < held; k += kThreads) list[base + k] = item[k];
    __syncthreads();
  }
};

/// Initialises the words and the list of rows that are free and have columns. Vertices that peeling has
/// settled are excluded: no search reaches such a row, and no row takes such a column.
__global__ void begin_kernel(Push p, const Index* row_to_col, const Index* col_to_row) {
  __shared__ Gathered rows, cols, active;
  if (threadIdx.x == 0) rows.count = cols.count = active.count = 0;
  __syncthreads();
  const bool peeled = p.peeled();
  const Index most = max(p.graph.rows, p.graph.cols);
  for (Offset from = Offset{blockIdx.x} * kThreads;; from += Offset{gridDim.x} * kThreads) {
    const bool last = from >= most;
    const Offset k = from + threadIdx.x;
    if (!last && k < p.graph.cols) {
      const bool out = peeled && is_peeled(p.peeling.left[p.graph.rows + k]);
      p.word[k] = word_of(out ? kNoPath : 0, col_to_row[k]);
      if (peeled && !out) cols.put(static_cast<Index>(k));
    }
    if (!last && k < p.graph.rows) {
      const bool out = peeled && is_peeled(p.peeling.left[k]), has = row_to_col[k] != -1;
      if (peeled && !out) rows.put(static_cast<Index>(k));
      if (out || !has) p.sight[k] = kGone;
      if (!out && !has && p.graph.row_offsets[k] != p.graph.row_offsets[k + 1])
        active.put(static_cast<Index>(k));
    }
    const int least = last ? 0 : kThreads + 1;
    if (peeled) {
      cols.flush(least, p.cols_left, &p.peeling.n->cols_left);
      rows.flush(least, p.rows_left, &p.peeling.n->rows_left);
    }
    active.flush(least, p.active[0], p.n->active);
    if (last) break;
  }
}

/// Fills the table of near columns, with one thread per entry.
template <int kWidth>
__global__ void near_kernel(Push p, Index* near) {
  const DeviceSides& graph = p.graph;
  const bool peeled = p.peeled();
  const Offset places = Offset{peeled ? p.peeling.n->rows_left : graph.rows} * kWidth,
               step = Offset{gridDim.x} * blockDim.x;
  for (Offset place = Offset{blockIdx.x} * blockDim.x + threadIdx.x; place < places; place += step) {
    const Offset row = peeled ? p.rows_left[place / kWidth] : place / kWidth, k = place % kWidth;
    const Offset begin = graph.row_offsets[row], count = graph.row_offsets[row + 1] - begin;
    near[row * kWidth + k] = k == kWidth - 1 && count > kWidth ? kMore
                             : k < count                       ? graph.col_index[begin + k]
                                                               : -1;
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
void launch(gpu::Arena& arena, Push p) {
  auto* near = arena.take<Index>(static_cast<std::size_t>(p.graph.rows) * S::kNear);
  near_kernel<S::kNear>
      <<<static_cast<unsigned>(16 * arena.multiprocessors()), kThreads, 0, arena.stream()>>>(p, near);
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

/// Whether to peel the graph. Peeling follows every edge a few times, which takes too long if there are many.
bool worth_a_look(Index rows, Index cols, Offset edges) {
  return 2 * edges <= kMostPeeledDegree * (Offset{rows} + cols);
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
  const std::size_t peeling = worth_a_look(problem.graph.rows, problem.graph.cols, problem.graph.edges())
                                  ? peeling_bytes(rows, cols, edges) + (rows + cols) * sizeof(Index)
                                  : 0;
  return rows * (near + sizeof(Word) + 2 * sizeof(Index)) + cols * sizeof(Word) +
         2 * sizeof(EdgeChunk) * (cols + edges / kChunkEdges) + sizeof(Counters) + peeling;
}

const pushing::Counters* enqueue_push_relabel(gpu::Arena& arena, const DeviceSides& sides, Offset edges,
                                              std::int64_t chain, const DeviceMates& there,
                                              const Peeling* peeling) {
  using namespace pushing;
  const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
  const cudaStream_t stream = arena.stream();
  Push p{};
  p.graph = sides;
  p.chain = static_cast<int>(std::min<std::int64_t>(chain, 1 << 30));
  p.word = arena.take<Word>(cols);
  p.sight = arena.take<Word>(rows);
  for (Index*& list : p.active) list = arena.take<Index>(rows);
  for (EdgeChunk*& list : p.frontier)
    list = arena.take<EdgeChunk>(cols + static_cast<std::size_t>(edges / kChunkEdges));
  p.n = arena.take_filled<Counters>(1, 0);
  if (peeling != nullptr) {
    p.peeling = *peeling;
    p.rows_left = arena.take<Index>(rows);
    p.cols_left = arena.take<Index>(cols);
  }
  const Index most = std::max(sides.rows, sides.cols);
  begin_kernel<<<std::min(blocks_for(most), static_cast<unsigned>(8 * arena.multiprocessors())), kThreads, 0,
                 stream>>>(p, there.row_to_col, there.col_to_row);
  MOTES_CUDA_LAUNCHED();
  with_shape(sides.rows, edges, [&](auto shape) { launch<decltype(shape)>(arena, p); });
  MOTES_CUDA(cudaMemsetAsync(there.row_to_col, 0xff, rows * sizeof(Index), stream));
  finish_kernel<<<blocks_for(sides.cols), kThreads, 0, stream>>>(p.word, sides.cols, there.row_to_col,
                                                                 there.col_to_row);
  MOTES_CUDA_LAUNCHED();
  return p.n;
}

void tell_push_relabel(gpu::Arena& arena, const pushing::Counters* counters, CardinalityStats& stats) {
  pushing::tell(arena.download(counters, 1)[0], stats);
}

void push_relabel(const Execution& execution, const CardinalityProblem& problem, std::int64_t chain,
                  const GivenStart& given, Mates& mates, CardinalityStats& stats) {
  using namespace pushing;
  if (!fits_push_relabel(problem))
    throw ResourceError("push-relabel on the GPU: more than 2^29 rows or 2^34 edges; use the cpu back end");
  const auto run = [&](gpu::Arena& arena, const DeviceSides& sides) {
    const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
    const Offset edges = problem.graph.edges();
    gpu::StreamTimer timer(arena.stream());
    DeviceMates there(arena, rows, cols);
    const bool warm = there.upload(arena, problem, sides, given);
    gpu::StreamTimer start(arena.stream());
    std::optional<Peeling> peeling;
    if (!warm && worth_a_look(sides.rows, sides.cols, edges)) {
      peeling = make_peeling(arena, sides);
      peel(arena, sides, edges, {false, kFewPeeled, true}, *peeling, there.row_to_col, there.col_to_row);
    }
    cheap_start(arena, sides, edges, warm, detail::VisitOrder(sides.rows, 0), there.row_to_col,
                there.col_to_row, peeling ? &peeling->n->on : nullptr);
    start.stop();
    const pushing::Counters* counters =
        enqueue_push_relabel(arena, sides, edges, chain, there, peeling ? &*peeling : nullptr);
    timer.stop();
    stats.augmentations += there.download(arena, execution, mates);
    stats.seconds["device"] = timer.seconds();
    stats.seconds["start"] = start.seconds();
    tell_push_relabel(arena, counters, stats);
  };
  with_sides(execution, problem, true, stats, run, push_relabel_bytes(problem));
}

}  // namespace motes::matching::device
