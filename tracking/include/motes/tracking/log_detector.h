#pragma once
/// Spots in a volume: scale-normalised Laplacian of Gaussian at one scale or several, local maxima,
/// refinement by a quadratic or a Gaussian fit.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/camera.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking {

enum class Polarity { bright, dark };

/// How positions are determined: by a parabola through the response's peak, or by fitting Gaussian spots to
/// the voxels. automatic: by a fit.
enum class Refine { parabola, fit, automatic };

struct DetectionOptions {
  /// Spot radius per axis in um: sqrt(d) times the standard deviation of the spots, d the number of axes of
  /// more than one voxel (sqrt(3) for a stack, sqrt(2) for a single plane). The filter's sigma is radius /
  /// sqrt(d).
  Vec3 radius_um;
  /// Radius of the largest spots, where sizes differ: spots are then looked for at scales from radius_um to
  /// this, a factor of at most sqrt(2) apart, and each is kept at the scale that answers strongest. Not below
  /// radius_um along any axis. None: one size.
  std::optional<Vec3> largest_radius_um;
  /// Lowest quality (LoG response) of a spot; none: spots are recognised by the evidence of the voxels around
  /// each maximum (tracking/detect/choice.h and docs/method/detection.md).
  std::optional<double> threshold;
  /// Keep only this many spots, the best ones first; 0 keeps all above the threshold. With `max_count`
  /// and no threshold given, the max_count best local maxima are taken without any threshold.
  std::int64_t max_count = 0;
  Polarity polarity = Polarity::bright;
  /// Without a threshold: expected number of false spots in a frame; none: one in twenty of those found, and
  /// none in a frame of noise.
  std::optional<double> false_positives_per_frame;
  Refine refine = Refine::parabola;
  /// Refine::fit: weights and standard errors go by what is known of the camera; the rest of the noise is
  /// told from the residuals around spots. With a gain, spots get their number of photons.
  CameraModel camera;
  /// Keep a few strong maxima whose scores continue those of the noise without a gap. Otherwise they are
  /// taken for texture, and the frame has no spots.
  bool keep_blending = false;
  /// [voxels, x fastest] 0 where no spot is looked for; empty: everywhere. Must outlive the call.
  std::span<const std::uint8_t> mask;
};

struct DetectionReport {
  double threshold = 0;  ///< the one used: of quality if one was given or `max_count` was, else of score
  std::int64_t local_maxima = 0;      ///< before the threshold
  bool blends = false;                ///< at some scale the strong maxima continue the noise without a gap
  Backend backend = Backend::cpu;     ///< where the frame was searched: cpu or cuda
  std::vector<std::string> warnings;  ///< one line each, with what they are based on
  /// Refine::fit: of the residuals around spots, at the scale of most spots; none: too few voxels.
  std::optional<VoxelNoise> noise;
  /// On a GPU: seconds of its stages, by name, from events on its stream; scales are added up.
  std::vector<std::pair<std::string, double>> device_s;
};

/// Spots of one frame, ordered by z, then y, then x of their voxel. Positions in um (voxel centre = index *
/// voxel_um). quality = scale-normalised LoG response at the refined position, intensity = the
/// Gaussian-smoothed frame value there (background included), radius_um = geometric mean over the axes of
/// sqrt(d) times the spot's standard deviation (NaN where no axis has a neighbour on both sides). Properties:
/// `score` (signed root of the likelihood ratio of "spot" to "none") where no threshold was given; with
/// Refine::fit, `error_x_um`, `error_y_um`, `error_z_um` (standard errors; NaN where the fit failed),
/// `fitted` (1; 0 where the fit failed and the position is the parabola's), `elongation` (longest over
/// shortest width, z's own width taken out; NaN where the fit failed) and `elongated` (1 where it is over 1.3
/// beyond chance); with a camera's gain also `photons` (of the whole spot, background taken off) and
/// `error_photons` (standard error, neighbours known; NaN where the fit failed, as `photons`). A constant
/// frame has no spots. Without a threshold, hot voxels are replaced by the median of their neighbours first.
/// In padding (a constant around the data, as from registration) and at its edge no spots are found.
/// Identical for any thread count and voxel type. Throws InputError (naming frame and voxel) for NaN,
/// infinite or huge (over 1e32) voxels, for such as differ, by more than 1e18 or less than 1e-18, and for
/// sizes that disagree (a mask's too); UsageError for options out of range. O(voxels * (sigma_x + sigma_y +
/// sigma_z)), memory about two float volumes besides the input. On a GPU (execution.backend cuda; automatic:
/// large frames, or smaller ones where execution.workspace keeps memory of that device) the answer is the
/// same bit for bit. A frame that does not fit into its memory is searched on the CPU, with a warning. Throws
/// ResourceError where a GPU is asked for and there is none.
Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options,
                        DetectionReport* report = nullptr);

/// Where detect_spots is to search `frames` frames of that shape, if Backend::automatic is asked for: on a
/// GPU where there is one, frames have 2^20 voxels or more, and what it saves pays for its start. Other back
/// ends are returned as they are.
Backend detection_backend(const Execution& execution, const Shape3& frame, std::int64_t frames);

/// How many frames of that shape are best searched on the execution's GPU side by side, each by a thread with
/// a workspace of its own, so that some are on the GPU while the threshold of others is chosen on the CPU: up
/// to one for each of the execution's threads, of 2^27 voxels in all (three of larger frames), and as
/// many as the GPU's memory holds. 1 without a GPU.
int frames_at_once(const Execution& execution, const Shape3& frame);

/// A spot radius for this frame, as DetectionOptions::radius_um defines it: the scale at which spots stand
/// out most, then the median width of Gaussians fitted to the strongest of them. None if the frame has no
/// spots to speak of. Frames of over 2 million voxels are looked at around their middle.
std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& frame, Polarity polarity);

/// The sizes of a frame's spots, as DetectionOptions::radius_um defines them.
struct SpotSizes {
  Vec3 radius_um;                         ///< of the spots; of the smallest where sizes differ
  std::optional<Vec3> largest_radius_um;  ///< none: one size
};

/// As estimate_radius, and whether the frame holds spots of clearly different sizes (largest over smallest
/// about 2 and more, both of them more than a few).
std::optional<SpotSizes> estimate_sizes(const Execution& execution, const VolumeFrame& frame,
                                        Polarity polarity);

}  // namespace motes::tracking
