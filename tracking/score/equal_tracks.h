#pragma once
/// Groups tracks that are equal, point by point, as copies of one.

#include <cstddef>
#include <vector>

#include <motes/matching/problem.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking::detail {

/// Whether more than kMostCoincident tracks may be equal, because they begin in the same frame at the same
/// place. No track may be empty. O(tracks log tracks).
bool many_equal(const TrackSet& tracks);

struct EqualTracks {
  TrackSet one;                         ///< each different track once; frames and positions only
  std::vector<matching::Index> copies;  ///< [tracks of `one`] number of copies
  std::vector<std::size_t> first;       ///< [tracks of `one`] where its copies begin in `track`
  std::vector<std::size_t> track;       ///< [all tracks] grouped by copies, in rising order within a group

  /// No track may be empty. O(points log tracks).
  explicit EqualTracks(const TrackSet& tracks);
};

}  // namespace motes::tracking::detail
