#pragma once
/// How far a forest of alternating trees grows at a time, and when a search stops; the same rules on the CPU
/// and on the GPU.

#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::detail {

/// The forest of one search grows in bands of distance: labels up to `reach` are final before the next band
/// begins. Width 0 is Dijkstra's order, tie by tie; wider bands trade repeated scans of a row for rounds.
struct Band {
  Cost reach = 0;  ///< labels up to here are final, or about to be
  Cost width = 0;
  std::int64_t scanned = 0;  ///< rows scanned in this band

  /// Moves to the band that begins at the nearest label beyond, but not past `limit`.
  MOTES_HOST_DEVICE void advance(Cost nearest, Cost limit) {
    constexpr std::int64_t kFew = 64, kMany = 1024;
    if (scanned < kFew) {
      const Cost gap = nearest - reach;
      width = width > gap / 2 ? width * 2 : gap;
      if (width > kFar / 4) width = kFar / 4;
    } else if (scanned > kMany) {
      width /= 4;
    }
    scanned = 0;
    reach = nearest + width;
    if (reach > limit) reach = limit > nearest ? limit : nearest;
    if (reach > kFar / 2) reach = nearest > kFar / 2 ? nearest : kFar / 2;
  }
};

/// The number of trees that must have found an end before a search stops.
MOTES_HOST_DEVICE inline std::int64_t trees_wanted(std::int64_t trees) { return (trees + 1) / 2; }

}  // namespace motes::matching::detail
