#pragma once
/// Checks of points before linking: rejects, in one line, those that no linker can use.

#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>

namespace motes::app {

/// The most points of a frame that may coincide. Coincident points are indistinguishable, so that candidates
/// grow with the square, and the time to solve with the cube.
inline constexpr std::size_t kMostAtOnePlace = 256;

/// Throws InputError where more than kMostAtOnePlace points of a frame coincide, or where the whole series
/// spans less than 1e-100, whose squares are 0. Returns how many points lie exactly where an earlier point of
/// their frame does. O(points) expected.
std::size_t check_points(const Execution& execution, const std::vector<Detections>& frames,
                         const std::string& source);

}  // namespace motes::app
