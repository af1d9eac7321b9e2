#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include <omp.h>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/pooled_detections.h>
#include <motes/tracking/series_links.h>

#include "tracking/link/pooled_order.h"

namespace motes::tracking {
namespace {

/// A detection by frame and index. A series has fewer than 2^32 of both.
struct Place {
  Place(std::size_t f, std::size_t d)
      : frame(static_cast<std::uint32_t>(f)), detection(static_cast<std::uint32_t>(d)) {}
  std::uint32_t frame, detection;
};

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// The places of all tracks, track by track, and where each track starts. next(place): the next detection of
/// the same particle, in a later frame; its frame is kNowhere if there is none.
template <class Next>
std::vector<Place> order_by_track(const PooledDetections& points, const Next& next_of,
                                  std::vector<std::int64_t>& offsets) {
  const auto first = [&](std::size_t f) { return at(points.offsets[f]); };
  const auto size_of = [&](std::size_t f) { return first(f + 1) - first(f); };
  std::vector<bool> has_previous(points.points(), false);
  const auto index_of = [&](const Place& p) {
    if (p.detection >= size_of(p.frame))
      throw std::out_of_range("build_tracks: a link leads to no detection");
    return first(p.frame) + p.detection;
  };
  // First the number of points of a track from here on, then the index of this one in `order`. Frame by
  // frame, for locality: following track by track takes twice as long.
  std::vector<std::int64_t> at_place(points.points(), 1);
  for (std::size_t f = points.frames(); f-- > 0;)
    for (std::size_t d = 0; d < size_of(f); ++d)
      if (const Place next = next_of({f, d}); next.frame != kNowhere) {
        const std::size_t later = index_of(next);
        has_previous[later] = true;
        at_place[first(f) + d] += at_place[later];
      }
  std::vector<Place> order(points.points(), Place{0, 0});
  offsets.assign(1, 0);
  for (std::size_t f = 0; f < points.frames(); ++f) {
    for (std::size_t d = 0; d < size_of(f); ++d) {
      std::int64_t& place = at_place[first(f) + d];
      if (!has_previous[first(f) + d]) {
        const std::int64_t begin = offsets.back();
        offsets.push_back(begin + place);
        place = begin;
      }
      order[static_cast<std::size_t>(place)] = {f, d};
      if (const Place next = next_of({f, d}); next.frame != kNowhere)
        at_place[first(next.frame) + next.detection] = place + 1;
    }
  }
  return order;
}

/// Known columns in a fixed order: radius, intensity and quality, then the others.
std::vector<PropertyColumn> gather_properties(const PooledDetections& points, std::span<const Place> order) {
  std::vector<PropertyColumn> out;
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    PropertyColumn column{name, {}};
    column.values.reserve(order.size());
    for (const Place& p : order) column.values.push_back(values[at(points.offsets[p.frame]) + p.detection]);
    out.push_back(std::move(column));
  };
  if (!points.radius_um.empty()) add("radius_um", points.radius_um);
  if (!points.intensity.empty()) add("intensity", points.intensity);
  if (!points.quality.empty()) add("quality", points.quality);
  for (const PropertyColumn& column : points.properties) add(column.name, column.values);
  return out;
}

template <class Next>
TrackSet tracks_along(const PooledDetections& points, const Next& next_of) {
  TrackSet out;
  const std::vector<Place> order = order_by_track(points, next_of, out.track_offsets);
  out.track_id.resize(out.track_offsets.size() - 1);
  for (std::size_t t = 0; t < out.track_id.size(); ++t) out.track_id[t] = static_cast<std::int64_t>(t);
  out.frame.resize(order.size());
  out.detection.resize(order.size());
  for (std::vector<double>* column : {&out.time_s, &out.x_um, &out.y_um, &out.z_um})
    column->resize(order.size());
  constexpr std::int64_t kBlock = 4096;
  const auto count = std::ssize(order);
  parallel_for(omp_get_max_threads(), (count + kBlock - 1) / kBlock, [&](std::int64_t block) {
    for (std::int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const auto [f, d] = order[k];
      const std::size_t from = at(points.offsets[f]) + d;
      out.frame[k] = points.frame[f];
      out.detection[k] = d;
      out.time_s[k] = points.time_s[f];
      out.x_um[k] = points.x_um[from];
      out.y_um[k] = points.y_um[from];
      out.z_um[k] = points.z_um[from];
    }
  });
  out.point_properties = gather_properties(points, order);
  return out;
}

/// Sets `parent` and `merged_into`.
void name_relatives(const SeriesLinks& links, TrackSet& tracks) {
  if (links.divisions.list.empty() && links.merges.list.empty()) return;
  const std::vector<matching::Index> order = detail::pooled_by_track(links.linking);
  std::vector<std::int64_t> track_of(links.points.size());
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    for (std::int64_t p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p)
      track_of[at(order[at(p)])] = static_cast<std::int64_t>(t);
  const auto name = [&](const Divisions& events, std::vector<std::int64_t>& relative) {
    if (!events.list.empty()) relative.assign(tracks.tracks(), -1);
    for (const Division& d : events.list)
      for (const matching::Index daughter : {d.first, d.second})
        relative[at(track_of[at(daughter)])] = tracks.track_id[at(track_of[at(d.mother)])];
  };
  name(links.divisions, tracks.parent);
  name(links.merges, tracks.merged_into);
}

}  // namespace

TrackSet build_tracks(const PooledDetections& points, std::span<const matching::Index> next) {
  if (next.size() != points.points())
    throw std::invalid_argument("build_tracks: one link is needed per detection");
  return tracks_along(points, [&](const Place& place) -> Place {
    const matching::Index there = next[at(points.offsets[place.frame]) + place.detection];
    if (there < 0 || place.frame + 1 == points.frames()) return {kNowhere, 0};
    return {place.frame + 1, at(there)};
  });
}

TrackSet build_tracks(std::span<const Detections> frames, std::span<const PairLinks> links) {
  if (links.size() + 1 != std::max<std::size_t>(frames.size(), 1))
    throw std::invalid_argument("build_tracks: one set of links is needed per pair of successive frames");
  std::vector<matching::Index> next;
  for (std::size_t f = 0; f + 1 < frames.size(); ++f) {
    if (links[f].next.size() != frames[f].size())
      throw std::invalid_argument("build_tracks: links of pair " + std::to_string(f) +
                                  " do not fit its frame");
    next.insert(next.end(), links[f].next.begin(), links[f].next.end());
  }
  if (!frames.empty()) next.resize(next.size() + frames.back().size(), -1);
  return build_tracks(pool_detections(frames), next);
}

TrackSet build_tracks(const PooledDetections& points, const SeriesLinks& links) {
  if (links.linking.next.size() != points.points() || at(links.points.frames()) != points.frames())
    throw std::invalid_argument("build_tracks: the links are those of another series");
  TrackSet tracks = tracks_along(points, [&](const Place& place) -> Place {
    const matching::Index next = links.linking.next[at(points.offsets[place.frame]) + place.detection];
    if (next < 0) return {kNowhere, 0};
    const auto frame = at(links.points.slot[at(next)]);
    return {frame, at(next - links.points.offset[frame])};
  });
  name_relatives(links, tracks);
  return tracks;
}

TrackSet build_tracks(std::span<const Detections> frames, const SeriesLinks& links) {
  return build_tracks(pool_detections(frames), links);
}

}  // namespace motes::tracking
