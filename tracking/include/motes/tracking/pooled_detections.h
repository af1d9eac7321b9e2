#pragma once
/// The detections of a series as columns. Many small frames take a third of the memory that Detections take.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/matching/problem.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/properties.h>
#include <motes/tracking/track_set.h>

namespace motes {

/// Those of the k-th frame are [offsets[k], offsets[k + 1]).
struct PooledDetections {
  std::vector<std::int32_t> frame;         ///< [frames] as Detections::frame
  std::vector<double> time_s;              ///< [frames]
  std::vector<std::int64_t> offsets{0};    ///< [frames + 1]
  std::vector<double> x_um, y_um, z_um;    ///< [points]
  std::vector<double> radius_um;           ///< [points] NaN: unknown; empty: unknown for all, as the next two
  std::vector<double> intensity, quality;  ///< [points]
  std::vector<PropertyColumn> properties;  ///< each [points]; NaN in frames without the column

  std::size_t frames() const { return frame.size(); }
  std::size_t points() const { return x_um.size(); }
};

/// Pools the detections of all frames. Properties are in the order of their first occurrence. The second form
/// frees each frame's memory once it is pooled. O(values).
PooledDetections pool_detections(std::span<const Detections> frames);
PooledDetections pool_detections(std::vector<Detections>&& frames);

namespace tracking {

struct SeriesLinks;

/// As build_tracks of linker.h. `next` [points]: the index of the same particle's detection within the next
/// frame, -1 none.
TrackSet build_tracks(const PooledDetections& points, std::span<const matching::Index> next);
/// As build_tracks of series_links.h.
TrackSet build_tracks(const PooledDetections& points, const SeriesLinks& links);

}  // namespace tracking
}  // namespace motes
