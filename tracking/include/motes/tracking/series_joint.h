#pragma once
/// Belief propagation over all candidate links of a series.
///
/// A variable for each candidate link; a factor for each detection n, which allows at most one link into it
/// and one out of it and weighs what it allows: with L_f the likelihood of link f over the density at its
/// end, g(f | e) = p(d_f | d_e) / p(d_f) the persistence (series_velocity.h), and the shares of
/// series_model.h,
///
///   in e, out f  L_f g(f | e)      out f alone  birth L_f
///   in e alone   end               neither      false + birth end
///
/// Sum-product in sweeps forward and backward in time, the last ones damped (each message is the geometric
/// mean of the old one and the new one). The product of a link's two messages is its odds. Exact, after
/// a few sweeps, on tracks that share no detection; elsewhere an approximation whose odds are too sure where
/// it is hard.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_assignment.h>
#include <motes/tracking/series_velocity.h>

namespace motes::tracking {

/// Messages that a run starts from: initial ones, or those of an earlier run.
struct JointBeliefs {
  std::vector<double> from_source, from_target;  ///< [candidates] odds
  /// Of link e: odds that it is there.
  double odds(std::size_t e) const { return from_source[e] * from_target[e]; }
};

/// Of each detection's candidates those within `nats` of its best one, and at most `most` of them; also what
/// is in `linking`.
SeriesCandidates prune_candidates(const SeriesCandidates& candidates, const std::vector<double>& costs,
                                  const SeriesLinking& linking, double nats, std::size_t most);

/// Messages for `candidates` from those that an earlier run left for `before`; initial ones for links that
/// are new. O(candidates x candidates of one detection).
JointBeliefs beliefs_of(const SeriesCandidates& candidates, const SeriesCandidates& before,
                        const JointBeliefs& beliefs);

/// Number of pairs of a link into and a link out of one detection: the cost of a run, and 4 bytes of memory
/// each.
std::int64_t joint_triplets(const SeriesCandidates& candidates);

/// `sweeps` more of the above, each forward and backward. `occlusion` as for candidate_costs. The same for
/// any thread count. O(sweeps x triplets).
void propagate_beliefs(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                       const SeriesModel& model, const VelocityModel& velocity,
                       const SeriesCandidates& candidates, int sweeps, JointBeliefs& beliefs,
                       const Occlusion* occlusion = nullptr);

}  // namespace motes::tracking
