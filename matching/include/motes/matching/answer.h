#pragma once
/// The answer to a matching problem.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

enum class Status { optimal, within_epsilon, heuristic, infeasible, iteration_limit };
std::string_view to_string(Status status);

/// Dual values; u_i + v_j <= c_ij, u_i <= r_i, v_j <= q_j (see verify.h).
struct Duals {
  std::vector<Cost> u;  ///< [rows]
  std::vector<Cost> v;  ///< [cols]
};

struct Stats {
  std::int64_t phases = 0;  ///< meaning is the solver's; see its header
  std::int64_t augmentations = 0;
  std::int64_t rounds = 0;
  std::int64_t initial_assignments = 0;   ///< pairs matched before the first iteration
  std::vector<std::int64_t> assignments;  ///< pairs gained in each iteration, where a solver counts them
  std::int64_t components = 0;            ///< connected components solved apart
  std::int64_t largest_component = 0;     ///< rows in the largest of them
  std::int64_t messages = 0, bytes_sent = 0;  ///< of several ranks: collective calls, and this rank's bytes
  std::map<std::string, double> seconds;      ///< per stage
};

struct Matching {
  std::vector<Index> row_to_col;  ///< [rows], -1 = free
  std::vector<Index> col_to_row;  ///< [cols], -1 = free
  Status status = Status::heuristic;
  std::int64_t cardinality = 0;
  double objective = 0;       ///< in cost steps, free vertices' costs included; infinite when infeasible
  double dual_objective = 0;  ///< in cost steps; equals objective when optimal
  double gap = 0;             ///< objective - dual_objective, formed exactly before rounding
  Duals duals;                ///< empty where the solver has none
  Stats stats;
};

}  // namespace motes::matching
