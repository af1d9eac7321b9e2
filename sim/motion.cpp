/// The motion of Vasconcelos & Rosenhahn 2009, section 6: "two vectors: the correlation vector, as a
/// persistence tendency to keep the particle moving in the same direction, and the bias vector, a randomly
/// generated vector", combined linearly by a persistence level in [0, 1].
///
/// Read here as: direction_t = normalised(persistence * direction_t-1 + (1 - persistence) * random unit
/// vector), and every step is speed * dt long. The paper leaves the length open; a fixed one makes `speed`
/// mean what it says at every persistence. At 0 all directions are independent, at 1 a particle flies
/// straight for ever. At a wall the path is folded back and the direction mirrored, so that a reflected step
/// keeps its path length.
///
/// Only +, -, *, / and sqrt touch the positions (the random unit vector comes from rejection in the cube, not
/// from sines), so the truth is the same to the last bit on every machine.

#include <cmath>

#include "sim/detail/seeding.h"
#include "sim/motion.h"
#include "sim/random.h"

namespace motes::sim {
namespace {

double norm(const Vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }
Vec3 scaled(const Vec3& v, double factor) { return {v.x * factor, v.y * factor, v.z * factor}; }

Vec3 random_unit_vector(Random random) {
  while (true) {
    const double x = 2 * random.uniform() - 1, y = 2 * random.uniform() - 1, z = 2 * random.uniform() - 1;
    const Vec3 v{x, y, z};
    const double length = norm(v);
    if (length > 0x1p-20 && length <= 1) return scaled(v, 1 / length);
  }
}

Vec3 next_direction(const Vec3& direction, const Vec3& bias, double persistence) {
  const double p = persistence, q = 1 - persistence;
  const Vec3 mixed{p * direction.x + q * bias.x, p * direction.y + q * bias.y, p * direction.z + q * bias.z};
  const double length = norm(mixed);
  // The two can cancel only at persistence 1/2; then the bias alone decides.
  return length > 0x1p-30 ? scaled(mixed, 1 / length) : bias;
}

/// Folds a coordinate back into [0, length], however often the step crossed the box, and mirrors the
/// direction for an odd number of reflections.
void reflect(double& at, double& direction, double length) {
  if (at >= 0 && at <= length) return;
  double folded = std::fmod(at, 2 * length);  // exact by IEEE
  if (folded < 0) folded += 2 * length;
  const bool mirrored = folded > length;
  at = mirrored ? 2 * length - folded : folded;
  if (mirrored) direction = -direction;
}

struct Walker {
  Vec3 at, direction;

  void step(const MotionOptions& options, const Vec3& bias) {
    direction = next_direction(direction, bias, options.persistence);
    const Vec3 move = scaled(direction, options.speed_um_s * options.dt_s);
    at = {at.x + move.x, at.y + move.y, at.z + move.z};
    reflect(at.x, direction.x, options.box_um.x);
    reflect(at.y, direction.y, options.box_um.y);
    reflect(at.z, direction.z, options.box_um.z);
  }
};

TrackSet empty_tracks(const MotionOptions& options) {
  const auto particles = static_cast<std::size_t>(options.particles);
  const auto points = particles * static_cast<std::size_t>(options.frames);
  TrackSet tracks;
  tracks.dt_s = options.dt_s;
  tracks.track_offsets.resize(particles + 1);
  tracks.track_id.resize(particles);
  tracks.frame.resize(points);
  tracks.detection.assign(points, -1);
  tracks.time_s.resize(points);
  tracks.x_um.resize(points);
  tracks.y_um.resize(points);
  tracks.z_um.resize(points);
  return tracks;
}

}  // namespace

TrackSet simulate_motion(const Execution& execution, const MotionOptions& options) {
  check_options(options);
  const std::vector<Vec3> seeds = detail::seed_positions(execution, options);
  TrackSet tracks = empty_tracks(options);
  const auto frames = static_cast<std::size_t>(options.frames);
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t particle = 0; particle < seeds.size(); ++particle) {
    const auto number = static_cast<std::uint32_t>(particle);
    tracks.track_id[particle] = static_cast<std::int64_t>(particle);
    tracks.track_offsets[particle + 1] = static_cast<std::int64_t>((particle + 1) * frames);
    Walker walker{seeds[particle], random_unit_vector(Random(options.seed, Stream::direction, number, 0))};
    for (std::size_t t = 0; t < frames; ++t) {
      const auto frame = static_cast<std::uint32_t>(t);
      if (t > 0) walker.step(options, random_unit_vector(Random(options.seed, Stream::bias, number, frame)));
      const std::size_t point = particle * frames + t;
      tracks.frame[point] = static_cast<std::int32_t>(t);
      tracks.time_s[point] = static_cast<double>(t) * options.dt_s;
      tracks.x_um[point] = walker.at.x;
      tracks.y_um[point] = walker.at.y;
      tracks.z_um[point] = walker.at.z;
    }
  }
  return tracks;
}

}  // namespace motes::sim
