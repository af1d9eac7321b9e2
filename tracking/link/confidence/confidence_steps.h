#pragma once
/// The steps of link_confidence, for its tests and benchmarks.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/confidence.h>

namespace motes::tracking::detail {

/// Predictions by the motion that was chosen; empty without one.
Prediction link_prediction(const Execution& execution, const SeriesLinks& links);

/// [points] log odds of each detection's link to the next; NaN: no link. `prediction`: from link_prediction.
/// `found`: candidates to choose from, with detections in the same order; null: they are searched.
std::vector<double> link_log_odds(const Execution& execution, const SeriesLinks& links,
                                  const Prediction& prediction, const SeriesCandidates* found = nullptr);

/// [points] probability that a detection is a particle rather than another one within 0.6 exclusion radii,
/// from their log-odds; 1 if these are not known.
std::vector<double> particle_probabilities(const SeriesPoints& points, double exclusion_um);

struct ParticleLink {
  double right = 0;   ///< probability that the link is right if one of its detections is a particle
  double either = 1;  ///< probability that one of them is
};

/// From the probability `right` of the link between particles, and those of each detection being one. A false
/// detection around a particle often has a false one in the next frame, so the result is half-way between
/// independent detections and detections of which both or none are particles.
ParticleLink among_particles(double right, double from, double to);

/// From the log odds of links and whether they are right: the share of right links in bins of log odds,
/// combined with a logistic line through all of them, and made rising (pool adjacent violators). O(links).
Calibration calibrate(const std::vector<std::pair<double, bool>>& links);

/// A series whose true links are known.
struct SimulatedSeries {
  std::vector<Detections> frames;
  std::vector<std::vector<std::int64_t>> particle;  ///< [frames][detections], -1 false
  std::vector<double> log_odds;  ///< [detections of all frames] SeriesPoints::log_odds; empty: not known
  std::int32_t first_frame = 0;  ///< the frame of the linked series that the first frame resembles
};

/// Simulates a series like the linked one. It starts at detections of the first frame (those around its
/// middle if there are too many). Steps, missed detections, ends, starts and false detections are drawn like
/// those of the found tracks. Particles stay where detections are, and keep their distances. `stretch`:
/// factor for the steps, without the predicted motion of neighbours.
SimulatedSeries simulate_like(const SeriesLinks& links, const Prediction& prediction, std::size_t detections,
                              std::uint64_t seed, double stretch = 1);

/// A simulated series after linking: log odds of its links, and which are right.
struct Judged {
  std::vector<std::pair<double, bool>> links;
  double uncertain = 0;  ///< relative error of the share of wrong links

  double wrong() const;          ///< number of wrong links
  double wrong_by_odds() const;  ///< share of wrong links by the odds
};

/// Links the series again without a tenth of its detections, and returns the share of the links between the
/// others that are not found again. `links`: with points in the order of frames. O(one linking). The same for
/// any thread count.
double changed_links(const Execution& execution, const SeriesLinks& links, const SeriesOptions& options,
                     std::uint64_t seed);

/// Simulates and links series like the given one. If links follow the motion of neighbours, steps are
/// stretched or shortened until as many links change without a tenth of the detections as in the given
/// series.
Judged judged_like(const Execution& execution, const SeriesLinks& links, const Prediction& prediction,
                   const SeriesOptions& options, const ConfidenceOptions& how);

}  // namespace motes::tracking::detail
