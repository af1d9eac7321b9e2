#pragma once
/// The common rigid motion of all detections of a frame: a sample that rotates, drifts or both.
///
/// Like drift.h, but with a rotation in every frame. likely_motions finds the motion of every frame
/// without links. Its hypotheses are those that RigidPairSearch finds in pairs of frames, no motion, the
/// motion of the frame before, and one motion for the whole series, since rotations tend to be steady. Then
/// predict_by_rigid fits the motions to a linking, for each detection to the links of the others.

#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/motion/rigid_fit.h"

namespace motes::tracking {

/// [frames] the most likely motion to the next frame; the last has none. Empty if rotation gains nothing over
/// shifts, which is first tested on up to 32 pairs of frames. `known`: an existing linking, may be null; the
/// result is also empty if it already has the links of these pairs' motions. O(points log points) and a small
/// search for each frame.
std::vector<RigidMotion> likely_motions(const Execution& execution, const SeriesPoints& points,
                                        const SeriesLinking* known = nullptr);

/// Predicted displacements: the motions of the frames between, in succession.
Prediction predict_by_motions(const SeriesPoints& points, const std::vector<RigidMotion>& motions, int lags);

/// Predicts for each detection the motion that fits, robustly, the displacements to the next frame of all
/// others of its frame. Rotation and shift are shrunk towards those of the whole series as far as the scatter
/// of displacements explains the difference, since a steady rotation is known better from all frames than
/// from one. `motions`: the previous ones; replaced by the new ones. O(points x lags).
///
/// `choices`, if given, is set to the cost of the motions in nats, as in predict_by_drift: for a frame with
/// its own shift the logarithm of the number of detections; for its own rotation once (in the plane) or twice
/// that.
Prediction predict_by_rigid(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags, std::vector<RigidMotion>& motions,
                            double* choices = nullptr);

}  // namespace motes::tracking
