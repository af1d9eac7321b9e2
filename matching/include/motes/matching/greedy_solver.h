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

/// The counters that the papers report; zero or empty where a solver does not count them.
struct GreedyStats {
  std::int64_t rounds = 0;
  std::int64_t proposals = 0;
  std::int64_t arcs_scanned = 0;      ///< entries of the graph read, by all threads
  std::vector<std::int64_t> matched;  ///< [rounds] pairs gained
  std::map<std::string, double>
      seconds;  ///< "check", "match" (without the check and the sum), and parts of it
};

struct GreedyAnswer {
  /// Status heuristic. The objective is the weight of the pairs, summed in the order that matching_weight.h
  /// states, so that it has the same bits everywhere. For general graphs row_to_col holds each vertex's mate
  /// and col_to_row is empty.
  Matching matching;
  GreedyStats stats;
};

class GreedySolver {
 public:
  virtual ~GreedySolver() = default;

  /// A maximal matching. Throws std::invalid_argument for a malformed problem and ResourceError if there is
  /// not enough memory or no usable device.
  GreedyAnswer solve(const Execution& execution, const GreedyProblem& problem) const;

 private:
  /// Runs on the CPU, on checked inputs in host memory. Fills row_to_col (and col_to_row for bipartite
  /// graphs) and the stats.
  virtual void run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const = 0;
  /// Runs on a GPU, on a problem in either memory space, checked as far as that allows. Fills what run()
  /// fills, and the objective of problems in device memory. The default throws ResourceError: no CUDA form.
  virtual void run_on_device(const Execution& execution, const GreedyProblem& problem,
                             GreedyAnswer& answer) const;
};

}  // namespace motes::matching
