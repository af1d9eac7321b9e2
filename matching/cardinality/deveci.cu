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
constexpr int kRecords = 1 << 14;         ///< phases told apart; the last takes in what follows

struct Report {
  int inserted[3];   ///< of a level: rows were labelled
  int found[3];      ///< of a phase: free columns were reached
  int augmented[3];  ///< of a phase: roots matched
  long long phases;
  unsigned long long edges;
  int levels[kRecords], gained[kRecords];
};

struct Search {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  int* level;          ///< [rows] the paper's bfs_array
  Index* root;         ///< [rows]
  Index* predecessor;  ///< [cols]
  Report* report;
};

template <bool kShortest, bool kRoots>
__device__ unsigned long long search_level(const Search& s, int level, int first, int total, int* inserted,
                                           int* found) {
  unsigned long long edges = 0;
  for (Index i = first; i < s.graph.rows; i += total) {
    if (s.level[i] != level) continue;
    Index root = -1;
    if constexpr (kRoots) {
      root = s.root[i];
      if (__ldcg(s.level + root) < kUnseen) continue;
    }
    const Offset end = s.graph.row_offsets[i + 1];
    edges += static_cast<unsigned long long>(end - s.graph.row_offsets[i]);
    for (Offset e = s.graph.row_offsets[i]; e < end; ++e) {
      const Index j = s.graph.col_index[e], mate = __ldcg(s.col_to_row + j);
      if (mate >= 0) {
        if (__ldcg(s.level + mate) != kUnseen) continue;
        *inserted = 1;
        s.level[mate] = level + 1;
        if constexpr (kRoots) s.root[mate] = root;
        s.predecessor[j] = i;
      } else if (mate == -1) {
        if constexpr (kRoots) s.level[root] = kShortest ? -j : kFound;
        s.col_to_row[j] = kReached;
        s.predecessor[j] = i;
        *found = 1;
      }
    }
  }
  return edges;
}

/// Algorithm 3.
__device__ inline void alternate(const Search& s, Index col, int* augmented) {
  while (col != -1) {
    const Index row = s.predecessor[col], held = __ldcg(s.row_to_col + row);
    if (held != -1 && s.predecessor[held] == row) return;  // another was here
    s.row_to_col[row] = col;
    s.col_to_row[col] = row;
    if (held == -1) atomicAdd(augmented, 1);
    col = held;
  }
}

template <bool kShortest, bool kRoots>
__global__ void __launch_bounds__(kThreads) augment_kernel(Search s) {
  const auto grid = cooperative_groups::this_grid();
  const int me = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int total = static_cast<int>(gridDim.x * blockDim.x);
  Report& report = *s.report;
  bool refined = kShortest && kRoots;
  unsigned long long edges = 0;
  long long phase = 0, round = 0;
  for (;; ++phase) {
    for (Index i = me; i < s.graph.rows; i += total) {
      const bool free = s.row_to_col[i] == -1;
      s.level[i] = free ? kFirstLevel : kUnseen;
      if constexpr (kRoots) s.root[i] = free ? i : 0;
    }
    int* found = report.found + phase % 3;
    int* augmented = report.augmented + phase % 3;
    if (me == 0) report.found[(phase + 1) % 3] = report.augmented[(phase + 1) % 3] = 0;
    grid.sync();
    int level = kFirstLevel;
    for (bool more = true; more; ++level, ++round) {
      if (me == 0) report.inserted[(round + 1) % 3] = 0;
      edges += search_level<kShortest, kRoots>(s, level, me, total, report.inserted + round % 3, found);
      grid.sync();
      more = report.inserted[round % 3] != 0 && !(kShortest && *found != 0);
    }
    if (*found == 0) break;
    for (Index j = me; j < s.graph.cols; j += total) {
      if (s.col_to_row[j] != kReached) continue;
      if (refined && s.level[s.root[s.predecessor[j]]] != -j) continue;
      alternate(s, j, augmented);
    }
    grid.sync();
    for (Index j = me; j < s.graph.cols; j += total) {
      const Index row = s.col_to_row[j];
      if (row == kReached || (row >= 0 && s.row_to_col[row] != j)) s.col_to_row[j] = -1;
    }
    refined = kShortest && kRoots && *augmented != 0;
    if (me == 0) {
      const int record = static_cast<int>(min(phase, static_cast<long long>(kRecords - 1)));
      report.levels[record] += level - kFirstLevel;
      report.gained[record] += *augmented;
    }
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
             arena.take<int>(rows),
             arena.take<Index>(rows),
             arena.take_filled<Index>(cols, 0xff),
             arena.take_filled<Report>(1, 0)};
    StreamTimer timer(arena.stream());
    const bool warm = there.upload(arena, mates);
    StreamTimer start(arena.stream());
    if (options.cheap) cheap_start(arena, sides, problem.graph.edges(), warm, s.row_to_col, s.col_to_row);
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
