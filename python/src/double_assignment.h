#pragma once
/// Assignment problems whose costs are doubles, solved exactly as they are.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>

#include "python/src/optimality.h"

namespace motes::python {

/// How the answer was proven.
enum class ProofKind { grid, doubles };

struct DoubleAnswer {
  bool feasible = false;
  PricedMatching matching;
  Proof proof;
  ProofKind kind = ProofKind::grid;  ///< grid: all costs lie on the solver's grid, whose proof is exact
  std::string solver;
};

/// A matrix of doubles in memory, row after row; +infinity: forbidden.
struct DenseDoubles {
  const double* data = nullptr;
  Index rows = 0, cols = 0;
};

/// A CSR matrix; absent: forbidden. Columns rise within a row.
struct SparseDoubles {
  matching::BipartiteGraphView graph;
  std::span<const double> cost;
};

/// What leaving vertices alone costs: one number for all, one each, or none where they must be matched.
struct UnmatchedCosts {
  std::vector<double> row{kNone}, col{kNone};
  /// Those of a perfect assignment of the smaller side.
  static UnmatchedCosts of_smaller_side(Index rows, Index cols);
};

/// What a pass over the entries tells.
struct Survey {
  bool valid = true;     ///< no NaN, no -infinity
  bool complete = true;  ///< no +infinity
  bool whole = true;     ///< all finite ones are integers
  double largest = 0;
};
Survey survey(std::span<const double> values, int threads);

/// Exact for any doubles without NaN and -infinity (see optimality.h); the survey must be valid.
DoubleAnswer solve(const Execution& execution, const DenseDoubles& costs, const UnmatchedCosts& unmatched,
                   const Survey& survey);
DoubleAnswer solve(const Execution& execution, const SparseDoubles& costs, const UnmatchedCosts& unmatched,
                   const Survey& survey);

/// Without anything that large problems need: rows <= cols, all rows assigned. `row_to_col` [rows].
bool solve_small(const DenseDoubles& costs, const Survey& survey, std::vector<Index>& row_to_col);

}  // namespace motes::python
