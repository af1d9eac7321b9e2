#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>

#include <omp.h>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/series_links.h>

#include "tracking/link/pooled_order.h"

namespace motes::tracking {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

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
std::vector<Place> order_by_track(std::span<const Detections> frames, const Next& next_of,
                                  std::vector<std::int64_t>& offsets) {
  std::vector<std::size_t> first(1, 0);  // where the places of each frame begin in `at_place`
  for (const Detections& frame : frames) first.push_back(first.back() + frame.size());
  std::vector<bool> has_previous(first.back(), false);
  const auto index_of = [&](const Place& p) {
    if (p.detection >= frames[p.frame].size())
      throw std::out_of_range("build_tracks: a link leads to no detection");
    return first[p.frame] + p.detection;
  };
  // First the number of points of a track from here on, then the index of this one in `order`. Frame by
  // frame, for locality: following track by track takes twice as long.
  std::vector<std::int64_t> at_place(first.back(), 1);
  for (std::size_t f = frames.size(); f-- > 0;)
    for (std::size_t d = 0; d < frames[f].size(); ++d)
      if (const Place next = next_of({f, d}); next.frame != kNowhere) {
        const std::size_t later = index_of(next);
        has_previous[later] = true;
        at_place[first[f] + d] += at_place[later];
      }
  std::vector<Place> order(first.back(), Place{0, 0});
  offsets.assign(1, 0);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    for (std::size_t d = 0; d < frames[f].size(); ++d) {
      std::int64_t& place = at_place[first[f] + d];
      if (!has_previous[first[f] + d]) {
        const std::int64_t begin = offsets.back();
        offsets.push_back(begin + place);
        place = begin;
      }
      order[static_cast<std::size_t>(place)] = {f, d};
      if (const Place next = next_of({f, d}); next.frame != kNowhere)
        at_place[first[next.frame] + next.detection] = place + 1;
    }
  }
  return order;
}

/// The columns of the frames by name, in the order of their first occurrence. O(columns of all frames), times
/// a logarithm if their order differs between frames.
struct NamedColumns {
  explicit NamedColumns(std::span<const Detections> frames) {
    std::map<std::string_view, std::size_t> place_of;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      for (std::size_t i = 0; i < frames[f].properties.size(); ++i) {
        const PropertyColumn& column = frames[f].properties[i];
        std::size_t place = i;
        if (i >= names.size() || names[i] != column.name)
          place = place_of.try_emplace(column.name, names.size()).first->second;
        if (place == names.size()) {
          names.push_back(column.name);
          by_frame.emplace_back(frames.size(), nullptr);
        }
        by_frame[place][f] = &column.values;
      }
    }
  }
  std::vector<std::string_view> names;
  /// [names][frames]; null: the frame lacks the column.
  std::vector<std::vector<const std::vector<double>*>> by_frame;
};

/// Columns that any frame has, in a fixed order: radius, intensity and quality, then the others.
std::vector<PropertyColumn> gather_properties(std::span<const Detections> frames,
                                              std::span<const Place> order) {
  std::vector<PropertyColumn> out;
  using Member = std::vector<double> Detections::*;
  const std::pair<const char*, Member> own[] = {{"radius_um", &Detections::radius_um},
                                                {"intensity", &Detections::intensity},
                                                {"quality", &Detections::quality}};
  for (const auto& [name, member] : own) {
    const bool known = std::any_of(frames.begin(), frames.end(), [&, m = member](const Detections& f) {
      return std::any_of((f.*m).begin(), (f.*m).end(), [](double value) { return !std::isnan(value); });
    });
    if (!known) continue;
    PropertyColumn column{name, {}};
    column.values.reserve(order.size());
    for (const Place& p : order) {
      const auto& values = frames[p.frame].*member;
      column.values.push_back(values.empty() ? kUnknown : values[p.detection]);
    }
    out.push_back(std::move(column));
  }
  const NamedColumns named(frames);
  for (std::size_t i = 0; i < named.names.size(); ++i) {
    const std::vector<const std::vector<double>*>& by_frame = named.by_frame[i];
    PropertyColumn column{std::string(named.names[i]), {}};
    column.values.reserve(order.size());
    for (const Place& p : order)
      column.values.push_back(by_frame[p.frame] == nullptr ? kUnknown : (*by_frame[p.frame])[p.detection]);
    out.push_back(std::move(column));
  }
  return out;
}

template <class Next>
TrackSet tracks_along(std::span<const Detections> frames, const Next& next_of) {
  TrackSet out;
  const std::vector<Place> order = order_by_track(frames, next_of, out.track_offsets);
  out.track_id.resize(out.track_offsets.size() - 1);
  for (std::size_t t = 0; t < out.track_id.size(); ++t) out.track_id[t] = static_cast<std::int64_t>(t);
  const auto points = std::ssize(order);
  out.frame.resize(order.size());
  out.detection.resize(order.size());
  for (std::vector<double>* column : {&out.time_s, &out.x_um, &out.y_um, &out.z_um}) column->resize(order.size());
  // All columns of a block at once: of many short frames each is looked for in memory once, not once a column.
  constexpr std::int64_t kBlock = 4096;
  parallel_for(omp_get_max_threads(), (points + kBlock - 1) / kBlock, [&](std::int64_t block) {
    for (std::int64_t i = block * kBlock; i < std::min(points, (block + 1) * kBlock); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const auto [f, d] = order[k];
      const Detections& frame = frames[f];
      out.frame[k] = frame.frame;
      out.detection[k] = d;
      out.time_s[k] = frame.time_s;
      out.x_um[k] = frame.x_um[d];
      out.y_um[k] = frame.y_um[d];
      out.z_um[k] = frame.z_um[d];
    }
  });
  out.point_properties = gather_properties(frames, order);
  return out;
}

void name_parents(const SeriesLinks& links, TrackSet& tracks) {
  if (links.divisions.list.empty()) return;
  const std::vector<matching::Index> order = detail::pooled_by_track(links.linking);
  std::vector<std::int64_t> track_of(links.points.size());
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    for (std::int64_t p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p)
      track_of[at(order[at(p)])] = static_cast<std::int64_t>(t);
  tracks.parent.assign(tracks.tracks(), -1);
  for (const Division& d : links.divisions.list)
    for (const matching::Index daughter : {d.first, d.second})
      tracks.parent[at(track_of[at(daughter)])] = tracks.track_id[at(track_of[at(d.mother)])];
}

}  // namespace

TrackSet build_tracks(std::span<const Detections> frames, std::span<const PairLinks> links) {
  if (links.size() + 1 != std::max<std::size_t>(frames.size(), 1))
    throw std::invalid_argument("build_tracks: one set of links is needed per pair of successive frames");
  for (std::size_t f = 0; f + 1 < frames.size(); ++f)
    if (links[f].next.size() != frames[f].size())
      throw std::invalid_argument("build_tracks: links of pair " + std::to_string(f) +
                                  " do not fit its frame");
  return tracks_along(frames, [&](const Place& place) -> Place {
    const matching::Index next =
        place.frame + 1 < frames.size() ? links[place.frame].next[place.detection] : -1;
    return next < 0 ? Place{kNowhere, 0} : Place{place.frame + 1, at(next)};
  });
}

TrackSet build_tracks(std::span<const Detections> frames, const SeriesLinks& links) {
  if (links.linking.next.size() != links.points.size() || at(links.points.frames()) != frames.size())
    throw std::invalid_argument("build_tracks: the links are those of another series");
  TrackSet tracks = tracks_along(frames, [&](const Place& place) -> Place {
    const matching::Index next = links.linking.next[at(links.points.offset[place.frame]) + place.detection];
    if (next < 0) return {kNowhere, 0};
    const auto frame = at(links.points.slot[at(next)]);
    return {frame, at(next - links.points.offset[frame])};
  });
  name_parents(links, tracks);
  return tracks;
}

}  // namespace motes::tracking
