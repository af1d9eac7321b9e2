#pragma once
/// The statement of greedy matching: a maximal set of edges of a weighted graph, no vertex in two, of large
/// weight, found in one sweep and not by search.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// Weights of edges, one for each entry of the graph's column array. Finite and not below 0: an edge of
/// weight 0 counts like any other, for the matching is maximal. An empty span: every edge weighs 1.
using Weights = std::variant<std::span<const float>, std::span<const double>, std::span<const std::int64_t>>;

enum class GraphKind {
  bipartite,  ///< rows and columns are different vertices, each edge is listed once, in its row
  general,    ///< rows = cols = the vertices; each edge is listed from both of its ends, with one weight
};

/// A trivially copyable view. Entries (v, v) of a general graph are not edges and are ignored.
struct GreedyProblem {
  GraphKind kind = GraphKind::general;
  BipartiteGraphView graph;
  Weights weights;
  Space space = Space::host;  ///< of all arrays above

  /// Vertices that can be matched: of a bipartite graph, rows and columns.
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

/// Throws std::invalid_argument naming the first fault: array lengths, offsets that fall, vertices out of
/// range, unsorted or repeated neighbours, weights that are NaN, infinite or negative; of general graphs an
/// edge that is listed from one end only, or with two weights. O(rows + cols + nnz) in `threads` threads.
/// Device graphs: lengths only.
void check_problem(const GreedyProblem& problem, int threads = 1);

/// A bipartite graph as a general one: column j becomes vertex rows + j. Host problems; O(rows + cols + nnz).
/// Throws std::invalid_argument where the vertices do not fit an Index.
WeightedGraph to_general(const GreedyProblem& problem, int threads = 1);

}  // namespace motes::matching
