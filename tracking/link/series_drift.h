#pragma once
/// Motion that all detections of a frame share: a drifting sample, a shaken stage. Where there are few
/// particles, or they move farther than their spacing, no field of neighbours tells of it.
///
/// Two steps. likely_shifts looks for the shift of every frame without any links: each shift that brings a
/// detection of the frame onto one of the next is a hypothesis, beside no motion and the shift of the frame
/// before. Its likelihood is that of all detections shifted, each to lie near one of the next frame (Student
/// t) or near none; the scale is the one that makes the series likeliest. predict_by_drift then takes the
/// shifts from a linking, for each detection from the links of the others.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// [frames] the likeliest shift to the next frame; 0 for the last. A free hypothesis pays for the number of
/// detections that it might have come from. Up to 8 detections of a frame make hypotheses with up to 32 of
/// the next, and up to 32 judge them. O(frames) small searches.
/// `gain`, where given, is set to how much likelier they are, in nats, than no shifts and than no partners:
/// of particles that move on their own, farther than their spacing, chance shifts are likelier than none
/// only.
std::vector<Vec3> likely_shifts(const Execution& execution, const SeriesPoints& points,
                                double* gain = nullptr);

/// The same displacement for all detections of a frame: the sum of the shifts over each lag.
Prediction predict_by_shifts(const SeriesPoints& points, const std::vector<Vec3>& shifts, int lags);

/// The robust mean of the displacements over one frame of all other detections of the frame. It is shrunk to
/// the series' median shift as far as the scatter of displacements explains the difference (James and Stein
/// 1961; as far as the spread of all shifts says, where that is less): particles that move on their own are
/// predicted to stay, and one shaken frame is no less sure for the others' rest. Over more frames the shifts
/// of the frames between are added. O(points x lags).
///
/// `choices`, where given, is set to what the shifts cost in nats: one that is not the series' median came
/// from as many as the next frame has detections. Of few particles some shift always agrees.
Prediction predict_by_drift(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, double* choices = nullptr);

}  // namespace motes::tracking
