#pragma once
/// Single voxels far brighter (or darker) than all around them: camera defects, cosmic rays.

#include <optional>

#include <motes/tracking/log_detector.h>

namespace motes::tracking::detect {

/// The frame with every hot voxel replaced by the median of its neighbours. None if no voxel is hot, or if so
/// many look hot that they are the peaks of skewed noise.
/// A voxel is hot if it exceeds the second highest of its up to 26 neighbours by 4 times what that exceeds
/// their median (for dark spots: the same below). A spot of sigma .6 voxels or more is never taken for one.
/// O(voxels); the same for any thread count.
std::optional<VolumeFrame> without_hot_voxels(const Execution& execution, const VolumeFrame& frame,
                                              Polarity polarity);

}  // namespace motes::tracking::detect
