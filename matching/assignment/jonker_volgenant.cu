/// `jv` on the GPU, by kind of costs. Sparse problems are their own core.

#include "matching/assignment/core_search.cuh"
#include "matching/assignment/jonker_volgenant_device.h"

namespace motes::matching::device {
namespace {

/// Rows that must be matched get a dear exit.
__global__ void dear_exits_kernel(const Cost* row_exit, Index rows, Cost* out) {
  for (Index i = hungarian::thread_index(); i < rows; i += hungarian::thread_total()) {
    const Cost exit = row_exit == nullptr ? kInfiniteCost : row_exit[i];
    out[i] = exit == kInfiniteCost ? kDearExit : exit;
  }
}

detail::Solution solve(Arena& arena, const CanonicalSides& sides, DeviceCanonical<SparseEntries> p,
                       const Start& start) {
  detail::Solution out;
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  if (!p.perfect) {
    Cost* exits = arena.take<Cost>(rows);
    if (rows > 0) {
      dear_exits_kernel<<<4 * arena.multiprocessors(), hungarian::kThreads, 0, arena.stream()>>>(
          p.row_exit, p.rows, exits);
      MOTES_CUDA_LAUNCHED();
    }
    p.row_exit = exits;
  }
  const hungarian::State s = hungarian::initial_state(arena, sides, p, start);
  out.infeasible = !search_core(arena, p, s, out.stats);
  out.row_to_col = arena.download(s.row_to_col, rows);
  out.v = arena.download(s.v, cols);
  for (Index i = 0; i < p.rows; ++i)
    if (out.row_to_col[static_cast<std::size_t>(i)] == -1 && sides.exit_of(i) == kInfiniteCost)
      out.infeasible = true;
  return out;
}

template <class Entries>
detail::Solution solve(Arena&, const CanonicalSides&, const DeviceCanonical<Entries>&, const Start&) {
  throw std::invalid_argument("jv: on the cuda back end only sparse costs so far");
}

}  // namespace

Matching solve_by_cores(const Execution& execution, const CostsView& problem, const Start& start) {
  const OrientedStart oriented(problem, start);
  return solve_canonical_on_device(execution, problem,
                                   [&](Arena& arena, const CanonicalSides& sides, const auto& p) {
                                     return solve(arena, sides, p, oriented.start);
                                   });
}

}  // namespace motes::matching::device
