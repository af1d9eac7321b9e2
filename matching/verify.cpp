#include "matching/verify.h"

#include <algorithm>
#include <cstddef>

namespace motes::matching {
namespace {

__extension__ typedef __int128 Wide;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
std::size_t at(Offset e) { return static_cast<std::size_t>(e); }

/// Position of edge (i, j), or -1.
Offset find_edge(const BipartiteGraphView& graph, Index i, Index j) {
  const auto begin = graph.col_index.begin() + graph.row_offsets[at(i)];
  const auto end = graph.col_index.begin() + graph.row_offsets[at(i) + 1];
  const auto found = std::lower_bound(begin, end, j);
  return found == end || *found != j ? -1 : found - graph.col_index.begin();
}

std::string pair_text(Index i, Index j) { return "(" + std::to_string(i) + ", " + std::to_string(j) + ")"; }

/// Fills matching_valid, primal and, at the first fault, fault.
Wide check_primal(const SparseCostsView& problem, const Matching& matching, Certificate& out) {
  const auto& graph = problem.graph;
  Wide primal = 0;
  auto fail = [&](const std::string& what) {
    if (out.fault.empty()) out.fault = what;
    return Wide{0};
  };
  if (matching.row_to_col.size() != at(graph.rows) || matching.col_to_row.size() != at(graph.cols))
    return fail("matching has the wrong number of rows or columns");
  for (Index i = 0; i < graph.rows; ++i) {
    const Index j = matching.row_to_col[at(i)];
    if (j == -1) {
      if (problem.row_cost(i) == kInfiniteCost)
        return fail("row " + std::to_string(i) + " must be matched, and is free");
      primal += problem.row_cost(i);
      continue;
    }
    if (j < 0 || j >= graph.cols) return fail("row " + std::to_string(i) + " is matched outside the columns");
    if (matching.col_to_row[at(j)] != i) return fail("row and column of " + pair_text(i, j) + " disagree");
    const Offset e = find_edge(graph, i, j);
    if (e < 0) return fail("pair " + pair_text(i, j) + " is no edge");
    primal += problem.cost[at(e)];
  }
  for (Index j = 0; j < graph.cols; ++j) {
    const Index i = matching.col_to_row[at(j)];
    if (i == -1) {
      if (problem.col_cost(j) == kInfiniteCost)
        return fail("column " + std::to_string(j) + " must be matched, and is free");
      primal += problem.col_cost(j);
    } else if (i < 0 || i >= graph.rows || matching.row_to_col[at(i)] != j) {
      return fail("column " + std::to_string(j) + " names a row that is not matched to it");
    }
  }
  out.matching_valid = true;
  return primal;
}

/// Fills dual_feasible and tight; returns the dual objective.
Wide check_dual(const SparseCostsView& problem, const Matching& matching, Certificate& out) {
  const auto& graph = problem.graph;
  const auto& [u, v] = matching.duals;
  Wide dual = 0;
  auto fail = [&](const std::string& what) {
    if (out.fault.empty()) out.fault = what;
  };
  if (u.size() != at(graph.rows) || v.size() != at(graph.cols)) {
    fail("duals are missing or have the wrong length");
    return 0;
  }
  bool feasible = true, tight = out.matching_valid;
  for (Index i = 0; i < graph.rows; ++i) {
    const Cost r = problem.row_cost(i);
    const Index mate = out.matching_valid ? matching.row_to_col[at(i)] : -1;
    dual += u[at(i)];
    if (r != kInfiniteCost && u[at(i)] > r)
      feasible = false, fail("dual of row " + std::to_string(i) + " is above its unmatched cost");
    if (out.matching_valid && mate == -1 && u[at(i)] != r)
      tight = false, fail("free row " + std::to_string(i) + " is not tight");
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Index j = graph.col_index[at(e)];
      const Wide sum = static_cast<Wide>(u[at(i)]) + v[at(j)];
      if (sum > problem.cost[at(e)])
        feasible = false, fail("duals of edge " + pair_text(i, j) + " exceed its cost");
      if (j == mate && sum != problem.cost[at(e)])
        tight = false, fail("matched edge " + pair_text(i, j) + " is not tight");
    }
  }
  for (Index j = 0; j < graph.cols; ++j) {
    const Cost q = problem.col_cost(j);
    dual += v[at(j)];
    if (q != kInfiniteCost && v[at(j)] > q)
      feasible = false, fail("dual of column " + std::to_string(j) + " is above its unmatched cost");
    if (out.matching_valid && matching.col_to_row[at(j)] == -1 && v[at(j)] != q)
      tight = false, fail("free column " + std::to_string(j) + " is not tight");
  }
  out.dual_feasible = feasible;
  out.tight = tight;
  return dual;
}

}  // namespace

Certificate verify(const SparseCostsView& problem, const Matching& matching) {
  Certificate out;
  const Wide primal = check_primal(problem, matching, out);
  const Wide dual = check_dual(problem, matching, out);
  out.primal = static_cast<double>(primal);
  out.dual = static_cast<double>(dual);
  out.gap = static_cast<double>(primal - dual);
  return out;
}

}  // namespace motes::matching
