#pragma once
/// Spots in a volume: scale-normalised Laplacian of Gaussian, local maxima, quadratic refinement.

#include <cstdint>
#include <optional>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking {

enum class Polarity { bright, dark };

struct DetectionOptions {
  /// Spot radius per axis in um: sigma = radius / sqrt(3), the blob radius at which the LoG answers most
  /// (sqrt(2) for a single plane: the number of axes of more than one voxel). Of a Gaussian spot of standard
  /// deviation s, the radius is sqrt(2) s; sqrt(3) s finds more where noise is strong.
  Vec3 radius_um;
  /// Least quality (LoG response) of a spot; none: the automatic threshold, u times the robust standard
  /// deviation of the response to noise, u the level that pure white noise passes in one frame of ten
  /// (between 3 and 9, 5.6 or so for 10^6 voxels). tracking/detect/threshold.h and docs/detection.md have it
  /// all.
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
/// voxel_um). quality = scale-normalised LoG response at the refined position, intensity = the
/// Gaussian-smoothed frame value there (background included), radius_um = geometric mean of the radii fitted
/// along the axes (NaN where no axis has a neighbour on both sides). A constant frame has no spots. Identical
/// for any thread count and voxel type. Throws InputError (naming frame and voxel) for NaN, infinite or huge
/// (over 1e32) voxels and for sizes that disagree; UsageError for options out of range. O(voxels * (sigma_x +
/// sigma_y + sigma_z)), memory about two float volumes besides the input.
Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options,
                        DetectionReport* report = nullptr);

/// A spot radius for this frame: of a ladder of radii, equal along all axes, the one at which the strongest
/// spots answer most, then the same for z alone (microscopes blur it most) and for x and y together. None if
/// the frame has no spots to speak of.
std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& frame, Polarity polarity);

}  // namespace motes::tracking
