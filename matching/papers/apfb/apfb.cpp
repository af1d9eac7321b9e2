/// `apfb` and `apsb` as solvers. They have no CPU form.

#include "matching/papers/apfb/apfb.h"

namespace motes::matching {

void Apfb::run(const Execution&, const TwoSidedGraph&, Mates&, CardinalityStats&) const {
  throw ResourceError("apfb and apsb are GPU algorithms; use the cuda back end");
}

void Apfb::run_on_device(const Execution& execution, const CardinalityProblem& problem,
                         const GivenStart& start, Mates& mates, CardinalityStats& stats) const {
  device::augment_by_levels(execution, problem, options_, start, mates, stats);
}

}  // namespace motes::matching
