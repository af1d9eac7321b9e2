#include <algorithm>
#include <cmath>
#include <limits>

#include <motes/tracking/track_runs.h>

namespace motes {

std::int32_t frame_step_of(const TrackSet& tracks) {
  std::int32_t step = std::numeric_limits<std::int32_t>::max();
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    for (auto i = tracks.track_offsets[t] + 1; i < tracks.track_offsets[t + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      step = std::min(step, tracks.frame[at] - tracks.frame[at - 1]);
    }
  }
  return step == std::numeric_limits<std::int32_t>::max() ? 1 : step;
}

std::vector<TrackRun> cut_runs(const TrackSet& tracks, std::int32_t frame_step) {
  std::vector<TrackRun> runs;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto end = static_cast<std::size_t>(tracks.track_offsets[t + 1]);
    auto begin = static_cast<std::size_t>(tracks.track_offsets[t]);
    for (std::size_t i = begin; i < end; ++i) {
      const bool last = i + 1 == end;
      if (!last && static_cast<std::int64_t>(tracks.frame[i + 1]) - tracks.frame[i] <= frame_step) continue;
      runs.push_back({t, begin, i + 1});
      begin = i + 1;
    }
  }
  return runs;
}

std::vector<float> point_speeds(const TrackSet& tracks, const std::vector<TrackRun>& runs) {
  std::vector<float> speeds(tracks.points(), std::numeric_limits<float>::quiet_NaN());
  const double dt = tracks.dt_s.value_or(1.0);
  const auto way = [&](std::size_t i) {  // distance from point i to the next
    return std::hypot(tracks.x_um[i + 1] - tracks.x_um[i], tracks.y_um[i + 1] - tracks.y_um[i],
                      tracks.z_um[i + 1] - tracks.z_um[i]);
  };
  for (const TrackRun& run : runs) {
    if (run.size() < 2) continue;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const std::size_t from = i == run.begin ? i : i - 1, to = i + 1 == run.end ? i : i + 1;
      double length = 0;
      for (std::size_t j = from; j < to; ++j) length += way(j);
      speeds[i] = static_cast<float>(length / (dt * (tracks.frame[to] - tracks.frame[from])));
    }
  }
  return speeds;
}

}  // namespace motes
