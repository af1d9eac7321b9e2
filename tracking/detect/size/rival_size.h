#pragma once
/// Spots of a second size that fit a frame as well as those of the estimated radius.

#include <optional>

#include <motes/tracking/log_detector.h>

namespace motes::tracking::detect {

struct Rival {
  RivalSize size;
  bool stands_out = false;  ///< wide objects; the spots of the estimated radius are their grain
};

/// A second size beside the estimated `radius_um`. None if only one size is found, or if the smaller spots
/// are fainter or less clear than the objects around them. O(voxels) for each of about ten scales, or of a
/// few if the spots do not cluster.
std::optional<Rival> find_rival(const Execution& execution, const VolumeFrame& frame, const Vec3& radius_um,
                                Polarity polarity);

}  // namespace motes::tracking::detect
