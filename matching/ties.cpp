#include "matching/ties.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "matching/assignment/jonker_volgenant.h"
#include "matching/detail/canonical.h"
#include "matching/detail/device_problem.h"
#include "matching/detail/entries.h"
#include "matching/parallel_for.h"

namespace motes::matching {
namespace {

using detail::Alternatives;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// splitmix64's finaliser (Steele, Lea & Flood 2014) of both indices; -1 stands for "free".
std::uint64_t pair_hash(Index i, Index j) {
  std::uint64_t x =
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)) << 32) | static_cast<std::uint32_t>(j);
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::vector<char> tight_unmatched(std::span<const Cost> unmatched, std::span<const Cost> dual) {
  std::vector<char> out(dual.size(), 0);
  for (std::size_t k = 0; k < unmatched.size(); ++k)
    out[k] = unmatched[k] != kInfiniteCost && unmatched[k] == dual[k];
  return out;
}

Alternatives find_alternatives(const Execution& execution, const CostsView& problem,
                               const Matching& matching) {
  if (space_of(problem) == Space::device) return detail::alternatives_on_device(execution, problem, matching);
  const auto& [u, v] = matching.duals;
  Alternatives out;
  out.row_may_stay_free = tight_unmatched(unmatched_row_cost_of(problem), u);
  out.col_may_stay_free = tight_unmatched(unmatched_col_cost_of(problem), v);
  constexpr Index kRowsPerTask = 4096;
  const Index rows = rows_of(problem), tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<std::vector<detail::Pair>> found(at(tasks));
  std::vector<char> consistent(at(tasks), 1);
  detail::with_entries(problem, [&](const auto& entries) {
    parallel_for(detail::thread_count(execution), tasks, [&](std::int64_t task) {
      const Index begin = static_cast<Index>(task) * kRowsPerTask;
      for (Index i = begin; i < std::min<Index>(rows, begin + kRowsPerTask); ++i) {
        const Index mate = matching.row_to_col[at(i)];
        bool tight = mate == -1;
        entries.for_each(i, 0, 1, [&](Index j, Cost c) {
          if (c - u[at(i)] != v[at(j)]) return;
          if (j == mate)
            tight = true;
          else
            found[static_cast<std::size_t>(task)].push_back({i, j});
        });
        if (!tight) consistent[static_cast<std::size_t>(task)] = 0;
      }
    });
  });
  for (const auto& pairs : found) out.pairs.insert(out.pairs.end(), pairs.begin(), pairs.end());
  out.pairs_consistent = std::find(consistent.begin(), consistent.end(), 0) == consistent.end();
  return out;
}

/// Everything that this matching uses is tight itself.
bool is_consistent(const Alternatives& alternatives, const Matching& matching) {
  const auto may_be_free = [](const std::vector<Index>& mates, const std::vector<char>& may_stay_free) {
    for (std::size_t k = 0; k < mates.size(); ++k)
      if (mates[k] == -1 && !may_stay_free[k]) return false;
    return true;
  };
  return alternatives.pairs_consistent && may_be_free(matching.row_to_col, alternatives.row_may_stay_free) &&
         may_be_free(matching.col_to_row, alternatives.col_may_stay_free);
}

/// Who could take whose place: an arc from row i to the row whose column i could have instead of its own. The
/// outside is one more node: an arc to it from rows that could stay free or have a free column, an arc from
/// it to rows that are free or whose column could be. Another optimum differs by cycles of this graph.
/// rows_on_cycles() tells the rows that may lie on one, ascending: what is left when nodes without arcs in,
/// or out, are taken away in turn. Nearly all rows lack the one or the other, and never come in: where duals
/// are as low as they can be most rows could stay free, where they are high most columns could.
class Exchanges {
 public:
  Exchanges(const Alternatives& alternatives, const Matching& matching) {
    const auto leaves = [&](Index i) {
      return matching.row_to_col[at(i)] != -1 && alternatives.row_may_stay_free[at(i)];
    };
    const auto may_enter = [&](Index i) {
      const Index mate = matching.row_to_col[at(i)];
      return mate == -1 || alternatives.col_may_stay_free[at(mate)];
    };
    const auto rows = static_cast<Index>(matching.row_to_col.size());
    std::vector<char> wanted(at(rows), 0);  // somebody's pair leads to this row
    for (const auto& [row, col] : alternatives.pairs)
      if (matching.col_to_row[at(col)] != -1) wanted[at(matching.col_to_row[at(col)])] = 1;
    auto pair = alternatives.pairs.begin();
    for (Index i = 0; i < rows; ++i) {
      const bool has_pair = pair != alternatives.pairs.end() && pair->row == i;
      if ((has_pair || leaves(i)) && (wanted[at(i)] || may_enter(i))) rows_.push_back(i);
      while (pair != alternatives.pairs.end() && pair->row == i) ++pair;
    }
    const auto outside = static_cast<Index>(rows_.size());
    for (const auto& [row, col] : alternatives.pairs) {
      const Index from = node_of(row), holder = matching.col_to_row[at(col)];
      const Index to = holder == -1 ? outside : node_of(holder);
      if (from != -1 && to != -1) arcs_.push_back({from, to});
    }
    for (Index node = 0; node < outside; ++node) {
      if (leaves(rows_[at(node)])) arcs_.push_back({node, outside});
      if (may_enter(rows_[at(node)])) arcs_.push_back({outside, node});
    }
  }

  std::vector<Index> rows_on_cycles() {
    std::vector<char> left(rows_.size() + 1, 1);
    peel(left);
    for (auto& [from, to] : arcs_) std::swap(from, to);
    peel(left);
    std::vector<Index> out;
    for (std::size_t node = 0; node < rows_.size(); ++node)
      if (left[node]) out.push_back(rows_[node]);
    return out;
  }

 private:
  struct Arc {
    Index from, to;  ///< nodes: places in rows_, or rows_.size() for the outside
  };

  /// -1 for rows that never came in.
  Index node_of(Index row) const {
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), row);
    return found == rows_.end() || *found != row ? -1 : static_cast<Index>(found - rows_.begin());
  }

  /// Takes away, in turn, the nodes that no arc from a node still there enters.
  void peel(std::vector<char>& left) const {
    std::vector<Offset> head(left.size() + 1, 0);
    std::vector<Index> entering(left.size(), 0), queue;
    for (const auto& [from, to] : arcs_) {
      ++head[at(from) + 1];
      if (left[at(from)] && left[at(to)]) ++entering[at(to)];
    }
    std::partial_sum(head.begin(), head.end(), head.begin());
    std::vector<Index> target(arcs_.size());
    std::vector<Offset> next(head.begin(), head.end() - 1);
    for (const auto& [from, to] : arcs_) target[static_cast<std::size_t>(next[at(from)]++)] = to;
    for (std::size_t node = 0; node < left.size(); ++node)
      if (left[node] && entering[node] == 0) queue.push_back(static_cast<Index>(node));
    for (std::size_t k = 0; k < queue.size(); ++k) {
      left[at(queue[k])] = 0;
      for (Offset a = head[at(queue[k])]; a < head[at(queue[k]) + 1]; ++a) {
        const Index node = target[static_cast<std::size_t>(a)];
        if (left[at(node)] && --entering[at(node)] == 0) queue.push_back(node);
      }
    }
  }

  std::vector<Index> rows_;  ///< with an arc in and one out, ascending
  std::vector<Arc> arcs_;
};

/// The part of the problem in which optima may differ, its costs hashes.
struct Contest {
  SparseCosts costs;
  std::vector<Index> cols;  ///< the part's columns in the whole
};

template <class Hash>
Contest contest_of(const Alternatives& alternatives, const Matching& matching, const std::vector<Index>& rows,
                   const Hash& hash) {
  Contest out;
  std::vector<char> contested(matching.row_to_col.size(), 0);
  for (const Index i : rows) contested[at(i)] = 1;
  // Columns that are free or whose row is in the part, in the order of the whole.
  const auto cols = static_cast<Index>(matching.col_to_row.size());
  std::vector<Index> place(at(cols), -1);
  for (Index j = 0; j < cols; ++j) {
    const Index holder = matching.col_to_row[at(j)];
    if (holder != -1 && !contested[at(holder)]) continue;
    place[at(j)] = static_cast<Index>(out.cols.size());
    out.cols.push_back(j);
    out.costs.unmatched_col_cost.push_back(alternatives.col_may_stay_free[at(j)] ? hash(-1, j)
                                                                                 : kInfiniteCost);
  }
  out.costs.graph.rows = static_cast<Index>(rows.size());
  out.costs.graph.cols = static_cast<Index>(out.cols.size());
  std::vector<Index> row_cols;
  auto pair = alternatives.pairs.begin();
  for (const Index i : rows) {
    while (pair != alternatives.pairs.end() && pair->row < i) ++pair;
    row_cols.clear();
    if (matching.row_to_col[at(i)] != -1) row_cols.push_back(matching.row_to_col[at(i)]);
    for (; pair != alternatives.pairs.end() && pair->row == i; ++pair)
      if (place[at(pair->col)] != -1) row_cols.push_back(pair->col);
    std::sort(row_cols.begin(), row_cols.end());
    for (const Index j : row_cols) {
      out.costs.graph.col_index.push_back(place[at(j)]);
      out.costs.cost.push_back(hash(i, j));
    }
    out.costs.graph.row_offsets.push_back(out.costs.graph.edges());
    out.costs.unmatched_row_cost.push_back(alternatives.row_may_stay_free[at(i)] ? hash(i, -1)
                                                                                 : kInfiniteCost);
  }
  return out;
}

}  // namespace

Matching resolve_ties(const Execution& execution, const CostsView& problem, Matching optimal) {
  const Index rows = rows_of(problem), cols = cols_of(problem);
  if (optimal.status != Status::optimal || optimal.row_to_col.size() != at(rows) ||
      optimal.col_to_row.size() != at(cols) || optimal.duals.u.size() != at(rows) ||
      optimal.duals.v.size() != at(cols))
    throw std::invalid_argument("resolve_ties: needs an optimal matching with its duals");
  const auto start = std::chrono::steady_clock::now();
  int bits = 40;
  while (bits > 1 && (Offset{2} * (Offset{rows} + cols + 2)) > (Offset{1} << (58 - bits))) --bits;
  const auto hash = [&](Index i, Index j) { return static_cast<Cost>(pair_hash(i, j) >> (64 - bits)); };

  const Alternatives alternatives = find_alternatives(execution, problem, optimal);
  if (!is_consistent(alternatives, optimal))
    throw std::invalid_argument("resolve_ties: the matching given is not optimal for its duals");
  const std::vector<Index> contested = Exchanges(alternatives, optimal).rows_on_cycles();
  if (!contested.empty()) {
    const Contest contest = contest_of(alternatives, optimal, contested, hash);
    Execution on_cpu = execution;
    on_cpu.backend = Backend::cpu;
    const Matching least = JonkerVolgenant().solve(on_cpu, contest.costs.view());
    for (const Index i : contested)
      if (optimal.row_to_col[at(i)] != -1) optimal.col_to_row[at(optimal.row_to_col[at(i)])] = -1;
    for (std::size_t k = 0; k < contested.size(); ++k) {
      const Index j = least.row_to_col[k] == -1 ? -1 : contest.cols[at(least.row_to_col[k])];
      optimal.row_to_col[at(contested[k])] = j;
      if (j != -1) optimal.col_to_row[at(j)] = contested[k];
    }
    optimal.cardinality = static_cast<std::int64_t>(
        std::count_if(optimal.row_to_col.begin(), optimal.row_to_col.end(), [](Index j) { return j != -1; }));
  }
  optimal.stats.seconds["ties"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return optimal;
}

}  // namespace motes::matching
