#pragma once
/// Tracks that are equal, point by point, as copies of one.

#include <cstddef>
#include <vector>

#include <motes/matching/problem.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking::detail {

/// More than kMostCoincident tracks may be equal: so many begin in the same frame at the same place. No track
/// may be empty. O(tracks log tracks).
bool many_equal(const TrackSet& tracks);

struct EqualTracks {
  TrackSet one;                         ///< each track once: frames and positions only
  std::vector<matching::Index> copies;  ///< [tracks of `one`]
  std::vector<std::size_t> first;       ///< [tracks of `one`] of its copies in `track`
  std::vector<std::size_t> track;       ///< [all tracks] copies of one after the other, each rising

  /// No track may be empty. O(points log tracks).
  explicit EqualTracks(const TrackSet& tracks);
};

}  // namespace motes::tracking::detail
