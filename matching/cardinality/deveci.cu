/// APFB and APsB (deveci.h), all phases in one cooperative kernel: where the paper launches a kernel for
/// every level and brings flags back to the host, a barrier of the grid stands here, and nothing comes back.
///
/// A phase is the paper's: a breadth-first search from all free rows (its columns), level by level, every
/// thread looking through its own rows for those of the level; Alternate, a thread for each free column that
/// was reached (kReached in col_to_row), which walks to the root and exchanges pairs on its way; FixMatching,
/// which frees the columns whose row is another's.
///
/// Races, those of the paper. Search: threads that reach a column's row at the same level all write the same
/// level; whose predecessor and whose root stay is left open, and either is right (the root only decides
/// which trees stop early). Alternate: a walker stops where the row's column is one that another walker has
/// put there, which it knows by its predecessor; of walkers that meet, at least one goes on, so that at least
/// one reaches a root, and the matching grows by every root reached. Two may both pass a row before either
/// sees the other; one then owns the pair and FixMatching frees the other's column. Each walker steps one
/// level up at a time, as a row's column is either its mate of before or makes the walker stop. With the
/// refinement for APsB (section 3, last paragraph) only the column that its root has noted starts; as column
/// and root are written by several threads, all of them may be refused, and then the next phase does without.

#include <cooperative_groups.h>
#include <algorithm>
#include <numeric>

#include "matching/cardinality/deveci.h"
#include "matching/cardinality/on_device.h"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256, kConstantBlocks = 256;
constexpr int kFirstLevel = 2;            ///< the paper's L0
constexpr int kUnseen = kFirstLevel - 1;  ///< its L0 - 1
constexpr int kFound = kFirstLevel - 2;   ///< its L0 - 2 of a root that has a path; refined: -column
constexpr Index kReached = -2;            ///< of a free column
constexpr int kSide = 8;                  ///< columns of a row that are read side by side
constexpr int kRecords = 1 << 14;         ///< phases told apart; the last takes in what follows

struct Report {
  int inserted[3];  ///< of a level: rows were labelled
  int found[3];     ///< of a level: free columns were reached
  int free[3];      ///< of a phase: rows without a column at its start
  long long phases;
  unsigned long long edges;
  int levels[kRecords], gained[kRecords];
};

/// What a thread saw of a level. Told once a block: threads that all write one word wait for each other.
struct Seen {
  bool inserted = false, found = false;
};

struct Search {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  int* level;          ///< [rows + 4] the paper's bfs_array; read in fours
  Index* root;         ///< [rows]
  Index* predecessor;  ///< [cols]
  Report* report;
};

/// The neighbours of a row of this level. What is known of kSide columns is read before any is settled:
/// columns of a row have different rows, so that none of it changes in between by the row's own doing.
template <bool kShortest, bool kRoots>
__device__ unsigned long long search_row(const Search& s, Index i, int level, Seen& told) {
  Index root = -1;
  if constexpr (kRoots) {
    root = s.root[i];
    if (__ldcg(s.level + root) < kUnseen) return 0;
  }
  const Offset begin = s.graph.row_offsets[i], end = s.graph.row_offsets[i + 1];
  for (Offset e = begin; e < end; e += kSide) {
    Index col[kSide], mate[kSide];
    int seen[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d) col[d] = e + d < end ? s.graph.col_index[e + d] : -1;
#pragma unroll
    for (int d = 0; d < kSide; ++d) mate[d] = col[d] != -1 ? __ldcg(s.col_to_row + col[d]) : kReached;
#pragma unroll
    for (int d = 0; d < kSide; ++d) seen[d] = mate[d] >= 0 ? __ldcg(s.level + mate[d]) : kFirstLevel;
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (mate[d] >= 0 && seen[d] == kUnseen) {
        told.inserted = true;
        s.level[mate[d]] = level + 1;
        if constexpr (kRoots) s.root[mate[d]] = root;
        s.predecessor[col[d]] = i;
      } else if (mate[d] == -1) {
        if constexpr (kRoots) s.level[root] = kShortest ? -col[d] : kFound;
        s.col_to_row[col[d]] = kReached;
        s.predecessor[col[d]] = i;
        told.found = true;
      }
    }
  }
  return static_cast<unsigned long long>(end - begin);
}

/// A thread looks at four rows at a time, and at so many fours that all its reads are under way together.
template <bool kShortest, bool kRoots>
__device__ unsigned long long search_level(const Search& s, int level, int first, int total, Seen& told) {
  constexpr int kFours = 4;
  unsigned long long edges = 0;
  const auto* levels = reinterpret_cast<const int4*>(s.level);
  const Index fours = s.graph.rows / 4 + (s.graph.rows % 4 != 0 ? 1 : 0);  // the last may reach into padding
  for (Offset q = first; q < fours; q += Offset{kFours} * total) {
    int4 four[kFours];
#pragma unroll
    for (int d = 0; d < kFours; ++d)
      four[d] = q + Offset{d} * total < fours ? __ldcg(levels + q + Offset{d} * total)
                                              : int4{kUnseen, kUnseen, kUnseen, kUnseen};
#pragma unroll
    for (int d = 0; d < kFours; ++d) {
      const auto row = static_cast<Index>(4 * (q + Offset{d} * total));
      const int of[4] = {four[d].x, four[d].y, four[d].z, four[d].w};
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (of[k] == level && row + k < s.graph.rows)
          edges += search_row<kShortest, kRoots>(s, row + k, level, told);
    }
  }
  return edges;
}

/// Algorithm 3.
__device__ inline void alternate(const Search& s, Index col) {
  while (col != -1) {
    const Index row = s.predecessor[col], held = __ldcg(s.row_to_col + row);
    if (held != -1 && s.predecessor[held] == row) return;  // another was here
    s.row_to_col[row] = col;
    s.col_to_row[col] = row;
    col = held;
  }
}

template <bool kShortest, bool kRoots>
__global__ void __launch_bounds__(kThreads) augment_kernel(Search s) {
  const auto grid = cooperative_groups::this_grid();
  const int me = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int total = static_cast<int>(gridDim.x * blockDim.x);
  Report& report = *s.report;
  bool refined = false;
  int before = -1;  // free rows at the start of the phase before
  unsigned long long edges = 0;
  long long phase = 0, round = 0;
  for (;; ++phase) {
    int free_rows = 0;
    for (Index i = me; i < s.graph.rows; i += total) {
      const bool free = s.row_to_col[i] == -1;
      free_rows += free;
      s.level[i] = free ? kFirstLevel : kUnseen;
      if constexpr (kRoots) s.root[i] = free ? i : 0;
    }
    free_rows = static_cast<int>(__reduce_add_sync(0xffffffffU, free_rows));
    if (threadIdx.x % 32 == 0 && free_rows > 0) atomicAdd(report.free + phase % 3, free_rows);
    if (me == 0) report.free[(phase + 1) % 3] = 0;
    grid.sync();
    const int left = report.free[phase % 3];
    refined = kShortest && kRoots && left != before;
    const auto record = static_cast<int>(min(phase, static_cast<long long>(kRecords)));
    if (me == 0 && phase > 0) report.gained[record - 1] += before - left;
    before = left;
    int level = kFirstLevel;
    bool found = false;
    for (bool more = true; more; ++level, ++round) {
      if (me == 0) report.inserted[(round + 1) % 3] = report.found[(round + 1) % 3] = 0;
      Seen told;
      edges += search_level<kShortest, kRoots>(s, level, me, total, told);
      const int inserted_here = __syncthreads_or(told.inserted), found_here = __syncthreads_or(told.found);
      if (threadIdx.x == 0 && inserted_here != 0) report.inserted[round % 3] = 1;
      if (threadIdx.x == 0 && found_here != 0) report.found[round % 3] = 1;
      grid.sync();
      found = found || report.found[round % 3] != 0;
      more = report.inserted[round % 3] != 0 && !(kShortest && found);
    }
    if (!found) break;
    for (Index j = me; j < s.graph.cols; j += total) {
      if (s.col_to_row[j] != kReached) continue;
      if (refined && s.level[s.root[s.predecessor[j]]] != -j) continue;
      alternate(s, j);
    }
    grid.sync();
    for (Index j = me; j < s.graph.cols; j += total) {
      const Index row = s.col_to_row[j];
      if (row == kReached || (row >= 0 && s.row_to_col[row] != j)) s.col_to_row[j] = -1;
    }
    if (me == 0) report.levels[min(record, kRecords - 1)] += level - kFirstLevel;
    grid.sync();
  }
  for (int step = 16; step > 0; step /= 2) edges += __shfl_xor_sync(0xffffffffU, edges, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&report.edges, edges);
  if (me == 0) report.phases = phase;
}

using Kernel = void (*)(Search);
Kernel kernel_of(const DeveciOptions& options) {
  if (options.shortest) return options.roots ? augment_kernel<true, true> : augment_kernel<true, false>;
  return options.roots ? augment_kernel<false, true> : augment_kernel<false, false>;
}

}  // namespace

void augment_by_levels(const Execution& execution, const CardinalityProblem& problem,
                       const DeveciOptions& options, Mates& mates, CardinalityStats& stats) {
  with_sides(execution, problem, false, stats, [&](Arena& arena, const DeviceSides& sides) {
    const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
    const DeviceMates there(arena, rows, cols);
    Search s{sides,
             there.row_to_col,
             there.col_to_row,
             arena.take_filled<int>(rows + 4, 0),
             arena.take<Index>(rows),
             arena.take_filled<Index>(cols, 0xff),
             arena.take_filled<Report>(1, 0)};
    const bool warm = pairs_of(mates) != 0;
    StreamTimer timer(arena.stream());
    there.upload(arena, mates, warm);
    StreamTimer start(arena.stream());
    if (options.cheap)
      cheap_start(arena, sides, problem.graph.edges(), warm, detail::VisitOrder(sides.rows, 0), s.row_to_col,
                  s.col_to_row);
    start.stop();
    StreamTimer search(arena.stream());
    const Kernel kernel = kernel_of(options);
    int fit = 0;
    MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, kThreads, 0));
    const int most = fit * arena.multiprocessors();
    const int blocks = std::min(
        most, options.many_threads ? std::max(1, (sides.rows + kThreads - 1) / kThreads) : kConstantBlocks);
    void* arguments[] = {&s};
    MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                           static_cast<unsigned>(blocks), kThreads, arguments, 0,
                                           arena.stream()));
    search.stop();
    timer.stop();
    const std::int64_t augmentations = there.download(arena, mates);
    const std::vector<Report> report = arena.download(s.report, 1);
    const auto phases = static_cast<std::ptrdiff_t>(std::min<long long>(report[0].phases, kRecords));
    const auto paths = std::accumulate(report[0].gained, report[0].gained + phases, std::int64_t{0});
    if (options.cheap) {  // a phase of one level, whose paths are single edges
      ++stats.phases;
      stats.levels.push_back(1);
      stats.augmented.push_back(augmentations - paths);
    }
    stats.phases += report[0].phases;
    stats.augmentations += augmentations;
    stats.edges_traversed += static_cast<std::int64_t>(report[0].edges);
    stats.levels.insert(stats.levels.end(), report[0].levels, report[0].levels + phases);
    stats.augmented.insert(stats.augmented.end(), report[0].gained, report[0].gained + phases);
    stats.seconds["device"] = timer.seconds();
    stats.seconds["start"] = start.seconds();
    stats.seconds["search"] = search.seconds();
  });
}

}  // namespace motes::matching::device
