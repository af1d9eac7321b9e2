#include "tracking/score/frame_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <motes/base/errors.h>

namespace motes::tracking::detail {

std::span<const std::int64_t> FrameIndex::points_of_slot(std::int64_t slot) const {
  const auto s = static_cast<std::size_t>(slot);
  return std::span(point).subspan(static_cast<std::size_t>(offsets[s]),
                                  static_cast<std::size_t>(offsets[s + 1] - offsets[s]));
}

std::span<const std::int64_t> FrameIndex::points_of_frame(std::int32_t frame) const {
  const auto found = std::lower_bound(frames.begin(), frames.end(), frame);
  if (found == frames.end() || *found != frame) return {};
  return points_of_slot(found - frames.begin());
}

FrameIndex index_frames(const TrackSet& tracks) {
  FrameIndex index;
  index.frames = tracks.frame;
  std::sort(index.frames.begin(), index.frames.end());
  index.frames.erase(std::unique(index.frames.begin(), index.frames.end()), index.frames.end());

  const auto slot_of = [&](std::size_t point) {
    const auto found = std::lower_bound(index.frames.begin(), index.frames.end(), tracks.frame[point]);
    return static_cast<std::size_t>(found - index.frames.begin());
  };
  index.offsets.assign(index.frames.size() + 1, 0);
  for (std::size_t p = 0; p < tracks.points(); ++p) ++index.offsets[slot_of(p) + 1];
  for (std::size_t s = 1; s < index.offsets.size(); ++s) index.offsets[s] += index.offsets[s - 1];
  index.point.resize(tracks.points());
  std::vector<std::int64_t> next(index.offsets.begin(), index.offsets.end() - 1);
  for (std::size_t p = 0; p < tracks.points(); ++p)
    index.point[static_cast<std::size_t>(next[slot_of(p)]++)] = static_cast<std::int64_t>(p);

  index.track_of_point.resize(tracks.points());
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    std::fill(index.track_of_point.begin() + tracks.track_offsets[t],
              index.track_of_point.begin() + tracks.track_offsets[t + 1], static_cast<std::int32_t>(t));
  return index;
}

namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw InputError(message.str());
}

void check_track(const TrackSet& tracks, std::size_t track, const std::string& name) {
  const auto begin = tracks.track_offsets[track], end = tracks.track_offsets[track + 1];
  const auto id = tracks.track_id[track];
  if (begin == end) refuse(name, ": track ", id, " has no points; remove it");
  for (auto p = static_cast<std::size_t>(begin); p < static_cast<std::size_t>(end); ++p) {
    const std::int32_t frame = tracks.frame[p];
    if (frame < 0) refuse(name, ": track ", id, " has a point in frame ", frame, "; frames count from 0");
    if (p > static_cast<std::size_t>(begin) && frame <= tracks.frame[p - 1])
      refuse(name, ": track ", id, " has ",
             frame == tracks.frame[p - 1] ? "two points" : "points out of order", " in frame ", frame,
             "; keep one point a frame, in order");
    if (!std::isfinite(tracks.x_um[p]) || !std::isfinite(tracks.y_um[p]) || !std::isfinite(tracks.z_um[p]))
      refuse(name, ": track ", id, " has no finite position in frame ", frame, "; remove that point");
  }
}

}  // namespace

void check_tracks(const TrackSet& tracks, const std::string& name) {
  if (tracks.tracks() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw ResourceError(name + ": more than 2^31 - 1 tracks cannot be scored at once; split the series");
  for (std::size_t track = 0; track < tracks.tracks(); ++track) check_track(tracks, track, name);
}

void check_gate(double gate, const std::string& name) {
  if (gate >= 1e-100 && gate <= 1e100) return;
  std::ostringstream message;
  message << name << ": " << gate
          << " is not a length above 0 (up to 1e100); give one in the tracks' own unit";
  throw UsageError(message.str());
}

}  // namespace motes::tracking::detail
