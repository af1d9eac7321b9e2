#pragma once
/// Scores of divisions and merges.

#include <cstdint>
#include <vector>

#include <motes/tracking/scores.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking::detail {

/// See DivisionScores. `found_to_true`: the true point of each found point, -1 none. O(points log points).
DivisionScores division_scores(const TrackSet& truth, const TrackSet& found,
                               const std::vector<std::int64_t>& found_to_true);

/// The same of merges; all 0 if neither side has any.
DivisionScores merge_scores(const TrackSet& truth, const TrackSet& found,
                            const std::vector<std::int64_t>& found_to_true);

}  // namespace motes::tracking::detail
