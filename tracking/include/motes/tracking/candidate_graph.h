#pragma once
/// The linking problem of one frame pair: candidate links and their costs.

#include <motes/matching/problem.h>

namespace motes {

/// Rows are the earlier frame's detections, columns the later one's. Costs are integers: one step
/// is worth `cost_unit` in squared um (or um, for the Euclidean cost).
struct CandidateGraph {
  matching::SparseCosts costs;
  double cost_unit = 1;
};

}  // namespace motes
