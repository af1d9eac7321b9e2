#pragma once
/// Belief propagation over all candidate links of a series.
///
/// Each candidate link is a variable: present or not. Each detection is a factor: it allows at most one link
/// into it and one out of it, and weighs each case as below. L_f is the likelihood of link f over the density
/// at its end, g(f | e) = p(d_f | d_e) / p(d_f) is the persistence (series_velocity.h), and the shares are
/// those of series_model.h.
///
///   in e, out f  L_f g(f | e)      out f alone  birth L_f
///   in e alone   end               neither      false + birth end
///
/// The algorithm is sum-product. Sweeps update the messages frame by frame, forward and then backward in time.
/// The last sweeps are damped: each message becomes the geometric mean of its old and new value. The product
/// of a link's two messages is its odds. After a few sweeps these are exact if possible tracks share no
/// detection. Otherwise they are approximate, and too extreme where linking is hard.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_assignment.h>
#include <motes/tracking/series_velocity.h>

namespace motes::tracking {

/// The messages between iterations.
struct JointBeliefs {
  std::vector<double> from_source, from_target;  ///< [candidates] odds
  /// The odds that link e is present.
  double odds(std::size_t e) const { return from_source[e] * from_target[e]; }
};

/// The candidates of each detection that are within `nats` of its best one, at most `most` of them; also the
/// links of `linking`.
SeriesCandidates prune_candidates(const SeriesCandidates& candidates, const std::vector<double>& costs,
                                  const SeriesLinking& linking, double nats, std::size_t most);

/// Messages for `candidates`: those of `beliefs` for links that are also in `before`, initial ones for new
/// links. O(candidates x candidates of one detection).
JointBeliefs beliefs_of(const SeriesCandidates& candidates, const SeriesCandidates& before,
                        const JointBeliefs& beliefs);

/// The number of pairs of a link into and a link out of one detection. A sweep takes time proportional
/// to it, and 4 bytes of memory for each.
std::int64_t joint_triplets(const SeriesCandidates& candidates);

/// Updates the messages in `sweeps` sweeps, each forward and backward. `occlusion` as for candidate_costs. The
/// same for any thread count. O(sweeps x triplets).
void propagate_beliefs(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                       const SeriesModel& model, const VelocityModel& velocity,
                       const SeriesCandidates& candidates, int sweeps, JointBeliefs& beliefs,
                       const Occlusion* occlusion = nullptr);

}  // namespace motes::tracking
