#pragma once
/// The detections of a whole series in one list, frame after frame, as the series linker numbers them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/geometry.h>

namespace motes::tracking {

struct SeriesPoints {
  std::vector<Vec3> at;                 ///< [points]
  std::vector<std::int32_t> slot;       ///< [points] index of the frame in the series, from 0
  std::vector<matching::Index> offset;  ///< [frames + 1] where each frame begins
  std::vector<std::uint64_t> hash;      ///< [points] hash of the position, which breaks ties
  std::vector<double> density;          ///< [frames] detections per unit volume (harmonic mean over points)
  int dims = 3;                         ///< number of axes along which positions differ: 1 to 3
  Vec3 rounded_um{};                    ///< step of the grid to which positions are rounded, by axis; 0: none
  double spacing_um = 1;                ///< density^(-1/dims) of the median frame
  double partners = 0;                  ///< share of detections that surely has a partner in the next frame
  /// [points] each: radius, intensity, quality and a table's columns.
  std::vector<PropertyColumn> properties;
  std::vector<double> log_odds;  ///< [points] of being a particle, in nats; empty: the same for all
  /// [points] density around each detection, divided by that of its frame; empty: 1.
  std::vector<double> crowding;
  /// For a part of a series: [points] 0: so near the sides of the part that the track may begin or end there;
  /// empty: all are inner.
  std::vector<char> inner;

  /// Detections per unit volume around detection i.
  double density_at(std::size_t i) const {
    const double of_frame = density[static_cast<std::size_t>(slot[i])];
    return crowding.empty() ? of_frame : of_frame * crowding[i];
  }
  /// The lowest density around a detection of frame t. O(points of the frame).
  double least_density(std::int32_t t) const {
    const auto frame = static_cast<std::size_t>(t);
    if (crowding.empty() || offset[frame] == offset[frame + 1]) return density[frame];
    return density[frame] *
           *std::min_element(crowding.begin() + offset[frame], crowding.begin() + offset[frame + 1]);
  }
  bool is_inner(std::size_t i) const { return inner.empty() || inner[i] != 0; }
  std::size_t size() const { return at.size(); }
  std::int32_t frames() const { return static_cast<std::int32_t>(offset.size()) - 1; }
  std::span<const Vec3> frame(std::int32_t t) const {
    const auto begin = static_cast<std::size_t>(offset[static_cast<std::size_t>(t)]);
    return std::span(at).subspan(begin,
                                 static_cast<std::size_t>(offset[static_cast<std::size_t>(t) + 1]) - begin);
  }
};

/// Pools the detections of all frames, with the properties that all frames have and that are known for some
/// detection. `densities`: also call estimate_densities. Throws InputError for positions that are not finite.
/// O(points log points).
SeriesPoints pool_points(std::span<const Detections> frames, const Execution& execution = {1},
                         bool densities = true);

/// Estimates density and spacing from the positions of at most 512 points of each frame. O(points log
/// points).
void estimate_densities(SeriesPoints& points, const Execution& execution = {1});

/// Some of the points of a series.
struct SeriesPart {
  SeriesPoints points;
  std::vector<matching::Index> whole;  ///< [part] index in the series
  std::vector<matching::Index> part;   ///< [points of the series] index in the part, -1 none
};

/// The points with `keep` not 0, without properties; densities are estimated from them.
SeriesPart take_part(const SeriesPoints& points, std::span<const char> keep,
                     const Execution& execution = {1});

/// Volume of a ball in 1, 2 or 3 dimensions.
double ball_volume(int dims, double radius);

}  // namespace motes::tracking
