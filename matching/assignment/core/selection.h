#pragma once
/// Selection of the first core of a matrix or of point sets, which core_solver.h solves.

#include <limits>
#include <vector>

#include <motes/matching/assignment_solver.h>

#include "matching/assignment/canonical/entries.h"
#include "matching/assignment/core/core_graph.h"
#include "matching/assignment/core/distributed_rows.h"

namespace motes::matching::detail {

/// The bound that means "all": above every legal cost, and small enough to add two duals to.
inline constexpr Cost kBoundOfAll = Cost{1} << 61;

/// The selection from this rank's rows.
struct CoreSelection {
  SparseCosts core;  ///< columns rise within a row; no unmatched costs
  /// [rows] every pair with c_ij - level_j <= bound_i is in the core; or kBoundOfAll.
  std::vector<Cost> bound;
  std::vector<Cost> level;  ///< [cols] or empty: all 0
  /// Matrices of float and double, of all ranks: magnitude of their largest allowed entry ...
  double largest = 0;
  bool bad = false;       ///< ... and whether one is NaN or -infinity
  bool complete = false;  ///< the core has every pair that is allowed
  bool annealed = false;  ///< levels are annealed prices
};

/// About `wanted` cheapest pairs of each row, where that many are allowed, and the `of_columns` cheapest of
/// columns that would have fewer (points: of every column). Matrices are read once, unless many columns would
/// have fewer (column_prices.h); their entries are not trusted. Point sets are searched by cells
/// (cell_grid.h), and if the gate allows few pairs, all of them are taken. The same for any number of
/// threads. Rows of a matrix may be distributed: then each rank selects from its own, and columns' pairs are
/// chosen from all.
template <class T>
CoreSelection select_core(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                          Index of_columns, const DistributedRows& distributed = {});
CoreSelection select_core(const Execution& execution, const GeometricEntries& entries, Offset wanted,
                          Index of_columns);

/// For points: selects the pairs of the rows `mine` only, which are numbered from 0 in the result. `entries`
/// has the points of all ranks. Collective, if there are ranks: each finds the neighbours of some columns.
CoreSelection select_point_core(const Execution& execution, const GeometricEntries& entries, Offset wanted,
                                Index of_columns, const Block& mine, Communicator* ranks = nullptr);

}  // namespace motes::matching::detail
