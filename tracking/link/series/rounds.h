#pragma once
/// The rounds of one motion model over one series: each estimates all parameters from a linking and finds a
/// better linking.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <motes/tracking/series_joint.h>
#include <motes/tracking/series_links.h>

#include "tracking/link/motion/axes.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/series/candidates.h"
#include "tracking/link/series/occlusion.h"
#include "tracking/motion/rigid_fit.h"

namespace motes::tracking {

/// Rounds of `plain` and `along_field`.
inline constexpr int kPlainRounds = 4;
/// Rounds end when fewer links than this share change.
inline constexpr double kRoundsSettled = 1e-3;
/// Motion persists if the regression of displacements on those before them is at least this; smaller values
/// can result from the choice of links.
inline constexpr double kLeastBeta = 0.05;
/// With few links the regression must also exceed this many of its standard errors for independent steps (one
/// per cent by chance). The same holds for a negative regression.
inline constexpr double kSureBeta = 2.33;
/// Particles return if the regression is at most -kLeastReturn and links gain kReturningGain nats each. They
/// do around rest positions, or if localisation errors exceed the motion. Wrong links also look so, but less.
inline constexpr double kLeastReturn = 0.2, kReturningGain = 0.05;
inline bool returns(const VelocityModel& velocity) {
  return velocity.beta() <= -kLeastReturn && velocity.gain > kReturningGain;
}

/// Fast particles stay fast, in any direction, if links gain this many nats each, beyond what they gain by
/// chance (this many nats divided by the number of links that meet). In simulations particles with one speed
/// gained at most 10 nats by chance, those with two speeds 0.16 to 0.6 each. Links gain as much where the
/// model of their lengths is wrong (no motion along an axis) or all particles are fast in the same frames. So
/// the lengths of the links into and out of a detection, as ranks in its frame, must also have this
/// correlation: 0.35 to 0.7 for two speeds, under 0.1 in the other cases.
inline constexpr double kSpeedsGain = 0.1, kGainByChance = 20, kSpeedCorrelation = 0.3;

/// Penalty in nats for each detection on no track when linkings are compared, since chance explains particles
/// that move far nearly as well as links do. In simulations without false detections, linkings that took such
/// particles for false were more likely by up to 1.3 nats each; with false detections by at least 1.8.
inline constexpr double kNatsOfFalse = 1.5;

/// Least shares of ends and births at the start: if they were close to 0 they would stay so, since far links
/// and gaps replace ends and births. kCommonEnds: the shares at the start if ends may be common.
inline constexpr double kLeastEnds = 0.02, kCommonEnds = 0.2;

/// Belief propagation is given up after six rounds if its linking is less likely by this many nats per
/// detection, and the start from links frame to frame and the motion of neighbours after two.
inline constexpr double kHopeless = 0.09;

/// Belief propagation uses candidates within this many nats of the best one of each detection.
inline constexpr double kJointNats = 9;

/// The number of detections whose next one differs between the linkings.
std::int64_t changed_links(const SeriesLinking& a, const SeriesLinking& b);

/// The number of links of `of` that `linking` does not have.
std::int64_t missing_links(const SeriesLinking& of, const SeriesLinking& linking);

class Rounds {
 public:
  /// `points` must outlive the object. `done` is called after each solved assignment; `solved` counts them.
  Rounds(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
         const std::function<void(int)>& done, int& solved)
      : execution_(execution), points_(&points), options_(options), done_(done), solved_(&solved) {}

  /// Starts frame to frame, then adds gaps. The first assumption is that every end of a track is a missed
  /// detection, since a share of gap links of 0 would stay 0.
  void plain(int lags, int rounds);

  /// Starts from a linking, without prediction, and from shares of ends and births of at least `ends`. Ends
  /// early if the second linking costs more than `hopeless`. Returns true, and ends, if a linking is that of
  /// other rounds, `known`.
  bool plain_from(SeriesLinking start, int lags, int rounds, double hopeless, double ends = kLeastEnds,
                  const SeriesLinking* known = nullptr);

  /// Sets parameters and candidates for rounds with velocity that start from a linking.
  void begin_from(SeriesLinking start, int lags);

  /// Sets parameters for a start without prediction in which a share `lost` of the detections is false.
  void begin_among_false(int lags, double scale, double lost, double ends, double missed);

  /// Starts from a linking, with predictions by the motion of neighbours. Ends early if the second linking
  /// costs more than `hopeless`.
  void along_field(SeriesLinking start, int lags, int rounds,
                   double hopeless = std::numeric_limits<double>::infinity());

  /// Takes the parameters and motion model of rounds over a part of the series as the start of the next
  /// rounds. The first frame of these points is the part's `first_frame`-th.
  void begin_like(Rounds& part, std::int32_t first_frame);

  /// Takes the parameters of another series as the start of the next rounds. The first frame of these points
  /// is its `first_frame`-th.
  void begin_with(const SeriesModel& model, const VelocityModel& velocity, std::int32_t first_frame);

  /// Continues without prediction.
  void plain_on(int lags, int rounds);

  /// Continues from a linking, with predictions by the motion of neighbours.
  void along_field_on(SeriesLinking start, int lags, int rounds);

  /// Continues with predictions by the common shift of all detections of a frame (drift.h), starting
  /// from the most likely shifts. If these are not more likely than none, returns false and changes nothing.
  bool along_drift(int lags, int rounds);

  /// Starts without prediction, with the scales and shares of other rounds.
  void plain_like(const Rounds& other, int lags, int rounds);

  /// A first linking with predictions by likely common rotations (rigid.h). If none is likely, or (if
  /// `known` is given) all lead to its links, returns false and changes nothing.
  bool start_by_rotation(int lags, const SeriesLinking* known = nullptr);

  /// Continues with predictions by rotations fitted to the links.
  void along_rotation(int lags, int rounds);

  /// Continues with costs that depend on the links before and after. Terms of the last two linkings are
  /// averaged, since otherwise two linkings can alternate. `doubt`: end as soon as motion does not persist,
  /// and no more than in the round before.
  void with_velocity(int rounds, bool doubt);

  /// Continues over all frames at once: belief propagation, the most likely linking under its odds, and
  /// estimates from that. Ends early if a linking costs more than `hopeless`. False if there are too many
  /// triplets.
  bool joint(int rounds, std::int64_t most_triplets, double hopeless);

  /// Continues over all frames at once. Candidates are found once; after the first round all of them are used
  /// for detections without a sure link on both sides. False if there are too many triplets.
  bool joint_on(int rounds, std::int64_t most_triplets);

  /// Whether the number of links that are only in the other linking exceeds a share of the number of links;
  /// by default the share for which rounds continue.
  bool differs(const SeriesLinking& other, double share = kRoundsSettled) const;

  const SeriesPoints& points() const { return *points_; }

  /// Median displacement of links over one frame, in spacings.
  double steps() const;

  /// Cost of the linking in nats per detection, including kNatsOfFalse.
  double cost_per_point() const { return chain_cost() / static_cast<double>(points_->size()); }

  /// The gain over another linking of the same points in nats, minus `errors` standard errors of it, from the
  /// scatter of the gains of single detections (Vuong 1989).
  double surely_likelier(const Rounds& other, double errors) const;

  /// The links of evenly spaced frames, a sample of about kCoherenceSample links.
  SeriesLinking some_frames() const;

  /// The gain in nats per link over one frame by predictions by neighbours, where no link predicts itself.
  double coherence();
  /// The same by predictions that were made from the links of `sample`, for these links.
  double gain_of(const Prediction& motion, const SeriesLinking& sample) const;

  /// Factors that make residuals equally long along all axes (axes.h).
  Vec3 axis_factors() const {
    return tracking::axis_factors(*points_, prediction_, solution_.linking, velocity_.beta());
  }
  /// The least regression of displacements for persistence, see kLeastBeta.
  double least_beta() const;

  /// Whether the lengths of links depend on those before.
  bool speeds_persist() const;

  /// Neighbour lists and grids of the detections: made at the first request and shared by copies.
  const SeriesLists& lists();
  const SeriesGrids& grids();

  /// Whether the series is too large for one assignment; then candidates_ stays empty.
  bool in_windows() const { return static_cast<std::int64_t>(points_->size()) > options_.most_at_once; }
  void share(const Rounds& other) { lists_ = other.lists_, grids_ = other.grids_, first_ = other.first_; }

  SeriesSolution solution_;
  SeriesModel model_;
  VelocityModel velocity_;
  Prediction prediction_;
  SeriesCandidates candidates_;
  std::int64_t found_ = 0;  ///< number of candidates of the last linking
  int windows_ = 1;
  double gap_nats_ = 0;
  bool rests_ = false;  ///< result of rests() (shared_motion.h)

 private:
  /// Sets the parameters from which rounds without prediction start.
  void begin_plain(int lags);
  /// Negative log-likelihood of the linking: like the assignment's objective, but each pair of successive
  /// links counts once.
  double chain_cost() const;
  /// The term of detection i, of frame t.
  double chain_cost(matching::Index i, std::int32_t t) const;
  /// Estimates all parameters from the current linking.
  void fit();
  /// The same with persistence, unless it is known.
  void refit();
  int field_rounds() const;
  /// Number of detections with a link before and a link after, at least 1.
  double meetings() const;
  /// Computes predictions by neighbours, or by the common motion, from the current links.
  void predict(int lags);
  SeriesCandidates likely(const SeriesModel& model, int lags);
  void find(int lags);
  /// The same without predictions. Keeps the candidates of a similar model.
  void find_again(int lags);
  /// Finds the next linking; returns whether it differs.
  bool improve();
  void expect_misses(double least_ends = kLeastEnds);
  std::vector<double> gains_of(const SeriesLinking& linking, const VelocityModel& velocity) const {
    return velocity_gains(execution_, *points_, prediction_, model_, velocity, linking, candidates_);
  }
  void solve(const std::vector<double>& costs);
  void solve_beliefs(const JointBeliefs& beliefs);
  /// The model with shares of gaps, ends and false detections from the most likely linking, weighted with the
  /// shares of `last`. A linking from belief propagation does not give shares: it omits links that are not
  /// more likely than an end at a fixed price, and gaps most of all, since more candidates share their odds.
  SeriesModel with_likely_shares(const SeriesModel& last);
  /// The candidates without those of low odds.
  SeriesCandidates plausible(const JointBeliefs& beliefs) const;
  /// Also keeps the candidates of sides without a sure link; messages of kept ones do not change.
  void widen(const SeriesCandidates& all, std::vector<char>& keep, JointBeliefs& beliefs) const;
  /// How many nats above each detection's cheapest candidate the candidates must reach to contain the links.
  double nats_of_links(const JointBeliefs& beliefs) const;
  void solve_in_windows();
  void count_solved();

  std::shared_ptr<const SeriesLists> lists_;
  std::shared_ptr<const SeriesGrids> grids_;
  std::shared_ptr<const SeriesModel> first_;    ///< of begin_plain, made at the first request; or null
  std::shared_ptr<const Occlusion> occlusion_;  ///< null: gaps do not show any
  SeriesLinking predicted_from_;                ///< the linking that prediction_ comes from
  int lags_ = 1;                                ///< of the last search for candidates
  bool drift_ = false;                          ///< predictions are by the common motion
  std::vector<RigidMotion> likely_motions_;     ///< [frames] found without links
  std::vector<RigidMotion> motions_;            ///< [frames] from which predictions come; empty: none
  double choices_ = 0;                          ///< cost of the common motions, in nats
  double moved_ = 1;                            ///< share of links that the last round changed
  double nats_ = 0;                             ///< result of nats_of_links
  bool known_ = false;  ///< parameters come from a part and are not fitted to the linking yet
  std::shared_ptr<const SeriesModel> found_with_;  ///< by which find_again found candidates_; or null
  Execution execution_;
  const SeriesPoints* points_;
  SeriesOptions options_;
  std::function<void(int)> done_;
  int* solved_;
};

/// The rounds without prediction or, if it is more likely, a linking that starts from common ends: if few
/// were expected at first and more were found, far links can have replaced others.
Rounds with_common_ends(Rounds best);

}  // namespace motes::tracking
