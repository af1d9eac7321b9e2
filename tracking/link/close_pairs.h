#pragma once
/// Detections of one frame that lie closer together than particles do: false ones around a true one.
///
/// Particles keep a distance; false detections gather around them. Their pair correlation function g(r) then
/// has a high peak well inside the spacing of the particles, and its first minimum behind that peak is the
/// exclusion radius: two detections that are nearer are hardly two particles. Particles in contact also give
/// g a peak, but at their spacing, and it stays below 3.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// [frames] exclusion radius, 0 where g(r) has no such peak. Taken in up to six blocks of frames that hold
/// about as many detections each, from at most 4,000 detections of a block; a block too small to tell takes
/// the radius of the nearest one that can, and all are 0 unless at least half of the detections are in blocks
/// with a radius. 0 too where a detection has more than 64 others within it on average. O(points).
std::vector<double> exclusion_radii(const SeriesPoints& points, const Execution& execution = {1});

/// Block of each frame, as above: [frames], rising from 0.
std::vector<std::int32_t> frame_blocks(const SeriesPoints& points);

/// How far neighbours are looked for, in exclusion radii.
inline constexpr double kNeighbourhood = 1.3;

/// Neighbours of every detection in its own frame.
struct CloseNeighbours {
  std::vector<double> radius;          ///< [frames] exclusion radius
  std::vector<std::int64_t> offsets;   ///< [points + 1]
  std::vector<matching::Index> index;  ///< [pairs, each twice] within kNeighbourhood radii, rising
  std::vector<double> distance;        ///< [pairs, each twice] in exclusion radii
};

CloseNeighbours close_neighbours(const Execution& execution, const SeriesPoints& points,
                                 std::vector<double> radius);

/// How central a detection lies among its neighbours: how many are within 0.6 radii, less its distance, in
/// radii, from the centroid of those within 0.8. Satellites gather around a particle, so that it scores
/// higher than they do. [points]
std::vector<double> centrality(const SeriesPoints& points, const CloseNeighbours& close);

/// Greedy suppression: of the highest score first, drops all within one radius. Equal scores go by `tie`,
/// then by hash of the position. [points] 1 kept, 0 dropped. The order of the detections does not matter.
std::vector<char> suppress_close(const SeriesPoints& points, const CloseNeighbours& close,
                                 const std::vector<double>& score, const std::vector<double>& tie);

}  // namespace motes::tracking
