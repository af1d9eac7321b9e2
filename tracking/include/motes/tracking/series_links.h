#pragma once
/// Links a whole series at once, by one exact assignment over all frames. Its costs are negative
/// log-likelihoods, whose parameters are estimated from the series itself in rounds.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/divisions.h>
#include <motes/tracking/gate.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/motion_model.h>
#include <motes/tracking/series_assignment.h>
#include <motes/tracking/series_velocity.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

struct SeriesOptions {
  MotionModel model = MotionModel::automatic;
  int max_gap = 3;  ///< frames a particle may stay undetected between two links of its track
  Gate gate;        ///< longest displacement per frame; default: not bounded
  /// Names of the properties that distinguish particles from false detections; none: all that detections
  /// have.
  std::optional<std::vector<std::string>> features;
  /// Detections nearer than this are hardly ever two particles; 0: they may be; none: estimated (exclusion_um
  /// of the result).
  std::optional<double> exclusion_um;
  std::string solver = "auto";
  bool verify = false;
  Events events = Events::automatic;
  /// Most detections of one assignment. Larger series are linked in overlapping windows of frames (`windows`,
  /// `gap_nats` of the result), without the models velocity and joint and without the search for false
  /// detections around particles. If one of these two models is asked for, there is one assignment of any
  /// size.
  std::int64_t most_at_once = 10'000'000;
  /// Up to this many detections, the motion model and the parameters are chosen on all of the series; in
  /// larger series on a part in the middle of every frame (`chosen_on` of the result), before all are linked.
  /// In at least 43 frames (with max_gap 3), above 40,000 detections, on frames in the middle, unless
  /// neighbours move together in others only.
  std::int64_t most_to_choose = 200'000;
  /// Up to this many detections, series with models in which links depend on other links (velocity, joint,
  /// field) are linked as a whole. Larger ones are linked in blocks of space and time with at most this many
  /// detections, and margins around them (`blocks`, `conflicting` of the result).
  std::int64_t most_in_block = 2'000'000;
};

/// Whether to link a table as a series rather than frame to frame, by its number of detections and the gate's
/// estimate. Yes up to a million. Yes up to 100 million if the series fits into half of the memory, unless
/// frame to frame is as good: if particles move at most 0.2 of their spacing and at least 99 % are detected
/// again in the next frame. Linking as a series takes about 100 times as long. O(1).
bool series_pays(std::size_t detections, const std::optional<GateEstimate>& estimate);

/// What `automatic` compared. Costs are in nats per detection, lower is better; none: not tried.
struct SeriesEvidence {
  double plain = 0;      ///< cost of the linking without prediction (with it, if `field` was asked for)
  double coherence = 0;  ///< gain in nats per link by the motion of neighbours, without the link's own
  std::optional<double> field;     ///< cost of the linking with predictions by neighbours
  std::optional<double> drift;     ///< cost with predictions by the common shift of all
  std::optional<double> rotation;  ///< cost with predictions by the common rotation and shift of all
  std::optional<double> velocity;  ///< cost that depends on the links before and after
  std::optional<double> joint;     ///< cost of the linking by belief propagation
  std::optional<double> beta;      ///< regression of displacements on those before
};

struct SeriesLinks {
  SeriesPoints points;  ///< with positions multiplied by `axes`
  Vec3 axes{1, 1, 1};   ///< factors that make residuals equally long along all axes; product 1
  SeriesLinking linking;
  SeriesModel model;
  VelocityModel velocity;  ///< empty by_lag: not used
  Prediction prediction;   ///< with `drift`: the predictions of the last linking; else empty
  MotionModel chosen = MotionModel::standing;
  /// Predictions are the common motion of all detections of a frame, not that of neighbours.
  bool drift = false;
  /// With `drift`: the common motion rotates; without: the field began with a rotation.
  bool rotation = false;
  bool persistent = false;  ///< costs depend on the links before and after
  bool joint = false;       ///< links by belief propagation over all frames
  std::string reason;       ///< why this model was chosen, in one clause
  /// Models that `automatic` did not try because the series is large, and why.
  std::vector<std::string> skipped;
  SeriesEvidence evidence;
  /// Mothers have no links to daughters. Merges are in reversed time: the mother is the merged particle.
  Divisions divisions, merges;
  std::int64_t candidates = 0, edges = 0, links = 0, gap_links = 0, false_detections = 0;
  std::vector<char> used;  ///< [points] 0: a false detection around a particle; empty: there is none
  /// Detections far off their tracks for one frame, in rising order. The assignment left them out; the tracks
  /// contain them.
  std::vector<matching::Index> jumped;
  /// [points] for copies, the detection at the same place whose links they follow, else -1. Empty unless more
  /// than kMostCoincident detections (linker.h) coincide somewhere, or fewer at very many places.
  std::vector<matching::Index> copy_of;
  /// Median radius within which false detections gather around particles; 0: they do not.
  double exclusion_um = 0;
  double objective = 0;          ///< in nats
  std::int64_t chosen_on = 0;    ///< number of detections from which motion model and first parameters come
  int windows = 1;               ///< number of windows of the last linking
  double gap_nats = 0;           ///< every linking costs at least objective - gap_nats; 0: optimal
  int blocks = 1;                ///< blocks of space and time that were linked separately
  std::int64_t conflicting = 0;  ///< links in which adjacent blocks differ
  int rounds = 0;                ///< number of solved assignments
  bool verified = false;
  std::string solver;
  /// For link_confidence: the candidates of the last linking, with detections in order of position; or null.
  std::shared_ptr<const SeriesCandidates> likely;
};

/// Links all frames. The same for any thread count and back end; all work is done on the CPU. Throws
/// UsageError for an unknown solver, max_gap below 0 or a bounded gate that require_length refuses;
/// InputError for positions that are not finite, or whose spacing is outside 1e-20 to 1e20; ResourceError for
/// lack of memory, or if cuda is asked for and missing; std::logic_error if a certificate fails. `done`, if
/// given, is called after each solved assignment with the number so far; an exception from it stops the work
/// and is rethrown. Expected O(points log points + candidates) in each round, without the assignments.
SeriesLinks link_series(const Execution& execution, std::span<const Detections> frames,
                        const SeriesOptions& options, const std::function<void(int)>& done = {});

/// Tracks from the links of a series, with numbers and properties as from links of pairs (linker.h). A track
/// has no points in frames in which its particle was not detected. If there are divisions, `parent`
/// names the mother's track; if there are merges, `merged_into` that of the merged particle. O(points).
TrackSet build_tracks(std::span<const Detections> frames, const SeriesLinks& links);

}  // namespace motes::tracking
