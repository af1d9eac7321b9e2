#pragma once
/// Spots in a volume: scale-normalised Laplacian of Gaussian, local maxima, quadratic refinement.

#include <cstdint>
#include <optional>

#include "tracking/execution.h"
#include "tracking/types/detections.h"
#include "tracking/types/geometry.h"
#include "tracking/types/volume_frame.h"

namespace motes::tracking {

enum class Polarity { bright, dark };

struct DetectionOptions {
  /// Spot radius per axis in um: sigma = radius / sqrt(3), the blob radius at which the LoG answers most.
  Vec3 radius_um;
  /// Least quality (LoG response) of a spot; none: the robust automatic threshold.
  std::optional<double> threshold;
  /// Keep only this many spots, the best ones first; 0 keeps all above the threshold. With `max_count`
  /// and no threshold given, the max_count best local maxima are taken without any threshold.
  std::int64_t max_count = 0;
  Polarity polarity = Polarity::bright;
};

struct DetectionReport {
  double threshold = 0;           ///< the one used
  std::int64_t local_maxima = 0;  ///< before the threshold
};

/// Spots of one frame, ordered by z, then y, then x of their voxel. Positions in um (voxel centre = index *
/// voxel_um). quality = scale-normalised LoG response at the refined position, intensity = the frame's
/// (smoothed) value there, radius_um = geometric mean of the fitted radii.
/// Identical for any thread count. Throws InputError for a frame with NaN or infinite voxels.
/// O(voxels * (sigma_x + sigma_y + sigma_z)), memory about two float volumes besides the input.
Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options,
                        DetectionReport* report = nullptr);

/// A spot radius for this frame: of a ladder of isotropic (in um) radii the one whose strongest spots answer
/// most, refined by a parabola; none if the frame has no spots to speak of.
std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& frame, Polarity polarity);

}  // namespace motes::tracking
