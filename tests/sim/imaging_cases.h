#pragma once
/// Truths and helpers of the imaging tests.

#include <cstdint>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/random.h>
#include <motes/sim/imaging.h>

namespace motes::testing {

/// One-frame tracks at the positions, all in frame 0.
inline TrackSet spots_at(const std::vector<Vec3>& positions) {
  TrackSet tracks;
  for (const Vec3& p : positions) {
    tracks.track_id.push_back(static_cast<std::int64_t>(tracks.tracks()));
    tracks.frame.push_back(0);
    tracks.detection.push_back(-1);
    tracks.time_s.push_back(0);
    tracks.x_um.push_back(p.x);
    tracks.y_um.push_back(p.y);
    tracks.z_um.push_back(p.z);
    tracks.track_offsets.push_back(static_cast<std::int64_t>(tracks.points()));
  }
  return tracks;
}

/// Uniform in the box, and a little beyond it on all sides.
inline TrackSet random_spots(std::size_t count, const Vec3& box, std::uint64_t seed) {
  std::vector<Vec3> at;
  for (std::size_t i = 0; i < count; ++i) {
    Random random(seed, RandomStream::seeding, static_cast<std::uint32_t>(i), 1);
    const auto along = [&](double length) { return (random.uniform() * 1.1 - 0.05) * length; };
    const double x = along(box.x), y = along(box.y), z = along(box.z);
    at.push_back({x, y, z});
  }
  return spots_at(at);
}

/// Grid points `pitch` voxels apart, on voxel centres, none nearer than half a pitch to the walls.
inline std::vector<Vec3> grid_of_centres(const Shape3& shape, const Vec3& voxel_um, std::int64_t pitch) {
  std::vector<Vec3> at;
  for (std::int64_t z = pitch / 2; z < shape.nz - pitch / 2; z += pitch)
    for (std::int64_t y = pitch / 2; y < shape.ny - pitch / 2; y += pitch)
      for (std::int64_t x = pitch / 2; x < shape.nx - pitch / 2; x += pitch)
        at.push_back({static_cast<double>(x) * voxel_um.x, static_cast<double>(y) * voxel_um.y,
                      static_cast<double>(z) * voxel_um.z});
  return at;
}

inline const std::vector<std::uint16_t>& voxels_of(const VolumeFrame& frame) {
  return std::get<std::vector<std::uint16_t>>(frame.voxels);
}

inline sim::MotionOptions box_of(const Vec3& box_um) {
  sim::MotionOptions motion;
  motion.box_um = box_um;
  return motion;
}

inline sim::MotionOptions small_box() { return box_of({4, 3, 4}); }

/// Photons of the spots before noise, [nz * ny * nx].
inline std::vector<float> expected(const TrackSet& truth, const sim::MotionOptions& motion,
                                   const sim::ImagingOptions& imaging, std::int32_t t = 0) {
  return sim::Renderer({1, Backend::cpu}, motion, imaging).expected_photons(truth, t);
}

inline double sum_of(const std::vector<float>& light) {
  return std::accumulate(light.begin(), light.end(), 0.0);
}

inline constexpr const char* name_of(sim::Psf psf) {
  return psf == sim::Psf::gaussian       ? "gaussian"
         : psf == sim::Psf::gibson_lanni ? "gibson-lanni"
                                         : "gaussian-beam";
}

}  // namespace motes::testing
