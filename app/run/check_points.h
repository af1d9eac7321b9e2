#pragma once
/// Checks of points before linking: rejects, in one line, those that no linker can use.

#include <cstddef>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>

namespace motes::app {

struct PointCheck {
  std::size_t repeats = 0;  ///< points exactly where an earlier point of their frame is
  std::string crowd;        ///< message if more than tracking::kMostCoincident points coincide, else empty
};

/// Throws InputError if the whole series spans less than 1e-100, since squares of such lengths are 0.
/// O(points) expected.
PointCheck check_points(const Execution& execution, const std::vector<Detections>& frames,
                        const std::string& source);

/// The positions of each frame without repeats, in the order of their first points. O(points) expected.
std::vector<Detections> distinct_points(const Execution& execution, const std::vector<Detections>& frames);

}  // namespace motes::app
