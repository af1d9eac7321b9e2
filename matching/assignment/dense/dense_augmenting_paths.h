#pragma once
/// Shortest augmenting paths on a full matrix, one row at a time: the dense half of `jv`.

#include <optional>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// Exact. O(rows * cols) and then O(s * cols) for the s rows that all path searches scan; memory
/// O(rows + cols). Stats: initial_assignments (kept from the start, or made by the column reduction), rounds
/// (row-reduction bids), augmentations (paths searched), phases (rows scanned by all searches); seconds:
/// column_reduction, row_reduction, augmentation.
template <class Entries>
Solution solve_by_dense_paths(const Canonical<Entries>& problem, const Start& start);

/// The same from scratch, but none if the searches need more than `most_scans` scans of a row, or the first of
/// them so many that this is likely.
template <class Entries>
std::optional<Solution> try_dense_paths(const Canonical<Entries>& problem, std::int64_t most_scans);

}  // namespace motes::matching::detail
