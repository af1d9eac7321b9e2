#pragma once
/// One side of a bipartite graph: the adjacency lists of its vertices.

#include <span>

#include <motes/base/index.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/problem.h>

namespace motes::matching::detail {

/// A trivially copyable view; for the other side, rows and columns are exchanged.
struct GraphSide {
  Index count = 0;
  std::span<const Offset> offsets;    ///< [count + 1]
  std::span<const Index> neighbours;  ///< [nnz]

  std::span<const Index> of(Index k) const {
    const auto vertex = static_cast<std::size_t>(k);
    return neighbours.subspan(static_cast<std::size_t>(offsets[vertex]),
                              static_cast<std::size_t>(offsets[vertex + 1] - offsets[vertex]));
  }
};

inline GraphSide rows_side(const BipartiteGraphView& graph) {
  return {graph.rows, graph.row_offsets, graph.col_index};
}

/// A graph by rows only.
inline BipartiteGraphView view_of(const TwoSidedGraph& graph) {
  return {graph.rows,
          graph.cols,
          {graph.row_offsets, at(graph.rows) + 1},
          {graph.col_index, static_cast<std::size_t>(graph.edges())}};
}

}  // namespace motes::matching::detail
