#pragma once
/// The rounds of one motion model over one series: a linking, everything estimated from it, a better linking.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <motes/tracking/series_joint.h>
#include <motes/tracking/series_links.h>

#include "tracking/link/occlusion.h"
#include "tracking/link/series_axes.h"
#include "tracking/link/series_candidates.h"
#include "tracking/link/series_field.h"
#include "tracking/motion/rigid_fit.h"

namespace motes::tracking {

/// Rounds of `plain` and `along_field`.
inline constexpr int kPlainRounds = 4;
/// Rounds end when fewer links than this share change.
inline constexpr double kRoundsSettled = 1e-3;
/// Displacements go on where their regression on those before them is at least this, not only where links can
/// be chosen to look so.
inline constexpr double kLeastBeta = 0.05;
/// Nor only by chance (in one of a hundred), where few links tell it: standard errors of that regression if
/// steps are unrelated. The same where particles return.
inline constexpr double kSureBeta = 2.33;
/// Particles return to where they were, as around rest positions or where positions are less sure than
/// motion is slow: displacements are against those before them by at least this, and that makes links
/// likelier by so many nats each. Links that are wrong by chance look so too, but less.
inline constexpr double kLeastReturn = 0.2, kReturningGain = 0.05;
inline bool returns(const VelocityModel& velocity) {
  return velocity.beta() <= -kLeastReturn && velocity.gain > kReturningGain;
}

/// A penalty for each detection on no track, in nats, where linkings are compared: chance explains particles
/// that move far nearly as well as links do. In simulations without false detections linkings that took such
/// particles for false were likelier by up to 1.3 nats each, with false detections by at least 1.8.
inline constexpr double kNatsOfFalse = 1.5;

/// Of each detection's candidates joint inference weighs those within so many nats of its best one.
inline constexpr double kJointNats = 9;

/// Detections that another one follows in one linking than in the other.
std::int64_t changed_links(const SeriesLinking& a, const SeriesLinking& b);

class Rounds {
 public:
  /// `points` must outlive it; `done` is called after each solved assignment, which `solved` counts.
  Rounds(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
         const std::function<void(int)>& done, int& solved)
      : execution_(execution), points_(&points), options_(options), done_(done), solved_(&solved) {}

  /// Frame to frame first; then with gaps, from the guess that every track that ended was a miss: a share of
  /// gap links once taken to be 0 stays 0.
  void plain(int lags, int rounds);

  /// From a linking on, without prediction. Done early where the second linking costs more than `hopeless`.
  void plain_from(SeriesLinking start, int lags, int rounds, double hopeless);

  /// From a linking on, around its neighbours' motion.
  void along_field(SeriesLinking start, int lags, int rounds);

  /// The parameters, motion model included, that rounds over a part of the series came to; the rounds that
  /// follow begin with them. These points' first frame is the part's `first_frame`-th.
  void begin_like(Rounds& part, std::int32_t first_frame);

  /// The parameters of another series, of which these points' first frame is the `first_frame`-th; the rounds
  /// that follow begin with them.
  void begin_with(const SeriesModel& model, const VelocityModel& velocity, std::int32_t first_frame);

  /// From there on, without prediction.
  void plain_on(int lags, int rounds);

  /// From there on and from a linking, around its neighbours' motion.
  void along_field_on(SeriesLinking start, int lags, int rounds);

  /// Around the motion that all detections of a frame share (series_drift.h), from the likeliest shifts on.
  /// False, and nothing is changed, if these are not likelier than none.
  bool along_drift(int lags, int rounds);

  /// Without prediction, from the other rounds' scale and shares on.
  void plain_like(const Rounds& other, int lags, int rounds);

  /// A first linking around likely rotations of all (series_rigid.h). False where none is likely, or none
  /// leads to other links than `known`, where given: nothing is done.
  bool start_by_rotation(int lags, const SeriesLinking* known = nullptr);

  /// From there on, around rotations fitted to the links.
  void along_rotation(int lags, int rounds);

  /// From there on, with the links before and after in every cost. Terms of the last two linkings are
  /// averaged: else two linkings can take turns.
  /// `doubt`: done as soon as displacements do not go on and do so no more than in the round before.
  void with_velocity(int rounds, bool doubt);

  /// From there on, over all frames at once: beliefs, their most likely linking, everything estimated again
  /// from it. Done early where a linking costs more than `hopeless`. False where there would be too many
  /// triplets.
  bool joint(int rounds, std::int64_t most_triplets, double hopeless);

  /// From there on, over all frames at once. Candidates are found once; after the first round all of them are
  /// taken for detections that are not surely linked on both sides. False where there would be too many
  /// triplets.
  bool joint_on(int rounds, std::int64_t most_triplets);

  /// Whether more than a share of this linking's number of links are in the other one alone; by default the
  /// share that rounds go on for.
  bool differs(const SeriesLinking& other, double share = kRoundsSettled) const;

  const SeriesPoints& points() const { return *points_; }

  /// Median displacement of links over one frame, in spacings.
  double steps() const;

  /// In nats; with kNatsOfFalse.
  double cost_per_point() const { return chain_cost() / static_cast<double>(points_->size()); }

  /// How much likelier the linking is than another of the same points, in nats, less so many standard errors
  /// of that: what the detections' own gains scatter (Vuong 1989).
  double surely_likelier(const Rounds& other, double errors) const;

  /// How much likelier, in nats, links over one frame are around their neighbours' motion than around their
  /// start, each left out of its own prediction.
  double coherence();

  /// How axes are to be scaled so that residuals are alike along all (series_axes.h).
  Vec3 axis_factors() const {
    return tracking::axis_factors(*points_, prediction_, solution_.linking, velocity_.beta());
  }
  /// What the regression of displacements on those before them must be at least, see kLeastBeta.
  double least_beta() const;

  /// Neighbours of every detection, and all by place: made when first asked for and shared by copies.
  const SeriesLists& lists();
  const SeriesGrids& grids();

  /// The series is too large for one assignment: candidates_ stays empty.
  bool in_windows() const { return static_cast<std::int64_t>(points_->size()) > options_.most_at_once; }
  void share(const Rounds& other) { lists_ = other.lists_, grids_ = other.grids_; }

  SeriesSolution solution_;
  SeriesModel model_;
  VelocityModel velocity_;
  Prediction prediction_;
  SeriesCandidates candidates_;
  std::int64_t found_ = 0;  ///< candidates of the last linking
  int windows_ = 1;
  double gap_nats_ = 0;

 private:
  /// -log-likelihood of the linking: as the assignment's objective, but every turn of a track counted once.
  double chain_cost() const;
  /// What detection i, of frame t, adds to it.
  double chain_cost(matching::Index i, std::int32_t t) const;
  /// Everything estimated from the linking as it is.
  void fit();
  /// The same with persistence, unless it is known.
  void refit();
  int field_rounds() const;
  /// The links of every so-many-th frame, so many that the sample suffices.
  SeriesLinking some_frames() const;
  /// Neighbours' motion, or that of all, from the links as they are.
  void predict(int lags);
  SeriesCandidates likely(const SeriesModel& model, int lags);
  void find(int lags);
  /// One more linking; whether it is another.
  bool improve();
  void expect_misses();
  std::vector<double> gains_of(const SeriesLinking& linking, const VelocityModel& velocity) const {
    return velocity_gains(execution_, *points_, prediction_, model_, velocity, linking, candidates_);
  }
  void solve(const std::vector<double>& costs);
  void solve_beliefs(const JointBeliefs& beliefs);
  /// The model with shares of gaps, ends and false detections from the likeliest linking, weighed by the
  /// shares of `last`. A linking decoded from beliefs tells no shares: it leaves out what is not likelier
  /// than an end at a fixed price, and gaps, over which more candidates share the belief, go first.
  SeriesModel with_likely_shares(const SeriesModel& last);
  /// The candidates but for implausible ones: those with low odds.
  SeriesCandidates plausible(const JointBeliefs& beliefs) const;
  /// Keeps the candidates of sides without a sure link too; beliefs of those that were kept stay.
  void widen(const SeriesCandidates& all, std::vector<char>& keep, JointBeliefs& beliefs) const;
  /// Within how many nats of each detection's cheapest candidate the candidates must be for the links to be
  /// among them.
  double nats_of_links(const JointBeliefs& beliefs) const;
  void solve_in_windows();
  void count_solved();

  std::shared_ptr<const SeriesLists> lists_;
  std::shared_ptr<const SeriesGrids> grids_;
  std::shared_ptr<const Occlusion> occlusion_;  ///< null: gaps tell of none
  SeriesLinking predicted_from_;                ///< the linking that prediction_ comes from
  int lags_ = 1;                                ///< that candidates were last looked for
  bool drift_ = false;                          ///< predictions are of the motion that all share
  std::vector<RigidMotion> likely_motions_;     ///< [frames] found without links
  std::vector<RigidMotion> motions_;            ///< [frames] that predictions come from; empty: none do
  double choices_ = 0;                          ///< what its shifts cost, in nats
  double moved_ = 1;                            ///< share of links that the last round changed
  double nats_ = 0;                             ///< as nats_of_links
  bool known_ = false;  ///< parameters are those of a part, not fitted to the linking yet
  Execution execution_;
  const SeriesPoints* points_;
  SeriesOptions options_;
  std::function<void(int)> done_;
  int* solved_;
};

}  // namespace motes::tracking
