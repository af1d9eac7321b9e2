#pragma once
/// From peaks of a response to detections: places, widths, errors.

#include <optional>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/scan.h"
#include "tracking/detect/search.h"

namespace motes::tracking::detect {

/// The columns that every frame of these options has, even one without spots: `score` where spots are told by
/// evidence; where they are fitted `error_x_um`, `error_y_um`, `error_z_um`, `fitted`, `elongation` and
/// `elongated`; then with a camera's gain `photons` and `error_photons`.
void add_columns(const DetectionOptions& options, Detections& found);

/// `search` has the response of `filter`. Appends the spots to `found`, which has the columns of `options`
/// (refine: parabola or fit), then those that the fit found beside them. What the fits tell of the noise;
/// none without fits.
std::optional<VoxelNoise> append_spots(const Execution& execution, const VolumeFrame& frame,
                                       const Filter& filter, SpotSearch& search,
                                       const DetectionOptions& options, const Spots& spots, Detections& found);

}  // namespace motes::tracking::detect
