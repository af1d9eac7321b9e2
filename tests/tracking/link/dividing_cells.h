#pragma once
/// Series of cells that divide, with truth.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <motes/tracking/detections.h>

#include "tests/tracking/score/score_cases.h"

namespace motes::testing {

/// Diffusing particles of unit density, and the events in a frame.
struct Life {
  double step = 0.1;                          ///< standard deviation along each axis
  double division = 0, birth = 0, death = 0;  ///< probabilities per particle and frame
  double half = 0.25;                         ///< distance of daughters from the middle between them
  double missed = 0, clutter = 0;             ///< probability per detection; share of false detections
  int cycle = 0;                              ///< least age of mothers born in the series
  double beside = 0;  ///< false tracks that begin beside a particle, per particle and frame
  std::size_t beside_frames = 5;
  int particles = 200, frames = 20;
};

/// The truth; and the detections, in random order.
struct Lives {
  TrackSet truth;
  std::vector<Detections> frames;
};

inline Lives live(const Life& life, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<> normal;
  std::uniform_real_distribution<> uniform;
  const double side = std::cbrt(life.particles);
  const auto anywhere = [&] {
    const double x = side * uniform(rng), y = side * uniform(rng);
    return Vec3{x, y, side * uniform(rng)};
  };
  std::vector<TrackPoints> tracks;
  std::vector<std::int64_t> parent;
  std::vector<std::size_t> alive;
  const auto begin = [&](int t, const Vec3& p, std::int64_t mother) {
    alive.push_back(tracks.size());
    tracks.push_back({{t, p.x, p.y, p.z}});
    parent.push_back(mother);
  };
  for (int k = 0; k < life.particles; ++k) begin(0, anywhere(), -1);
  for (int t = 1; t < life.frames; ++t) {
    for (const std::size_t k : std::exchange(alive, {})) {
      const auto last = tracks[k].back();
      const auto step = [&] { return life.step * normal(rng); };
      const Vec3 p{last.x + step(), last.y + step(), last.z + step()};
      const bool old = tracks[k].front().frame == 0 || std::ssize(tracks[k]) >= life.cycle;
      if (old && uniform(rng) < life.division) {
        const Vec3 v{normal(rng), normal(rng), normal(rng)};
        const double half = (life.half + 0.02 * normal(rng)) / std::hypot(v.x, v.y, v.z);
        for (const double side_of : {half, -half})
          begin(t, {p.x + side_of * v.x, p.y + side_of * v.y, p.z + side_of * v.z},
                static_cast<std::int64_t>(k));
      } else if (uniform(rng) >= life.death) {
        tracks[k].push_back({t, p.x, p.y, p.z});
        alive.push_back(k);
      }
    }
    for (int k = 0; k < life.particles; ++k)
      if (uniform(rng) < life.birth) begin(t, anywhere(), -1);
  }
  Lives out{make_tracks(tracks, life.division > 0 ? parent : std::vector<std::int64_t>{}), {}};
  for (std::size_t k = 0, real = tracks.size(); k < real && life.beside > 0; ++k)
    for (std::size_t i = 0; i < tracks[k].size(); ++i) {
      if (uniform(rng) >= life.beside) continue;
      const Vec3 v{normal(rng), normal(rng), normal(rng)};
      const double off = (0.2 + 0.6 * uniform(rng)) / std::hypot(v.x, v.y, v.z);
      const auto moved = [&] { return 0.03 * normal(rng); };
      TrackPoints companion;
      for (std::size_t j = i; j < std::min(i + life.beside_frames, tracks[k].size()); ++j) {
        const auto& p = tracks[k][j];
        const double x = p.x + off * v.x + moved(), y = p.y + off * v.y + moved();
        companion.push_back({p.frame, x, y, p.z + off * v.z + moved()});
      }
      tracks.push_back(companion);
    }
  std::vector<std::vector<Vec3>> seen(static_cast<std::size_t>(life.frames));
  for (const auto& track : tracks)
    for (const auto& p : track)
      if (uniform(rng) >= life.missed) seen[static_cast<std::size_t>(p.frame)].push_back({p.x, p.y, p.z});
  for (int t = 0; t < life.frames; ++t) {
    auto& points = seen[static_cast<std::size_t>(t)];
    const auto extra = static_cast<std::size_t>(life.clutter * static_cast<double>(points.size()));
    for (std::size_t k = 0; k < extra; ++k) points.push_back(anywhere());
    std::shuffle(points.begin(), points.end(), rng);
    Detections d;
    d.frame = t;
    for (const Vec3& p : points) d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
    out.frames.push_back(std::move(d));
  }
  return out;
}

/// The tracks in reversed time: mothers become merged particles, and these mothers.
inline TrackSet reversed(const TrackSet& tracks, std::int32_t frames) {
  TrackSet out = tracks;
  std::swap(out.parent, out.merged_into);
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto begin = tracks.track_offsets[t], end = tracks.track_offsets[t + 1];
    const auto turn = [&](auto& values) { std::reverse(values.begin() + begin, values.begin() + end); };
    turn(out.frame), turn(out.x_um), turn(out.y_um), turn(out.z_um), turn(out.time_s);
  }
  for (std::int32_t& frame : out.frame) frame = frames - 1 - frame;
  return out;
}

/// The frames in reversed order.
inline std::vector<Detections> reversed(std::vector<Detections> frames) {
  std::reverse(frames.begin(), frames.end());
  for (std::size_t t = 0; t < frames.size(); ++t) frames[t].frame = static_cast<std::int64_t>(t);
  return frames;
}

}  // namespace motes::testing
