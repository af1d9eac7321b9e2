#pragma once
/// Affine fits to the displacements around several places at once (local_field.h describes the fit).

#include <array>
#include <cstddef>

#include <motes/tracking/geometry.h>

#include "tracking/motion/local_field.h"

namespace motes::tracking {

/// Number of places fitted together, one in each lane. The result of a lane does not depend on the width of
/// vectors.
inline constexpr std::size_t kFieldLanes = 8;

/// The neighbours of up to kFieldLanes places: for neighbour k of lane l, nearest first, its offset from the
/// place and its displacement. Values beyond a lane's `count` are 0.
struct FieldBatch {
  using Lanes = std::array<double, kFieldLanes>;
  alignas(64) std::array<Lanes, kFieldNeighbours> x{}, y{}, z{}, move_x{}, move_y{}, move_z{};
  alignas(64) Lanes count{};

  /// Sets the values beyond the lane's `count` to 0.
  void pad(std::size_t lane) {
    for (auto k = static_cast<std::size_t>(count[lane]); k < kFieldNeighbours; ++k)
      for (auto* const values : {&x, &y, &z, &move_x, &move_y, &move_z}) (*values)[k][lane] = 0;
  }
  /// Adds a neighbour to a lane that has fewer than kFieldNeighbours.
  void add(std::size_t lane, const Vec3& offset, const Vec3& move) {
    const auto k = static_cast<std::size_t>(count[lane]);
    x[k][lane] = offset.x, y[k][lane] = offset.y, z[k][lane] = offset.z;
    move_x[k][lane] = move.x, move_y[k][lane] = move.y, move_z[k][lane] = move.z;
    count[lane] += 1;
  }
};

/// The fields at the places: from the affine fit, or the median of the displacements if there are fewer than
/// 8 or the fit is not finite. 0 for empty lanes.
std::array<Vec3, kFieldLanes> fit_fields(const FieldBatch& batch);

}  // namespace motes::tracking
