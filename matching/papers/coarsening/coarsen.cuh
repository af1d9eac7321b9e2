#pragma once
/// One level of coarsen() in device memory.

#include <motes/base/gpu/arena.cuh>
#include <motes/matching/coarsen.h>

namespace motes::matching::device {

/// A coarse graph in the arena.
struct CoarseLists {
  Index vertices = 0;
  Offset entries = 0;
  Offset* offsets = nullptr;        ///< [vertices + 1]
  Index* cols = nullptr;            ///< [entries]
  double* weights = nullptr;        ///< [entries]
  double* vertex_weight = nullptr;  ///< [vertices]
  Index* coarse_of = nullptr;       ///< [fine vertices]
  int* infinite = nullptr;          ///< [1] not 0 where a weight is infinite
};

/// The problem in device memory, and its mates [vertices] too; vertex_weight [vertices] or nullptr: 1 each.
/// On the arena's stream, for which it waits in between. O(nnz log n), as a radix sort.
CoarseLists coarsen_lists(gpu::Arena& arena, const GreedyProblem& problem, const Index* mates,
                          const double* vertex_weight);

}  // namespace motes::matching::device
