#include "tracking/detect/fit/camera.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace motes::tracking {

CameraModel camera_from_noise(const VoxelNoise& noise, CameraModel known) {
  const bool point = known.offset && known.read_noise;
  const double square = known.read_noise.value_or(0) * known.read_noise.value_or(0);
  if (!known.gain) {
    const double above = point ? noise.level - *known.offset : 0;
    known.gain = above > 0 ? std::max(0.0, (noise.variance - square) / above) : noise.slope;
  }
  if (point || !(*known.gain > 0)) return known;
  const double base = noise.variance - *known.gain * noise.level;
  if (known.offset) {
    known.read_noise = std::sqrt(std::max(0.0, base + *known.gain * *known.offset));
  } else {
    known.offset = (square - base) / *known.gain;
    known.read_noise = std::sqrt(square);
  }
  return known;
}

namespace detect {
namespace {

constexpr double kFarOff = 1.7;        // ratio of variances or slopes that causes a warning
constexpr double kFewPhotons = 4;      // per voxel: too few for a comparison
constexpr double kSureOfSlope = 0.15;  // largest ratio of standard error to slope
constexpr const char* kDoubt =
    ", so standard errors and photons are in doubt: check detection.camera_gain, camera_offset and "
    "read_noise, and whether the images were filtered, scaled or averaged";

bool far_off(double a, double b) { return !(a < kFarOff * b && b < kFarOff * a); }

std::string text(double number) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.3g", number);
  return buffer.data();
}

}  // namespace

CameraModel camera_of_blocks(const CameraModel& camera, std::int64_t voxels) {
  CameraModel mean = camera;
  const auto n = static_cast<double>(voxels);
  if (mean.gain) *mean.gain /= n;
  if (mean.read_noise) *mean.read_noise /= std::sqrt(n);
  return mean;
}

std::optional<VoxelNoise> voxel_noise(const NoiseSums& sums, std::int64_t voxels, std::size_t spots) {
  if (!(sums.w > 0)) return std::nullopt;
  const Noise line = noise_line(sums);
  const auto n = static_cast<double>(voxels);
  VoxelNoise noise;
  noise.base = n * line.base;
  noise.slope = n * line.slope;
  noise.slope_error = n * slope_error(sums);
  noise.level = sums.level();
  noise.variance = n * sums.variance();
  noise.spots = static_cast<std::int64_t>(spots);
  return noise;
}

std::optional<std::string> doubt_of_camera(const CameraModel& camera, const VoxelNoise& noise) {
  if (!camera.gain) return std::nullopt;
  if (camera.offset && camera.read_noise) {
    const double told =
        *camera.gain * (noise.level - *camera.offset) + *camera.read_noise * *camera.read_noise;
    // With few photons the residuals say too little.
    const bool few = told > 0 && told < kFewPhotons * *camera.gain * *camera.gain;
    if (few || !far_off(told, noise.variance)) return std::nullopt;
    return "around spots the noise has a variance of " + text(noise.variance) +
           ", but the camera model says " + text(std::max(0.0, told)) + " at their grey level of " +
           text(noise.level) + kDoubt;
  }
  if (!(noise.slope_error < kSureOfSlope * std::max(noise.slope, *camera.gain)) ||
      !far_off(noise.slope, *camera.gain))
    return std::nullopt;
  return "around spots the noise grows as with " + text(noise.slope) +
         " grey levels a photon, but detection.camera_gain is " + text(*camera.gain) + kDoubt;
}

}  // namespace detect
}  // namespace motes::tracking
