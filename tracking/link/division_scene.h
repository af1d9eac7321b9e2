#pragma once
/// Where divisions may be: every link with a start beside it, and every end with two.

#include <vector>

#include "tracking/link/divisions.h"
#include "tracking/link/series_field.h"

namespace motes::tracking::detail {

/// How the series is looked at.
enum class Sight {
  forwards,
  backwards,  ///< in reversed time: mothers lie in the later frame
  misplaced   ///< starts trade their positions with starts of other frames
};

/// What every pair of successive frames shows before divisions are looked for.
struct DivisionPair {
  bool known = false;
  matching::Index from = 0, from_end = 0, to = 0,
                  to_end = 0;   ///< of the two frames, in the order of the sight
  std::vector<Vec3> expected;   ///< [from's points] where they would be
  std::vector<double> lengths;  ///< of links, beyond what is expected
};
struct DivisionMotion {
  std::vector<DivisionPair> pair;  ///< [frames - 1]
  double residual = 0;             ///< median of the lengths, in the later frames' spacings
};

/// [frames] median distance of nearest neighbours; 0 of fewer than two points.
std::vector<double> division_spacings(const Execution& execution, const SeriesPoints& points);

/// Of every `step`-th pair, the others unknown. `lists`: of the points; asked for only with `neighbours`.
DivisionMotion division_motion(const Execution& execution, const SeriesPoints& points,
                               const SeriesLinking& linking, const SeriesLists& lists,
                               const std::vector<double>& spacings, bool neighbours, bool backwards,
                               std::int32_t step = 1);

/// `motion`: of all pairs, backwards where the sight is.
DivisionScene division_scene(const Execution& execution, const SeriesPoints& points,
                             const SeriesLinking& linking, const DivisionMotion& motion,
                             const std::vector<double>& spacings, Sight sight);

}  // namespace motes::tracking::detail
