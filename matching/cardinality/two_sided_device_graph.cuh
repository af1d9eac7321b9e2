#pragma once
/// A graph in device memory by rows and by columns, for the kernels of cardinality solvers.

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/stream_timer.cuh>
#include <motes/matching/cardinality_solver.h>

#include "matching/cardinality/device_solvers.h"

namespace motes::matching::device {

/// TwoSidedGraph with all arrays on the device. Rows of a column may come in any order.
using DeviceSides = TwoSidedGraph;

/// The problem's arrays in device memory: those of host problems are copied into the arena. If `columns` is
/// true and the problem has no column side, that is built too, in O(rows + cols + nnz).
DeviceSides bring_over(gpu::Arena& arena, const CardinalityProblem& problem, bool columns);

/// Runs f(arena, sides) with the execution's arena, cleared; counts the seconds of both steps. `scratch`:
/// approximate memory of f in bytes, without mates.
template <class F>
void with_sides(const Execution& execution, const CardinalityProblem& problem, bool columns,
                CardinalityStats& stats, F&& f, std::size_t scratch = 0);

/// Counters of a matching in device memory.
struct Tally {
  unsigned long long pairs;
  int fault;  ///< 1: the start has an invalid pair
};

/// A matching in device memory, -1 = free.
class DeviceMates {
 public:
  Index *row_to_col, *col_to_row;  ///< [rows], [cols]
  std::size_t rows, cols;
  DeviceMates(gpu::Arena& arena, std::size_t row_count, std::size_t col_count);

  /// Copies the pairs of a start of the right length, without invalid ones (download() reports them). Whether
  /// pairs are edges is checked only if `problem` is in host memory. Returns whether there are any pairs.
  bool upload(gpu::Arena& arena, const CardinalityProblem& problem, const DeviceSides& sides,
              const GivenStart& start);
  /// The number of pairs given to upload().
  std::int64_t given() const { return given_; }
  /// Touches the pages that download() will fill, while the device works.
  void make_room(const Execution& execution, Mates& mates) const;
  /// Allocates the mates on the host while it waits for the stream, and fills them. Returns the number of
  /// pairs gained over the start. Throws FaultyStart.
  std::int64_t download(gpu::Arena& arena, const Execution& execution, Mates& mates) const;

 private:
  Tally* tally_;
  std::int64_t given_ = 0;
};

/// Bytes of the problem's arrays that bring_over copies, and of mates.
std::size_t bytes_on_device(const CardinalityProblem& problem, bool columns);

template <class F>
void with_sides(const Execution& execution, const CardinalityProblem& problem, bool columns,
                CardinalityStats& stats, F&& f, std::size_t scratch) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  constexpr std::size_t kEdges = std::size_t{1} << 16;  // of pieces
  arena.reserve(bytes_on_device(problem, columns) + scratch + kEdges);
  gpu::StreamTimer bring(arena.stream());
  const DeviceSides sides = bring_over(arena, problem, columns);
  bring.stop();
  arena.synchronize();
  stats.seconds["bring_over"] = bring.seconds();
  f(arena, sides);
}

}  // namespace motes::matching::device
