#pragma once
/// The growing graph of a core: pairs of consecutive rows from each task, and pairs added later.

#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching::detail {

struct CorePair {
  Index col;
  Cost cost;
};

/// The pairs of consecutive rows, by rising column within a row, from one task.
struct CorePart {
  std::vector<CorePair> pairs;
  std::vector<Index> count;  ///< [rows of the task]
};

/// Puts the parts, `rows_per_task` rows each but for the last, into the core's graph. The parts end empty.
/// O(pairs).
void unite(int threads, Index rows_per_task, std::vector<CorePart>& parts, SparseCosts& core);

/// The core with these pairs, which it must not have yet, added: added[i] for row i, by rising column.
void add_pairs(SparseCosts& core, const std::vector<std::vector<CorePair>>& added);

}  // namespace motes::matching::detail
