#pragma once
/// The answer to a matching problem.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// What is known of an answer. No solver returns within_epsilon or iteration_limit at present.
enum class Status {
  optimal,         ///< proven by the duals (assignment) or by the method (cardinality)
  within_epsilon,  ///< the objective is within a known bound of the optimum
  heuristic,       ///< a valid matching that need not be optimal
  infeasible,      ///< no solution exists: some vertex that must be matched cannot be
  iteration_limit  ///< stopped before the end
};
/// The enumerator's name.
std::string_view to_string(Status status);

/// Dual values: u_i + v_j <= c_ij, u_i <= r_i, v_j <= q_j, with r and q the unmatched costs (see verify.h).
struct Duals {
  std::vector<Cost> u;  ///< [rows]
  std::vector<Cost> v;  ///< [cols]
};

/// Counters of a solve; zero or empty where a solver does not count them.
struct Stats {
  std::int64_t phases = 0;                    ///< the solver's header defines a phase
  std::int64_t augmentations = 0;             ///< augmenting paths applied
  std::int64_t rounds = 0;                    ///< the solver's header defines a round
  std::int64_t initial_assignments = 0;       ///< pairs matched before the first iteration
  std::vector<std::int64_t> assignments;      ///< pairs gained in each iteration
  std::int64_t components = 0;                ///< connected components solved separately
  std::int64_t largest_component = 0;         ///< rows of the largest of them
  std::int64_t messages = 0, bytes_sent = 0;  ///< several ranks: collective calls, and bytes this rank sent
  std::map<std::string, double> seconds;      ///< wall-clock time of each stage
};

/// A matching, with what proves its quality.
struct Matching {
  std::vector<Index> row_to_col;  ///< [rows], -1 = free
  std::vector<Index> col_to_row;  ///< [cols], -1 = free
  Status status = Status::heuristic;
  std::int64_t cardinality = 0;
  double objective = 0;       ///< in cost steps, with the costs of free vertices; infinite if infeasible
  double dual_objective = 0;  ///< in cost steps; equals objective when optimal
  double gap = 0;             ///< objective - dual_objective, computed in integers before rounding
  Duals duals;                ///< empty if the solver has none
  Stats stats;
};

}  // namespace motes::matching
