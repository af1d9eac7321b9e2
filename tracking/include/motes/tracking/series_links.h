#pragma once
/// Links of a whole series at once: one exact assignment over all frames, whose costs are likelihoods with
/// parameters estimated from the series itself, in rounds.

#include <cstdint>
#include <functional>
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
  Gate gate;        ///< no displacement is longer, times elapsed frames; default: not bounded
  /// Properties that tell particles from false detections, by name; none: all that detections have.
  std::optional<std::vector<std::string>> features;
  /// Nearer detections are hardly ever two particles; 0: they may be; none: estimated (exclusion_um
  /// of the result).
  std::optional<double> exclusion_um;
  std::string solver = "auto";
  bool verify = false;
  Events events = Events::automatic;
  /// Most detections of one assignment. Larger series are linked in windows of frames that overlap
  /// (`windows`, `gap_nats` of the result), without velocity, joint and the search for false detections
  /// around particles; where one of these two models is asked for, as one assignment whatever its size.
  std::int64_t most_at_once = 10'000'000;
  /// Most detections of a series all of which serve to choose the motion model and the parameters. Of larger
  /// ones a part in the middle does, in every frame (`chosen_on` of the result); then all are linked.
  std::int64_t most_to_choose = 200'000;
  /// Most detections of a series that is linked as one although links depend on their neighbours' (velocity,
  /// joint, field). Larger ones are linked in blocks of space and time of at most so many, with margins
  /// around them (`blocks`, `conflicting` of the result).
  std::int64_t most_in_block = 2'000'000;
};

/// Whether a table is better linked as a series than frame to frame, by its number of detections and what
/// the gate's estimate says of it. Always up to a million. Up to 100 million, where half of the memory holds
/// the series, unless frame to frame is as good: particles that move at most 0.2 of their spacing, of which
/// at least 99 % are detected again in the next frame. Linking as a series takes 20 to 130 times as long.
/// O(1).
bool series_pays(std::size_t detections, const std::optional<GateEstimate>& estimate);

/// What `automatic` compared; costs in nats a detection, lower is better.
struct SeriesEvidence {
  double plain = 0;      ///< cost of the linking without prediction (of `field`, where asked for: with it)
  double coherence = 0;  ///< gain, in nats a link, of links left out of their neighbours' motion
  std::optional<double> field;     ///< cost of the linking around neighbours' motion
  std::optional<double> drift;     ///< cost of the linking around the motion of all
  std::optional<double> rotation;  ///< cost of the linking around the rotation and shift of all
  std::optional<double> velocity;  ///< cost with the links before and after
  std::optional<double> joint;     ///< cost of the linking by beliefs
  std::optional<double> beta;      ///< regression of displacements on those before
};

struct SeriesLinks {
  SeriesPoints points;  ///< scaled along the axes by `axes`
  Vec3 axes{1, 1, 1};   ///< by which residuals are alike along all axes; product 1
  SeriesLinking linking;
  SeriesModel model;
  VelocityModel velocity;  ///< empty by_lag: not used
  Prediction prediction;   ///< with `drift`: what the last linking was made around; else empty
  MotionModel chosen = MotionModel::standing;
  bool drift = false;                ///< `field` is that of all detections of a frame, not of neighbours
  bool rotation = false;             ///< `field` began with a rotation of all; with `drift` it is one
  bool persistent = false;           ///< the links before and after are in every cost
  bool joint = false;                ///< links by beliefs over all frames
  std::string reason;                ///< why that model, in one clause
  std::vector<std::string> skipped;  ///< what `automatic` did not try because the series is large, and why
  SeriesEvidence evidence;
  Divisions divisions;  ///< of the list, no mother has a link to a daughter
  std::int64_t candidates = 0, edges = 0, links = 0, gap_links = 0, false_detections = 0;
  std::vector<char> used;  ///< [points] 0: a false detection around a particle; empty: none is
  /// Detections far off their tracks for one frame, which the assignment left out and the tracks contain;
  /// rising.
  std::vector<matching::Index> jumped;
  /// [points] the detection at the same place that it follows from link to link, -1: none. Empty unless more
  /// than kMostCoincident (linker.h) coincide somewhere, or fewer at very many places.
  std::vector<matching::Index> copy_of;
  double exclusion_um = 0;  ///< false detections gather within it around particles (median); 0: they do not
  double objective = 0;     ///< in nats
  std::int64_t chosen_on = 0;    ///< detections that motion model and first parameters come from
  int windows = 1;               ///< assignments that the last linking was made of
  double gap_nats = 0;           ///< no linking costs less than objective - gap_nats; 0: optimal
  int blocks = 1;                ///< of space and time that were linked separately
  std::int64_t conflicting = 0;  ///< links in which adjacent blocks differ
  int rounds = 0;                ///< solved assignments
  bool verified = false;
  std::string solver;
};

/// Links all frames. The same for any thread count and back end; all work is done on the CPU. Throws
/// ResourceError where cuda is asked for and not there; UsageError for a solver that is not known,
/// max_gap below 0 or a bounded gate that require_length refuses; InputError for positions that are not
/// finite, or whose spacing is not 1e-20 to 1e20; ResourceError for lack of memory; std::logic_error where a
/// certificate fails. `done`, where given, is called after each solved assignment with their number; what it
/// throws stops the work.
SeriesLinks link_series(const Execution& execution, std::span<const Detections> frames,
                        const SeriesOptions& options, const std::function<void(int)>& done = {});

/// Tracks from the links of a series, numbered and with properties as those from links of pairs (linker.h);
/// frames where a particle was not detected are left out of its track. Daughters' tracks name their mother's
/// as `parent`, where divisions are significant.
TrackSet build_tracks(std::span<const Detections> frames, const SeriesLinks& links);

}  // namespace motes::tracking
