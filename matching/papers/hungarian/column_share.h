#pragma once
/// The columns that a rank holds, on the CPU, for TreeSearch (tree_search.h), and for the reduction before it
/// (distributed_start.h): Date & Nagi 2016, section 5, alternating-tree variant. Each round's local frontiers
/// are gathered on every rank, and so are the labels of a band once they are final, so that no label travels
/// twice.

#include <limits>
#include <vector>

#include <motes/base/communicator.h>

#include "matching/papers/hungarian/tree_search.h"

namespace motes::matching::detail {

template <class Entries>
class ColumnShare {
 public:
  /// `entries`: columns [first, first + entries.cols) of the problem, all rows. Without ranks: all columns.
  ColumnShare(const Entries& entries, Index first, const StartState& state, int threads, Communicator* ranks)
      : first_(first), state_(state), ranks_(ranks), scan_(entries, first, state, threads) {}

  void begin(const std::vector<Index>& roots) {
    scan_.clear_labels();
    frontier_.clear();
    for (const Index i : roots) frontier_.push_back({-state_.u[at(i)], i});
  }

  std::int64_t scan(Cost reach) {
    scan_.scan(frontier_, reach, next_);
    return gather_frontier();
  }

  Cost close(Cost closed, Cost reach, std::vector<FinalLabel>& finals) {
    mine_.clear();
    Cost nearest = kFar;
    for (const Index j : scan_.labelled()) {
      const Cost key = scan_.key(j);
      if (key > reach)
        nearest = std::min(nearest, key);
      else if (key > closed)
        mine_.push_back({key, first_ + j, scan_.pred(j)});
    }
    if (ranks_ == nullptr) {
      finals.swap(mine_);
      return nearest;
    }
    mine_.push_back({nearest, -1, -1});  // travels with the labels
    ranks_->all_gather<FinalLabel>(mine_, finals);
    std::erase_if(finals, [&](const FinalLabel& label) {
      if (label.col == -1) nearest = std::min(nearest, label.key);
      return label.col == -1;
    });
    return nearest;
  }

  std::int64_t open(Cost closed, Cost reach) {
    next_.clear();
    for (const Index j : scan_.labelled())
      if (scan_.key(j) > closed && scan_.key(j) <= reach && scan_.mate(j) != -1)
        next_.push_back({scan_.key(j) - state_.u[at(scan_.mate(j))], scan_.mate(j)});
    return gather_frontier();
  }

 private:
  std::int64_t gather_frontier() {
    if (ranks_ == nullptr)
      frontier_.swap(next_);
    else
      ranks_->all_gather<Active>(next_, frontier_);
    return static_cast<std::int64_t>(frontier_.size());
  }

  Index first_;
  const StartState& state_;
  Communicator* ranks_;
  ColumnScan<Entries> scan_;
  std::vector<Active> frontier_, next_;
  std::vector<FinalLabel> mine_;
};

}  // namespace motes::matching::detail
