/// One forest of alternating trees over all ranks, phase by phase.
///
/// Source: Azad, Buluc & Pothen, "A parallel tree grafting algorithm for maximum cardinality matching in
/// bipartite graphs", IPDPS 2015; Azad & Buluc, "Distributed-memory algorithms for maximum cardinality
/// matching in bipartite graphs", IPDPS 2016, for level-synchronous searches over ranks.
///
/// Messages. A rank follows edges among its own vertices until none is left, and only then exchanges what
/// concerns other ranks. So a round is not a level: the number of rounds is the number of borders between
/// ranks that paths cross, far below the number of levels where most neighbours are on the same rank. Paths
/// need not be shortest for a phase to be right: a forest that cannot grow and has found no free column
/// proves that no augmenting path exists. A message has 12 bytes (three numbers) and is of one of three
/// kinds:
///
///   claim  "my row i, of root r, reaches your column j": sent to j's rank, which gives j to its first claim
///   step   "your row i joins the tree of root r": sent to i's rank by the rank of the column matched to i
///   leaf   "root r has found the free column j": sent to all ranks; r's tree stops growing, r's rank notes j
///
/// A rank claims a column once in a phase (`seen_`), so a phase sends at most one claim for each pair of a
/// rank and a column of another rank next to it, one step for each column, and a leaf to each rank for each
/// tree that finds a path.
///
/// Differences from the papers. Columns are explored top-down only and trees are not grafted, both of which
/// would need the edges of columns all the time, and a message for each row asked about. Two ranks may find
/// leaves of one tree in the same round; the root takes that of the lowest rank, and the other column stays
/// in its tree, unused. If the phases become slow, push-relabel continues (distributed_pushes.cpp), and the
/// forest finishes.

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/ms_bfs/ms_bfs.h"
#include "matching/distributed/cardinality/distributed_state.h"

namespace motes::matching::detail {
namespace {

struct Message {
  Index vertex, from, root;
};
/// Columns are sent as their number, rows as its complement.
constexpr Index row_code(Index row) { return ~row; }
constexpr Index kLeaf = -1;  ///< as root: `vertex` is the root, `from` its leaf

struct Flip {
  Index vertex;   ///< a column whose parent is to be its mate; or row_code(row), whose mate is to be
  Index new_col;  ///< this column
};

class Forest {
 public:
  Forest(DistributedState& state, CardinalityStats& stats)
      : state_(state),
        stats_(stats),
        mail_(state.ranks),
        flips_(state.ranks),
        seen_(state.graph.cols),
        done_(state.graph.rows),
        parent_(at(state.graph.my_cols.count), -1),
        leaf_(at(state.graph.my_rows.count), -1),
        reached_(at(state.graph.my_rows.count), 0) {
    take_roots();
  }

  void run() {
    std::int64_t paths_before = 0, edges_before = stats_.edges_traversed;
    bool pushed = false;
    while (true) {
      ++stats_.phases;
      const std::int64_t before = mail_.rounds();
      grow();
      stats_.levels.push_back(mail_.rounds() - before);
      std::int64_t sums[] = {augment(), stats_.edges_traversed - edges_before, std::ssize(roots_),
                             state_.graph.part.edges()};
      state_.ranks.all_reduce(sums, Reduction::sum);
      const std::int64_t paths = sums[0];
      stats_.augmented.push_back(paths);
      if (paths == 0) return;
      if (!pushed && !more_phases_pay(paths, paths_before, sums[1], sums[2], sums[3])) {
        push_distributed_rows(state_, stats_);
        take_roots();
        pushed = true;
      }
      paths_before = paths;
      edges_before = stats_.edges_traversed;
    }
  }

  /// Koenig's cover, from the last phase, which found no leaf.
  void cover(DistributedMatching& answer) const {
    const Block& rows = state_.graph.my_rows;
    const Block& cols = state_.graph.my_cols;
    answer.row_in_cover.resize(at(rows.count));
    answer.col_in_cover.resize(at(cols.count));
    for (std::size_t k = 0; k < reached_.size(); ++k) answer.row_in_cover[k] = reached_[k] == 0;
    for (std::size_t k = 0; k < parent_.size(); ++k) answer.col_in_cover[k] = parent_[k] != -1;
  }

 private:
  struct Reached {
    Index row, root;
  };

  void take_roots() {
    roots_.clear();
    for (Index k = 0; k < state_.graph.my_rows.count; ++k)
      if (state_.row_to_col[at(k)] == -1) roots_.push_back(state_.graph.my_rows.first + k);
  }

  /// Adds row `row` of this rank, of the tree of `root`, to the rows to explore.
  void step(Index row, Index root) {
    reached_[at(row - state_.graph.my_rows.first)] = 1;
    queue_.push_back({row, root});
  }

  void found(Index root, Index leaf) {
    done_.insert(root);
    if (!state_.my_row(root)) return;
    Index& kept = leaf_[at(root - state_.graph.my_rows.first)];
    if (kept == -1) kept = leaf;
  }

  /// Column `col` of this rank, new in the forest, joins the tree of `root`. True: it is free.
  bool join(Index col, Index row, Index root) {
    parent_[at(col - state_.graph.my_cols.first)] = row;
    const Index mate = state_.mate_of_col(col);
    if (mate == -1) {
      found(root, col);
      mail_.send_to_others({root, col, kLeaf});
      return true;
    }
    if (state_.my_row(mate))
      step(mate, root);
    else
      mail_.send(state_.row_owners.of(mate), {row_code(mate), -1, root});
    return false;
  }

  /// By value: the queue grows.
  void explore(Reached at_row) {
    if (done_.contains(at_row.root)) return;
    for (const Index j : state_.cols_of(at_row.row)) {
      ++stats_.edges_traversed;
      if (!seen_.insert(j)) continue;
      if (!state_.my_col(j))
        mail_.send(state_.col_owners.of(j), {j, at_row.row, at_row.root});
      else if (join(j, at_row.row, at_row.root))
        return;
    }
  }

  void receive(const Message& message) {
    if (message.root == kLeaf) return found(message.vertex, message.from);
    if (done_.contains(message.root)) return;
    if (message.vertex < 0)
      step(row_code(message.vertex), message.root);
    else if (seen_.insert(message.vertex))
      join(message.vertex, message.from, message.root);
  }

  void grow() {
    const Timed timed(stats_, "grow");
    seen_.clear();
    done_.clear();
    std::fill(parent_.begin(), parent_.end(), -1);
    std::fill(leaf_.begin(), leaf_.end(), -1);
    std::fill(reached_.begin(), reached_.end(), 0);
    queue_.clear();
    for (const Index root : roots_) step(root, root);
    bool more = true;
    while (more) {
      for (std::size_t k = 0; k < queue_.size(); ++k) explore(queue_[k]);
      queue_.clear();
      more = mail_.exchange([&](const Message& message) { receive(message); });
    }
  }

  void flip_column(Index col) {
    while (true) {
      const Index row = parent_[at(col - state_.graph.my_cols.first)];
      state_.mate_of_col(col) = row;
      ++stats_.path_edges;
      if (!state_.my_row(row)) return flips_.send(state_.row_owners.of(row), {row_code(row), col});
      if (!next_column(row, col)) return;
    }
  }

  /// `row` of this rank takes `col`, which is set to the column that it had before. False if the path ends
  /// here or continues on another rank.
  bool next_column(Index row, Index& col) {
    std::swap(state_.mate_of_row(row), col);
    if (col == -1) return false;
    ++stats_.path_edges;
    if (state_.my_col(col)) return true;
    flips_.send(state_.col_owners.of(col), {col, -1});
    return false;
  }

  /// Flips each tree's path, all at once; trees are disjoint. Returns the number of this rank's.
  std::int64_t augment() {
    const Timed timed(stats_, "augment");
    std::int64_t paths = 0;
    for (const Index root : roots_) {
      const Index leaf = leaf_[at(root - state_.graph.my_rows.first)];
      if (leaf == -1) continue;
      ++paths;
      if (state_.my_col(leaf))
        flip_column(leaf);
      else
        flips_.send(state_.col_owners.of(leaf), {leaf, -1});
    }
    std::erase_if(roots_, [&](Index root) { return leaf_[at(root - state_.graph.my_rows.first)] != -1; });
    bool more = true;
    while (more)
      more = flips_.exchange([&](const Flip& flip) {
        Index col = flip.vertex >= 0 ? flip.vertex : flip.new_col;
        if (flip.vertex >= 0 || next_column(row_code(flip.vertex), col)) flip_column(col);
      });
    return paths;
  }

  DistributedState& state_;
  CardinalityStats& stats_;
  Mail<Message> mail_;
  Mail<Flip> flips_;
  VertexSet seen_;             ///< columns in trees, or claimed by this rank
  VertexSet done_;             ///< roots whose trees have found a path
  std::vector<Index> parent_;  ///< [my columns] the row it was reached from; -1: in no tree
  std::vector<Index> leaf_;    ///< [my rows] of a root
  std::vector<char> reached_;  ///< [my rows]
  std::vector<Index> roots_;   ///< this rank's free rows
  std::vector<Reached> queue_;
};

}  // namespace

void grow_distributed_forest(DistributedState& state, DistributedMatching& answer) {
  Forest forest(state, answer.stats);
  forest.run();
  forest.cover(answer);
}

}  // namespace motes::matching::detail
