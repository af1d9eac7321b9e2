#pragma once
/// The greedy matching problem: a maximal matching of large weight in a weighted graph, found without
/// augmenting paths.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// Edge weights, one for each entry of the graph's column array: finite and not negative. Edges of weight 0
/// may be matched too, since the matching is maximal. An empty span: every edge weighs 1.
using Weights = std::variant<std::span<const float>, std::span<const double>, std::span<const std::int64_t>>;

enum class GraphKind {
  bipartite,  ///< rows and columns are different vertices; each edge is listed once, in its row
  general,    ///< rows and columns are the same vertices; each edge is listed from both ends, with one weight
};

/// A trivially copyable view. Entries (v, v) of a general graph are not edges and are ignored.
struct GreedyProblem {
  GraphKind kind = GraphKind::general;
  BipartiteGraphView graph;
  Weights weights;
  Space space = Space::host;  ///< of all arrays above

  /// The number of vertices; of a bipartite graph, rows plus columns.
  std::int64_t vertices() const {
    return kind == GraphKind::general ? graph.rows : std::int64_t{graph.rows} + graph.cols;
  }
};

/// A weighted graph, owned.
struct WeightedGraph {
  GraphKind kind = GraphKind::general;
  BipartiteGraph graph;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>> weights;
  GreedyProblem view() const;
};

/// Throws std::invalid_argument naming the first fault: wrong array lengths, decreasing offsets, vertices
/// out of range, unsorted or repeated neighbours, weights that are NaN, infinite or negative; in general
/// graphs an edge listed from one end only, or with two different weights. Of device graphs only lengths
/// are checked. O(rows + cols + nnz) on `threads` threads.
void check_problem(const GreedyProblem& problem, int threads = 1);

/// A bipartite graph as a general one: column j becomes vertex rows + j. Host problems; O(rows + cols + nnz).
/// Throws std::invalid_argument if there are more vertices than an Index can count.
WeightedGraph to_general(const GreedyProblem& problem, int threads = 1);

}  // namespace motes::matching
