#include "matching/problem.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace motes::matching {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
std::size_t at(Offset e) { return static_cast<std::size_t>(e); }

void check_graph(const BipartiteGraphView& graph) {
  if (graph.rows < 0 || graph.cols < 0)
    throw std::invalid_argument("graph: negative number of rows or columns");
  if (graph.row_offsets.size() != at(graph.rows) + 1)
    throw std::invalid_argument("graph: row_offsets has " + std::to_string(graph.row_offsets.size()) +
                                " entries, not rows + 1 = " + std::to_string(at(graph.rows) + 1));
  if (graph.row_offsets.front() != 0 || graph.row_offsets.back() != graph.edges())
    throw std::invalid_argument("graph: row_offsets must run from 0 to the number of edges");
  for (Index i = 0; i < graph.rows; ++i) {
    const Offset begin = graph.row_offsets[at(i)], end = graph.row_offsets[at(i) + 1];
    if (begin > end || end > graph.edges())
      throw std::invalid_argument("graph: row_offsets falls at row " + std::to_string(i));
    Index previous = -1;
    for (Offset e = begin; e < end; ++e) {
      const Index j = graph.col_index[at(e)];
      if (j < 0 || j >= graph.cols)
        throw std::invalid_argument("graph: column " + std::to_string(j) + " of row " + std::to_string(i) +
                                    " lies outside 0.." + std::to_string(graph.cols - 1));
      if (j <= previous)
        throw std::invalid_argument("graph: columns of row " + std::to_string(i) +
                                    " are unsorted or repeat column " + std::to_string(j));
      previous = j;
    }
  }
}

void check_unmatched(std::span<const Cost> costs, Index count, const char* name) {
  if (costs.empty()) return;
  if (costs.size() != at(count))
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(costs.size()) +
                                " entries, not " + std::to_string(count));
  for (std::size_t k = 0; k < costs.size(); ++k)
    if (costs[k] != kInfiniteCost && (costs[k] > kMaxCost || costs[k] < -kMaxCost))
      throw std::invalid_argument(std::string(name) + "[" + std::to_string(k) + "] lies beyond 2^58");
}

}  // namespace

void check_problem(const SparseCostsView& problem) {
  check_graph(problem.graph);
  if (problem.cost.size() != problem.graph.col_index.size())
    throw std::invalid_argument("cost has " + std::to_string(problem.cost.size()) +
                                " entries, not one per edge (" +
                                std::to_string(problem.graph.col_index.size()) + ")");
  for (std::size_t e = 0; e < problem.cost.size(); ++e)
    if (problem.cost[e] > kMaxCost || problem.cost[e] < -kMaxCost)
      throw std::invalid_argument("cost of edge " + std::to_string(e) +
                                  " lies beyond 2^58 (leave a forbidden pair out)");
  check_unmatched(problem.unmatched_row_cost, problem.graph.rows, "unmatched_row_cost");
  check_unmatched(problem.unmatched_col_cost, problem.graph.cols, "unmatched_col_cost");
}

SparseCosts transpose(const SparseCostsView& problem) {
  const auto& graph = problem.graph;
  SparseCosts out;
  out.graph.rows = graph.cols;
  out.graph.cols = graph.rows;
  out.graph.row_offsets.assign(at(graph.cols) + 1, 0);
  for (const Index j : graph.col_index) ++out.graph.row_offsets[at(j) + 1];
  std::partial_sum(out.graph.row_offsets.begin(), out.graph.row_offsets.end(), out.graph.row_offsets.begin());
  out.graph.col_index.resize(graph.col_index.size());
  out.cost.resize(problem.cost.size());
  std::vector<Offset> next(out.graph.row_offsets.begin(), out.graph.row_offsets.end() - 1);
  for (Index i = 0; i < graph.rows; ++i) {
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Offset place = next[at(graph.col_index[at(e)])]++;
      out.graph.col_index[at(place)] = i;
      out.cost[at(place)] = problem.cost[at(e)];
    }
  }
  out.unmatched_row_cost.assign(problem.unmatched_col_cost.begin(), problem.unmatched_col_cost.end());
  out.unmatched_col_cost.assign(problem.unmatched_row_cost.begin(), problem.unmatched_row_cost.end());
  return out;
}

}  // namespace motes::matching
