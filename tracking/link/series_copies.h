#pragma once
/// Series in which many detections coincide.
///
/// Detections of a frame at one place are interchangeable, and their candidates grow with the square of their
/// number. So one of them is linked like any other detection, and the rest, its copies, follow it: where its
/// link leads to a place with copies, these are linked too, as many as there are on both sides.

#include <cstddef>
#include <vector>

#include <motes/tracking/series_links.h>

namespace motes::tracking::detail {

/// [points] for each detection the one that it follows, -1: none; empty where nowhere too many
/// coincide: more than kMostCoincident, or fewer if the links between all that coincide would be many. A
/// place where so many do in one frame has copies in every frame. `order` is position_order; of
/// each place's detections the one is that of the lowest number. O(points log points).
std::vector<matching::Index> find_copies(const SeriesPoints& points,
                                         const std::vector<matching::Index>& order);

/// Links the copies, by `copy_of` and in the order of detections. O(points).
void link_copies(SeriesLinks& links);

/// The result without copies; `order` lists the detections that are none.
SeriesLinks without_copies(const SeriesLinks& links, std::vector<matching::Index>& order);

}  // namespace motes::tracking::detail
