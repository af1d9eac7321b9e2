#pragma once
/// What tests of motion measure.

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <motes/sim/motion.h>

namespace motes::testing {

inline std::size_t first_point(const TrackSet& tracks, std::size_t track) {
  return static_cast<std::size_t>(tracks.track_offsets[track]);
}
inline std::size_t points_of(const TrackSet& tracks, std::size_t track) {
  return static_cast<std::size_t>(tracks.track_offsets[track + 1] - tracks.track_offsets[track]);
}
inline Vec3 position(const TrackSet& tracks, std::size_t point) {
  return {tracks.x_um[point], tracks.y_um[point], tracks.z_um[point]};
}

/// Mean squared displacement between frames `from` and `to` of tracks that span all frames.
inline double mean_squared_displacement(const TrackSet& tracks, std::size_t from, std::size_t to) {
  double sum = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::size_t first = first_point(tracks, t);
    sum += squared_length(position(tracks, first + to) - position(tracks, first + from));
  }
  return sum / static_cast<double>(tracks.tracks());
}

/// (chi-square of `values` in equal bins over [0, length] against uniform - degrees) / sqrt(2 degrees).
inline double uniform_misfit(const std::vector<double>& values, double length, std::size_t bins = 20) {
  std::vector<double> seen(bins, 0.0);
  for (const double v : values)
    ++seen[std::min(static_cast<std::size_t>(v / length * static_cast<double>(bins)), bins - 1)];
  const double expected = static_cast<double>(values.size()) / static_cast<double>(bins);
  double chi2 = 0;
  for (const double n : seen) chi2 += (n - expected) * (n - expected) / expected;
  const double degrees = static_cast<double>(bins - 1);
  return (chi2 - degrees) / std::sqrt(2 * degrees);
}

/// Far from every wall: nothing reflects.
inline sim::MotionOptions open_space(std::int64_t particles = 4000, std::int32_t frames = 12) {
  sim::MotionOptions options;
  options.particles = particles;
  options.frames = frames;
  options.box_um = {1e5, 1e5, 1e5};
  options.dt_s = 0.5;
  return options;
}

/// Everything a track set holds, for comparing bits.
inline bool same_bits(const TrackSet& a, const TrackSet& b) {
  const auto same_columns = [](const std::vector<PropertyColumn>& p, const std::vector<PropertyColumn>& q) {
    if (p.size() != q.size()) return false;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (p[i].name != q[i].name || p[i].values != q[i].values) return false;
    return true;
  };
  return a.track_offsets == b.track_offsets && a.track_id == b.track_id && a.parent == b.parent &&
         a.frame == b.frame && a.time_s == b.time_s && a.x_um == b.x_um && a.y_um == b.y_um &&
         a.z_um == b.z_um && a.detection == b.detection &&
         same_columns(a.point_properties, b.point_properties) &&
         same_columns(a.track_properties, b.track_properties);
}

struct NamedMotion {
  const char* name;
  sim::MotionOptions options;
};

/// One of every kind, small, walls and comings and goings included.
std::vector<NamedMotion> every_motion();

}  // namespace motes::testing
