#pragma once
#include "matching/solver.h"

namespace motes::matching {

/// The classical variant.
class Hungarian final : public AssignmentSolver {
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

/// The alternating-tree variant.
class HungarianTree final : public AssignmentSolver {
  Matching run(const Execution& execution, const CostsView& problem, const Start& start) const override;
};

}  // namespace motes::matching
