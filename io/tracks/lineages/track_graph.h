#pragma once
/// Files of points and links between them: graphs that are cut into tracks at divisions and merges.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/tracks/track_rows.h"

namespace motes::io::detail {

struct TrackGraph {
  TrackRows nodes;                                         ///< track_id and parent stay empty
  std::vector<std::pair<std::size_t, std::size_t>> edges;  ///< rows of `nodes`, in any order of time
  std::vector<std::int64_t> lineage;   ///< [edges] number of the whole lineage; empty: not stated
  std::vector<std::int64_t> particle;  ///< [rows] the track's own number, -1: none; empty: not stated
  bool single_points = false;          ///< whether a point without links is a track of its own
};

/// One track for every path between divisions, merges and ends. `parent` is the track that divided,
/// `merged_into` the one that this and others become; they are empty if there are none. A path is also cut
/// where `particle` changes. Track numbers are those of `particle` if they distinguish all paths, else those
/// of `lineage` for the first path of each, else new ones. Notes state the links that are part of both, which
/// are left out, and the number of points without a track. Throws InputError that starts with where(row) for
/// a link within one frame, and for several mothers of one track. O(n log n).
TrackSet tracks_of_graph(TrackGraph graph, const std::function<std::string(std::size_t row)>& where,
                         std::vector<std::string>& notes);

/// The links of tracks: from point to point along each, and from the last point of a mother to the first of
/// each daughter, and likewise at merges. `lost`: number of mothers that are not a track or end no earlier
/// than the daughter starts; `lost_merges`: likewise of tracks that merge.
struct TrackLinks {
  std::vector<std::pair<std::size_t, std::size_t>> edges;  ///< points of the tracks
  std::vector<std::size_t> lineage;                        ///< [tracks] the first track of its lineage
  std::size_t lost = 0, lost_merges = 0;
};
TrackLinks links_of(const TrackSet& tracks);

}  // namespace motes::io::detail
