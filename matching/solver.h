#pragma once
/// The solver interface: const inputs in, a Matching out; the execution resource comes first.

#include "matching/matching.h"
#include "matching/problem.h"

namespace motes::matching {

enum class Backend { automatic, cpu, cuda };

/// Where and how wide a solver runs. Never changes a result, only its speed.
struct Execution {
  int threads = 0;                 ///< CPU threads; 0 = all the machine has
  Backend backend = Backend::cpu;  ///< automatic: left to whoever chooses the solver; solvers take it as cpu
  int device = 0;                  ///< which CUDA device
};

class AssignmentSolver {
 public:
  virtual ~AssignmentSolver() = default;
  /// Solves the problem exactly (unless the registry says otherwise) and returns duals that prove it.
  /// Status is infeasible when a vertex that must be matched cannot be. Throws std::invalid_argument
  /// for a malformed problem (check_problem).
  virtual Matching solve(const Execution& execution, const SparseCostsView& problem) const = 0;
};

}  // namespace motes::matching
