#pragma once
/// A part of a frame, by voxels.

#include <cstdint>
#include <string>
#include <string_view>

#include <motes/tracking/detections.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking {

/// Voxels [begin, end) along each axis. end 0: to the frame's end.
struct Region {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// Reads "x0:x1,y0:y1,z0:z1" in voxels, end exclusive; a part may be ":" (all), and z may be left out. Throws
/// UsageError that says what is wrong with the text.
Region parse_region(std::string_view text);

/// `region` with its open ends filled in. Throws InputError where it is empty or leaves the shape.
Region region_within(const Region& region, const Shape3& shape);

/// The voxels of `region` (region_within of the frame's shape). Positions found in it are those of the frame
/// once shift_by_region has moved them. O(voxels of the region).
VolumeFrame crop_frame(const VolumeFrame& frame, const Region& region);

/// Moves positions found in crop_frame(frame, region) to the whole frame's.
void shift_by_region(Detections& found, const Region& region, const Vec3& voxel_um);

}  // namespace motes::tracking
