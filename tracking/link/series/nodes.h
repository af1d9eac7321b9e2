#pragma once
/// Decides which detections are particles, if false ones gather around them.
///
/// 1. The exclusion radius (close_pairs.h). Without one, nothing is done.
/// 2. Of detections closer than that only the surest is kept, and those kept are linked.
/// 3. Those on long tracks are taken for particles. With these labels the log-odds of being a particle are
/// estimated for every detection (node_model.h).
/// 4. All detections are linked in one assignment, in which an unused detection costs its log-odds. Then,
/// three times, used pairs closer than 0.7 radii get a penalty: 1 nat for the less likely one, 0.3 for the
/// other.
/// 5. Steps 3 and 4 are repeated once, with the used detections as particles. Further rounds would drift.

#include <functional>
#include <optional>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {

struct SeriesNodes {
  std::vector<char> used;        ///< [points] 1: a particle
  std::vector<double> log_odds;  ///< [points] of being a particle
  double exclusion_um = 0;       ///< median over the frames
  bool told = false;             ///< whether a property distinguishes them, not only their places
};

/// Links points with the motion model of the caller.
using LinkPoints = std::function<SeriesLinking(const SeriesPoints&)>;

/// None without an exclusion radius, or (if it is estimated) if the detections to suppress make tracks as
/// good as all others. `solved` counts assignments; `done` is called after each.
std::optional<SeriesNodes> choose_nodes(const Execution& execution, const SeriesPoints& points,
                                        const SeriesOptions& options, const LinkPoints& link,
                                        const std::function<void(int)>& done, int& solved);

}  // namespace motes::tracking
