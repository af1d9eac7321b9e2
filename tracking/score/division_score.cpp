#include "tracking/score/division_score.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include <motes/base/index.h>

#include "tracking/score/ratio.h"

namespace motes::tracking::detail {
namespace {

struct Event {
  std::size_t mother = 0;
  std::vector<std::size_t> daughters;  ///< rising
  std::int32_t frame = 0;              ///< the mother's last frame
};

std::int64_t first_point(const TrackSet& tracks, std::size_t t) { return tracks.track_offsets[t]; }
std::int64_t last_point(const TrackSet& tracks, std::size_t t) { return tracks.track_offsets[t + 1] - 1; }

/// The divisions: mothers with at least two daughters, in rising order.
std::vector<Event> events_of(const TrackSet& tracks) {
  std::vector<Event> out;
  if (tracks.parent.empty()) return out;
  std::unordered_map<std::int64_t, std::size_t> track_of_id;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) track_of_id.emplace(tracks.track_id[t], t);
  std::map<std::size_t, std::vector<std::size_t>> daughters;
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    if (const auto mother = track_of_id.find(tracks.parent[t]);
        tracks.parent[t] >= 0 && mother != track_of_id.end())
      daughters[mother->second].push_back(t);
  for (auto& [mother, tracks_of_mother] : daughters)
    if (tracks_of_mother.size() > 1)
      out.push_back({mother, std::move(tracks_of_mother), tracks.frame[at(last_point(tracks, mother))]});
  return out;
}

/// The true track of each true point.
std::vector<std::int64_t> tracks_of_points(const TrackSet& tracks) {
  std::vector<std::int64_t> out(tracks.points());
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    for (std::int64_t p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p)
      out[at(p)] = static_cast<std::int64_t>(t);
  return out;
}

/// Whether the mother's last point and the daughters' first points match those of the true event.
bool same_points(const TrackSet& truth, const TrackSet& found, const std::vector<std::int64_t>& found_to_true,
                 const Event& one, const Event& event) {
  if (found_to_true[at(last_point(found, event.mother))] != last_point(truth, one.mother)) return false;
  std::vector<std::int64_t> wanted, given;
  for (const std::size_t d : one.daughters) wanted.push_back(first_point(truth, d));
  for (const std::size_t d : event.daughters) given.push_back(found_to_true[at(first_point(found, d))]);
  std::sort(wanted.begin(), wanted.end());
  std::sort(given.begin(), given.end());
  return wanted == given;
}

/// Whether a found event is on the tracks of the true event: the mother at or before the earlier of the two
/// events' frames, the daughters after the later one.
bool same_tracks(const TrackSet& found, const std::vector<std::int64_t>& found_to_true,
                 const std::vector<std::int64_t>& true_track, const Event& one, const Event& event) {
  const std::int32_t early = std::min(one.frame, event.frame), late = std::max(one.frame, event.frame) + 1;
  const auto track_at = [&](std::int64_t p) {
    return found_to_true[at(p)] < 0 ? std::int64_t{-1} : true_track[at(found_to_true[at(p)])];
  };
  std::int64_t mother = last_point(found, event.mother);
  while (mother >= first_point(found, event.mother) && found.frame[at(mother)] > early) --mother;
  if (mother < first_point(found, event.mother) || track_at(mother) != static_cast<std::int64_t>(one.mother))
    return false;
  std::vector<std::int64_t> wanted(one.daughters.begin(), one.daughters.end()), given;
  for (const std::size_t d : event.daughters) {
    std::int64_t p = first_point(found, d);
    while (p <= last_point(found, d) && found.frame[at(p)] < late) ++p;
    if (p > last_point(found, d)) return false;
    given.push_back(track_at(p));
  }
  std::sort(given.begin(), given.end());
  return wanted == given;
}

/// What division_scores reads of tracks, in reversed time: points in reversed order, frames negative.
TrackSet reversed(const TrackSet& tracks) {
  TrackSet out;
  for (std::size_t t = tracks.tracks(); t-- > 0;) {
    out.track_offsets.push_back(out.track_offsets.back() + tracks.track_offsets[t + 1] -
                                tracks.track_offsets[t]);
    out.track_id.push_back(tracks.track_id[t]);
    out.parent.push_back(tracks.merged_into.empty() ? -1 : tracks.merged_into[t]);
  }
  out.frame.assign(tracks.frame.rbegin(), tracks.frame.rend());
  for (std::int32_t& frame : out.frame) frame = -frame;
  return out;
}

}  // namespace

DivisionScores merge_scores(const TrackSet& truth, const TrackSet& found,
                            const std::vector<std::int64_t>& found_to_true) {
  if (truth.merged_into.empty() && found.merged_into.empty()) return {};
  std::vector<std::int64_t> to_true(found_to_true.rbegin(), found_to_true.rend());
  const auto last = static_cast<std::int64_t>(truth.points()) - 1;
  for (std::int64_t& p : to_true)
    if (p >= 0) p = last - p;
  return division_scores(reversed(truth), reversed(found), to_true);
}

DivisionScores division_scores(const TrackSet& truth, const TrackSet& found,
                               const std::vector<std::int64_t>& found_to_true) {
  const std::vector<Event> truths = events_of(truth), founds = events_of(found);
  const std::vector<std::int64_t> true_track = tracks_of_points(truth);
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_daughter;  // true events, by daughter
  std::unordered_map<std::int64_t, std::size_t> by_last;  // true events, by the mother's last point
  for (std::size_t k = 0; k < truths.size(); ++k) {
    by_last.emplace(last_point(truth, truths[k].mother), k);
    for (const std::size_t d : truths[k].daughters) by_daughter[static_cast<std::int64_t>(d)].push_back(k);
  }
  DivisionScores out;
  std::vector<bool> seen(truths.size(), false);
  for (const Event& event : founds) {
    if (const auto k = by_last.find(found_to_true[at(last_point(found, event.mother))]);
        k != by_last.end() && same_points(truth, found, found_to_true, truths[k->second], event))
      ++out.true_divisions;
    // The true events of whose daughters a found daughter has any point.
    std::vector<std::size_t> near;
    for (const std::size_t d : event.daughters)
      for (std::int64_t p = first_point(found, d);
           p <= std::min(first_point(found, d) + 2, last_point(found, d)); ++p)
        if (found_to_true[at(p)] >= 0)
          if (const auto k = by_daughter.find(true_track[at(found_to_true[at(p)])]); k != by_daughter.end())
            near.insert(near.end(), k->second.begin(), k->second.end());
    for (const std::size_t k : near)
      if (!seen[k] && std::abs(truths[k].frame - event.frame) <= 1 &&
          same_tracks(found, found_to_true, true_track, truths[k], event)) {
        seen[k] = true;
        ++out.true_within_one;
        break;
      }
  }
  const auto all_found = static_cast<std::int64_t>(founds.size()),
             all = static_cast<std::int64_t>(truths.size());
  out.false_divisions = all_found - out.true_divisions;
  out.missed_divisions = all - out.true_divisions;
  const auto right = static_cast<double>(out.true_divisions), both = static_cast<double>(all_found + all);
  out.precision = ratio(right, static_cast<double>(all_found), false);
  out.recall = ratio(right, static_cast<double>(all), false);
  out.f1 = ratio(2 * right, both, false);
  out.f1_within_one = ratio(2 * static_cast<double>(out.true_within_one), both, false);
  return out;
}

}  // namespace motes::tracking::detail
