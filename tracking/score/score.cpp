#include <unordered_map>

#include <motes/base/errors.h>
#include <motes/tracking/score_tracks.h>

#include "tracking/score/frame_index.h"

namespace motes::tracking {
namespace {

/// More successive dropped generations than any lineage has. Ends the search if parents form a cycle (damaged
/// input).
constexpr int kMaxDroppedGenerations = 1000;

/// Indices of the points and tracks that are kept.
struct Kept {
  std::vector<std::size_t> points, tracks;
};

template <class Value>
std::vector<Value> pick(const std::vector<Value>& values, const std::vector<std::size_t>& kept) {
  std::vector<Value> picked;
  picked.reserve(kept.size());
  for (const std::size_t i : kept) picked.push_back(values[i]);
  return picked;
}

std::vector<PropertyColumn> pick(const std::vector<PropertyColumn>& columns,
                                 const std::vector<std::size_t>& kept) {
  std::vector<PropertyColumn> picked;
  for (const PropertyColumn& column : columns) picked.push_back({column.name, pick(column.values, kept)});
  return picked;
}

/// [kept] the track_id of the nearest relative that is kept, -1 none: the mother or her mother and so on
/// (`relatives`: parent), or the track merged into. So a lineage is not cut if all frames of a short-lived
/// mother are dropped.
std::vector<std::int64_t> kept_relatives(const TrackSet& tracks, const std::vector<std::int64_t>& relatives,
                                         const std::vector<std::size_t>& kept) {
  if (relatives.empty()) return {};
  std::unordered_map<std::int64_t, std::size_t> track_of_id;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) track_of_id.emplace(tracks.track_id[t], t);
  std::vector<bool> stays(tracks.tracks(), false);
  for (const std::size_t t : kept) stays[t] = true;

  std::vector<std::int64_t> out;
  for (const std::size_t t : kept) {
    std::int64_t id = relatives[t];
    for (int generation = 0; id >= 0; ++generation) {
      const auto relative = track_of_id.find(id);
      if (relative != track_of_id.end() && stays[relative->second]) break;
      const bool lost = relative == track_of_id.end() || generation == kMaxDroppedGenerations;
      id = lost ? -1 : relatives[relative->second];
    }
    out.push_back(id);
  }
  return out;
}

}  // namespace

Scores score_tracks(const Execution& execution, const TrackSet& truth, const TrackSet& found,
                    const ScoreOptions& options) {
  Scores scores;
  scores.gate = options.gate;
  scores.gate_link = options.gate_link == 0 ? options.gate : options.gate_link;
  detail::check_gate(scores.gate, "gate");
  detail::check_gate(scores.gate_link, "gate of links");
  if (truth.length_unit != found.length_unit)
    throw InputError("the true tracks are in " + truth.length_unit + ", the found tracks in " +
                     found.length_unit + "; convert one of them, so that a gate means the same for both");
  scores.challenge = challenge_scores(execution, truth, found, scores.gate);
  scores.link = link_scores(execution, truth, found, scores.gate_link);
  return scores;
}

TrackSet keep_every(const TrackSet& tracks, std::int32_t step) {
  if (step < 1) throw UsageError("frame step: " + std::to_string(step) + " is below 1; give 1 or more");
  if (step == 1) return tracks;
  Kept kept;
  TrackSet result;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::size_t before = kept.points.size();
    for (auto p = static_cast<std::size_t>(tracks.track_offsets[t]);
         p < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++p)
      if (tracks.frame[p] % step == 0) kept.points.push_back(p);
    if (kept.points.size() == before) continue;
    kept.tracks.push_back(t);
    result.track_offsets.push_back(static_cast<std::int64_t>(kept.points.size()));
  }
  result.track_id = pick(tracks.track_id, kept.tracks);
  result.parent = kept_relatives(tracks, tracks.parent, kept.tracks);
  result.merged_into = kept_relatives(tracks, tracks.merged_into, kept.tracks);
  result.frame = pick(tracks.frame, kept.points);
  for (std::int32_t& frame : result.frame) frame /= step;
  result.detection = pick(tracks.detection, kept.points);
  result.time_s = pick(tracks.time_s, kept.points);
  result.x_um = pick(tracks.x_um, kept.points);
  result.y_um = pick(tracks.y_um, kept.points);
  result.z_um = pick(tracks.z_um, kept.points);
  result.point_properties = pick(tracks.point_properties, kept.points);
  result.track_properties = pick(tracks.track_properties, kept.tracks);
  result.length_unit = tracks.length_unit;
  if (tracks.dt_s) result.dt_s = *tracks.dt_s * step;
  return result;
}

}  // namespace motes::tracking
