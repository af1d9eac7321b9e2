#pragma once
/// Finds detections of one frame that are closer together than particles: false ones around a true one.
///
/// Particles keep a distance from each other; false detections gather around them. Then the pair correlation
/// function g(r) of the detections has a high peak well below the spacing of the particles. The first minimum
/// behind that peak is the exclusion radius: two detections closer than that are hardly two particles.
/// Particles in contact also make a peak, but at their spacing and with g below 3.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// [frames] exclusion radius; 0 if g(r) has no such peak. It is estimated in up to six blocks of frames with
/// about equal numbers of detections, from at most 4,000 detections of a block. A block with too few takes
/// the radius of the nearest other one. All are 0 unless at least half of the detections are in blocks with a
/// radius, and where a detection has more than 64 others within it on average. O(points).
std::vector<double> exclusion_radii(const SeriesPoints& points, const Execution& execution = {1});

/// [frames] block of each frame, as above, rising from 0.
std::vector<std::int32_t> frame_blocks(const SeriesPoints& points);

/// Reach of neighbours, in exclusion radii.
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

/// [points] how central a detection is among its neighbours: the number within 0.6 radii, minus its distance
/// in radii from the centroid of those within 0.8. False detections gather around a particle, so the particle
/// has a higher value than they.
std::vector<double> centrality(const SeriesPoints& points, const CloseNeighbours& close);

/// Greedy suppression: takes the detection of the highest score and drops all others within one radius, and
/// so on. Equal scores are ordered by `tie`, then by a hash of the position, so that the order of the
/// detections does not matter. [points] 1 kept, 0 dropped.
std::vector<char> suppress_close(const SeriesPoints& points, const CloseNeighbours& close,
                                 const std::vector<double>& score, const std::vector<double>& tie);

}  // namespace motes::tracking
