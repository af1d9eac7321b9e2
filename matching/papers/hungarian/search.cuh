#pragma once
/// What the two searches of the Hungarian solvers on the GPU have in common: the lists around the trees, the
/// paths, and the one launch that runs a search from the first tree to the last.

#include "matching/assignment/canonical/device_solve.cuh"
#include "matching/papers/hungarian/initial_reduction.cuh"

namespace motes::matching::device::hungarian {

/// The parts of a search that are timed, by the paper's names.
enum Stage { kForward, kReverse, kDuals, kAugmentation, kStages };
/// The results of a search kernel.
struct Report {
  long long phases, rounds, augmentations, infeasible;
  unsigned long long nanoseconds[kStages];
};

/// The progress of a search, the same in every block. Lists and counters alternate by round and search.
struct SearchProgress {
  long long round = 0, search = 0;
  __device__ int now() const { return static_cast<int>(round % 3); }
  __device__ int next() const { return static_cast<int>((round + 1) % 3); }
};

/// The data that both search kernels use.
template <class Entries>
struct Search {
  DeviceCanonical<Entries> p;
  State s;
  bool vectors;  ///< dense rows may be read four entries at a time
  Index* pred;   ///< [cols] the row that a column was reached from
  /// [rows] of a root: its tree's end, a column, or instead the row that leaves; kNoRank: none
  unsigned *end, *exit;
  Index* roots[2];    ///< [rows] in turn, the roots of this search and of the next
  long long* gained;  ///< [rows + 1] pairs gained in each search
  Report* report;
};

/// The root of a row's tree.
template <class Entries>
__device__ Index root_of(const Search<Entries>& f, Index row) {
  for (Index col = f.s.row_to_col[row]; col != -1; col = f.s.row_to_col[row]) row = f.pred[col];
  return row;
}

/// The roots of the first search: rows without a column that may not leave yet.
template <class Entries>
__device__ void list_roots(const Search<Entries>& f, int* count) {
  for (Index i = thread_index(); i < f.p.rows; i += thread_total())
    if (f.s.row_to_col[i] == -1 && f.s.u[i] != f.p.exit_of(i)) f.roots[0][atomicAdd(count, 1)] = i;
}

/// A thread walks each path back from its end. Paths lie in different trees, so that they share nothing.
/// ends_in_column(root) tells whether the tree's end is one; roots whose trees have no end are listed for
/// the next search.
template <class Entries, class EndsInColumn>
__device__ void augment(const Search<Entries>& f, long long search, int roots, int* left,
                        EndsInColumn&& ends_in_column) {
  for (int k = static_cast<int>(blockIdx.x + gridDim.x * threadIdx.x); k < roots; k += thread_total()) {
    const Index root = f.roots[search % 2][k];
    Index col = -1;
    if (ends_in_column(root)) {
      col = static_cast<Index>(f.end[root]);
      atomicAdd(reinterpret_cast<unsigned long long*>(f.gained + search), 1ULL);
    } else if (f.exit[root] != detail::kNoRank) {  // that row leaves; its column becomes the path's end
      const Index leaving = static_cast<Index>(f.exit[root]);
      col = f.s.row_to_col[leaving];
      f.s.row_to_col[leaving] = -1;
    } else {
      f.roots[(search + 1) % 2][atomicAdd(left, 1)] = root;
      continue;
    }
    atomicAdd(reinterpret_cast<unsigned long long*>(&f.report->augmentations), 1ULL);
    while (col != -1) {
      const Index row = f.pred[col], held = f.s.row_to_col[row];
      f.s.col_to_row[col] = row;
      f.s.row_to_col[row] = col;
      col = held;
    }
  }
}

/// Charges time to stages, in one thread of the grid.
struct Clock {
  unsigned long long last = 0;
  Report* report;
  __device__ explicit Clock(Report* r) : report(r) { last = read(); }
  static __device__ unsigned long long read() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
  }
  /// Adds what passed since the last call to that stage.
  __device__ void charge(Stage stage) {
    if (thread_index() != 0) return;
    const unsigned long long t = read();
    report->nanoseconds[stage] += t - last;
    last = t;
  }
};

inline void read_report(const Report& report, DeviceSolution& out) {
  out.infeasible = report.infeasible != 0;
  out.stats.phases = report.phases;
  out.stats.rounds = report.rounds;
  out.stats.augmentations = report.augmentations;
  constexpr const char* kNames[] = {"forward_pass", "reverse_pass", "dual_update", "augmentation_pass"};
  for (int k = 0; k < kStages; ++k)
    out.stats.seconds[kNames[k]] = 1e-9 * static_cast<double>(report.nanoseconds[k]);
}

/// Initial reduction and assignment, then one cooperative launch of `kernel` with blocks of `threads`.
/// prepare(search) adds the state of this kind of search and returns the number of blocks to launch.
template <class Tree, class Entries, class Prepare>
DeviceSolution solve_in_one_launch(gpu::Arena& arena, const CanonicalSides& sides,
                                   const DeviceCanonical<Entries>& p, const Start& start,
                                   void (*kernel)(Tree), int threads, Prepare&& prepare) {
  DeviceSolution out;
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  const Begun begun = begin(arena, sides, p, start, out.stats);
  out.infeasible = !begun.feasible;
  if (begun.feasible && p.rows > 0) {
    Tree f{};
    f.p = p;
    f.s = begun.state;
    f.vectors = loads_four(p.entries);
    f.pred = arena.take<Index>(cols);
    f.end = arena.take<unsigned>(rows);
    f.exit = arena.take<unsigned>(rows);
    for (Index*& roots : f.roots) roots = arena.take<Index>(rows);
    f.gained = arena.take_filled<long long>(rows + 1, 0);
    f.report = arena.take_filled<Report>(1, 0);
    const int blocks = prepare(f);
    void* arguments[] = {&f};
    MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), blocks, threads, arguments,
                                           0, arena.stream()));
    const Report report = arena.download(f.report, 1)[0];
    read_report(report, out);
    for (const long long gained : arena.download(f.gained, static_cast<std::size_t>(report.phases)))
      out.stats.assignments.push_back(gained);
  }
  out.row_to_col = begun.state.row_to_col;
  out.v = begun.state.v;
  return out;
}

}  // namespace motes::matching::device::hungarian
