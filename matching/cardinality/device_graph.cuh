#pragma once
/// A graph in device memory, both sides of it, as kernels of the cardinality solvers take it.

#include "matching/cardinality/solver.h"
#include "matching/device/arena.cuh"
#include "matching/device/stream_timer.cuh"

namespace motes::matching::device {

/// TwoSidedGraph with all arrays on the device. Rows of a column may come in any order.
using DeviceSides = TwoSidedGraph;

/// The problem's arrays, copied into the arena where they lie on the host; where `columns` is true and the
/// problem has no columns' side, that is made too: O(rows + cols + nnz).
DeviceSides bring_over(Arena& arena, const CardinalityProblem& problem, bool columns);

/// Runs f(arena, sides) with the execution's arena, cleared; counts the seconds of both steps.
template <class F>
void with_sides(const Execution& execution, const CardinalityProblem& problem, bool columns,
                CardinalityStats& stats, F&& f);

/// A matching in device memory, -1 = free.
struct DeviceMates {
  Index *row_to_col, *col_to_row;  ///< [rows], [cols]
  std::size_t rows, cols;
  std::int64_t given = 0;  ///< pairs that came with upload()
  DeviceMates(Arena& arena, std::size_t row_count, std::size_t col_count)
      : row_to_col(arena.take<Index>(row_count)),
        col_to_row(arena.take<Index>(col_count)),
        rows(row_count),
        cols(col_count) {}
  /// Whether there are pairs; if not, the mates may be empty. The mates must stay until the stream has
  /// passed.
  bool upload(const Arena& arena, const Mates& mates);
  /// Touches the memory that download() fills, while the device works.
  void make_room(Mates& mates) const;
  /// Waits for the stream, makes room on the host meanwhile; returns how many pairs there are more than were
  /// given.
  std::int64_t download(Arena& arena, Mates& mates, int threads) const;
};

template <class F>
void with_sides(const Execution& execution, const CardinalityProblem& problem, bool columns,
                CardinalityStats& stats, F&& f) {
  Workspace own;
  Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  StreamTimer bring(arena.stream());
  const DeviceSides sides = bring_over(arena, problem, columns);
  bring.stop();
  arena.synchronize();
  stats.seconds["bring_over"] = bring.seconds();
  f(arena, sides);
}

}  // namespace motes::matching::device
