#pragma once
/// The growing graph of a core: pairs of consecutive rows from each task, and pairs added later.

#include <algorithm>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching::detail {

struct CorePair {
  Index col;
  Cost cost;
};
inline bool by_column(const CorePair& a, const CorePair& b) { return a.col < b.col; }

/// Where row `row` of all rows starts to choose among `cols` columns of equal offers, so that rows do not all
/// compete for the same ones.
inline Index first_choice(Offset row, Index cols) { return static_cast<Index>(row * 7919 % cols); }

/// Partitions the pairs so that the first `count` of them, fewer than there are, are those of least
/// offer(pair); of equal offers those that come first from first_choice on.
template <class Offer>
void put_least_first(std::vector<CorePair>& pairs, Offset count, Offset row, Index cols, const Offer& offer) {
  const Index first = first_choice(row, cols);
  const auto turned = [&](Index j) { return j >= first ? Offset{j} : Offset{j} + cols; };
  std::nth_element(pairs.begin(), pairs.begin() + count, pairs.end(),
                   [&](const CorePair& a, const CorePair& b) {
                     const Cost x = offer(a), y = offer(b);
                     return x != y ? x < y : turned(a.col) < turned(b.col);
                   });
}

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
