/// Checks of greedy problems, and bipartite graphs as general ones.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <motes/base/index.h>
#include <motes/matching/cardinality_problem.h>
#include <motes/matching/greedy_problem.h>
#include <motes/matching/matching_weight.h>

#include "matching/greedy/symmetry.h"

namespace motes::matching {
namespace {

std::size_t length_of(const Weights& weights) {
  return std::visit([](auto given) { return given.size(); }, weights);
}

void check_lengths(const GreedyProblem& problem) {
  const auto& graph = problem.graph;
  if (graph.rows < 0 || graph.cols < 0)
    throw std::invalid_argument("graph: negative number of rows or columns");
  if (graph.row_offsets.size() != at(graph.rows) + 1)
    throw std::invalid_argument("graph: row_offsets has " + std::to_string(graph.row_offsets.size()) +
                                " entries, not rows + 1 = " + std::to_string(at(graph.rows) + 1));
  if (problem.kind == GraphKind::general && graph.rows != graph.cols)
    throw std::invalid_argument("graph: a general graph has as many columns as rows, not " +
                                std::to_string(graph.rows) + " x " + std::to_string(graph.cols));
  const std::size_t weights = length_of(problem.weights);
  if (weights != 0 && weights != graph.col_index.size())
    throw std::invalid_argument("weights: there are " + std::to_string(weights) + " of them, not one per " +
                                "entry (" + std::to_string(graph.col_index.size()) + ")");
}

std::string text_of(const GreedyProblem& problem, Offset e) {
  return std::visit(
      [&](auto weights) {
        std::ostringstream text;
        text << weights[at(e)];
        return text.str();
      },
      problem.weights);
}

bool same_weight(const GreedyProblem& problem, Offset a, Offset b) {
  return std::visit([&](auto weights) { return weights.empty() || weights[at(a)] == weights[at(b)]; },
                    problem.weights);
}

template <class T>
bool is_weight(T weight) {
  if constexpr (std::is_integral_v<T>)
    return weight >= 0;
  else
    return (weight >= 0) & (weight <= std::numeric_limits<T>::max());
}

/// The first entry that is not a weight; `none` if there is none.
template <class T>
Offset first_bad_weight(std::span<const T> weights, Offset none, int threads) {
  constexpr Offset kBlock = 4096;
  Offset first = none;
  const auto count = static_cast<Offset>(weights.size());
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : first) if (threads > 1)
  for (Offset begin = 0; begin < count; begin += kBlock) {
    const Offset end = std::min(count, begin + kBlock);
    int faults = 0;  // counted without a branch, several weights at a time
    for (Offset e = begin; e < end; ++e) faults += !is_weight(weights[at(e)]);
    for (Offset e = begin; faults != 0 && e < end; ++e)
      if (!is_weight(weights[at(e)])) first = std::min(first, e);
  }
  return first;
}

void check_weights(const GreedyProblem& problem, int threads) {
  const auto edges = problem.graph.edges();
  const Offset bad =
      std::visit([&](auto weights) { return first_bad_weight(weights, edges, threads); }, problem.weights);
  if (bad == edges) return;
  const auto& offsets = problem.graph.row_offsets;
  const auto row = std::upper_bound(offsets.begin(), offsets.end(), bad) - offsets.begin() - 1;
  const double weight = weight_of(problem, bad);
  const std::string fault = std::isnan(weight)   ? "is not a number"
                            : std::isinf(weight) ? "is infinite"
                                                 : "is " + text_of(problem, bad);
  throw std::invalid_argument("weights: that of row " + std::to_string(row) + ", column " +
                              std::to_string(problem.graph.col_index[at(bad)]) + " " + fault +
                              "; weights are finite and not below 0");
}

/// Throws for the first entry of a general graph whose opposite direction is missing or has another weight.
void check_other_directions(const GreedyProblem& problem) {
  const auto& graph = problem.graph;
  for (Index v = 0; v < graph.rows; ++v)
    for (Offset e = graph.row_offsets[at(v)]; e < graph.row_offsets[at(v) + 1]; ++e) {
      const Index w = graph.col_index[at(e)];
      const auto edge = [&] {
        return "graph: the edge of vertices " + std::to_string(v) + " and " + std::to_string(w);
      };
      const Offset other = entry_of(problem, w, v);
      if (other == -1)
        throw std::invalid_argument(edge() + " is listed from " + std::to_string(v) +
                                    " only; a general graph lists each edge from both ends");
      if (!same_weight(problem, e, other))
        throw std::invalid_argument(edge() + " has two weights, " + text_of(problem, e) + " and " +
                                    text_of(problem, other));
    }
}

}  // namespace

GreedyProblem WeightedGraph::view() const {
  return {kind, graph.view(), std::visit([](const auto& own) -> Weights { return std::span(own); }, weights),
          Space::host};
}

void check_problem(const GreedyProblem& problem, int threads) {
  check_lengths(problem);
  if (problem.space == Space::device) return;
  check_graph(problem.graph, threads);
  check_weights(problem, threads);
  if (problem.kind == GraphKind::general && detail::imbalance(problem, threads) != 0)
    check_other_directions(problem);
}

namespace {

/// An owned copy of a general graph.
WeightedGraph copy_of(const GreedyProblem& problem) {
  const auto& graph = problem.graph;
  WeightedGraph out;
  out.graph = {graph.rows,
               graph.cols,
               {graph.row_offsets.begin(), graph.row_offsets.end()},
               {graph.col_index.begin(), graph.col_index.end()}};
  std::visit(
      [&]<class T>(std::span<const T> given) { out.weights = std::vector<T>(given.begin(), given.end()); },
      problem.weights);
  return out;
}

/// Lists every edge twice: from its row, as given, then from its column, as vertex rows + j.
BipartiteGraph list_from_both_ends(const BipartiteGraphView& graph, const Transposed& columns, int threads) {
  const Index vertices = graph.rows + graph.cols;
  const Offset edges = graph.edges();
  BipartiteGraph out{vertices, vertices, std::vector<Offset>(at(vertices) + 1),
                     std::vector<Index>(at(2 * edges))};
  std::copy(graph.row_offsets.begin(), graph.row_offsets.end(), out.row_offsets.begin());
  for (Index j = 0; j < graph.cols; ++j)
    out.row_offsets[at(Offset{graph.rows} + j + 1)] = edges + columns.col_offsets[at(j) + 1];
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Offset e = 0; e < edges; ++e) {
    out.col_index[at(e)] = graph.rows + graph.col_index[at(e)];
    out.col_index[at(edges + e)] = columns.row_index[at(e)];
  }
  return out;
}

/// The weights in the order of list_from_both_ends; empty if there are none.
template <class T>
std::vector<T> weights_from_both_ends(const GreedyProblem& problem, std::span<const T> given,
                                      const Transposed& columns, int threads) {
  std::vector<T> out(given.begin(), given.end());
  if (out.empty()) return out;
  const Offset edges = problem.graph.edges();
  out.resize(at(2 * edges));
#pragma omp parallel for num_threads(threads) schedule(static, 4096) if (threads > 1)
  for (Index j = 0; j < problem.graph.cols; ++j)
    for (Offset k = columns.col_offsets[at(j)]; k < columns.col_offsets[at(j) + 1]; ++k)
      out[at(edges + k)] = given[at(entry_of(problem, columns.row_index[at(k)], j))];
  return out;
}

}  // namespace

WeightedGraph to_general(const GreedyProblem& problem, int threads) {
  if (problem.space == Space::device) throw std::invalid_argument("to_general: the graph lies on a device");
  if (problem.kind == GraphKind::general) return copy_of(problem);
  if (problem.vertices() > std::numeric_limits<Index>::max())
    throw std::invalid_argument("to_general: " + std::to_string(problem.vertices()) +
                                " vertices are too many; 2^31 - 1 rows and columns together can be had");
  const Transposed columns = transpose(problem.graph, threads);
  WeightedGraph out;
  out.graph = list_from_both_ends(problem.graph, columns, threads);
  std::visit([&](auto given) { out.weights = weights_from_both_ends(problem, given, columns, threads); },
             problem.weights);
  return out;
}

}  // namespace motes::matching
