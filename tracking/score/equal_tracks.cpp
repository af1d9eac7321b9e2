#include "tracking/score/equal_tracks.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>

#include <motes/base/index.h>
#include <motes/tracking/linker.h>

namespace motes::tracking::detail {
namespace {

auto point_of(const TrackSet& tracks, std::size_t p) {
  return std::tie(tracks.frame[p], tracks.x_um[p], tracks.y_um[p], tracks.z_um[p]);
}

/// Negative, 0 or positive: track a comes before b, is equal, or comes after it.
int compare(const TrackSet& tracks, std::size_t a, std::size_t b) {
  auto p = at(tracks.track_offsets[a]), q = at(tracks.track_offsets[b]);
  const auto p_end = at(tracks.track_offsets[a + 1]), q_end = at(tracks.track_offsets[b + 1]);
  for (; p < p_end && q < q_end; ++p, ++q) {
    if (point_of(tracks, p) < point_of(tracks, q)) return -1;
    if (point_of(tracks, q) < point_of(tracks, p)) return 1;
  }
  return static_cast<int>(p < p_end) - static_cast<int>(q < q_end);
}

}  // namespace

bool many_equal(const TrackSet& tracks) {
  if (tracks.tracks() <= kMostCoincident) return false;
  std::vector<std::size_t> begin;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) begin.push_back(at(tracks.track_offsets[t]));
  std::sort(begin.begin(), begin.end(),
            [&](std::size_t a, std::size_t b) { return point_of(tracks, a) < point_of(tracks, b); });
  for (std::size_t k = kMostCoincident; k < begin.size(); ++k)
    if (!(point_of(tracks, begin[k - kMostCoincident]) < point_of(tracks, begin[k]))) return true;
  return false;
}

EqualTracks::EqualTracks(const TrackSet& tracks) : track(tracks.tracks()) {
  std::iota(track.begin(), track.end(), std::size_t{0});
  std::sort(track.begin(), track.end(), [&](std::size_t a, std::size_t b) {
    const int order = compare(tracks, a, b);
    return order != 0 ? order < 0 : a < b;
  });
  for (std::size_t k = 0; k < track.size(); ++k) {
    const std::size_t t = track[k];
    if (k > 0 && compare(tracks, track[k - 1], t) == 0) {
      ++copies.back();
      continue;
    }
    copies.push_back(1);
    first.push_back(k);
    const auto append = [&](auto& to, const auto& from) {
      to.insert(to.end(), from.begin() + tracks.track_offsets[t], from.begin() + tracks.track_offsets[t + 1]);
    };
    append(one.frame, tracks.frame);
    append(one.x_um, tracks.x_um);
    append(one.y_um, tracks.y_um);
    append(one.z_um, tracks.z_um);
    one.track_id.push_back(tracks.track_id[t]);
    one.track_offsets.push_back(static_cast<std::int64_t>(one.frame.size()));
  }
}

}  // namespace motes::tracking::detail
