#pragma once
/// The one statement of the assignment problem (see docs/architecture.md):
///
///   minimise  sum over matched c_ij + sum over free rows r_i + sum over free columns q_j
///
/// All costs are integers on a fixed-point grid that the caller chooses and documents, so that the
/// optimum is the same on every machine, back end and thread count, and a certificate is exact.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace motes::matching {

using Index = std::int32_t;   ///< a row or a column; -1 means none
using Offset = std::int64_t;  ///< a position in a CSR array
using Cost = std::int64_t;

/// A cost no solution may pay: as an unmatched cost it says "must be matched".
inline constexpr Cost kInfiniteCost = std::numeric_limits<Cost>::max();

/// Finite costs must lie in [-kMaxCost, kMaxCost], so that no dual of a solver can overflow.
inline constexpr Cost kMaxCost = Cost{1} << 58;

/// CSR structure of a bipartite graph; a trivially copyable view.
struct BipartiteGraphView {
  Index rows = 0, cols = 0;
  std::span<const Offset> row_offsets;  ///< [rows + 1], from 0, non-decreasing
  std::span<const Index> col_index;     ///< [nnz], strictly increasing within a row
  Offset edges() const { return static_cast<Offset>(col_index.size()); }
};

struct BipartiteGraph {
  Index rows = 0, cols = 0;
  std::vector<Offset> row_offsets{0};
  std::vector<Index> col_index;
  BipartiteGraphView view() const { return {rows, cols, row_offsets, col_index}; }
  Offset edges() const { return static_cast<Offset>(col_index.size()); }
};

/// A sparse assignment problem; an absent edge is forbidden. A trivially copyable view.
struct SparseCostsView {
  BipartiteGraphView graph;
  std::span<const Cost> cost;                ///< [nnz], finite
  std::span<const Cost> unmatched_row_cost;  ///< [rows], or empty: kInfiniteCost for every row
  std::span<const Cost> unmatched_col_cost;  ///< [cols], or empty: kInfiniteCost for every column

  Cost row_cost(Index i) const {
    return unmatched_row_cost.empty() ? kInfiniteCost : unmatched_row_cost[static_cast<std::size_t>(i)];
  }
  Cost col_cost(Index j) const {
    return unmatched_col_cost.empty() ? kInfiniteCost : unmatched_col_cost[static_cast<std::size_t>(j)];
  }
};

struct SparseCosts {
  BipartiteGraph graph;
  std::vector<Cost> cost, unmatched_row_cost, unmatched_col_cost;
  SparseCostsView view() const { return {graph.view(), cost, unmatched_row_cost, unmatched_col_cost}; }
};

/// Throws std::invalid_argument naming the first fault: array lengths, offsets that fall, columns out of
/// range, unsorted or repeated columns, costs beyond kMaxCost. O(rows + cols + nnz).
void check_problem(const SparseCostsView& problem);

/// The same problem with rows and columns exchanged. O(rows + cols + nnz).
SparseCosts transpose(const SparseCostsView& problem);

}  // namespace motes::matching
