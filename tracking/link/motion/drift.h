#pragma once
/// The common shift of all detections of a frame: a drifting sample, or a shaken stage. If particles are few
/// or move farther than their spacing, the motion of neighbours does not show it.
///
/// There are two steps. likely_shifts finds the shift of every frame without links. Its hypotheses are each
/// shift that moves a detection onto one of the next frame, no motion, and the shift of the frame before. The
/// likelihood of a shift is that each moved detection lies near one of the next frame (Student t) or near
/// none; the scale is the most likely one for the series. Then predict_by_drift computes the shifts from a
/// linking, for each detection from the links of the others.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// [frames] the most likely shift to the next frame; 0 for the last. The gain of a hypothesis is reduced by
/// the logarithm of the number of alternatives. Up to 8 detections of a frame make hypotheses with up to 32
/// of the next, and up to 32 judge them. O(frames) small searches. `gain`, if given, is set to the gain in
/// nats over both no shifts and no partners. (If particles move independently and farther than their spacing,
/// shifts by chance are more likely than no shifts, but not than no partners.)
std::vector<Vec3> likely_shifts(const Execution& execution, const SeriesPoints& points,
                                double* gain = nullptr);

/// The same displacement for all detections of a frame: the sum of the shifts over each lag.
Prediction predict_by_shifts(const SeriesPoints& points, const std::vector<Vec3>& shifts, int lags);

/// Predicts for each detection the robust mean displacement to the next frame of all others of its frame. It
/// is shrunk towards the median shift of the series as far as the scatter of displacements explains the
/// difference (James and Stein 1961), or as the spread of all shifts does if that is less. So particles that
/// move independently are predicted to stay, and the shift of one shaken frame is kept although the others
/// are at rest. Over more frames, the shifts of the frames between are added. O(points x lags).
///
/// `choices`, if given, is set to the cost of the shifts in nats: for a shift other than the series' median,
/// the logarithm of the number of detections in the next frame, since with few particles some shift always
/// fits.
Prediction predict_by_drift(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, double* choices = nullptr);

}  // namespace motes::tracking
