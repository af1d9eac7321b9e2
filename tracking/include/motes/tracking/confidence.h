#pragma once
/// Probabilities that links are right.
///
/// Belief propagation (series_joint.h) over the candidates gives the odds of every link of a series,
/// whichever motion model chose the link. These odds are too high where linking is hard: the parameters come
/// from links of which some are wrong, and tracks that share detections are not independent. The odds are
/// therefore calibrated. A series is simulated from the fitted model, at the density of the detections, and
/// linked in the same way, starting from the fitted parameters. The calibration is the share of its links
/// that are right, as a function of their odds. If the links follow the motion of neighbours, the simulated
/// series is made as hard to link as the real one. Hardness is measured in both by the share of links that
/// change when a tenth of the detections is left out.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// P(right) as a function of the log odds: rising, linear between the knots, constant beyond the first and
/// last.
struct Calibration {
  std::vector<double> log_odds, right;  ///< [knots] each, in rising order
  double operator()(double z) const;
};

struct ConfidenceOptions {
  std::size_t detections = 8'000;  ///< about the most that a simulated series has
  std::uint64_t seed = 1;
};

struct Confidence {
  /// [points] probability that the link from this point to the next is right; NaN: no link.
  std::vector<double> link;
  double wrong = 0;          ///< expected share of wrong links
  double error = 0;          ///< standard deviation of `wrong`
  double wrong_by_odds = 0;  ///< the same from the odds without calibration
  bool calibrated = false;   ///< whether a simulated series calibrated the odds
  std::int64_t simulated_links = 0, simulated_wrong = 0;
  Calibration calibration;
};

/// The confidence of all links. `options`: those that the series was linked with. The same for any thread
/// count. O(candidates), and the time to link the simulated series.
Confidence link_confidence(const Execution& execution, const SeriesLinks& links, const SeriesOptions& options,
                           const ConfidenceOptions& how = {});

/// Removes links whose probability is below `least`, and divisions and merges less likely than that.
/// Returns the number of links removed.
std::int64_t cut_unsure_links(const Confidence& confidence, double least, SeriesLinks& links);

/// Adds two columns to `tracks`, or replaces those of the same name. Point property `link_confidence`: the
/// probability of the link into the point; at the first point of a daughter or a merged particle, that of the
/// event; NaN if there is neither. Track property `confidence`: the product over the links of the track, which
/// is the probability that none is wrong. `links`: as after cut_unsure_links, if that was called. O(points).
void add_confidence(const Confidence& confidence, const SeriesLinks& links, TrackSet& tracks);

}  // namespace motes::tracking
