#pragma once
/// Continues data by its mirror image.

#include <cstdint>

namespace motes::tracking::detect {

/// A range [first, end) of data: voxels of a row, rows of a plane, or planes.
struct Extent {
  std::int64_t first = 0, end = 0;
  bool empty() const { return first >= end; }
  std::int64_t count() const { return end - first; }
  bool has(std::int64_t i) const { return i >= first && i < end; }
  /// The place in the data of which place i is the mirror image. The outermost place is not repeated, so that
  /// no maximum has a neighbour of equal height.
  std::int64_t mirrored(std::int64_t i) const {
    const std::int64_t n = count();
    if (n == 1) return first;
    const std::int64_t period = 2 * (n - 1), place = ((i - first) % period + period) % period;
    return first + (place < n ? place : period - place);
  }
};

}  // namespace motes::tracking::detect
