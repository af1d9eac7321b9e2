#pragma once
/// The slope of the background around a spot.

#include <array>
#include <span>

#include "tracking/detect/evidence/spot_model.h"

namespace motes::tracking::detect {

/// A sloping background: its increase per block along x, y, z; it is 0 at `place`.
struct Tilt {
  Place place{};
  std::array<double, 3> slope{};
};

/// The slope of the voxels within `half` of a spot's place, by least squares on a constant, a slope and the
/// spot's height; the light of `neighbours` is subtracted first. 0 along axes where the slope is less than
/// `errors` standard errors. O(voxels within `half` * (1 + neighbours)).
Tilt tilt_around(const Source& source, const SpotModel& spot, std::span<const SpotModel> neighbours,
                 const Index3& half, double errors);

}  // namespace motes::tracking::detect
