#pragma once
/// The motion that neighbours share: at each place an affine map fitted to the displacements around it.
///
/// The fit uses the 16 nearest points with a displacement, with weights that fall with distance (Gaussian,
/// the farthest at 1.5 standard deviations), and a ridge of 0.15 on the linear part in units of the mean
/// squared distance. It is reweighted three times by residual over twice their median (the robust rho of
/// Geman and McClure). A point's own displacement is not used for its prediction, so that residuals are not
/// too small.

#include <cstddef>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/geometry.h>

#include "tracking/motion/near_lists.h"

namespace motes::tracking {

inline constexpr std::size_t kFieldNeighbours = 16;
/// Least number of displacements for a field.
inline constexpr std::size_t kLeastFieldSources = 4;

/// The field at `queries` of points at `sources` that moved by `moves`; own[q] is the source that is query q
/// itself, -1 none; empty: none for all. With fewer than 8 neighbours the field is their median; with fewer
/// than kLeastFieldSources sources it is 0. The same for any thread count. O((sources + queries) log
/// sources).
std::vector<Vec3> local_field(const Execution& execution, std::span<const Vec3> sources,
                              std::span<const Vec3> moves, std::span<const Vec3> queries,
                              std::span<const std::ptrdiff_t> own = {});

/// Displacements of some of a set of points.
struct PointMoves {
  std::vector<Vec3> move;   ///< [points]
  std::vector<char> known;  ///< [points] 0: without displacement
  std::size_t count = 0;    ///< number of known ones
};

/// The same field at all points of a set, from displacements of some of them, found in the set's lists of
/// neighbours. `own_counts`: also use a point's own displacement. Neighbours at equal distances may be used
/// in another order than in local_field. O(points), unless the lists are too short for many of them.
std::vector<Vec3> local_field_among(const Execution& execution, std::span<const Vec3> points,
                                    const NearLists& lists, const PointMoves& moves, bool own_counts);

}  // namespace motes::tracking
