#pragma once
/// The detections of a series in the order of the points of its tracks.

#include <vector>

#include <motes/base/index.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking::detail {

/// Pooled detections track by track, in the order of build_tracks.
inline std::vector<matching::Index> pooled_by_track(const SeriesLinking& linking) {
  std::vector<matching::Index> out;
  out.reserve(linking.next.size());
  for (std::size_t i = 0; i < linking.next.size(); ++i)
    if (linking.previous[i] < 0)
      for (auto j = static_cast<matching::Index>(i); j >= 0; j = linking.next[at(j)]) out.push_back(j);
  return out;
}

}  // namespace motes::tracking::detail
