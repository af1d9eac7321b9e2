#pragma once
/// Spots of a second size that fit a frame as well as those of the estimated radius.

#include <optional>

#include <motes/tracking/log_detector.h>

namespace motes::tracking::detect {

struct Rival {
  RivalSize size;
  bool stands_out = false;  ///< these are wide objects, and the spots at the estimated radius their grain
};

/// None where spots of one size are found alone, and for grain that is fainter or less clear than the objects
/// that it lies in. `radius_um`: estimated. O(voxels) for each of some ten scales; a few of them where spots
/// do not cluster.
std::optional<Rival> find_rival(const Execution& execution, const VolumeFrame& frame, const Vec3& radius_um,
                                Polarity polarity);

}  // namespace motes::tracking::detect
