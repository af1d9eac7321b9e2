#pragma once
/// `jv`: exact assignment by shortest augmenting paths; sparse problems one connected component at a time.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987): column reduction, augmenting row reduction, augmentation. Differences:
/// unmatched costs are part of the problem (a row may end its path by staying free); the row reduction has a
/// budget instead of a number of passes; reduction transfer is dropped. On sparse graphs components are found
/// first, and the column reduction is dropped too (it needs a column-wise copy and does not pay on gated
/// graphs).

#include "matching/solver.h"

namespace motes::matching {

/// Complexity: sparse_paths.h and dense_paths.h. Geometric costs are formed as they are needed; memory stays
/// O(rows + cols). CPU only; threads help where a sparse problem has several components.
class JonkerVolgenant final : public AssignmentSolver {
 private:
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

}  // namespace motes::matching
