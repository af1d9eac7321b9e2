#pragma once
/// How sure links are.
///
/// Belief propagation (series_joint.h) over the candidates, with the estimated parameters, gives the odds of
/// every link of a series, whatever model chose it. These odds are too high where linking is hard: the
/// parameters come from links of which some are wrong, and tracks that share detections are not independent.
/// So a series is simulated from the fitted model, at the detections' own density, and linked in the same
/// way, from the fitted parameters on; the share of its links that are right, as a function of their odds, is
/// the calibration. With neighbours' motion the simulated series is made as hard as the real one
/// by what can be measured in both: the share of links that change when a tenth of the detections is left
/// out.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// P(right) by log odds: rising, piecewise linear between the knots, constant beyond.
struct Calibration {
  std::vector<double> log_odds, right;  ///< [knots] rising
  double operator()(double z) const;
};

struct ConfidenceOptions {
  std::size_t detections = 12'000;  ///< in a simulated series, at most (about)
  std::uint64_t seed = 1;
};

struct Confidence {
  std::vector<double> link;  ///< [points] probability that the link from there is right; NaN: none
  double wrong = 0;          ///< expected share of wrong links
  double error = 0;          ///< standard deviation of `wrong`
  double wrong_by_odds = 0;  ///< expected share by the odds alone, not calibrated
  bool calibrated = false;   ///< by a simulated series
  std::int64_t simulated_links = 0, simulated_wrong = 0;
  Calibration calibration;
};

/// The confidence of all links. `options`: as the series was linked with. The same for any thread count.
/// O(candidates) and one linking of the simulated series.
Confidence link_confidence(const Execution& execution, const SeriesLinks& links, const SeriesOptions& options,
                           const ConfidenceOptions& how = {});

/// Removes links of a probability below `least`, and divisions of which a daughter's link has one. Returns
/// the number of links removed.
std::int64_t cut_unsure_links(const Confidence& confidence, double least, SeriesLinks& links);

/// Point property `link_confidence`: of the link into the point, of a daughter's first point that of her
/// division, NaN where there is neither; track property `confidence`: the probability that no link of the
/// track is wrong, the product of its links'. In place of columns of these names. `links`: after any cut.
void add_confidence(const Confidence& confidence, const SeriesLinks& links, TrackSet& tracks);

}  // namespace motes::tracking
