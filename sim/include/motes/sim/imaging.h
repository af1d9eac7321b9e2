#pragma once
/// Fluorescence volumes of tracks. docs/method/simulation.md states the model.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <motes/base/execution.h>
#include <motes/sim/motion.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>
#include <motes/tracking/volume_frame.h>

namespace motes::sim {

/// The point spread function: how the light of one spot spreads over the volume.
enum class Psf {
  gaussian,      ///< of psf_sigma_um
  gibson_lanni,  ///< scalar diffraction, with the aberration of a refractive index mismatch
  gaussian_beam  ///< a Gaussian in every plane that widens away from the spot
};

struct ImagingOptions {
  Vec3 voxel_um{0.1, 0.1, 0.2};
  Psf psf = Psf::gaussian;
  Vec3 psf_sigma_um{0.15, 0.15, 0.3};    ///< gaussian
  double na = 1.2;                       ///< the other two: numerical aperture,
  double wavelength_um = 0.52;           ///< of the emitted light in vacuum,
  double refractive_index = 1.33;        ///< that the objective is made for,
  std::optional<double> psf_range_um;    ///< light drawn up to this far in z; none: see docs/configuration.md
  std::optional<double> sample_index;    ///< gibson_lanni: of the sample; none: refractive_index
  double depth_um = 0;                   ///< gibson_lanni: of the first plane below the cover slip
  std::optional<double> defocus_um;      ///< gaussian: Rayleigh range of the widening; none: no widening
  std::optional<double> focal_plane_um;  ///< z where spots are sharp; none: the middle of the box
  std::optional<double> photons;         ///< mean photons of a spot; excludes snr
  std::optional<double> snr;             ///< (peak - background) / sqrt(peak), peak included in photons
  double intensity_spread = 0;           ///< of the logarithm of a particle's photons
  double radius_spread = 0;              ///< of the logarithm of a particle's size
  std::optional<double> bleaching_s;     ///< time in which spots fade to 1/e; none: they do not
  double background = 10;                ///< mean photons a voxel
  double gain = 1;                       ///< grey levels a photon
  double offset = 100;                   ///< camera offset in grey levels
  double read_noise = 0;                 ///< standard deviation in grey levels
  int bit_depth = 16;                    ///< 8, 12 or 16: grey levels end at 2^bit_depth - 1

  /// snr where neither it nor photons is given.
  static constexpr double kDefaultSnr = 7;
};

/// Throws UsageError naming the key (imaging.*, simulation.*) of the first option that makes no sense.
void check_options(const MotionOptions& motion, const ImagingOptions& imaging);

/// Shape of every rendered frame: box / voxel + 1, rounded down.
Shape3 frame_shape(const MotionOptions& motion, const ImagingOptions& imaging);

/// Names of the point properties that tell how bright and how large a point is drawn.
inline constexpr const char* kPhotonsProperty = "photons";
inline constexpr const char* kRadiusProperty = "radius_um";

/// Adds the point properties kPhotonsProperty (mean photons in the volume) and kRadiusProperty (lateral sigma
/// times the square root of 3, as detection.radius_um counts it) to every point: options, the particle's own
/// spread (by its track_id) and bleaching. Columns of these names that are already there are kept. O(points).
void add_appearance(const Execution& execution, TrackSet& truth, const MotionOptions& motion,
                    const ImagingOptions& imaging);

/// What a renderer spent, for benchmarks.
struct RenderTimes {
  double prepare_s = 0;  ///< spots of the frame, on the host
  double device_s = 0;   ///< kernels with their small uploads; 0 on the CPU
  double copy_s = 0;     ///< the frame from the device to pinned memory; 0 on the CPU
  double unpin_s = 0;    ///< from there into the VolumeFrame; 0 on the CPU
  double total_s = 0;
};

/// Renders frames of one series: tables and device memory are made once.
class Renderer {
 public:
  /// Throws as check_options; ResourceError for backend cuda without a usable GPU (automatic then uses the
  /// CPU), and for a device that fails.
  Renderer(const Execution& execution, const MotionOptions& motion, const ImagingOptions& imaging);
  ~Renderer();
  Renderer(Renderer&&) noexcept;
  Renderer& operator=(Renderer&&) noexcept;

  /// Volume of frame t of the truth (u8 for bit_depth 8, else u16): the box sampled at voxel centres index *
  /// voxel_um, with the spots of the points of that frame (their photons and radius_um properties where there
  /// are such), then Poisson photons, gain, offset, read noise, rounding and clamping. The same bits for any
  /// thread count and on CPU and GPU. Throws InputError for a point without finite position or negative
  /// brightness. O(voxels + spots * voxels of a spot).
  /// `recycled`: a frame that is no longer needed, whose memory is used again; fresh memory costs more time
  /// than a GPU's rendering.
  VolumeFrame render(const TrackSet& truth, std::int32_t t, VolumeFrame recycled = {});

  /// Expected photons of the spots alone, [nz * ny * nx], before any noise; always on the CPU.
  std::vector<float> expected_photons(const TrackSet& truth, std::int32_t t) const;

  bool on_device() const;
  const RenderTimes& times() const;  ///< of the last render()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Renderer(execution, motion, imaging).render(truth, t).
VolumeFrame render_frame(const Execution& execution, const TrackSet& truth, std::int32_t t,
                         const MotionOptions& motion, const ImagingOptions& imaging);

/// Peak photons above background for an SNR as the challenge defines it: the p > 0 with p / sqrt(p + b) =
/// snr.
double peak_for_snr(double snr, double background);

/// Mean photons of a spot of no spread: `photons`, or those that give a spot on a voxel's centre the peak of
/// `snr`. And the share of them that this voxel gets.
struct SpotLight {
  double photons = 0, centre_share = 0;
};
SpotLight spot_light(const MotionOptions& motion, const ImagingOptions& imaging);

}  // namespace motes::sim
