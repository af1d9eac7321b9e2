#pragma once
/// Finds spots in a volume: local maxima of the scale-normalised Laplacian of Gaussian (LoG) at one or
/// several scales, refined by a quadratic or a Gaussian fit.

#include <cstddef>
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

/// How positions are determined: by a parabola through the peak of the LoG response, or by fitting Gaussian
/// spots to the voxels. automatic: by a fit.
enum class Refine { parabola, fit, automatic };

struct DetectionOptions {
  /// Spot radius per axis in um: sqrt(d) times the standard deviation of the spots, where d is the number of
  /// axes with more than one voxel (sqrt(3) for a stack, sqrt(2) for a single plane). The filter's sigma is
  /// radius / sqrt(d).
  Vec3 radius_um;
  /// Radius of the largest spots, if sizes differ. Spots are then searched at scales from radius_um to this,
  /// a factor of at most sqrt(2) apart, and each is kept at the scale of the strongest response. Not below
  /// radius_um along any axis. None: one size.
  std::optional<Vec3> largest_radius_um;
  /// Lowest quality (LoG response) of a spot. None: the voxels around each maximum decide whether it is a
  /// spot (tracking/detect/choice/choice.h and docs/method/detection.md).
  std::optional<double> threshold;
  /// Keep only this many spots of the highest quality; 0: all above the threshold. If max_count is given and
  /// the threshold is not, these are the best local maxima, without any threshold.
  std::int64_t max_count = 0;
  Polarity polarity = Polarity::bright;
  /// Without a threshold: the expected number of false spots in a frame. None: one in twenty of the spots
  /// found, and no spot in a frame of noise.
  std::optional<double> false_positives_per_frame;
  Refine refine = Refine::parabola;
  /// For Refine::fit: the weights and standard errors use the known camera values; unknown ones are estimated
  /// from the residuals around spots. With a gain, spots get their number of photons.
  CameraModel camera;
  /// Whether to keep the strong maxima if they are few and their scores continue those of the noise without a
  /// gap. Otherwise they are taken for texture, and the frame has no spots.
  bool keep_blending = false;
  /// Whether to keep maxima on lines, such as those of a texture, if they pass as spots otherwise.
  bool keep_lines = false;
  /// [voxels, x fastest] 0 in voxels without search; empty: search everywhere. Must outlive the call.
  std::span<const std::uint8_t> mask;
};

struct DetectionReport {
  double threshold = 0;  ///< the one used: of quality if a threshold or `max_count` was given, else of score
  std::int64_t local_maxima = 0;      ///< before the threshold
  std::int64_t missing_voxels = 0;    ///< NaN, not searched
  bool blends = false;                ///< at some scale the strong maxima continue the noise without a gap
  bool faint = false;                 ///< so many spots score hardly more than noise that others are missed
  bool shapes_differ = false;         ///< fitted spots differ in shape, as lumps or gaps of a texture do
  Backend backend = Backend::cpu;     ///< where the frame was searched: cpu or cuda
  std::vector<std::string> warnings;  ///< one line each, with the figures behind it
  /// For Refine::fit: noise of the residuals around spots, at the scale with most spots; none: too few
  /// voxels.
  std::optional<VoxelNoise> noise;
  /// On a GPU: seconds of each stage by name, from events on its stream, summed over scales.
  std::vector<std::pair<std::string, double>> device_s;
};

/// Spots of one frame, ordered by z, then y, then x of their voxel. Positions in um (voxel centre = index *
/// voxel_um). quality = scale-normalised LoG response at the refined position, intensity = the
/// Gaussian-smoothed frame value there (background included), radius_um = geometric mean over the axes of
/// sqrt(d) times the spot's standard deviation (NaN if no axis has neighbours on both sides).
/// Properties: `score` (about the signed root of twice the log-likelihood ratio of "spot" to "no spot") if no
/// threshold was given; with Refine::fit, `error_x_um`, `error_y_um`, `error_z_um` (standard errors; NaN
/// where the fit failed), `fitted` (1; 0 where the fit failed and the position is the parabola's),
/// `elongation` (longest over shortest width, relative to the typical spot; NaN where the fit failed) and
/// `elongated` (1 if the elongation is significantly over 1.3); with a camera's gain also `photons` (of the
/// whole spot, without background) and `error_photons` (standard error given the neighbouring spots; both are
/// NaN where the fit failed). A constant frame has no spots. Without a threshold, hot voxels are first
/// replaced by the median of their neighbours. No spots are found in padding (a constant around the data, as
/// registration leaves) and at its edge, nor in voxels that are NaN. The result is the same for any thread
/// count and voxel type. Throws InputError (naming frame and voxel) for voxels that are infinite or huge
/// (over 1e32), for NaN in frames in files, for frames whose values differ by more than 1e18 or less than
/// 1e-18 but not 0, and for sizes that disagree (a mask's too); UsageError for options out of range. O(voxels
/// * (sigma_x + sigma_y + sigma_z)), memory about two float volumes besides the input. On a GPU
/// (execution.backend cuda; automatic: large frames, or smaller ones if execution.workspace keeps memory of
/// that device) the result has the same bits. A frame that does not fit into GPU memory is searched on the
/// CPU, with a warning. Throws ResourceError if a GPU is asked for and there is none.
Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options,
                        DetectionReport* report = nullptr);

/// The back end for detect_spots on `frames` frames of that shape. For Backend::automatic: a GPU if there is
/// one, frames have at least 2^20 voxels, and the time saved exceeds its start-up time. Other back ends are
/// returned unchanged.
Backend detection_backend(const Execution& execution, const Shape3& frame, std::int64_t frames);

/// How many frames of that shape to search on the execution's GPU at once, each by a thread with its own
/// workspace, so that some are on the GPU while the CPU chooses the threshold of others. At most one for each
/// of the execution's threads, 2^27 voxels in all (three frames if they are larger), and what the GPU's
/// memory holds. 1 without a GPU.
int frames_at_once(const Execution& execution, const Shape3& frame);

/// The spot radius of this frame, as DetectionOptions::radius_um defines it: first the scale at which spots
/// stand out most, then the median width of Gaussians fitted to the strongest. None if the frame has too few
/// clear spots. In frames of over 2 million voxels only the middle is examined.
std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& frame, Polarity polarity);

/// A second size that fits: wide objects that hold many of the spots each, or small spots in the objects.
struct RivalSize {
  Vec3 radius_um;
  std::size_t found = 0;  ///< number of spots of this radius in the part of the frame that was examined
  std::size_t taken = 0;  ///< number of spots of the chosen radius there
};

/// The sizes of a frame's spots, as DetectionOptions::radius_um defines them.
struct SpotSizes {
  Vec3 radius_um;                         ///< of the spots; of the smallest ones if sizes differ
  std::optional<Vec3> largest_radius_um;  ///< none: one size
  std::optional<RivalSize> rival;         ///< none: radius_um is not in doubt
};

/// As estimate_radius, and also whether the frame holds spots of clearly different sizes: a ratio of about 2
/// or more, with more than a few spots of each size.
std::optional<SpotSizes> estimate_sizes(const Execution& execution, const VolumeFrame& frame,
                                        Polarity polarity);

}  // namespace motes::tracking
