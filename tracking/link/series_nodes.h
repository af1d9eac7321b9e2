#pragma once
/// Which detections are particles, where false ones gather around them.
///
/// 1. The exclusion radius (close_pairs.h). Without one, nothing is done.
/// 2. Of detections nearer than that the surest is kept, and those kept are linked.
/// 3. Those on tracks of a length are taken for particles, and from them every detection's log-odds of being
///    one are estimated (node_model.h).
/// 4. All detections are linked in one assignment in which not to use a detection costs its log-odds. Used
///    pairs nearer than 0.7 radii then pay: the less likely one loses 1 nat, the other 0.3; three times.
/// 5. Steps 3 and 4 once more, with those used as particles. Further rounds would drift.

#include <functional>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {

struct SeriesNodes {
  std::vector<char> used;        ///< [points] 1: a particle
  std::vector<double> log_odds;  ///< [points] of being one
  double exclusion_um = 0;       ///< median of the frames
  bool told = false;             ///< by a property, not by their places alone
};

/// A linking of those points, by the model the caller wants.
using LinkPoints = std::function<SeriesLinking(const SeriesPoints&)>;

/// None where there is no exclusion radius, or (where it is estimated) where those that would be suppressed
/// make tracks as good as all others. `solved` counts assignments, `done` is called after each.
std::optional<SeriesNodes> choose_nodes(const Execution& execution, const SeriesPoints& points,
                                        const SeriesOptions& options, const LinkPoints& link,
                                        const std::function<void(int)>& done, int& solved);

}  // namespace motes::tracking
