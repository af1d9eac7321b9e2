#pragma once
/// Rigid motion that all detections of a frame share: a sample that rotates, drifts or both.
///
/// As series_drift.h, but with a rotation in every frame. likely_motions looks for the motion of every frame
/// without links: those that RigidPairSearch finds in pairs of frames are hypotheses, beside no motion, the
/// motion of the frame before, and one motion of the whole series; rotations tend to be steady.
/// predict_by_rigid then fits the motions to a linking, for each detection to the links of the others.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/rigid_fit.h"

namespace motes::tracking {

/// [frames] the likeliest motion to the next frame; none for the last. Empty where rotation makes the series
/// no likelier than shifts alone do, which up to 32 pairs of frames tell first. O(points log points) and a
/// small search for each frame. `known`, where given: a linking to improve on. Empty too where it has the
/// links that the motions of these pairs lead to.
std::vector<RigidMotion> likely_motions(const Execution& execution, const SeriesPoints& points,
                                        const SeriesLinking* known = nullptr);

/// What the motions of the frames between lead to.
Prediction predict_by_motions(const SeriesPoints& points, const std::vector<RigidMotion>& motions, int lags);

/// The motion that fits the displacements over one frame of all other detections of the frame, robustly.
/// Rotation and shift are shrunk to those of the whole series as far as the scatter of displacements explains
/// the difference: a steady rotation is known better from all frames than from one.
/// `motions`: those before; on return the new ones. O(points x lags).
///
/// `choices`, where given, is set to what the motions cost in nats, as in predict_by_drift: for a shift of
/// its own the logarithm of the number of detections, for a rotation of its own once (in the plane) or twice
/// that.
Prediction predict_by_rigid(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, std::vector<RigidMotion>& motions,
                            double* choices = nullptr);

}  // namespace motes::tracking
