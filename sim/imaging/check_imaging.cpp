/// Checks of the imaging options.

#include <algorithm>
#include <cmath>
#include <string>

#include <motes/sim/imaging.h>

#include "sim/refuse.h"

namespace motes::sim {
namespace {

using detail::refuse, detail::require_at_least_0, detail::require_positive;

constexpr double kMaxVoxels = 0x1p32;  // a voxel index is one word of the random counter
constexpr double kMaxSpread = 3;       // e^3: particles of one series may differ by a factor of 400 and more
constexpr double kLeastGain = 0x1p-6, kMostGain = 0x1p12;

void check_shape(const MotionOptions& motion, const ImagingOptions& imaging) {
  require_positive("imaging.voxel_um", imaging.voxel_um);
  const Vec3 &box = motion.box_um, &voxel = imaging.voxel_um;
  const double voxels = (box.x / voxel.x + 1) * (box.y / voxel.y + 1) * (box.z / voxel.z + 1);
  if (!(voxels <= kMaxVoxels))
    refuse("imaging.voxel_um", voxel.x,
           "makes frames of over 2^32 voxels; enlarge it or shrink simulation.box_um");
}

void check_objective(const ImagingOptions& imaging) {
  require_positive("imaging.na", imaging.na);
  require_positive("imaging.wavelength_um", imaging.wavelength_um);
  const auto check_index = [](const char* key, double index) {
    if (!(index >= 1 && index <= 4)) refuse(key, index, "is not a refractive index; give one from 1 to 4");
  };
  check_index("imaging.refractive_index", imaging.refractive_index);
  if (imaging.sample_index) check_index("imaging.sample_index", *imaging.sample_index);
  if (!(imaging.na >= 0.05 && imaging.na < imaging.refractive_index))
    refuse("imaging.na", imaging.na,
           "is outside 0.05 to imaging.refractive_index; give an aperture in that range");
  if (!(imaging.wavelength_um >= 0.01 && imaging.wavelength_um <= 100))
    refuse("imaging.wavelength_um", imaging.wavelength_um,
           "is not a wavelength of light in um; give one (0.52)");
  if (imaging.psf_range_um) require_positive("imaging.psf_range_um", *imaging.psf_range_um);
  if (!(imaging.depth_um >= 0 && imaging.depth_um <= 1e4))
    refuse("imaging.depth_um", imaging.depth_um, "is not a depth from 0 to 10000 um; give one");
}

/// Rejects keys that the chosen PSF does not use.
void check_unused(const ImagingOptions& imaging) {
  const bool gaussian = imaging.psf == Psf::gaussian;
  if (!gaussian && imaging.defocus_um)
    refuse("imaging.defocus_um", *imaging.defocus_um,
           "is for imaging.psf gaussian; the other functions widen anyway, so remove it");
  if (imaging.focal_plane_um && !imaging.defocus_um)
    refuse("imaging.focal_plane_um", *imaging.focal_plane_um,
           "has no effect without imaging.defocus_um; set that, too");
  if (imaging.sample_index && imaging.psf != Psf::gibson_lanni)
    refuse("imaging.sample_index", *imaging.sample_index, "is for imaging.psf gibson-lanni; remove it");
  if (imaging.psf_range_um && gaussian)
    refuse("imaging.psf_range_um", *imaging.psf_range_um,
           "is for imaging.psf gibson-lanni and gaussian-beam; remove it");
}

void check_spots(const MotionOptions& motion, const ImagingOptions& imaging) {
  if (imaging.photons && imaging.snr)
    refuse("imaging.photons", *imaging.photons, "and imaging.snr both set the brightness of spots; give one");
  if (imaging.photons) require_positive("imaging.photons", *imaging.photons);
  if (imaging.snr) require_positive("imaging.snr", *imaging.snr);
  const auto check_spread = [](const char* key, double spread) {
    if (!(spread >= 0 && spread <= kMaxSpread))
      refuse(key, spread, "is outside 0 to 3; give a spread in that range");
  };
  check_spread("imaging.intensity_spread", imaging.intensity_spread);
  check_spread("imaging.radius_spread", imaging.radius_spread);
  if (imaging.bleaching_s) require_positive("imaging.bleaching_s", *imaging.bleaching_s);
  if (imaging.defocus_um) require_positive("imaging.defocus_um", *imaging.defocus_um);
  if (imaging.focal_plane_um && !(std::abs(*imaging.focal_plane_um) <= detail::kLargestOption))
    refuse("imaging.focal_plane_um", *imaging.focal_plane_um, "is not a position; give one in um");
  // A spot wider than the view is probably a wrong unit.
  const double widest = imaging.psf == Psf::gaussian ? imaging.psf_sigma_um.x : 0;
  const double view = std::max(motion.box_um.x, motion.box_um.y) + imaging.voxel_um.x;
  if (widest > view)
    refuse("imaging.psf_sigma_um", widest, "is wider than simulation.box_um; lower it or enlarge the box");
}

void check_camera(const ImagingOptions& imaging) {
  require_at_least_0("imaging.background", imaging.background);
  require_at_least_0("imaging.offset", imaging.offset);
  require_at_least_0("imaging.read_noise", imaging.read_noise);
  if (imaging.bit_depth != 8 && imaging.bit_depth != 12 && imaging.bit_depth != 16)
    refuse("imaging.bit_depth", imaging.bit_depth, "is not one of 8, 12 and 16");
  if (!(imaging.gain >= kLeastGain && imaging.gain <= kMostGain))
    refuse("imaging.gain", imaging.gain,
           "is outside 0.015625 to 4096 grey levels per photon; give one in that range");
  const double largest = std::ldexp(1.0, imaging.bit_depth) - 1;
  const std::string levels = std::to_string(static_cast<int>(largest)) + " grey levels";
  if (!(imaging.read_noise <= largest))
    refuse("imaging.read_noise", imaging.read_noise, "is over the camera's " + levels + "; lower it");
  const double dark = imaging.gain * imaging.background + imaging.offset;
  if (dark > largest)
    refuse("imaging.background", imaging.background,
           "times imaging.gain plus imaging.offset is over " + levels +
               "; lower one, or raise imaging.bit_depth");
  if (imaging.photons) return;  // a bright spot may saturate if photons are given
  const double snr = imaging.snr.value_or(ImagingOptions::kDefaultSnr);
  if (!(imaging.gain * peak_for_snr(snr, imaging.background) + dark <= largest))
    refuse("imaging.snr", snr,
           "needs a peak over " + levels + "; lower it, imaging.background, imaging.gain or imaging.offset");
}

}  // namespace

void check_options(const MotionOptions& motion, const ImagingOptions& imaging) {
  check_options(motion);
  check_shape(motion, imaging);
  require_positive("imaging.psf_sigma_um", imaging.psf_sigma_um);
  check_objective(imaging);
  check_unused(imaging);
  check_spots(motion, imaging);
  check_camera(imaging);
}

}  // namespace motes::sim
