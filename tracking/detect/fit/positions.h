#pragma once
/// Turns peaks of a response into detections with places, widths and errors.

#include <optional>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/scan.h"
#include "tracking/detect/search.h"

namespace motes::tracking::detect {

/// Adds the columns that frames have with these options, even without spots: `score` if spots are chosen by
/// evidence; with a fit `error_x_um`, `error_y_um`, `error_z_um`, `fitted`, `elongation` and `elongated`, and
/// with a camera's gain also `photons` and `error_photons`.
void add_columns(const DetectionOptions& options, Detections& found);

/// Appends the spots to `found`, which has the columns of `options` (refine: parabola or fit), then the
/// second spots that the fit found. `search` must have computed the response of `filter`. Returns the noise
/// estimated by the fits; none without fits.
std::optional<VoxelNoise> append_spots(const Execution& execution, const VolumeFrame& frame,
                                       const Filter& filter, SpotSearch& search,
                                       const DetectionOptions& options, const Spots& spots,
                                       Detections& found);

}  // namespace motes::tracking::detect
