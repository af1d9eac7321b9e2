/// Depth-first searches with a budget of edges, and the switch to push-relabel.

#include "matching/cardinality/short_search.h"

#include <memory>

#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/push_relabel/push_relabel.h"
#include "matching/graph_side.h"

namespace motes::matching {
namespace {

using namespace detail;

/// Push-relabel takes over after scans of kBudget / 2 edges for each edge and row of the graph.
constexpr Offset kBudget = 3;
/// If the first phase finds many paths, and yet leaves more than one row in kLeftOfMany, searches block each
/// other, and later phases gain little. If it finds few, the rows left usually have no path.
constexpr std::size_t kManyFound = 3, kLeftOfMany = 20;
/// On more vertices than this, searches miss the cache at each step; then, if more than one row in kFewFree
/// is free, push-relabel is faster from the start.
constexpr std::int64_t kVerticesInCache = 1 << 16, kFewFree = 64;

class Searches {
 public:
  Searches(const TwoSidedGraph& graph, Mates& mates, CardinalityStats& stats)
      : graph_(graph), mates_(mates), stats_(stats) {}

  /// Returns false if the budget is spent and rows are left.
  bool run() {
    take_first_free();
    stats_.augmented.push_back(stats_.augmentations);
    stats_.path_edges = stats_.augmentations;
    if (free_.empty() || all_columns_taken()) return true;
    if (std::int64_t{graph_.rows} + graph_.cols > kVerticesInCache &&
        std::ssize(free_) * kFewFree > graph_.rows)
      return false;
    seen_.assign(at(graph_.cols), 0);
    const std::size_t free_at_first = free_.size();
    const Offset budget = kBudget * (graph_.edges() + graph_.rows) / 2;
    for (bool backwards = false;; backwards = !backwards) {
      ++stats_.phases;
      ++phase_;
      const std::int64_t paths = search_all(backwards, budget);
      stats_.augmented.push_back(paths);
      stats_.augmentations += paths;
      if (paths == 0 && left_ == 0) return true;
      if (free_.empty() || all_columns_taken()) return true;
      const bool run_into_each_other = (free_at_first - free_.size()) * kManyFound > free_at_first &&
                                       free_.size() * kLeftOfMany > free_at_first;
      if (stats_.edges_traversed > budget || run_into_each_other) return false;
    }
  }

 private:
  /// The next edge of a row on the path, forwards or backwards in its list.
  struct Place {
    Index row = -1, col = -1;
    Offset next = 0;
  };

  bool all_columns_taken() const { return matched_ == graph_.cols; }

  void take(Index row, Index col) {
    mates_.row_to_col[at(row)] = col;
    mates_.col_to_row[at(col)] = row;
  }

  /// Pairs of the start count as matched.
  void take_first_free() {
    ahead_ = std::make_unique_for_overwrite<Offset[]>(at(graph_.rows));
    for (Index i = 0; i < graph_.rows; ++i) {
      const Offset begin = graph_.row_offsets[i], end = graph_.row_offsets[i + 1];
      Offset e = begin;
      if (mates_.row_to_col[at(i)] == -1) {
        while (e < end && mates_.col_to_row[at(graph_.col_index[e])] != -1) ++e;
        stats_.edges_traversed += e - begin;
        if (e < end)
          take(i, graph_.col_index[e++]), ++stats_.augmentations;
        else if (begin < end)
          free_.push_back(i);
      }
      matched_ += mates_.row_to_col[at(i)] != -1;
      ahead_[at(i)] = e;
    }
  }

  /// Returns the number of paths found; rows without one stay in free_. Ends early if the budget is spent;
  /// left_ rows are then not searched.
  std::int64_t search_all(bool backwards, Offset budget) {
    std::size_t kept = 0, k = 0;
    for (; k < free_.size() && stats_.edges_traversed <= budget && !all_columns_taken(); ++k) {
      const bool found = backwards ? search<true>(free_[k]) : search<false>(free_[k]);
      matched_ += found;
      if (!found) free_[kept++] = free_[k];
    }
    const std::int64_t paths = static_cast<std::int64_t>(k - kept);
    left_ = free_.size() - k;
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(kept),
                free_.begin() + static_cast<std::ptrdiff_t>(k));
    return paths;
  }

  template <bool kBackwards>
  bool search(Index root) {
    path_.clear();
    path_.push_back({root, -1, graph_.row_offsets[root]});
    while (!path_.empty()) {
      Place& here = path_.back();
      const Index free = look_ahead(here.row);
      if (free != -1) {
        here.col = free;
        flip();
        return true;
      }
      here.col = next_unseen<kBackwards>(here);
      if (here.col == -1) {
        path_.pop_back();
        continue;
      }
      const Index mate = mates_.col_to_row[at(here.col)];
      path_.push_back({mate, -1, graph_.row_offsets[mate]});
    }
    return false;
  }

  /// The row's next free column, -1: none is left, now and later.
  Index look_ahead(Index row) {
    const Offset end = graph_.row_offsets[row + 1];
    Offset& e = ahead_[at(row)];
    const Offset begin = e;
    while (e < end && mates_.col_to_row[at(graph_.col_index[e])] != -1) ++e;
    stats_.edges_traversed += e - begin;
    return e < end ? graph_.col_index[e++] : -1;
  }

  template <bool kBackwards>
  Index next_unseen(Place& here) {
    const Offset begin = graph_.row_offsets[here.row], end = graph_.row_offsets[here.row + 1];
    const Offset from = here.next;
    Index found = -1;
    while (here.next < end && found == -1) {
      const Offset e = here.next++;
      const Index j = graph_.col_index[kBackwards ? begin + (end - 1 - e) : e];
      if (seen_[at(j)] == phase_) continue;
      seen_[at(j)] = phase_;
      found = j;
    }
    stats_.edges_traversed += here.next - from;
    return found;
  }

  void flip() {
    for (const Place& place : path_) take(place.row, place.col);
    stats_.path_edges += 2 * std::ssize(path_) - 1;
  }

  const TwoSidedGraph& graph_;
  Mates& mates_;
  CardinalityStats& stats_;
  std::unique_ptr<Offset[]> ahead_;  ///< [rows] columns before this edge are taken, and stay so
  std::vector<std::uint32_t> seen_;  ///< [cols] the last phase that visited it
  std::uint32_t phase_ = 0;
  std::vector<Index> free_;  ///< rows with edges
  std::vector<Place> path_;
  Index matched_ = 0;
  std::size_t left_ = 0;
};

}  // namespace

void ShortSearch::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                      CardinalityStats& stats) const {
  {
    const Timed timed(stats, "search");
    if (Searches(graph, mates, stats).run()) return;
  }
  TwoSidedGraph both = graph;
  Transposed columns;
  {
    const Timed timed(stats, "transpose");
    columns = transpose(view_of(graph), execution.threads);
    both.col_offsets = columns.col_offsets.data();
    both.row_index = columns.row_index.data();
  }
  const std::int64_t before = stats.augmentations;
  PushRelabel(PushRelabelOptions{}).run(execution, both, mates, stats);
  stats.augmented.push_back(stats.augmentations - before);
  stats.path_edges = 0;  // pushes are not counted as paths
}

}  // namespace motes::matching
