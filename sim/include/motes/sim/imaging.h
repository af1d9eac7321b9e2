#pragma once
/// Renders tracks as fluorescence volumes. docs/method/simulation.md describes the model.

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

/// The point spread function: the distribution of a spot's light over the volume.
enum class Psf {
  gaussian,      ///< of standard deviations psf_sigma_um
  gibson_lanni,  ///< scalar diffraction, with the aberration of a refractive index mismatch
  gaussian_beam  ///< a Gaussian in every plane that widens away from the spot
};

struct ImagingOptions {
  Vec3 voxel_um{0.1, 0.1, 0.2};
  Psf psf = Psf::gaussian;
  Vec3 psf_sigma_um{0.15, 0.15, 0.3};  ///< gaussian: standard deviations
  double na = 1.2;                     ///< gibson_lanni, gaussian_beam: numerical aperture
  double wavelength_um = 0.52;         ///< gibson_lanni, gaussian_beam: of the emitted light in vacuum
  double refractive_index = 1.33;      ///< gibson_lanni, gaussian_beam: of the objective's medium
  std::optional<double>
      psf_range_um;  ///< light is drawn up to this far in z; none: see docs/configuration.md
  std::optional<double>
      sample_index;                  ///< gibson_lanni: refractive index of the sample; none: refractive_index
  double depth_um = 0;               ///< gibson_lanni: depth of the first plane below the cover slip
  std::optional<double> defocus_um;  ///< gaussian: Rayleigh range of the widening; none: no widening
  std::optional<double> focal_plane_um;  ///< z at which spots are in focus; none: the middle of the box
  std::optional<double> photons;         ///< mean photons of a spot; excludes snr
  std::optional<double> snr;          ///< (peak - background) / sqrt(peak), in photons, peak with background
  double intensity_spread = 0;        ///< standard deviation of the logarithm of a particle's photons
  double radius_spread = 0;           ///< standard deviation of the logarithm of a particle's size
  std::optional<double> bleaching_s;  ///< time in which spots fade to 1/e; none: no bleaching
  double background = 10;             ///< mean photons per voxel
  double gain = 1;                    ///< grey levels per photon
  double offset = 100;                ///< camera offset in grey levels
  double read_noise = 0;              ///< standard deviation in grey levels
  int bit_depth = 16;                 ///< 8, 12 or 16: the largest grey level is 2^bit_depth - 1

  /// The value of snr if neither snr nor photons is given.
  static constexpr double kDefaultSnr = 7;
};

/// Throws UsageError naming the key (imaging.*, simulation.*) of the first invalid option.
void check_options(const MotionOptions& motion, const ImagingOptions& imaging);

/// Shape of every rendered frame: box / voxel + 1, rounded down.
Shape3 frame_shape(const MotionOptions& motion, const ImagingOptions& imaging);

/// Names of the point properties for the brightness and the size with which a point is rendered.
inline constexpr const char* kPhotonsProperty = "photons";
inline constexpr const char* kRadiusProperty = "radius_um";

/// Adds the point properties kPhotonsProperty (mean photons in the volume) and kRadiusProperty (lateral
/// sigma times sqrt(3), as in detection.radius_um), from the options, the particle's own deviation (by its
/// track_id) and bleaching. Existing properties of these names are kept. O(points).
void add_appearance(const Execution& execution, TrackSet& truth, const MotionOptions& motion,
                    const ImagingOptions& imaging);

/// The time that the last call of render() took, for benchmarks.
struct RenderTimes {
  double prepare_s = 0;  ///< computing the spots of the frame, on the host
  double device_s = 0;   ///< kernels and their small uploads; 0 on the CPU
  double copy_s = 0;     ///< copying the frame from the device to pinned memory; 0 on the CPU
  double unpin_s = 0;    ///< copying it from there into the VolumeFrame; 0 on the CPU
  double total_s = 0;
};

/// Renders frames of one series. Tables and device memory are set up once.
class Renderer {
 public:
  /// Throws as check_options, and ResourceError for backend cuda without a usable GPU (automatic then uses
  /// the CPU) or if the device fails.
  Renderer(const Execution& execution, const MotionOptions& motion, const ImagingOptions& imaging);
  ~Renderer();
  Renderer(Renderer&&) noexcept;
  Renderer& operator=(Renderer&&) noexcept;

  /// The volume of frame t of the truth (u8 for bit_depth 8, else u16), sampled at voxel centres index *
  /// voxel_um: the spots of that frame's points (with their properties photons and radius_um, if present),
  /// then Poisson noise, gain, offset, read noise, rounding and clamping. The same bits for any thread
  /// count, on CPU and GPU. Throws InputError for a point with a position that is not finite or a negative
  /// brightness. O(voxels + spots * voxels of a spot). `recycled`: a frame that is no longer needed, whose
  /// memory is reused; new memory would take longer than rendering on a GPU.
  VolumeFrame render(const TrackSet& truth, std::int32_t t, VolumeFrame recycled = {});

  /// Expected photons of the spots without background and noise, [nz * ny * nx]; always computed on the CPU.
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

/// The peak photons above the background b for an SNR as the Particle Tracking Challenge defines it: the p
/// > 0 with p / sqrt(p + b) = snr.
double peak_for_snr(double snr, double background);

/// The light of a spot without random spread.
struct SpotLight {
  double photons = 0;  ///< mean photons: options.photons, or those that give a centred spot the peak of snr
  double centre_share = 0;  ///< the share of them in the central voxel of a spot on a voxel's centre
};
SpotLight spot_light(const MotionOptions& motion, const ImagingOptions& imaging);

}  // namespace motes::sim
