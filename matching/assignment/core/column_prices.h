#pragma once
/// Prices for columns that no row would select by its own cheapest pairs.

#include "matching/assignment/core/selection.h"

namespace motes::matching::detail {

/// Adds pairs to columns with fewer than `of_columns` pairs in the core, as far as pairs are allowed. If
/// there are many such columns, rows first select again, `wanted` pairs each, by the cost above the column's
/// level, unless that helps few columns (see column_prices.cpp). O(core + rows * such columns), and up to
/// three times two passes over the matrix. The same for any number of threads. `of_columns`: at most the
/// number of all rows.
template <class T>
void serve_columns(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                   Index of_columns, const DistributedRows& distributed, CoreSelection& selection);

/// The same with annealed prices as the columns' levels, instead of those of a selection; for square
/// matrices.
template <class T>
void select_by_annealing(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                         Index of_columns, const DistributedRows& distributed, CoreSelection& selection);

}  // namespace motes::matching::detail
