#pragma once
/// Exact solutions of assignment problems with costs in double precision.

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

/// A row-major matrix of doubles; +infinity marks a forbidden pair.
struct DenseDoubles {
  const double* data = nullptr;
  Index rows = 0, cols = 0;
};

/// A CSR matrix; absent entries are forbidden. Columns are sorted in ascending order within each row.
struct SparseDoubles {
  matching::BipartiteGraphView graph;
  std::span<const double> cost;
};

/// The costs of unmatched vertices: one number for all or one for each; kNone if they must be matched.
struct UnmatchedCosts {
  std::vector<double> row{kNone}, col{kNone};
  /// The costs if every vertex of the smaller side must be matched.
  static UnmatchedCosts of_smaller_side(Index rows, Index cols);
};

/// Properties of a problem's costs, found in one pass.
struct Survey {
  bool valid = true;     ///< no NaN, no -infinity
  bool complete = true;  ///< no +infinity
  bool whole = true;     ///< all finite costs are integers
  double largest = 0;
};
Survey survey(std::span<const double> values, int threads);

/// Exact for any doubles without NaN and -infinity (see optimality.h); the survey must be valid.
DoubleAnswer solve(const Execution& execution, const DenseDoubles& costs, const UnmatchedCosts& unmatched,
                   const Survey& survey);
DoubleAnswer solve(const Execution& execution, const SparseDoubles& costs, const UnmatchedCosts& unmatched,
                   const Survey& survey);

/// For small problems: rows <= cols, and all rows must be assigned. `row_to_col` [rows].
bool solve_small(const DenseDoubles& costs, const Survey& survey, std::vector<Index>& row_to_col);

}  // namespace motes::python
