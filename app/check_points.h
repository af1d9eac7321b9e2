#pragma once
/// What no linker can do anything with, told in one line before it tries.

#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>

namespace motes::app {

/// So many points of a frame may lie at exactly the same place. Each of them could be any of them: candidates
/// grow with the square, and the time to solve with the cube.
inline constexpr std::size_t kMostAtOnePlace = 256;

/// Throws InputError where more than kMostAtOnePlace points of a frame coincide, or where the whole series
/// spans less than 1e-100, whose squares are 0. Returns how many points lie exactly where an earlier point of
/// their frame does. O(points) expected.
std::size_t check_points(const Execution& execution, const std::vector<Detections>& frames,
                         const std::string& source);

}  // namespace motes::app
