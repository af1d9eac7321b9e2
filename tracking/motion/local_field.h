#pragma once
/// The motion that neighbours share: at each place an affine map fitted to the displacements around it.
///
/// Of the 16 nearest displaced points, tapered by distance (Gaussian, the farthest at 1.5 standard
/// deviations), with a ridge of 0.15 on the linear part in units of the mean squared distance, three times
/// reweighted by residual over twice their median (the robust rho of Geman and McClure). A point's own
/// displacement is left out of its prediction, so that residuals are honest.

#include <cstddef>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/geometry.h>

#include "tracking/motion/near_lists.h"

namespace motes::tracking {

inline constexpr std::size_t kFieldNeighbours = 16;
/// Of fewer displacements than this no field is made.
inline constexpr std::size_t kLeastFieldSources = 4;

/// The field at `queries` of points at `sources` that moved by `moves`; own[q] (where `own` is given) is the
/// source that is query q itself, -1 none. With fewer than 8 neighbours their median is taken; with fewer
/// than kLeastFieldSources sources all is 0. The same for any thread count. O((sources + queries) log
/// sources).
std::vector<Vec3> local_field(const Execution& execution, std::span<const Vec3> sources,
                              std::span<const Vec3> moves, std::span<const Vec3> queries,
                              std::span<const std::ptrdiff_t> own = {});

/// Displacements of some of a set of points.
struct PointMoves {
  std::vector<Vec3> move;   ///< [points]
  std::vector<char> known;  ///< [points] 0: it has none
  std::size_t count = 0;    ///< of those known
};

/// The same field at every one of a set of points, from displacements of some of them, by the set's lists of
/// neighbours. `own_counts`: a point's own displacement is one of those around it. Neighbours at equal
/// distances are taken in another order. O(points), unless the lists end too soon for many of them.
std::vector<Vec3> local_field_among(const Execution& execution, std::span<const Vec3> points,
                                    const NearLists& lists, const PointMoves& moves, bool own_counts);

}  // namespace motes::tracking
