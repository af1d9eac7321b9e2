#pragma once
/// Candidates for divisions: links with a start of a track nearby, and ends of tracks with two.

#include <vector>

#include "tracking/link/events/divisions.h"
#include "tracking/link/motion/field.h"

namespace motes::tracking::detail {

/// The view of the series for a search.
struct Sight {
  bool backwards = false;  ///< in reversed time: mothers are in the later frame
  bool misplaced = false;  ///< starts exchange positions with starts of other frames
};

/// Data of a pair of successive frames for the search.
struct DivisionPair {
  bool known = false;
  /// Points of the two frames, in the order of the view.
  matching::Index from = 0, from_end = 0, to = 0, to_end = 0;
  std::vector<Vec3> expected;   ///< [points of the first frame] expected positions in the second
  std::vector<double> lengths;  ///< distances of links from the expected positions
};
struct DivisionMotion {
  std::vector<DivisionPair> pair;  ///< [frames - 1]
  double residual = 0;             ///< median of the lengths, in spacings of the later frame
};

/// [frames] median distance of nearest neighbours; 0 for fewer than two points.
std::vector<double> division_spacings(const Execution& execution, const SeriesPoints& points);

/// The data of every `step`-th pair; the others are not known. `lists`: of the points; used only with
/// `neighbours`.
DivisionMotion division_motion(const Execution& execution, const SeriesPoints& points,
                               const SeriesLinking& linking, const SeriesLists& lists,
                               const std::vector<double>& spacings, bool neighbours, bool backwards,
                               std::int32_t step = 1);

/// `motion`: of all pairs, and backwards if the view is. `log_odds` [points]: of being a particle; or empty.
DivisionScene division_scene(const Execution& execution, const SeriesPoints& points,
                             const SeriesLinking& linking, const DivisionMotion& motion,
                             const std::vector<double>& spacings, std::span<const double> log_odds,
                             Sight sight);

}  // namespace motes::tracking::detail
