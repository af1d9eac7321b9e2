#pragma once
/// Maxima that are parts of lines: fibres, seams of mosaics, stripes and edges.

#include <cstddef>
#include <vector>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// The effect of drop_lines.
struct OnLines {
  std::size_t dropped = 0;  ///< number of spots removed
  bool most = false;        ///< most spots lie on lines; none is removed, since the objects may be long
};

/// Removes spots around which the frame hardly falls along one direction while it falls along others. Changes
/// nothing if at most one in eight of a sample of the spots is like that, or if the others are crowded, since
/// neighbours on both sides look like a line. With `far`, lines that go on for 16 sigma count more: of these,
/// few are removed, too, and so are all lines if most are like that. The same for any voxel type. O(spots),
/// O(1) if nothing is removed.
OnLines drop_lines(const VolumeFrame& frame, const Filter& filter, Polarity polarity,
                   std::vector<ChosenSpot>& spots, bool far = true);

}  // namespace motes::tracking::detect
