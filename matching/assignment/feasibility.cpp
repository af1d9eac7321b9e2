/// Feasibility by Hopcroft and Karp's algorithm from each side, and the Hall violator of a failed search.

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <motes/base/index.h>
#include <motes/matching/feasibility.h>

#include "matching/assignment/canonical/entries.h"

namespace motes::matching {
namespace {

/// Hopcroft and Karp's algorithm from the rows that must be matched to all columns.
template <class Entries>
class RequiredRowsMatcher {
 public:
  RequiredRowsMatcher(const Entries& entries, std::span<const Cost> unmatched)
      : entries_(entries),
        row_to_col_(at(entries.rows), -1),
        col_to_row_(at(entries.cols), -1),
        level_(at(entries.rows)),
        edges_(at(entries.rows)) {
    for (Index i = 0; i < entries.rows; ++i)
      if (unmatched.empty() || unmatched[at(i)] == kInfiniteCost) must_.push_back(i);
  }

  std::optional<HallViolator> violator(bool of_rows) {
    for (const Index i : must_) take_free_column(i);
    while (grow_levels()) {
      std::int64_t gained = 0;
      for (const Index i : must_)
        if (row_to_col_[at(i)] == -1) gained += augment(i);
      if (gained == 0) break;
    }
    // Rows reached by alternating paths from a free one: all their columns are matched to rows of this set.
    std::vector<char> reached(row_to_col_.size(), 0);
    std::vector<Index> queue;
    for (const Index i : must_)
      if (row_to_col_[at(i)] == -1) {
        queue.push_back(i);
        break;
      }
    if (queue.empty()) return std::nullopt;
    reached[at(queue.front())] = 1;
    HallViolator out;
    out.of_rows = of_rows;
    std::vector<char> seen(col_to_row_.size(), 0);
    for (std::size_t k = 0; k < queue.size(); ++k)
      entries_.for_each(queue[k], 0, 1, [&](Index j, Cost) {
        if (seen[at(j)]) return;
        seen[at(j)] = 1;
        ++out.neighbours;
        const Index next = col_to_row_[at(j)];
        if (next != -1 && !reached[at(next)]) reached[at(next)] = 1, queue.push_back(next);
      });
    out.vertices = std::move(queue);
    std::sort(out.vertices.begin(), out.vertices.end());
    return out;
  }

 private:
  void match(Index i, Index j) { row_to_col_[at(i)] = j, col_to_row_[at(j)] = i; }

  void take_free_column(Index i) {
    Index found = -1;
    entries_.for_each(i, 0, 1, [&](Index j, Cost) {
      if (found == -1 && col_to_row_[at(j)] == -1) found = j;
    });
    if (found != -1) match(i, found);
  }

  /// Breadth-first levels from the free rows; true if they reach a free column.
  bool grow_levels() {
    std::fill(level_.begin(), level_.end(), -1);
    std::vector<Index> queue;
    for (const Index i : must_)
      if (row_to_col_[at(i)] == -1) level_[at(i)] = 0, queue.push_back(i);
    bool found = false;
    for (std::size_t k = 0; k < queue.size(); ++k)
      entries_.for_each(queue[k], 0, 1, [&](Index j, Cost) {
        const Index next = col_to_row_[at(j)];
        if (next == -1) {
          found = true;
        } else if (level_[at(next)] == -1) {
          level_[at(next)] = level_[at(queue[k])] + 1;
          queue.push_back(next);
        }
      });
    for (auto& columns : edges_) columns.clear();
    return found;
  }

  /// One path along rising levels, depth first without recursion; a row that fails is not tried again.
  bool augment(Index source) {
    std::vector<Index> path{source};
    while (!path.empty()) {
      const Index i = path.back();
      auto& columns = edges_[at(i)];
      if (columns.empty()) {
        columns.push_back(-1);  // below the columns: all were tried
        entries_.for_each(i, 0, 1, [&](Index j, Cost) {
          const Index next = col_to_row_[at(j)];
          if (next == -1 || level_[at(next)] == level_[at(i)] + 1) columns.push_back(j);
        });
      }
      const Index j = columns.back();
      if (j == -1) {
        level_[at(i)] = -1;
        path.pop_back();
        continue;
      }
      columns.pop_back();
      const Index next = col_to_row_[at(j)];
      if (next == -1) {
        Index take = j;
        for (auto row = path.rbegin(); row != path.rend(); ++row) {
          const Index released = row_to_col_[at(*row)];
          match(*row, take);
          take = released;
        }
        return true;
      }
      if (level_[at(next)] == level_[at(i)] + 1) path.push_back(next);
    }
    return false;
  }

  Entries entries_;
  std::vector<Index> must_, row_to_col_, col_to_row_, level_;
  std::vector<std::vector<Index>> edges_;  ///< [rows] columns still to try in this phase, over a -1
};

template <class Entries>
std::optional<HallViolator> violator_of(const Entries& entries, std::span<const Cost> unmatched,
                                        bool of_rows) {
  return RequiredRowsMatcher<Entries>(entries, unmatched).violator(of_rows);
}

}  // namespace

std::optional<HallViolator> find_hall_violator(const CostsView& problem) {
  if (space_of(problem) == Space::device)
    throw std::invalid_argument("find_hall_violator: the costs are in device memory; copy them to the host");
  return detail::with_entries(problem, [&]<class Entries>(const Entries& entries) {
    auto found = violator_of(entries, unmatched_row_cost_of(problem), true);
    if (found) return found;
    if constexpr (std::is_same_v<Entries, detail::SparseEntries>) {
      const SparseCosts other = transpose(std::get<SparseCostsView>(problem));
      return detail::with_entries(other.view(), [&](const auto& columns) {
        return violator_of(columns, unmatched_col_cost_of(problem), false);
      });
    } else {
      return violator_of(detail::exchanged(entries), unmatched_col_cost_of(problem), false);
    }
  });
}

}  // namespace motes::matching
