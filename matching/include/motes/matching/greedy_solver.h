#pragma once
/// The interface of greedy solvers: const inputs in, a maximal matching out.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/assignment_solver.h>
#include <motes/matching/greedy_problem.h>

namespace motes::matching {

/// What the paper counts. Zero or empty where a solver does not count it.
struct GreedyStats {
  std::int64_t rounds = 0;
  std::int64_t proposals = 0;
  std::int64_t arcs_scanned = 0;          ///< entries of the graph looked at, by all threads
  std::vector<std::int64_t> matched;      ///< pairs gained in each round
  std::map<std::string, double> seconds;  ///< "check", "match" (without the check and the sum), and parts
};

struct GreedyAnswer {
  /// Status heuristic; objective = the weight of the pairs, in double, summed as matching_weight.h says, so
  /// that it has the same bits everywhere. Of general graphs row_to_col holds each vertex's mate and
  /// col_to_row is empty.
  Matching matching;
  GreedyStats stats;
};

class GreedySolver {
 public:
  virtual ~GreedySolver() = default;

  /// A maximal matching. Throws std::invalid_argument for a malformed problem and ResourceError where
  /// memory or the device is lacking.
  GreedyAnswer solve(const Execution& execution, const GreedyProblem& problem) const;

 private:
  /// Checked inputs in host memory; fills row_to_col (and col_to_row of bipartite graphs) and the stats.
  virtual void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const = 0;
  /// The CUDA form: the problem in either space, checked as far as its space allows; as run(), and of
  /// problems in device memory the objective too. The default throws ResourceError: no CUDA form.
  virtual void run_on_device(const Execution& execution, const GreedyProblem& problem,
                             GreedyAnswer& answer) const;
};

}  // namespace motes::matching
