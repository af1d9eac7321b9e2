#pragma once
/// Assignments of tied costs. Where costs are sums a_i + b_j of doubles, every assignment is optimal up to
/// rounding, the residual graph is all light edges, and negative cycles turned one by one take long. The
/// edges' exact weights are small integers there: multiples of the costs' last bit up to the limit. So the
/// light edges are an assignment problem of their own, which a solver of motes::matching finishes.
///
/// Its duals u, v prove the answer for all edges if none that was left out, and so weighs more than the
/// limit, can be negative under them.

#include <optional>

#include <motes/base/execution.h>

#include "python/src/residual_graph.h"

namespace motes::python {

struct TiedAnswer {
  std::int64_t turned = 0;  ///< negative cycles
  double span = 0;          ///< edges that weigh more than this do not matter
};

/// Makes M the best over the edges of the graph. None: the weights span more bits than the solver takes, and
/// M is as it was.
std::optional<TiedAnswer> solve_tied(const Execution& execution, const DoubleCosts& costs,
                                     const ResidualGraph& graph, PricedMatching& matching);

}  // namespace motes::python
