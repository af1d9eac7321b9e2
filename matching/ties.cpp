#include "matching/ties.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "matching/assignment/jonker_volgenant.h"
#include "matching/detail/entries.h"

namespace motes::matching {
namespace {

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

/// The pairs and free states that optimal matchings may use: those that are tight under the duals.
struct TightGraph {
  Index rows = 0, cols = 0;
  std::vector<Offset> offsets{0};
  std::vector<Index> col;
  std::vector<char> row_may_stay_free, col_may_stay_free;
};

std::vector<char> tight_unmatched(std::span<const Cost> unmatched, std::span<const Cost> dual) {
  std::vector<char> out(dual.size(), 0);
  for (std::size_t k = 0; k < unmatched.size(); ++k)
    out[k] = unmatched[k] != kInfiniteCost && unmatched[k] == dual[k];
  return out;
}

TightGraph tight_graph(const CostsView& problem, const Duals& duals) {
  TightGraph out;
  out.rows = rows_of(problem);
  out.cols = cols_of(problem);
  out.offsets.reserve(at(out.rows) + 1);
  detail::with_entries(problem, [&](const auto& entries) {
    for (Index i = 0; i < entries.rows; ++i) {
      const Cost u = duals.u[at(i)];
      entries.for_each(i, 0, 1, [&](Index j, Cost c) {
        if (c - u == duals.v[at(j)]) out.col.push_back(j);
      });
      out.offsets.push_back(static_cast<Offset>(out.col.size()));
    }
  });
  out.row_may_stay_free = tight_unmatched(unmatched_row_cost_of(problem), duals.u);
  out.col_may_stay_free = tight_unmatched(unmatched_col_cost_of(problem), duals.v);
  return out;
}

/// Who could take whose place: an arc from row i to the row whose column i could have instead of its own. The
/// outside is one more node: an arc to it from rows that could stay free or have a free column, an arc from
/// it to rows that are free or whose column could be. Another optimum differs by cycles of this graph.
class Exchanges {
 public:
  Exchanges(const TightGraph& tight, const Matching& matching) : rows_(tight.rows), outside_(tight.rows) {
    head_.assign(at(rows_) + 2, 0);
    for_each_arc(tight, matching, [&](Index from, Index) { ++head_[at(from) + 1]; });
    std::partial_sum(head_.begin(), head_.end(), head_.begin());
    to_.resize(static_cast<std::size_t>(head_.back()));
    std::vector<Offset> next(head_.begin(), head_.end() - 1);
    for_each_arc(tight, matching,
                 [&](Index from, Index to) { to_[static_cast<std::size_t>(next[at(from)]++)] = to; });
  }

  /// Rows that may lie on a cycle: what is left when nodes without arcs in, or out, are taken away in turn.
  std::vector<Index> rows_on_cycles() const {
    std::vector<char> left(at(rows_) + 1, 1);
    peel(head_, to_, left);
    std::vector<Offset> head(head_.size(), 0);
    for (const Index to : to_) ++head[at(to) + 1];
    std::partial_sum(head.begin(), head.end(), head.begin());
    std::vector<Index> from(to_.size());
    std::vector<Offset> next(head.begin(), head.end() - 1);
    for (Index node = 0; node <= rows_; ++node)
      for (Offset a = head_[at(node)]; a < head_[at(node) + 1]; ++a)
        from[static_cast<std::size_t>(next[at(to_[static_cast<std::size_t>(a)])]++)] = node;
    peel(head, from, left);
    std::vector<Index> out;
    for (Index i = 0; i < rows_; ++i)
      if (left[at(i)]) out.push_back(i);
    return out;
  }

 private:
  template <class F>
  void for_each_arc(const TightGraph& tight, const Matching& matching, F&& f) const {
    for (Index i = 0; i < rows_; ++i) {
      const Index mate = matching.row_to_col[at(i)];
      for (Offset e = tight.offsets[at(i)]; e < tight.offsets[at(i) + 1]; ++e) {
        const Index j = tight.col[static_cast<std::size_t>(e)];
        if (j == mate) continue;
        const Index holder = matching.col_to_row[at(j)];
        f(i, holder == -1 ? outside_ : holder);
      }
      if (mate != -1 && tight.row_may_stay_free[at(i)]) f(i, outside_);
      if (mate == -1 || tight.col_may_stay_free[at(mate)]) f(outside_, i);
    }
  }

  /// Takes away, in turn, the nodes that no arc from a node still there enters.
  static void peel(const std::vector<Offset>& head, const std::vector<Index>& to, std::vector<char>& left) {
    std::vector<Index> entering(left.size(), 0), queue;
    for (std::size_t node = 0; node < left.size(); ++node)
      if (left[node])
        for (Offset a = head[node]; a < head[node + 1]; ++a) ++entering[at(to[static_cast<std::size_t>(a)])];
    for (std::size_t node = 0; node < left.size(); ++node)
      if (left[node] && entering[node] == 0) queue.push_back(static_cast<Index>(node));
    for (std::size_t k = 0; k < queue.size(); ++k) {
      left[at(queue[k])] = 0;
      for (Offset a = head[at(queue[k])]; a < head[at(queue[k]) + 1]; ++a) {
        const Index node = to[static_cast<std::size_t>(a)];
        if (left[at(node)] && --entering[at(node)] == 0) queue.push_back(node);
      }
    }
  }

  Index rows_, outside_;
  std::vector<Offset> head_;
  std::vector<Index> to_;
};

/// The part of the problem in which optima may differ, its costs hashes.
struct Contest {
  SparseCosts costs;
  std::vector<Index> cols;  ///< the part's columns in the whole
};

template <class Hash>
Contest contest_of(const TightGraph& tight, const Matching& matching, const std::vector<Index>& rows,
                   const Hash& hash) {
  Contest out;
  std::vector<char> contested(at(tight.rows), 0);
  for (const Index i : rows) contested[at(i)] = 1;
  // Columns that are free or whose row is in the part, in the order of the whole.
  std::vector<Index> place(at(tight.cols), -1);
  for (Index j = 0; j < tight.cols; ++j) {
    const Index holder = matching.col_to_row[at(j)];
    if (holder != -1 && !contested[at(holder)]) continue;
    place[at(j)] = static_cast<Index>(out.cols.size());
    out.cols.push_back(j);
    out.costs.unmatched_col_cost.push_back(tight.col_may_stay_free[at(j)] ? hash(-1, j) : kInfiniteCost);
  }
  out.costs.graph.rows = static_cast<Index>(rows.size());
  out.costs.graph.cols = static_cast<Index>(out.cols.size());
  for (const Index i : rows) {
    for (Offset e = tight.offsets[at(i)]; e < tight.offsets[at(i) + 1]; ++e) {
      const Index j = tight.col[static_cast<std::size_t>(e)];
      if (place[at(j)] == -1) continue;
      out.costs.graph.col_index.push_back(place[at(j)]);
      out.costs.cost.push_back(hash(i, j));
    }
    out.costs.graph.row_offsets.push_back(out.costs.graph.edges());
    out.costs.unmatched_row_cost.push_back(tight.row_may_stay_free[at(i)] ? hash(i, -1) : kInfiniteCost);
  }
  return out;
}

bool pairs_are_tight(const TightGraph& tight, const Matching& matching) {
  for (Index i = 0; i < tight.rows; ++i) {
    const Index mate = matching.row_to_col[at(i)];
    const auto begin = tight.col.begin() + tight.offsets[at(i)],
               end = tight.col.begin() + tight.offsets[at(i) + 1];
    if (mate == -1 ? !tight.row_may_stay_free[at(i)] : std::find(begin, end, mate) == end) return false;
  }
  for (Index j = 0; j < tight.cols; ++j)
    if (matching.col_to_row[at(j)] == -1 && !tight.col_may_stay_free[at(j)]) return false;
  return true;
}

}  // namespace

Matching resolve_ties(const Execution& execution, const CostsView& problem, const Matching& optimal) {
  const Index rows = rows_of(problem), cols = cols_of(problem);
  if (optimal.status != Status::optimal || optimal.duals.u.size() != at(rows) ||
      optimal.duals.v.size() != at(cols))
    throw std::invalid_argument("resolve_ties: needs an optimal matching with its duals");
  const auto start = std::chrono::steady_clock::now();
  int bits = 40;
  while (bits > 1 && (Offset{2} * (Offset{rows} + cols + 2)) > (Offset{1} << (58 - bits))) --bits;
  const auto hash = [&](Index i, Index j) { return static_cast<Cost>(pair_hash(i, j) >> (64 - bits)); };

  const TightGraph tight = tight_graph(problem, optimal.duals);
  if (!pairs_are_tight(tight, optimal))
    throw std::invalid_argument("resolve_ties: the matching given is not optimal for its duals");
  Matching out = optimal;
  const std::vector<Index> contested = Exchanges(tight, optimal).rows_on_cycles();
  if (!contested.empty()) {
    const Contest contest = contest_of(tight, optimal, contested, hash);
    Execution on_cpu = execution;
    on_cpu.backend = Backend::cpu;
    const Matching least = JonkerVolgenant().solve(on_cpu, contest.costs.view());
    for (const Index i : contested)
      if (out.row_to_col[at(i)] != -1) out.col_to_row[at(out.row_to_col[at(i)])] = -1;
    for (std::size_t k = 0; k < contested.size(); ++k) {
      const Index j = least.row_to_col[k] == -1 ? -1 : contest.cols[at(least.row_to_col[k])];
      out.row_to_col[at(contested[k])] = j;
      if (j != -1) out.col_to_row[at(j)] = contested[k];
    }
    out.cardinality = static_cast<std::int64_t>(
        std::count_if(out.row_to_col.begin(), out.row_to_col.end(), [](Index j) { return j != -1; }));
  }
  out.stats.seconds["ties"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace motes::matching
