#pragma once
/// Prices for columns that no row would select by its own cheapest pairs.

#include "matching/assignment/core/selection.h"

namespace motes::matching::detail {

/// Sees to it that columns with fewer than `of_columns` pairs in the core get some, as far as pairs are
/// allowed. Where such columns are many, rows first choose again by what a pair costs above its column's
/// level, `wanted` each, unless that helps few (see column_prices.cpp). O(core + rows * such columns), and up
/// to three times two passes over the matrix. The same for any number of threads. `of_columns`: at most the
/// number of all rows.
template <class T>
void serve_columns(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                   Index of_columns, const DistributedRows& distributed, CoreSelection& selection);

/// The same with annealed prices as the columns' levels, in place of a selection; square matrices.
template <class T>
void select_by_annealing(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                         Index of_columns, const DistributedRows& distributed, CoreSelection& selection);

}  // namespace motes::matching::detail
