#pragma once
/// Small track sets for the tests of scores.

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <motes/tracking/track_set.h>

namespace motes::testing {

struct TrackPoint {
  std::int32_t frame;
  double x, y, z;
};
using TrackPoints = std::vector<TrackPoint>;

/// The tracks as a TrackSet; track i has track_id i.
inline TrackSet make_tracks(const std::vector<TrackPoints>& tracks, std::vector<std::int64_t> parents = {}) {
  TrackSet set;
  for (const TrackPoints& track : tracks) {
    for (const TrackPoint& p : track) {
      set.frame.push_back(p.frame);
      set.detection.push_back(-1);
      set.time_s.push_back(p.frame);
      set.x_um.push_back(p.x);
      set.y_um.push_back(p.y);
      set.z_um.push_back(p.z);
    }
    set.track_id.push_back(static_cast<std::int64_t>(set.track_id.size()));
    set.track_offsets.push_back(static_cast<std::int64_t>(set.frame.size()));
  }
  set.parent = std::move(parents);
  return set;
}

/// Random walks in a small box, so that tracks come near each other. `gaps`: some have gaps.
inline std::vector<TrackPoints> random_tracks(std::mt19937_64& random, int count, bool gaps,
                                              double box = 10) {
  std::uniform_real_distribution<double> place(0, box), move(-1.5, 1.5);
  std::uniform_int_distribution<int> first(0, 4), length(1, 7), coin(0, 3);
  std::vector<TrackPoints> tracks;
  for (int i = 0; i < count; ++i) {
    TrackPoints track;
    TrackPoint p{first(random), place(random), place(random), place(random)};
    const int points = length(random);
    for (int n = 0; n < points; ++n) {
      track.push_back(p);
      p = {p.frame + 1 + (gaps && coin(random) == 0 ? 2 : 0), p.x + move(random), p.y + move(random),
           p.z + move(random)};
    }
    tracks.push_back(track);
  }
  return tracks;
}

/// The same tracks moved by up to `noise` on every axis, some points and some tracks lost, shuffled.
inline std::vector<TrackPoints> damaged(std::mt19937_64& random, const std::vector<TrackPoints>& tracks,
                                        double noise) {
  std::uniform_real_distribution<double> shift(-noise, noise);
  std::uniform_int_distribution<int> die(0, 5);
  std::vector<TrackPoints> result;
  for (const TrackPoints& track : tracks) {
    TrackPoints kept;
    for (const TrackPoint& p : track)
      if (die(random) > 0)
        kept.push_back({p.frame, p.x + shift(random), p.y + shift(random), p.z + shift(random)});
    if (!kept.empty()) result.push_back(kept);
  }
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

}  // namespace motes::testing
