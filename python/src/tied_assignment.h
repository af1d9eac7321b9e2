#pragma once
/// Assignments with tied costs. If costs are sums a_i + b_j of doubles, for example, every assignment is
/// optimal up to rounding, all edges of the residual graph are light, and it takes long to apply negative
/// cycles one by one. The exact weights of the edges are then small integers: multiples of the costs' last
/// bit, up to the limit. So the light edges form an assignment problem for a solver of motes::matching.
///
/// Its duals u, v prove the answer for all edges if no edge that is left out (weight above the limit) can
/// have a negative slack.

#include <optional>

#include <motes/base/execution.h>

#include "python/src/residual_graph.h"

namespace motes::python {

struct TiedAnswer {
  std::int64_t turned = 0;  ///< negative cycles applied
  double span = 0;          ///< edges that weigh more than this do not matter
};

/// Makes M optimal over the edges of the graph. Returns nothing, and leaves M unchanged, if the weights span
/// more bits than the solver supports.
std::optional<TiedAnswer> solve_tied(const Execution& execution, const DoubleCosts& costs,
                                     const ResidualGraph& graph, PricedMatching& matching);

}  // namespace motes::python
