#pragma once
/// Families of bipartite graphs for the cardinality problem, and the largest matching by brute force.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <motes/matching/cardinality_solver.h>
#include <motes/matching/problem.h>

namespace motes::testing {

struct GraphInstance {
  std::string name;  ///< family, sizes and seed: enough to make it again
  matching::BipartiteGraph graph;
};

/// Edges in any order, repeats allowed.
matching::BipartiteGraph from_edges(matching::Index rows, matching::Index cols,
                                    std::vector<std::pair<matching::Index, matching::Index>> edges);

/// Each row has about `degree` neighbours, uniform over the columns.
matching::BipartiteGraph random_graph(std::uint64_t seed, matching::Index rows, matching::Index cols,
                                      double degree);

/// A path r0 c0 r1 c1 ...: the worst start for solvers that augment short paths only.
matching::BipartiteGraph chain_graph(matching::Index rows, bool last_column);

/// Small graphs (at most 12 columns) of every family: no rows, no columns, no edges, one-sided stars,
/// complete, chains, empty rows and columns, random ones of every density.
std::vector<GraphInstance> small_graphs(std::uint64_t seed);

/// Larger ones (hundreds to tens of thousands of rows): random of several degrees, rectangular, long chains,
/// a hub, gated points of the plane, many components.
std::vector<GraphInstance> large_graphs(std::uint64_t seed);

/// A graph with its columns' side, as solvers on the CPU see it. The graph must stay.
struct TwoSides {
  explicit TwoSides(const matching::BipartiteGraph& graph)
      : columns(matching::transpose(graph.view(), 1)),
        sides{graph.rows,
              graph.cols,
              graph.row_offsets.data(),
              graph.col_index.data(),
              columns.col_offsets.data(),
              columns.row_index.data()} {}
  matching::Transposed columns;
  matching::TwoSidedGraph sides;
};

/// The most pairs, by dynamic programming over sets of columns (at most 16).
std::int64_t brute_force_cardinality(const matching::BipartiteGraphView& graph);

}  // namespace motes::testing
