#pragma once
/// Many assignment problems in one call.

#include <span>
#include <vector>

#include "matching/matching.h"
#include "matching/problem.h"
#include "matching/solver.h"

namespace motes::matching {

/// Solves each problem as solver.solve(execution, problem, start) would, and returns the answers in the same
/// order. Kinds, sizes and (on cuda) spaces may be mixed; an infeasible problem is one among the answers.
/// `starts`: none, or one for each problem.
///
/// On the CPU problems run side by side, one thread each where there are enough of them, else with threads
/// inside too; the answers are the same bits as one by one. On cuda sparse problems are stacked block by
/// block into one, so that many small ones fill the device (answers are as good and as certified as one by
/// one, but where optima tie it may be another of them; resolve_ties settles that); dense and geometric ones
/// run side by side on streams of their own, so that copies overlap solving.
///
/// Stats are each problem's own, but a stack's are those of the whole, in its first problem's answer.
/// Throws as solve does, naming the problem ("problem 3: ..."); of several faults the first problem's. Throws
/// std::invalid_argument for the wrong number of starts.
std::vector<Matching> solve_batch(const Execution& execution, std::span<const CostsView> problems,
                                  const AssignmentSolver& solver, std::span<const Start> starts = {});

}  // namespace motes::matching
