/// `ms-bfs` and `ms-bfs-graft` on the CPU, and the rule that stops a search early.

#include "matching/cardinality/ms_bfs/ms_bfs.h"

#include <cmath>

#include <motes/base/index.h>
#include <motes/base/raw_array.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/device_solvers.h"
#include "matching/cardinality/push_relabel/push_relabel.h"

namespace motes::matching {
namespace {

using namespace detail;

/// Trees stop in any case after scanning the edges of the graph so often, about what push-relabel scans on
/// graphs on which trees are slow.
constexpr double kFinishEdges = 6;

/// Every vertex in the forest knows its tree's root, a free row; -1: in no tree. leaf_[root] is the free
/// column the tree has found. A tree without a leaf is active, one with a leaf renewable; a row whose root
/// has a leaf therefore counts as in no tree, and nothing needs to be undone when a path is flipped.
///
/// Races. A column is given to one tree by an exchange of its root; its winner alone writes its parent and
/// its mate's root. Two threads may find leaves of one tree in the same level: the last one written stands,
/// both being ends of paths within the tree, and the other column is released with the tree. A thread that
/// does not yet see a new leaf, or a new row of a tree, only does superfluous work or leaves work for the
/// next level: new rows are in the next frontier.
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
        row_root_(at(graph.rows)),
        col_root_(at(graph.cols)),
        leaf_(at(graph.rows)),
        parent_(at(graph.cols)) {
    over_parts(lanes_, graph_.rows, kPassPart, [&](Lane& lane, auto begin, auto end) {
      for (auto i = static_cast<Index>(begin); i < end; ++i) {
        leaf_[at(i)] = -1;
        const bool root =
            mates_.row_to_col[at(i)] == -1 && graph_.row_offsets[i] != graph_.row_offsets[i + 1];
        row_root_[at(i)] = root ? i : -1;
        if (root) lane.next.push_back(i);
      }
    });
    roots_.take(lanes_);
    std::int64_t reachable = 0;
    over_parts(lanes_, graph_.cols, kPassPart, [&](Lane&, auto begin, auto end) {
      std::int64_t here = 0;
      for (auto j = static_cast<Index>(begin); j < end; ++j) {
        col_root_[at(j)] = -1;
        here += has_rows(j);
      }
      std::atomic_ref(reachable).fetch_add(here, std::memory_order_relaxed);
    });
    reachable_ = reachable;
  }

  /// Returns false if it stopped because trees take too long (only with `may_stop`), with free rows that may
  /// have paths.
  bool run(bool may_stop) {
    frontier_ = roots_;
    std::int64_t paths_before = 0, edges_before = stats_.edges_traversed;
    while (!roots_.empty()) {
      ++stats_.phases;
      stats_.frontiers.emplace_back();
      grow();
      const std::int64_t paths = augment();
      stats_.levels.push_back(std::ssize(stats_.frontiers.back()));
      stats_.augmented.push_back(paths);
      if (paths == 0) return true;
      if (may_stop && !pays(paths, paths_before, stats_.edges_traversed - edges_before))
        return roots_.empty();
      paths_before = paths;
      edges_before = stats_.edges_traversed;
      next_frontier();
    }
    return true;
  }

 private:
  static constexpr std::int64_t kPassPart = 1 << 14;
  static constexpr int kWords = 4;  ///< neighbours that are prefetched; a scan often ends with the first

  bool pays(std::int64_t paths, std::int64_t paths_before, std::int64_t edges) const {
    const auto all = static_cast<double>(graph_.edges());
    return static_cast<double>(stats_.edges_traversed) <= kFinishEdges * all &&
           more_phases_pay(paths, paths_before, edges, roots_.size(), graph_.edges());
  }

  bool has_rows(Index col) const {
    return graph_.col_offsets == nullptr || graph_.col_offsets[col] != graph_.col_offsets[col + 1];
  }

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

  /// Adds the column, which the caller has won, to the tree of `row` (Algorithm 5).
  void join(Index col, Index row, Index root, Lane& lane) {
    parent_[at(col)] = row;
    lane.joined.push_back(col);
    const Index mate = mates_.col_to_row[at(col)];
    if (mate == -1) {
      put(leaf_[at(root)], col);
      return;
    }
    put(row_root_[at(mate)], root);
    lane.next.push_back(mate);
  }

  /// Columns in trees.
  std::int64_t size() const {
    std::int64_t count = 0;
    for (const Lane& lane : lanes_) count += std::ssize(lane.joined);
    return count;
  }

  void grow() {
    bool upwards_before = false;
    while (!frontier_.empty()) {
      stats_.frontiers.back().push_back(frontier_.size());
      if (!options_.direction || frontier_.size() * options_.alpha < reachable_ - size()) {
        const Timed timed(stats_, "top_down");
        downwards();
      } else {
        const Timed timed(stats_, "bottom_up");
        if (!upwards_before) {
          over_parts(lanes_, graph_.cols, kPassPart, [&](Lane& lane, auto begin, auto end) {
            for (auto j = static_cast<Index>(begin); j < end; ++j)
              if (col_root_[at(j)] == -1 && has_rows(j)) lane.left.push_back(j);
          });
          unseen_.take(lanes_, &Lane::left);
          upwards_before = true;
        }
        upwards(unseen_);
        unseen_.take(lanes_, &Lane::left);
      }
    }
  }

  /// Algorithm 4.
  void downwards() {
    frontier_.over_parts(lanes_, kLevelPart, [&](Lane& lane, const auto& rows, auto begin, auto end) {
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
      for_each_ahead<kWords>(rows, begin, end, graph_.row_offsets, graph_.col_index, col_root_.data(), visit);
    });
    frontier_.take(lanes_);
  }

  /// Algorithm 6: each of `cols` that is in no tree joins the first active tree with one of its rows; those
  /// that find none go to the lanes' `left`. Lists are scanned from their ends: if rows were matched in
  /// order, the free ones, and so the trees, are mostly among the later ones.
  void upwards(const Frontier& cols) {
    cols.over_parts(lanes_, kLevelPart, [&](Lane& lane, const auto& list, auto begin, auto end) {
      const auto visit = [&](Index j) {
        if (col_root_[at(j)] != -1) return;
        const std::span<const Index> rows = graph_.rows_of(j);
        for (auto at_row = rows.rbegin(); at_row != rows.rend(); ++at_row) {
          const Index row = *at_row;
          ++lane.edges;
          if (!active(row)) continue;
          const Index root = peek(row_root_[at(row)]);
          col_root_[at(j)] = root;  // each column is in one part
          join(j, row, root, lane);
          return;
        }
        lane.left.push_back(j);
      };
      for_each_ahead<kWords, true>(list, begin, end, graph_.col_offsets, graph_.row_index, row_root_.data(),
                                   visit);
    });
    frontier_.take(lanes_);
  }

  /// Flips each tree's path; trees are disjoint.
  std::int64_t augment() {
    const Timed timed(stats_, "augment");
    roots_.over_parts(lanes_, kLevelPart / 8, [&](Lane& lane, const auto& roots, auto begin, auto end) {
      for (auto k = begin; k < end; ++k) {
        const Index root = roots[static_cast<std::size_t>(k)], leaf = leaf_[at(root)];
        if (leaf == -1)
          lane.next.push_back(root);
        else
          flip_back(mates_, parent_, leaf, lane);
      }
    });
    roots_.take(lanes_);
    return count_in(lanes_, stats_);
  }

  /// Algorithm 7. Active rows are the mates of active columns, and the roots.
  void next_frontier() {
    const Timed timed(stats_, "graft");
    Frontier forest;
    forest.take(lanes_, &Lane::joined);
    forest.over_parts(lanes_, kListPart, [&](Lane& lane, const auto& cols, auto begin, auto end) {
      const auto col = [&](std::int64_t k) { return at(cols[static_cast<std::size_t>(k)]); };
      for (auto k = begin; k < end; ++k) {
        if (k + 2 * kAhead < end) __builtin_prefetch(&col_root_[col(k + 2 * kAhead)]);
        if (k + kAhead < end) __builtin_prefetch(&leaf_[at(col_root_[col(k + kAhead)])]);
        const Index j = cols[static_cast<std::size_t>(k)];
        if (leaf_[at(col_root_[at(j)])] == -1) {
          lane.joined.push_back(j);
        } else {
          col_root_[at(j)] = -1;
          lane.left.push_back(j);
        }
      }
    });
    Frontier renewable;
    renewable.take(lanes_, &Lane::left);
    const std::int64_t active_rows = size() + roots_.size();
    if (options_.graft && active_rows * options_.alpha > renewable.size()) {
      upwards(renewable);
      for (Lane& lane : lanes_) lane.left.clear();
      return;
    }
    forest.take(lanes_, &Lane::joined);
    forest.over_parts(lanes_, kListPart, [&](Lane&, const auto& cols, auto begin, auto end) {
      for (auto k = begin; k < end; ++k) {
        const Index j = cols[static_cast<std::size_t>(k)];
        row_root_[at(mates_.col_to_row[at(j)])] = -1;
        col_root_[at(j)] = -1;
      }
    });
    frontier_ = roots_;
  }

  static constexpr std::int64_t kListPart = 4096, kAhead = 16;

  const TwoSidedGraph& graph_;
  Mates& mates_;
  const MsBfsOptions& options_;
  CardinalityStats& stats_;
  std::vector<Lane> lanes_;  ///< their `joined` are the columns in trees
  bool shared_;
  RawArray<Index> row_root_;  ///< [rows]
  RawArray<Index> col_root_;  ///< [cols]
  RawArray<Index> leaf_;      ///< [rows] of a root
  RawArray<Index> parent_;    ///< [cols] the row it was reached from
  Frontier roots_;            ///< free rows
  Frontier frontier_, unseen_;
  std::int64_t reachable_ = 0;  ///< columns with edges
};

/// On a GPU half the edges are about one phase, and push-relabel from there is faster than more of them on
/// most graphs.
constexpr std::int64_t kFinishShareOnDevice = 2;

}  // namespace

bool detail::more_phases_pay(std::int64_t paths, std::int64_t paths_before, std::int64_t edges,
                             std::int64_t roots, std::int64_t all_edges) {
  // The most that the remaining phases may scan, in multiples of all edges: this takes as long as
  // push-relabel for the same rows.
  constexpr double kWorthEdges = 2;
  if (paths_before == 0) return true;
  const double kept = static_cast<double>(paths) / static_cast<double>(paths_before);
  auto phases = static_cast<double>(roots);
  if (kept < 1) phases = std::min(phases, std::log(static_cast<double>(paths)) / -std::log(kept));
  return phases * static_cast<double>(edges) <= kWorthEdges * static_cast<double>(all_edges);
}

void MsBfs::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                CardinalityStats& stats) const {
  const bool done = Forest(execution, graph, mates, options_, stats).run(options_.finish);
  if (!done) PushRelabel({}).run(execution, graph, mates, stats);
}

void MsBfs::run_on_device(const Execution& execution, const CardinalityProblem& problem,
                          const GivenStart& start, Mates& mates, CardinalityStats& stats) const {
  device::grow_forests(execution, problem, options_, problem.graph.edges() / kFinishShareOnDevice, start,
                       mates, stats);
}

}  // namespace motes::matching
