#pragma once
/// Hot voxels: single voxels far brighter (or darker) than their neighbours, from camera defects or cosmic
/// rays.

#include <optional>

#include <motes/tracking/log_detector.h>

namespace motes::tracking::detect {

/// The frame with every hot voxel replaced by the median of its neighbours. None if no voxel is hot, or if so
/// many look hot that they are the peaks of skewed noise.
/// A voxel is hot if it exceeds the second highest of its up to 26 neighbours by more than 4 times the
/// difference between that and their median (for dark spots, the same with signs reversed). The peak of a
/// spot of sigma 0.6 voxels or more is never hot. O(voxels); the same for any thread count.
std::optional<VolumeFrame> without_hot_voxels(const Execution& execution, const VolumeFrame& frame,
                                              Polarity polarity);

}  // namespace motes::tracking::detect
