/// Phases of Hopcroft & Karp: breadth-first levels, then disjoint depth-first searches; for `hkdw` further
/// searches.

#include "matching/papers/hopcroft_karp.h"

#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching {
namespace {

using namespace detail;

class Phases {
 public:
  Phases(const Execution& execution, const TwoSidedGraph& graph, Mates& mates, CardinalityStats& stats)
      : graph_(graph),
        mates_(mates),
        stats_(stats),
        lanes_(at(execution.threads)),
        marks_(graph.cols, execution.threads),
        level_(at(graph.rows), -1),
        free_(free_rows(graph, mates)) {}

  void run(bool duff_wiberg) {
    while (!free_.empty() && find_levels()) {
      std::int64_t paths = search("dfs", [this](Step& step) { return take_next_level(step); });
      if (duff_wiberg) paths += search("duff_wiberg", [this](Step& step) { return take_any(step); });
      stats_.augmented.push_back(paths);
    }
    count_in(lanes_, stats_);
  }

 private:
  /// Levels of rows, from the free ones, up to the first that sees a free column; false: there is none.
  bool find_levels() {
    const Timed timed(stats_, "bfs");
    ++stats_.phases;
    if (last_ > std::numeric_limits<Index>::max() - graph_.rows - 4) {
      std::fill(level_.begin(), level_.end(), -1);
      last_ = -2;
    }
    // Level numbers continue from phase to phase: those below first_ are of earlier phases, so nothing is
    // cleared.
    first_ = last_ = last_ + 2;
    marks_.new_round();
    for (const Index i : free_) level_[at(i)] = first_;
    frontier_ = free_;
    std::vector<std::int64_t> sizes;
    bool found = false;
    while (true) {
      sizes.push_back(static_cast<std::int64_t>(frontier_.size()));
      over_parts(lanes_, std::ssize(frontier_), kLevelPart, [&](Lane& lane, auto begin, auto end) {
        bool free_column = false;
        const auto visit = [&](Index row) {
          const auto cols = graph_.cols_of(row);
          lane.edges += std::ssize(cols);
          for (const Index j : cols) {
            if (!marks_.win(j)) continue;
            const Index mate = mates_.col_to_row[at(j)];
            if (mate == -1) {
              free_column = true;
            } else {  // only the winner of its one column writes a row's level
              level_[at(mate)] = last_ + 1;
              lane.next.push_back(mate);
            }
          }
        };
        for_each_ahead(frontier_, begin, end, graph_.row_offsets, graph_.col_index, marks_.words(), visit);
        if (free_column) put(found, true);  // all threads write the same
      });
      gather(lanes_, frontier_);
      if (found || frontier_.empty()) break;
      ++last_;
    }
    stats_.levels.push_back(std::ssize(sizes));
    stats_.frontiers.push_back(std::move(sizes));
    if (!found) stats_.augmented.push_back(0);
    return found;
  }

  template <class Take>
  std::int64_t search(const char* step, const Take& take) {
    const Timed timed(stats_, step);
    marks_.new_round();
    over_parts(lanes_, std::ssize(free_), kSearchPart, [&](Lane& lane, auto begin, auto end) {
      for (auto k = begin; k < end; ++k)
        augment_by_dfs(graph_, mates_, free_[static_cast<std::size_t>(k)], lane, [&](Step& at_row) {
          const Offset before = at_row.next;
          const Index col = take(at_row);
          lane.edges += at_row.next - before;
          return col;
        });
    });
    drop_matched(mates_, free_);
    return count_in(lanes_, stats_);
  }

  /// Rows of the last level take free columns only, the others columns whose mates are one level down. The
  /// mate is read before the column is won: if another thread changes it, that thread has won the column.
  /// Levels have no cycles, so a column that was won and led nowhere leads nowhere for anyone.
  Index take_next_level(Step& step) {
    const Index level = level_[at(step.row)];
    for (const Offset end = graph_.row_offsets[step.row + 1]; step.next < end;) {
      const Index j = graph_.col_index[step.next++];
      if (marks_.taken(j)) continue;
      const Index mate = peek(mates_.col_to_row[at(j)]);
      const bool onward = mate == -1 ? level == last_ : level < last_ && level_[at(mate)] == level + 1;
      if (onward && marks_.win(j)) return j;
    }
    return -1;
  }

  Index take_any(Step& step) {
    for (const Offset end = graph_.row_offsets[step.row + 1]; step.next < end;) {
      const Index j = graph_.col_index[step.next++];
      if (marks_.win(j)) return j;
    }
    return -1;
  }

  static constexpr std::int64_t kSearchPart = 8;  ///< searches differ in length by orders of magnitude

  const TwoSidedGraph& graph_;
  Mates& mates_;
  CardinalityStats& stats_;
  std::vector<Lane> lanes_;
  Stamps marks_;              ///< columns, cleared for each search
  std::vector<Index> level_;  ///< [rows]; of this phase if at least first_
  Index first_ = -2, last_ = -2;
  std::vector<Index> free_, frontier_;
};

}  // namespace

void HopcroftKarp::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                       CardinalityStats& stats) const {
  Phases(execution, graph, mates, stats).run(duff_wiberg_);
}

}  // namespace motes::matching
