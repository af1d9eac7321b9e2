/// APFB and APsB (apfb.h), with all phases in one cooperative kernel. Where the paper launches a kernel for
/// every level and copies flags to the host, there is a barrier of the grid, and nothing is copied.
///
/// A phase is that of the paper: a breadth-first search from all free rows (the paper's columns), level by
/// level; Alternate, with a thread for each free column that was reached (kReached in col_to_row), which
/// walks to the root and exchanges pairs on its way; FixMatching, which frees the columns whose row has
/// another column, in one pass with InitBfsArray of the next phase.
///
/// Where the paper's threads scan all rows for those of a level, and all columns for those that were
/// reached, here the thread that reaches one adds it to a list. This needs an exchange where the paper has
/// a plain store: of the threads that reach a row or a free column on the same level, only the first sets
/// level, predecessor and root, and lists it. This is one of the outcomes that the paper's race allows, and
/// the levels are the same. It also makes trees disjoint. With the refinement for APsB (section 3, last
/// paragraph), by which only the column recorded by its root starts, every such root therefore gets its
/// path.
///
/// Races. Within a level, threads share data only through words that are exchanged (level of a row,
/// col_to_row of a column) and the root's word, which only goes from its level to below kUnseen; a thread
/// that reads it late scans edges in vain. If several columns have the same root, the last one written is
/// used. Whether a search continues is read from words that the current round does not write: all blocks
/// must agree, even one that is late, when others have already reached free columns in that round.
/// Alternate: a walker stops if the row's column is not the one of the search, since another walker has
/// then been there. Consider the topmost row where a walker stopped: it was passed by one that did not stop
/// above. So at least one walker of each tree reaches its root, and the matching grows by one for every
/// root reached. Two walkers may both pass a row before either sees the other; one of them then owns the
/// pair, and FixMatching frees the other's column. Above that row both write the same values.

#include <algorithm>
#include <numeric>

#include <cooperative_groups.h>

#include "matching/cardinality/edge_chunks.cuh"
#include "matching/init/cheap_device.cuh"
#include "matching/papers/apfb/apfb.h"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256, kConstantBlocks = 256;
constexpr int kFirstLevel = 2;            ///< the paper's L0
constexpr int kUnseen = kFirstLevel - 1;  ///< its L0 - 1
constexpr int kFound = kFirstLevel - 2;   ///< its L0 - 2 of a root that has a path; refined: -column
constexpr Index kReached = -2;            ///< of a free column
constexpr int kLanes = 4, kSide = 4;      ///< lanes that visit a chunk; columns that a lane reads at once
using Staged = Staging<1024>;
constexpr int kAlone = 128;        ///< chunks of a frontier that one block follows alone
constexpr int kCrowded = 1 << 13;  ///< chunks of a frontier from which many visits are wasted
constexpr int kRecords = 1 << 14;  ///< phases recorded separately; the last one includes all later ones

struct Report {
  int frontier[3];      ///< of a level: chunks
  int free[3];          ///< of a phase: rows without a column at its start
  int reached[2];       ///< of a phase: free columns on the list
  int ended[3];         ///< of a round: the one before has reached some, where the shortest paths are wanted
  int alone_levels[2];  ///< of a round: levels that one block went through in it
  long long phases;
  unsigned long long edges, init_ns, search_ns, alternate_ns;
  int levels[kRecords], gained[kRecords];
};

struct SearchArrays {
  DeviceSides graph;
  Index *row_to_col, *col_to_row;
  int* level;           ///< [rows] the paper's bfs_array
  Index* root;          ///< [rows]
  Origin* predecessor;  ///< [cols]
  Index* reached;       ///< [cols] free columns, a list
  EdgeChunk* frontier[2];
  Report* report;
};

/// The lanes of a group look through a chunk; put(chunk) gets those of the rows of the next level. With
/// `look` a row's level is read before the exchange, which avoids most exchanges on crowded levels. Returns
/// the edges scanned.
template <bool kShortest, bool kRoots, class Put>
__device__ unsigned long long visit(const SearchArrays& s, const EdgeChunk& chunk, int level, bool look,
                                    int* reached, int* ended, Put&& put) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  Index root = -1;
  bool stopped = false;
  if constexpr (kRoots) root = __ldcg(s.root + chunk.row);
  for (int e = lane; e < chunk.count(); e += kSide * kLanes) {
    Index col[kSide], mate[kSide];
    int seen[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      col[d] = e + d * kLanes < chunk.count() ? s.graph.col_index[chunk.begin() + e + d * kLanes] : -1;
    if constexpr (kRoots) stopped = __ldcg(s.level + root) < kUnseen;  // loaded at the same time as the mates
#pragma unroll
    for (int d = 0; d < kSide; ++d) mate[d] = col[d] != -1 ? __ldcg(s.col_to_row + col[d]) : kReached;
    if (stopped) return 0;
#pragma unroll
    for (int d = 0; d < kSide; ++d)
      seen[d] = mate[d] < 0 ? kFirstLevel : look ? __ldcg(s.level + mate[d]) : kUnseen;
    Offset begin[kSide], end[kSide];
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (seen[d] != kUnseen) continue;
      begin[d] = s.graph.row_offsets[mate[d]];
      end[d] = s.graph.row_offsets[mate[d] + 1];
      seen[d] = atomicCAS(s.level + mate[d], kUnseen, level + 1);
    }
#pragma unroll
    for (int d = 0; d < kSide; ++d) {
      if (seen[d] == kUnseen) {
        if constexpr (kRoots) s.root[mate[d]] = root;
        s.predecessor[col[d]] = {chunk.row, chunk.col};
        for_chunks(mate[d], col[d], begin[d], end[d], put);
      } else if (mate[d] == -1 && atomicCAS(s.col_to_row + col[d], -1, kReached) == -1) {
        s.predecessor[col[d]] = {chunk.row, chunk.col};
        if constexpr (kRoots) s.level[root] = kShortest ? -col[d] : kFound;
        s.reached[place_in(reached)] = col[d];
        if constexpr (kShortest) *ended = 1;
      }
    }
  }
  return lane == 0 ? static_cast<unsigned long long>(chunk.count()) : 0;
}

/// The progress of the search, the same in all blocks.
struct LevelProgress {
  long long round = 0;           ///< number of the round, from one barrier to the next
  int side = 0;                  ///< which list holds the frontier
  unsigned long long edges = 0;  ///< of this thread
};

/// Levels that one block explores alone, from a frontier of few chunks until it is empty or too large or (for
/// shortest paths) one is found. Frontiers are in the halves of the shared memory; what does not fit goes to
/// the grid's lists.
template <bool kShortest, bool kRoots>
__device__ void search_alone(const SearchArrays& s, Staged& staging, int level, int* reached,
                             LevelProgress& at) {
  constexpr int kHalf = Staged::kHalf;
  Report& report = *s.report;
  int count = __ldcg(report.frontier + at.round % 3), rounds = 0;
  int* ended = report.ended + (at.round + 1) % 3;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += kThreads)
    staging.chunk[k] = s.frontier[at.side][k];
  for (;;) {
    __syncthreads();
    const EdgeChunk* now = staging.chunk + rounds % 2 * kHalf;
    EdgeChunk* next = staging.chunk + (rounds + 1) % 2 * kHalf;
    EdgeChunk* list = s.frontier[(at.side + rounds + 1) % 2];
    for (int k = static_cast<int>(threadIdx.x) / kLanes; k < count; k += kThreads / kLanes)
      at.edges += visit<kShortest, kRoots>(s, now[k], level + rounds, false, reached, ended,
                                           [&](const EdgeChunk& some) {
                                             const int place = atomicAdd(&staging.count, 1);
                                             (place < kHalf ? next : list)[place] = some;
                                           });
    __syncthreads();
    count = staging.count;
    ++rounds;
    const bool enough = count == 0 || count > kAlone || (kShortest && __ldcg(reached) > 0);
    __syncthreads();
    if (threadIdx.x == 0) staging.count = 0;
    if (!enough) continue;
    for (int k = static_cast<int>(threadIdx.x); k < min(count, kHalf); k += kThreads) list[k] = next[k];
    break;
  }
  if (threadIdx.x == 0) {
    report.alone_levels[at.round % 2] = rounds;
    report.frontier[(at.round + 1) % 3] = count;
  }
  __syncthreads();
}

/// InitBfsArray, and FixMatching of the phase before.
template <bool kRoots>
__device__ void begin_phase(const SearchArrays& s, Staged& staging, long long phase,
                            const LevelProgress& at) {
  const int me = gpu::thread_index(), total = gpu::thread_total();
  Report& report = *s.report;
  EdgeChunk* list = s.frontier[at.side];
  int* count = report.frontier + at.round % 3;
  int free_rows = 0;
  for (Index i = me; i < s.graph.rows; i += total) {
    const bool free = s.row_to_col[i] == -1;
    free_rows += free;
    s.level[i] = free ? kFirstLevel : kUnseen;
    if (!free) continue;
    if constexpr (kRoots) s.root[i] = i;
    for_chunks(i, -1, s.graph.row_offsets[i], s.graph.row_offsets[i + 1],
               [&](const EdgeChunk& some) { staging.put(some, list, count); });
  }
  for (Index j = me; j < s.graph.cols; j += total) {
    const Index row = s.col_to_row[j];
    if (row == kReached || (row >= 0 && s.row_to_col[row] != j)) s.col_to_row[j] = -1;
  }
  free_rows = static_cast<int>(__reduce_add_sync(0xffffffffU, free_rows));
  if (threadIdx.x % 32 == 0 && free_rows > 0) atomicAdd(report.free + phase % 3, free_rows);
  if (me == 0) {
    report.free[(phase + 1) % 3] = report.reached[(phase + 1) % 2] = 0;
    report.ended[0] = report.ended[1] = report.ended[2] = 0;
  }
  staging.flush(list, count);
}

/// Searches all levels of a phase. Returns their number.
template <bool kShortest, bool kRoots>
__device__ int search(const cooperative_groups::grid_group& grid, const SearchArrays& s, Staged& staging,
                      int* reached, LevelProgress& at) {
  Report& report = *s.report;
  int level = kFirstLevel;
  for (;;) {
    const int count = __ldcg(report.frontier + at.round % 3);
    if (count == 0 || (kShortest && __ldcg(report.ended + at.round % 3) != 0)) return level - kFirstLevel;
    const bool alone = count <= kAlone;
    if (gpu::thread_index() == 0) report.frontier[(at.round + 2) % 3] = report.ended[(at.round + 2) % 3] = 0;
    if (alone) {
      if (blockIdx.x == 0) search_alone<kShortest, kRoots>(s, staging, level, reached, at);
    } else {
      const EdgeChunk* now = s.frontier[at.side];
      EdgeChunk* next = s.frontier[1 - at.side];
      int* next_count = report.frontier + (at.round + 1) % 3;
      for (int k = spread_group<kLanes>(); k < count; k += gpu::thread_total() / kLanes)
        at.edges += visit<kShortest, kRoots>(
            s, now[k], level, count > kCrowded, reached, report.ended + (at.round + 1) % 3,
            [&](const EdgeChunk& some) { staging.put(some, next, next_count); });
      staging.flush(next, next_count);
    }
    grid.sync();
    const int levels = alone ? __ldcg(report.alone_levels + at.round % 2) : 1;
    ++at.round;
    level += levels;
    at.side = (at.side + levels) % 2;
  }
}

/// Algorithm 3. The predecessors of the search give the next column before the pair there is read.
__device__ inline void alternate(const SearchArrays& s, Index col) {
  Origin up = s.predecessor[col];
  while (true) {
    Origin next{-1, -1};
    if (up.col != -1) next = s.predecessor[up.col];
    if (__ldcg(s.row_to_col + up.row) != up.col) return;  // another walker has passed
    s.row_to_col[up.row] = col;
    s.col_to_row[col] = up.row;
    if (up.col == -1) return;
    col = up.col;
    up = next;
  }
}

template <bool kShortest, bool kRoots>
__global__ void __launch_bounds__(kThreads) augment_kernel(SearchArrays s) {
  __shared__ Staged staging;
  const auto grid = cooperative_groups::this_grid();
  const bool first = gpu::thread_index() == 0;
  Report& report = *s.report;
  if (threadIdx.x == 0) staging.count = 0;
  __syncthreads();
  Clock clock;
  LevelProgress at;
  int before = -1;  // free rows at the start of the phase before
  long long phase = 0;
  for (;; ++phase) {
    begin_phase<kRoots>(s, staging, phase, at);
    grid.sync();
    clock.lap(report.init_ns);
    const int left = report.free[phase % 3];
    int* reached = report.reached + phase % 2;
    const auto record = static_cast<int>(min(phase, static_cast<long long>(kRecords)));
    if (first && phase > 0) report.gained[record - 1] += before - left;
    before = left;
    const int levels = search<kShortest, kRoots>(grid, s, staging, reached, at);
    clock.lap(report.search_ns);
    const int paths = __ldcg(reached);
    if (paths == 0) break;
    for (int k = spread_group<1>(); k < paths; k += gpu::thread_total()) {
      const Index col = s.reached[k];
      if constexpr (kShortest && kRoots)
        if (s.level[s.root[s.predecessor[col].row]] != -col) continue;
      alternate(s, col);
    }
    if (first) {
      report.levels[min(record, kRecords - 1)] += levels;
      // A thread that has not read the last count yet ends its search on that count or on 0.
      report.frontier[0] = report.frontier[1] = report.frontier[2] = 0;
    }
    grid.sync();
    clock.lap(report.alternate_ns);
  }
  for (int step = 16; step > 0; step /= 2) at.edges += __shfl_xor_sync(0xffffffffU, at.edges, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&report.edges, at.edges);
  if (first) report.phases = phase;
}

using Kernel = void (*)(SearchArrays);
Kernel kernel_of(const ApfbOptions& options) {
  if (options.shortest) return options.roots ? augment_kernel<true, true> : augment_kernel<true, false>;
  return options.roots ? augment_kernel<false, true> : augment_kernel<false, false>;
}

}  // namespace

void augment_by_levels(const Execution& execution, const CardinalityProblem& problem,
                       const ApfbOptions& options, const GivenStart& start, Mates& mates,
                       CardinalityStats& stats) {
  const auto run = [&](gpu::Arena& arena, const DeviceSides& sides) {
    const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
    const Offset edges = problem.graph.edges();
    gpu::StreamTimer timer(arena.stream());
    DeviceMates there(arena, rows, cols);
    SearchArrays s{sides,
                   there.row_to_col,
                   there.col_to_row,
                   arena.take<int>(rows),
                   arena.take<Index>(rows),
                   arena.take<Origin>(cols),
                   arena.take<Index>(cols),
                   {arena.take<EdgeChunk>(most_edge_chunks(sides.rows, edges)),
                    arena.take<EdgeChunk>(most_edge_chunks(sides.rows, edges))},
                   arena.take_filled<Report>(1, 0)};
    const bool warm = there.upload(arena, problem, sides, start);
    gpu::StreamTimer cheap(arena.stream());
    if (options.cheap)
      cheap_start(arena, sides, edges, warm, detail::VisitOrder(sides.rows, 0), s.row_to_col, s.col_to_row);
    cheap.stop();
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
    timer.stop();
    const std::int64_t augmentations = there.download(arena, execution, mates);
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
    stats.seconds["start"] = cheap.seconds();
    stats.seconds["init"] = 1e-9 * static_cast<double>(report[0].init_ns);
    stats.seconds["search"] = 1e-9 * static_cast<double>(report[0].search_ns);
    stats.seconds["alternate"] = 1e-9 * static_cast<double>(report[0].alternate_ns);
  };
  const auto rows = static_cast<std::size_t>(problem.graph.rows),
             cols = static_cast<std::size_t>(problem.graph.cols);
  with_sides(execution, problem, false, stats, run,
             rows * (sizeof(int) + sizeof(Index)) + cols * (sizeof(Origin) + sizeof(Index)) +
                 2 * sizeof(EdgeChunk) * most_edge_chunks(problem.graph.rows, problem.graph.edges()) +
                 sizeof(Report));
}

}  // namespace motes::matching::device
