#pragma once
/// Detections from a label image, such as a segmentation made by another program.

#include <motes/tracking/detections.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking {

/// One detection for each label of a frame whose voxels are 0 (background) or an object's number, in order of
/// number. Position: centroid, um. radius_um: of a ball (single plane: disc) of the object's volume (area).
/// intensity: mean of `image` over the object's voxels, NaN without one. quality NaN. Properties: `label`,
/// `volume_um3` (single plane: `area_um2`), `voxels`, and with an image `intensity_sum`. All voxels of one
/// number are one object, even if they do not touch. Throws InputError if a voxel is not a whole number from
/// 0 to 16777216 (naming it) or if the shapes differ. O(voxels + labels log labels).
Detections detect_labels(const VolumeFrame& labels, const VolumeFrame* image = nullptr);

}  // namespace motes::tracking
