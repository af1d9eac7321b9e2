#pragma once
/// The sides of the canonical form, computed from the unmatched costs only.

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// The facts that decide which side becomes the rows of the canonical form, and whether it is perfect.
struct UnmatchedFacts {
  bool rows_some_infinite = false, rows_all_infinite = true;  ///< costs of rows that must be matched
  bool cols_some_infinite = false, cols_all_infinite = true;
  Cost largest = 0;  ///< magnitude of the finite ones
};

/// As make_sides, but row_exit and start stay empty; `must_price` replaces an infinite start.
CanonicalSides make_bare_sides(Index rows, Index cols, const UnmatchedFacts& facts, Cost largest,
                               Cost& must_price);

}  // namespace motes::matching::detail
