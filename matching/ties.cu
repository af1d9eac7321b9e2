/// Finds the rows of a problem in device memory that may be on a cycle of exchanges (ties.cpp), and their
/// tight pairs. Few are copied to the host.
///
/// A row without an incoming or without an outgoing arc is on no cycle; without it, its neighbours may be
/// on none. Rows are stamped: with 1 if they have any incoming or outgoing arc; in round r, if such an arc
/// connects them to a row alive after round r - 1, that is, with both stamps at least r - 1. Stamps only
/// rise, so the progress of other threads within a round does not matter.

#include <algorithm>
#include <type_traits>
#include <utility>

#include <motes/base/gpu/staged_upload.cuh>
#include <motes/base/gpu/thread_index.cuh>

#include "matching/assignment/canonical/canonical_form.cuh"
#include "matching/assignment/device_ties.cuh"

namespace motes::matching {
namespace {

using gpu::Arena;

constexpr int kThreads = 256;

/// Rounds before the host looks at what is left, and in all: it peels the rest, however much that is.
constexpr int kRounds = 8, kMostRounds = 1 + 8 * kRounds;
/// So few pairs are left to the host.
constexpr unsigned long long kFewPairs = 1024;

/// What the passes find. Which pair comes first depends on timing; the host sorts them.
struct Found {
  unsigned long long pairs;
  unsigned faulty;  ///< a matched pair, or a vertex that is free, is not tight
  unsigned rows_left, pairs_left;
  unsigned alive[kMostRounds + 1];  ///< pairs between rows still alive, by round
};

/// All pointers are to device memory.
struct Exchanges {
  Index rows, cols;
  const Index *row_to_col, *col_to_row;
  const Cost *u, *v, *row_unmatched, *col_unmatched;  ///< the last two: nullptr where all are infinite
  int *in, *out;                                      ///< [rows + 1] stamps; the last: the outside
  detail::Pair* pairs;                                ///< [room] tight, not matched
  unsigned long long room;
  Found* found;

  __device__ bool may_stay_free(Index i) const {
    return row_unmatched != nullptr && row_unmatched[i] != kInfiniteCost && row_unmatched[i] == u[i];
  }
  __device__ bool col_may_stay_free(Index j) const {
    return col_unmatched != nullptr && col_unmatched[j] != kInfiniteCost && col_unmatched[j] == v[j];
  }
  __device__ bool leaves(Index i) const { return row_to_col[i] != -1 && may_stay_free(i); }
  __device__ bool may_enter(Index i) const { return row_to_col[i] == -1 || col_may_stay_free(row_to_col[i]); }
  __device__ bool alive(Index node, int round) const {
    return __ldcg(in + node) >= round && __ldcg(out + node) >= round;
  }
  __device__ Index holder(Index col) const { return col_to_row[col] == -1 ? rows : col_to_row[col]; }
};

using gpu::thread_index;
using gpu::thread_total;

__global__ void holders_kernel(const Index* row_to_col, Index rows, Index* col_to_row) {
  for (Index i = thread_index(); i < rows; i += thread_total())
    if (row_to_col[i] != -1) col_to_row[row_to_col[i]] = i;
}

/// The tight pairs and the first stamps; `lanes` lanes a row.
template <class Entries>
__global__ void tight_kernel(Entries entries, int lanes, Exchanges e) {
  const auto thread = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(thread % lanes);
  const Offset step = static_cast<Offset>(gridDim.x) * blockDim.x / lanes;
  for (Offset row = thread / lanes; row < e.rows; row += step) {
    const auto i = static_cast<Index>(row);
    const Index mate = e.row_to_col[i];
    const Cost mine = e.u[i];
    if (lane == 0) {
      const Cost c = mate == -1 ? 0 : entries.at(i, mate);
      const bool tight = mate == -1 ? e.may_stay_free(i) : c != kInfiniteCost && c - mine == e.v[mate];
      if (!tight) e.found->faulty = 1;  // all writers write the same
      if (e.leaves(i)) e.out[i] = e.in[e.rows] = 1;
      if (e.may_enter(i)) e.in[i] = e.out[e.rows] = 1;
    }
    entries.for_each(i, lane, lanes, [&](Index j, Cost c) {
      if (j == mate || c - mine != e.v[j]) return;
      e.out[i] = e.in[e.holder(j)] = 1;
      const unsigned long long place = atomicAdd(&e.found->pairs, 1ULL);
      if (place < e.room) e.pairs[place] = {i, j};
    });
  }
}
__global__ void free_cols_kernel(Exchanges e) {
  for (Index j = thread_index(); j < e.cols; j += thread_total())
    if (e.col_to_row[j] == -1 && !e.col_may_stay_free(j)) e.found->faulty = 1;
}

__global__ void peel_kernel(Exchanges e, int round) {
  const auto pairs = static_cast<Index>(e.found->pairs);
  unsigned alive = 0;
  const auto arc = [&](Index from, Index to) {
    if (!e.alive(from, round - 1) || !e.alive(to, round - 1)) return;
    __stcg(e.out + from, round);
    __stcg(e.in + to, round);
    ++alive;
  };
  for (Index k = thread_index(); k < pairs; k += thread_total()) {
    const detail::Pair pair = e.pairs[k];
    arc(pair.row, e.holder(pair.col));
  }
  for (Index i = thread_index(); i < e.rows; i += thread_total()) {
    if (!e.alive(i, round - 1)) continue;
    if (e.leaves(i)) arc(i, e.rows);
    if (e.may_enter(i)) arc(e.rows, i);
  }
  alive = __reduce_add_sync(0xffffffffU, alive);
  if (threadIdx.x % 32 == 0 && alive > 0) atomicAdd(e.found->alive + round, alive);
}

/// What is alive after `round`.
__global__ void gather_kernel(Exchanges e, int round, detail::Alternatives::Contender* rows,
                              detail::Pair* pairs) {
  for (Index k = thread_index(); k < static_cast<Index>(e.found->pairs); k += thread_total())
    if (const detail::Pair pair = e.pairs[k]; e.alive(pair.row, round) && e.alive(e.holder(pair.col), round))
      pairs[atomicAdd(&e.found->pairs_left, 1U)] = pair;
  for (Index i = thread_index(); i < e.rows; i += thread_total()) {
    if (!e.alive(i, round)) continue;
    detail::Alternatives::Contender& to = rows[atomicAdd(&e.found->rows_left, 1U)];
    memset(static_cast<void*>(&to), 0, sizeof(to));  // its gaps are copied to the host, too
    to.row = i;
    to.may_stay_free = e.may_stay_free(i);
    to.col_may_stay_free = e.row_to_col[i] != -1 && e.col_may_stay_free(e.row_to_col[i]);
  }
}

}  // namespace

namespace detail {

Alternatives alternatives_on_device(const Execution& execution, const CostsView& problem,
                                    const Matching& matching) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  const Index rows = rows_of(problem);
  const auto row_count = static_cast<std::size_t>(rows),
             col_count = static_cast<std::size_t>(cols_of(problem));
  gpu::StagedUpload upload(arena, arena,
                           row_count * (sizeof(Index) + sizeof(Cost)) + col_count * sizeof(Cost),
                           thread_count(execution));
  DeviceOptimum optimum;
  optimum.u = upload(std::span<const Cost>(matching.duals.u));
  optimum.v = upload(std::span<const Cost>(matching.duals.v));
  optimum.row_to_col = upload(std::span<const Index>(matching.row_to_col));
  Index* col_to_row = arena.take_filled<Index>(col_count, 0xff);
  holders_kernel<<<8 * arena.multiprocessors(), kThreads, 0, arena.stream()>>>(optimum.row_to_col, rows,
                                                                               col_to_row);
  MOTES_CUDA_LAUNCHED();
  optimum.col_to_row = col_to_row;
  return alternatives_of(arena, problem, optimum);
}

Alternatives alternatives_of(gpu::Arena& arena, const CostsView& problem, const DeviceOptimum& optimum) {
  const auto row_count = static_cast<std::size_t>(rows_of(problem));
  const auto data = [](std::span<const Cost> costs) { return costs.empty() ? nullptr : costs.data(); };
  Exchanges e{};
  e.rows = rows_of(problem), e.cols = cols_of(problem);
  e.row_to_col = optimum.row_to_col, e.col_to_row = optimum.col_to_row;
  e.u = optimum.u, e.v = optimum.v;
  e.row_unmatched = data(unmatched_row_cost_of(problem)),
  e.col_unmatched = data(unmatched_col_cost_of(problem));
  e.in = arena.take<int>(row_count + 1), e.out = arena.take<int>(row_count + 1);
  e.found = arena.take<Found>(1);
  const int blocks = 8 * arena.multiprocessors();
  const auto stream = arena.stream();
  Found counts{};
  // Rarely more than one a row: where there are, a second pass has the room that the first one counted.
  int round = 1;
  for (e.room = 4096 + row_count;;) {
    e.pairs = arena.take<Pair>(e.room);
    MOTES_CUDA(cudaMemsetAsync(e.found, 0, sizeof(Found), stream));
    MOTES_CUDA(cudaMemsetAsync(e.in, 0, (row_count + 1) * sizeof(int), stream));
    MOTES_CUDA(cudaMemsetAsync(e.out, 0, (row_count + 1) * sizeof(int), stream));
    with_entries(problem, [&](const auto& entries) {
      using Entries = std::decay_t<decltype(entries)>;
      constexpr int kLanes = std::is_same_v<Entries, SparseEntries> ? 4 : 32;
      tight_kernel<<<2 * blocks, kThreads, 0, stream>>>(entries, kLanes, e);
      MOTES_CUDA_LAUNCHED();
    });
    free_cols_kernel<<<blocks, kThreads, 0, stream>>>(e);
    MOTES_CUDA_LAUNCHED();
    counts = arena.download(e.found, 1)[0];
    if (counts.pairs <= e.room) break;
    e.room = counts.pairs;
  }
  Alternatives out;
  out.consistent = counts.faulty == 0;
  if (!out.consistent) return out;
  for (unsigned before = ~0U; round < kMostRounds;) {
    for (int k = 0; k < kRounds; ++k) peel_kernel<<<blocks, kThreads, 0, stream>>>(e, ++round);
    MOTES_CUDA_LAUNCHED();
    counts = arena.download(e.found, 1)[0];
    if (counts.alive[round] <= kFewPairs || counts.alive[round] == before) break;
    before = counts.alive[round];
  }
  auto* rows_left = arena.take<Alternatives::Contender>(row_count);
  auto* pairs_left = arena.take<Pair>(counts.pairs);
  gather_kernel<<<blocks, kThreads, 0, stream>>>(e, round, rows_left, pairs_left);
  MOTES_CUDA_LAUNCHED();
  counts = arena.download(e.found, 1)[0];
  out.rows = arena.download(rows_left, counts.rows_left);
  out.pairs = arena.download(pairs_left, counts.pairs_left);
  std::ranges::sort(out.rows, {}, &Alternatives::Contender::row);
  std::ranges::sort(out.pairs, {}, [](const Pair& pair) { return std::pair(pair.row, pair.col); });
  return out;
}

}  // namespace detail
}  // namespace motes::matching
