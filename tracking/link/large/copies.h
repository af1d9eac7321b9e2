#pragma once
/// Links series in which many detections coincide.
///
/// Detections of a frame at one place are interchangeable, and the number of their candidates grows with the
/// square of theirs. So one of them is linked like any other detection, and the rest (its copies) follow it:
/// if its link leads to a place with copies, copies are linked to copies, as many as both places have.

#include <cstddef>
#include <vector>

#include <motes/tracking/series_links.h>

namespace motes::tracking::detail {

/// [points] the detection that a copy follows, -1 for others. Empty if at no place too many detections
/// coincide: more than kMostCoincident, or fewer if all coincident detections would have very many links. A
/// place with too many in one frame has copies in every frame. `order`: from position_order. Of the
/// detections of a place the one with the lowest number is followed. O(points log points).
std::vector<matching::Index> find_copies(const SeriesPoints& points,
                                         const std::vector<matching::Index>& order);

/// Links the copies by `copy_of`, in the order of detections. O(points).
void link_copies(SeriesLinks& links);

/// The result without copies; `order` returns the detections that are not copies.
SeriesLinks without_copies(const SeriesLinks& links, std::vector<matching::Index>& order);

}  // namespace motes::tracking::detail
