#pragma once
/// A greedy problem in device memory, for the kernels of greedy matching.

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/stream_timer.cuh>
#include <motes/matching/greedy_solver.h>

#include "matching/greedy/edge_order.h"

namespace motes::matching::device {

/// How an entry's weight is stored; all forms have four bytes.
enum class WeightForm {
  unit,    ///< not at all: every edge has key 1
  floats,  ///< as a float, whose key weight_key() makes
  keys,    ///< as the key itself: the rank among the distinct weights, from 1
};

/// coarse: a number of which the leading 26 bits are never in another order than keys, but may be equal where
/// these are not.
struct UnitWeights {
  static constexpr bool kStored = false;
  static __device__ std::uint32_t key(std::uint32_t) { return 1; }
  static __device__ std::uint32_t coarse(std::uint32_t) { return 0; }
};
struct FloatWeights {
  static constexpr bool kStored = true;
  static __device__ std::uint32_t key(std::uint32_t raw) { return weight_key(__uint_as_float(raw)); }
  static __device__ std::uint32_t coarse(std::uint32_t raw) { return raw << 1; }
};
struct KeyWeights {
  static constexpr bool kStored = true;
  static __device__ std::uint32_t key(std::uint32_t raw) { return raw; }
  static __device__ std::uint32_t coarse(std::uint32_t raw) { return min(raw, 0x3ffffffU) << 6; }
};

/// Adjacency lists on the device; a trivially copyable view.
struct GreedyLists {
  const Offset* offsets = nullptr;     ///< [count + 1]
  const Index* cols = nullptr;         ///< [nnz], on 16 bytes
  const std::uint32_t* raw = nullptr;  ///< [nnz], on 16 bytes; nullptr of form unit
  WeightForm form = WeightForm::unit;
  Index count = 0;   ///< vertices that have lists: all of a general graph, the rows of a bipartite one
  Index shift = 0;   ///< the vertex of column j is shift + j
  Index sorted = 0;  ///< lists of vertices below this one are ascending
  Offset entries = 0;
};

/// The problem's lists. Host arrays are copied into the arena; weights of other types are converted to
/// floats, or to ranks if one is not exactly a float. O(nnz), and a sort of the weights for ranks. Throws
/// ResourceError if there is not enough memory, or more distinct weights than keys.
GreedyLists bring_over(gpu::Arena& arena, const GreedyProblem& problem);

/// The lists of all vertices of a bipartite graph; those of columns are not sorted. O(nnz).
GreedyLists general_lists(gpu::Arena& arena, const GreedyLists& rows, Index cols);

/// The sum that matching_weight.h defines, of the pairs of a problem in device memory. Waits for the stream.
double weight_of_pairs(gpu::Arena& arena, const GreedyProblem& problem, const Index* row_to_col);

/// f(weights) with the type of the lists' form.
template <class F>
void with_form(WeightForm form, F&& f) {
  switch (form) {
    case WeightForm::unit:
      return f(UnitWeights{});
    case WeightForm::floats:
      return f(FloatWeights{});
    case WeightForm::keys:
      return f(KeyWeights{});
  }
}

/// Runs f(arena, lists) with the execution's arena, cleared; counts the seconds of bringing the problem over.
template <class F>
void with_lists(const Execution& execution, const GreedyProblem& problem, GreedyStats& stats, F&& f) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  gpu::StreamTimer bring(arena.stream());
  const GreedyLists lists = bring_over(arena, problem);
  bring.stop();
  arena.synchronize();
  stats.seconds["bring_over"] = bring.seconds();
  f(arena, lists);
}

}  // namespace motes::matching::device
