/// The choice between optima: tight edges, rows on cycles, and a second assignment problem.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include <motes/base/for_each_task.h>
#include <motes/base/hash.h>
#include <motes/base/index.h>
#include <motes/base/timer.h>
#include <motes/matching/ties.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/canonical/entries.h"
#include "matching/assignment/device_problem.h"
#include "matching/assignment/jonker_volgenant.h"

namespace motes::matching {
namespace {

using detail::Alternatives;
using Contender = Alternatives::Contender;

/// A hash of both indices; -1 means unmatched.
std::uint64_t pair_hash(Index i, Index j) {
  return splitmix64((static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)) << 32) |
                    static_cast<std::uint32_t>(j));
}

Index named(std::span<const Index> names, Index k) { return names.empty() || k == -1 ? k : names[at(k)]; }

std::vector<char> tight_unmatched(std::span<const Cost> unmatched, std::span<const Cost> dual) {
  std::vector<char> out(dual.size(), 0);
  for (std::size_t k = 0; k < unmatched.size(); ++k)
    out[k] = unmatched[k] != kInfiniteCost && unmatched[k] == dual[k];
  return out;
}

/// Whether all free vertices may be unmatched.
bool may_be_free(const std::vector<Index>& mates, const std::vector<char>& may_stay_free) {
  for (std::size_t k = 0; k < mates.size(); ++k)
    if (mates[k] == -1 && !may_stay_free[k]) return false;
  return true;
}

/// Rows that another could displace and that could go elsewhere. Nearly all lack the one or the other: where
/// duals are as low as they can be most rows could stay free, where they are high most columns could.
void keep_contenders(const Matching& matching, const std::vector<char>& row_may_stay_free,
                     const std::vector<char>& col_may_stay_free, Alternatives& out) {
  const auto rows = static_cast<Index>(matching.row_to_col.size());
  std::vector<char> wanted(at(rows), 0);  // another row's pair leads to this row
  for (const auto& [row, col] : out.pairs)
    if (matching.col_to_row[at(col)] != -1) wanted[at(matching.col_to_row[at(col)])] = 1;
  std::vector<char> contends(at(rows), 0);
  auto pair = out.pairs.begin();
  for (Index i = 0; i < rows; ++i) {
    const Index mate = matching.row_to_col[at(i)];
    const bool leaves = mate != -1 && row_may_stay_free[at(i)];
    const bool col_leaves = mate != -1 && col_may_stay_free[at(mate)];
    const bool has_pair = pair != out.pairs.end() && pair->row == i;
    while (pair != out.pairs.end() && pair->row == i) ++pair;
    contends[at(i)] = (has_pair || leaves) && (wanted[at(i)] || mate == -1 || col_leaves);
    if (contends[at(i)]) out.rows.push_back({i, row_may_stay_free[at(i)] != 0, col_leaves});
  }
  std::erase_if(out.pairs, [&](const detail::Pair& p) {
    const Index holder = matching.col_to_row[at(p.col)];
    return !contends[at(p.row)] || (holder != -1 && !contends[at(holder)]);
  });
}

Alternatives find_alternatives(const Execution& execution, const CostsView& problem,
                               const Matching& matching) {
  if (space_of(problem) == Space::device) return detail::alternatives_on_device(execution, problem, matching);
  const auto &u = matching.duals.u, &v = matching.duals.v;
  Alternatives out;
  constexpr Index kRowsPerTask = 4096;
  const Index rows = rows_of(problem), tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<std::vector<detail::Pair>> found(at(tasks));
  std::vector<char> consistent(at(tasks), 1);
  detail::with_entries(problem, [&](const auto& entries) {
    for_each_block(thread_count(execution), rows, kRowsPerTask, [&](Index begin, Index end) {
      const std::size_t task = at(begin / kRowsPerTask);
      for (Index i = begin; i < end; ++i) {
        const Index mate = matching.row_to_col[at(i)];
        bool tight = mate == -1;
        entries.for_each(i, 0, 1, [&](Index j, Cost c) {
          if (c - u[at(i)] != v[at(j)]) return;
          if (j == mate)
            tight = true;
          else
            found[task].push_back({i, j});
        });
        if (!tight) consistent[task] = 0;
      }
    });
  });
  for (const auto& pairs : found) out.pairs.insert(out.pairs.end(), pairs.begin(), pairs.end());
  const auto row_may_stay_free = tight_unmatched(unmatched_row_cost_of(problem), u),
             col_may_stay_free = tight_unmatched(unmatched_col_cost_of(problem), v);
  out.consistent = std::find(consistent.begin(), consistent.end(), 0) == consistent.end() &&
                   may_be_free(matching.row_to_col, row_may_stay_free) &&
                   may_be_free(matching.col_to_row, col_may_stay_free);
  if (out.consistent) keep_contenders(matching, row_may_stay_free, col_may_stay_free, out);
  return out;
}

/// The rows that contenders' columns belong to: all that alternatives tell of columns.
class Holders {
 public:
  Holders(const std::vector<Contender>& rows, const std::vector<Index>& row_to_col) {
    for (const Contender& c : rows)
      if (const Index j = row_to_col[at(c.row)]; j != -1) holders_.emplace_back(j, c.row);
    std::ranges::sort(holders_);
  }
  /// -1 where no contender has the column.
  Index of(Index col) const {
    const auto found = std::ranges::lower_bound(holders_, col, {}, &std::pair<Index, Index>::first);
    return found != holders_.end() && found->first == col ? found->second : -1;
  }

 private:
  std::vector<std::pair<Index, Index>> holders_;  ///< column, row
};

/// The graph of possible exchanges. It has an arc from row i to the row whose column i could have instead
/// of its own. The outside is one more node, with arcs from rows that could stay free or take a free
/// column, and arcs to rows that are free or whose column could be. Other optima differ by cycles of this
/// graph. rows_on_cycles() returns the rows that may be on a cycle: what remains after nodes without
/// incoming or without outgoing arcs are removed repeatedly.
class Exchanges {
 public:
  Exchanges(const Alternatives& alternatives, const Holders& holders, const std::vector<Index>& row_to_col)
      : rows_(alternatives.rows) {
    const auto outside = static_cast<Index>(rows_.size());
    for (const auto& [row, col] : alternatives.pairs) {
      const Index holder = holders.of(col);
      arcs_.push_back({node_of(row), holder == -1 ? outside : node_of(holder)});
    }
    for (Index node = 0; node < outside; ++node) {
      const auto& [row, may_stay_free, col_may_stay_free] = rows_[at(node)];
      const bool matched = row_to_col[at(row)] != -1;
      if (matched && may_stay_free) arcs_.push_back({node, outside});
      if (!matched || col_may_stay_free) arcs_.push_back({outside, node});
    }
  }

  std::vector<Contender> rows_on_cycles() {
    std::vector<char> left(rows_.size() + 1, 1);
    peel(left);
    for (auto& [from, to] : arcs_) std::swap(from, to);
    peel(left);
    std::vector<Contender> out;
    for (std::size_t node = 0; node < rows_.size(); ++node)
      if (left[node]) out.push_back(rows_[node]);
    return out;
  }

 private:
  struct Arc {
    Index from, to;  ///< nodes: places in rows_, or rows_.size() for the outside
  };

  Index node_of(Index row) const {
    return static_cast<Index>(std::ranges::lower_bound(rows_, row, {}, &Contender::row) - rows_.begin());
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

  const std::vector<Contender>& rows_;
  std::vector<Arc> arcs_;
};

/// The part of the problem in which optima may differ, its costs hashes.
struct TieProblem {
  SparseCosts costs;
  std::vector<Index> cols;  ///< the part's columns in the whole
};

template <class Hash>
TieProblem tie_problem_of(const Alternatives& alternatives, const Holders& holders,
                          const std::vector<Index>& row_to_col, const std::vector<Contender>& rows,
                          const Hash& hash) {
  TieProblem out;
  const auto contested = [&](Index row) {
    return std::ranges::binary_search(rows, row, {}, &Contender::row);
  };
  // Columns that the part's rows have or could have, in the order of the whole. Free ones may stay so.
  std::vector<std::pair<Index, Cost>> cols;
  for (const auto& [row, may_stay_free, col_may_stay_free] : rows)
    if (const Index j = row_to_col[at(row)]; j != -1)
      cols.emplace_back(j, col_may_stay_free ? hash(-1, j) : kInfiniteCost);
  std::vector<detail::Pair> pairs;
  for (const auto& [row, col] : alternatives.pairs) {
    const Index holder = holders.of(col);
    if (!contested(row) || (holder != -1 && !contested(holder))) continue;
    pairs.push_back({row, col});
    if (holder == -1) cols.emplace_back(col, hash(-1, col));
  }
  std::ranges::sort(cols);
  cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
  for (const auto& [col, cost] : cols) {
    out.cols.push_back(col);
    out.costs.unmatched_col_cost.push_back(cost);
  }
  out.costs.graph.rows = static_cast<Index>(rows.size());
  out.costs.graph.cols = static_cast<Index>(out.cols.size());
  std::vector<Index> row_cols;
  auto pair = pairs.begin();
  for (const auto& [row, may_stay_free, col_may_stay_free] : rows) {
    row_cols.clear();
    if (row_to_col[at(row)] != -1) row_cols.push_back(row_to_col[at(row)]);
    for (; pair != pairs.end() && pair->row == row; ++pair) row_cols.push_back(pair->col);
    std::ranges::sort(row_cols);
    for (const Index j : row_cols) {
      out.costs.graph.col_index.push_back(
          static_cast<Index>(std::ranges::lower_bound(out.cols, j) - out.cols.begin()));
      out.costs.cost.push_back(hash(row, j));
    }
    out.costs.graph.row_offsets.push_back(out.costs.graph.edges());
    out.costs.unmatched_row_cost.push_back(may_stay_free ? hash(row, -1) : kInfiniteCost);
  }
  return out;
}

/// As detail::choose_least, with names.
void choose_least_named(const Execution& execution, Index rows, Index cols, const Alternatives& alternatives,
                        const TieNames& names, Matching& optimal) {
  if (!alternatives.consistent)
    throw std::invalid_argument("resolve_ties: the matching given is not optimal for its duals");
  int bits = 40;
  while (bits > 1 && (Offset{2} * (Offset{rows} + cols + 2)) > (Offset{1} << (58 - bits))) --bits;
  const auto hash = [&](Index i, Index j) {
    return static_cast<Cost>(pair_hash(named(names.rows, i), named(names.cols, j)) >> (64 - bits));
  };
  const Holders holders(alternatives.rows, optimal.row_to_col);
  const std::vector<Contender> contested =
      Exchanges(alternatives, holders, optimal.row_to_col).rows_on_cycles();
  if (contested.empty()) return;
  const TieProblem tied = tie_problem_of(alternatives, holders, optimal.row_to_col, contested, hash);
  Execution on_cpu = execution;
  on_cpu.backend = Backend::cpu;
  const Matching least = JonkerVolgenant().solve(on_cpu, tied.costs.view());
  const bool both = !optimal.col_to_row.empty();
  for (const Contender& c : contested)
    if (const Index j = optimal.row_to_col[at(c.row)]; both && j != -1) optimal.col_to_row[at(j)] = -1;
  for (std::size_t k = 0; k < contested.size(); ++k) {
    const Index j = least.row_to_col[k] == -1 ? -1 : tied.cols[at(least.row_to_col[k])];
    optimal.row_to_col[at(contested[k].row)] = j;
    if (both && j != -1) optimal.col_to_row[at(j)] = contested[k].row;
  }
  optimal.cardinality = static_cast<std::int64_t>(
      std::count_if(optimal.row_to_col.begin(), optimal.row_to_col.end(), [](Index j) { return j != -1; }));
}

}  // namespace

void detail::choose_least(const Execution& execution, Index rows, Index cols,
                          const Alternatives& alternatives, Matching& optimal) {
  choose_least_named(execution, rows, cols, alternatives, {}, optimal);
}

Matching resolve_ties(const Execution& execution, const CostsView& problem, Matching optimal,
                      const TieNames& names) {
  const Index rows = rows_of(problem), cols = cols_of(problem);
  if (optimal.status != Status::optimal || optimal.row_to_col.size() != at(rows) ||
      optimal.col_to_row.size() != at(cols) || optimal.duals.u.size() != at(rows) ||
      optimal.duals.v.size() != at(cols))
    throw std::invalid_argument("resolve_ties: needs an optimal matching with its duals");
  const auto start = std::chrono::steady_clock::now();
  choose_least_named(execution, rows, cols, find_alternatives(execution, problem, optimal), names, optimal);
  optimal.stats.seconds["ties"] = seconds_since(start);
  return optimal;
}

}  // namespace motes::matching
