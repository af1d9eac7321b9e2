#pragma once
/// Connected components of a bipartite graph: independent subproblems of every matching problem.

#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// Rows grouped by component. Rows without edges are components of their own; columns without edges
/// belong to none.
struct Components {
  std::vector<Offset> offsets{0};  ///< [components + 1]
  std::vector<Index> rows;         ///< [graph.rows] ascending within a component; components by first row
  std::int64_t count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// O((rows + nnz) * alpha) by union-find over columns.
Components connected_components(const BipartiteGraphView& graph);

}  // namespace motes::matching
