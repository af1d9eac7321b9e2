#include "matching/cardinality/ms_bfs.h"

#include "matching/cardinality/on_device.h"
#include "matching/cardinality/push_relabel.h"
#include "matching/cardinality/search.h"

namespace motes::matching {
namespace {

using namespace detail;

/// Every vertex in the forest knows its tree's root, a free row; -1: in no tree. leaf_[root] is the free
/// column the tree has found. A tree without a leaf is active, one with a leaf renewable; a row whose root
/// has a leaf therefore counts as in no tree, and nothing needs to be undone when a path is flipped.
///
/// Races. A column is given to one tree by an exchange of its root; its winner alone writes its parent and
/// its mate's root. Two threads may find leaves of one tree in the same level: the last one written stands,
/// both being ends of paths within the tree, and the other column is released with the tree. A thread that
/// does not see a new leaf, or a new row of a tree, in the same level does superfluous work or leaves work
/// for the next level, no more: new rows are in the next frontier.
class Forest {
 public:
  Forest(const Execution& execution, const TwoSidedGraph& graph, Mates& mates, const MsBfsOptions& options,
         CardinalityStats& stats)
      : graph_(graph),
        mates_(mates),
        options_(options),
        stats_(stats),
        lanes_(at(execution.threads)),
        shared_(execution.threads > 1),
        row_root_(at(graph.rows), -1),
        col_root_(at(graph.cols), -1),
        leaf_(at(graph.rows), -1),
        parent_(at(graph.cols), -1),
        roots_(free_rows(graph, mates)) {
    for (const Index i : roots_) row_root_[at(i)] = i;
    for (Index j = 0; j < graph.cols; ++j)
      if (graph.col_offsets == nullptr || graph.col_offsets[j] != graph.col_offsets[j + 1]) ++reachable_;
  }

  /// False: stopped after `edges_at_most` with free rows left that may have paths.
  bool run(std::int64_t edges_at_most) {
    frontier_ = roots_;
    while (!roots_.empty()) {
      ++stats_.phases;
      stats_.frontiers.emplace_back();
      grow();
      const std::int64_t paths = augment();
      stats_.levels.push_back(std::ssize(stats_.frontiers.back()));
      stats_.augmented.push_back(paths);
      if (paths == 0) return true;
      if (stats_.edges_traversed > edges_at_most) return roots_.empty();
      next_frontier();
    }
    return true;
  }

 private:
  bool active(Index row) {
    const Index root = peek(row_root_[at(row)]);
    return root != -1 && peek(leaf_[at(root)]) == -1;
  }

  bool win(Index col, Index root) {
    Index& word = col_root_[at(col)];
    if (!shared_) {
      word = root;
      return true;
    }
    Index none = -1;
    return std::atomic_ref(word).compare_exchange_strong(none, root, std::memory_order_relaxed);
  }

  /// The column joins the tree of `row` (Algorithm 5). It is the caller's.
  void join(Index col, Index row, Index root, Lane& lane) {
    parent_[at(col)] = row;
    lane.queue.push_back(col);
    const Index mate = mates_.col_to_row[at(col)];
    if (mate == -1) {
      put(leaf_[at(root)], col);
      return;
    }
    put(row_root_[at(mate)], root);
    lane.next.push_back(mate);
  }

  void grow() {
    bool upwards_before = false;
    while (!frontier_.empty()) {
      stats_.frontiers.back().push_back(std::ssize(frontier_));
      const std::int64_t unseen = reachable_ - std::ssize(forest_);
      if (!options_.direction || std::ssize(frontier_) * options_.alpha < unseen) {
        const Timed timed(stats_, "top_down");
        downwards();
      } else {
        const Timed timed(stats_, "bottom_up");
        if (!upwards_before) {
          unseen_.clear();
          for (Index j = 0; j < graph_.cols; ++j)
            if (col_root_[at(j)] == -1 && graph_.col_offsets[j] != graph_.col_offsets[j + 1])
              unseen_.push_back(j);
          upwards_before = true;
        } else {
          std::erase_if(unseen_, [&](Index j) { return col_root_[at(j)] != -1; });
        }
        upwards(unseen_);
      }
    }
  }

  /// Algorithm 4.
  void downwards() {
    over_parts(lanes_, std::ssize(frontier_), kLevelPart, [&](Lane& lane, auto begin, auto end) {
      const auto visit = [&](Index row) {
        const Index root = peek(row_root_[at(row)]);
        if (peek(leaf_[at(root)]) != -1) return;
        for (const Index j : graph_.cols_of(row)) {
          ++lane.edges;
          if (peek(col_root_[at(j)]) != -1 || !win(j, root)) continue;
          join(j, row, root, lane);
          if (mates_.col_to_row[at(j)] == -1) break;
        }
      };
      for_each_ahead(frontier_, begin, end, graph_.row_offsets, graph_.col_index, col_root_.data(), visit);
    });
    collect();
  }

  /// Algorithm 6: each of `cols`, all in no tree, joins the first active tree that it has a row in.
  void upwards(const std::vector<Index>& cols) {
    over_parts(lanes_, std::ssize(cols), kLevelPart, [&](Lane& lane, auto begin, auto end) {
      const auto visit = [&](Index j) {
        for (const Index row : graph_.rows_of(j)) {
          ++lane.edges;
          if (!active(row)) continue;
          const Index root = peek(row_root_[at(row)]);
          col_root_[at(j)] = root;  // each column is in one part
          join(j, row, root, lane);
          break;
        }
      };
      for_each_ahead(cols, begin, end, graph_.col_offsets, graph_.row_index, row_root_.data(), visit);
    });
    collect();
  }

  void collect() {
    gather(lanes_, frontier_);
    for (Lane& lane : lanes_) {
      forest_.insert(forest_.end(), lane.queue.begin(), lane.queue.end());
      lane.queue.clear();
    }
  }

  /// Flips each tree's path; trees are disjoint.
  std::int64_t augment() {
    const Timed timed(stats_, "augment");
    over_parts(lanes_, std::ssize(roots_), 64, [&](Lane& lane, auto begin, auto end) {
      for (auto k = begin; k < end; ++k) {
        const Index leaf = leaf_[at(roots_[static_cast<std::size_t>(k)])];
        if (leaf != -1) flip_back(mates_, parent_, leaf, lane);
      }
    });
    drop_matched(mates_, roots_);
    return count_in(lanes_, stats_);
  }

  /// Algorithm 7. Active rows are the mates of active columns, and the roots.
  void next_frontier() {
    const Timed timed(stats_, "graft");
    std::vector<Index> renewable;
    std::erase_if(forest_, [&](Index j) {
      if (leaf_[at(col_root_[at(j)])] == -1) return false;
      col_root_[at(j)] = -1;
      renewable.push_back(j);
      return true;
    });
    frontier_.clear();
    const std::int64_t active_rows = std::ssize(forest_) + std::ssize(roots_);
    if (options_.graft && active_rows * options_.alpha > std::ssize(renewable)) {
      upwards(renewable);
      return;
    }
    for (const Index j : forest_) {
      row_root_[at(mates_.col_to_row[at(j)])] = -1;
      col_root_[at(j)] = -1;
    }
    forest_.clear();
    frontier_ = roots_;
  }

  const TwoSidedGraph& graph_;
  Mates& mates_;
  const MsBfsOptions& options_;
  CardinalityStats& stats_;
  std::vector<Lane> lanes_;
  bool shared_;
  std::vector<Index> row_root_;  ///< [rows]
  std::vector<Index> col_root_;  ///< [cols]
  std::vector<Index> leaf_;      ///< [rows] of a root
  std::vector<Index> parent_;    ///< [cols] the row it was reached from
  std::vector<Index> roots_;     ///< free rows
  std::vector<Index> forest_;    ///< columns in trees
  std::vector<Index> frontier_, unseen_;
  std::int64_t reachable_ = 0;  ///< columns with edges
};

/// About what push-relabel looks at by itself on the graphs where trees do not pay.
constexpr std::int64_t kFinishEdges = 6;

}  // namespace

void MsBfs::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                CardinalityStats& stats) const {
  const std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
  const bool done = Forest(execution, graph, mates, options_, stats)
                        .run(options_.finish ? kFinishEdges * graph.edges() : no_end);
  if (!done) detail::push_relabel(execution, graph, mates, {}, stats);
}

void MsBfs::run_on_device(const Execution& execution, const CardinalityProblem& problem, Mates& mates,
                          CardinalityStats& stats) const {
  const std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
  if (device::grow_forests(execution, problem, options_,
                           options_.finish ? kFinishEdges * problem.graph.edges() : no_end, mates, stats))
    return;
  const auto before = stats.seconds;
  device::push_relabel(execution, problem, 0, mates, stats);
  for (const char* step : {"bring_over", "device", "start"}) stats.seconds[step] += before.at(step);
}

}  // namespace motes::matching
