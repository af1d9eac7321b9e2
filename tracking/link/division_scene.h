#pragma once
/// Where divisions may be: every link with a start beside it, and every end with two.

#include "tracking/link/divisions.h"

namespace motes::tracking::detail {

/// How the series is looked at.
enum class Sight {
  forwards,
  backwards,  ///< in reversed time: mothers lie in the later frame
  misplaced   ///< starts trade their positions with starts of other frames
};

DivisionScene division_scene(const Execution& execution, const SeriesPoints& points,
                             const SeriesLinking& linking, bool neighbours, Sight sight);

}  // namespace motes::tracking::detail
