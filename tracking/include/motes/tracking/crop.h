#pragma once
/// Boxes of voxels in a frame.

#include <cstdint>
#include <string>
#include <string_view>

#include <motes/tracking/detections.h>
#include <motes/tracking/volume_frame.h>

namespace motes::tracking {

/// Voxels [x0, x1) and so on along each axis. An end of 0 stands for the end of the frame.
struct Region {
  std::int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0, z0 = 0, z1 = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// Reads "x0:x1,y0:y1,z0:z1" in voxels, end exclusive; the range of an axis may be ":" (all of it), and that
/// of z may be left out. Throws UsageError that says what is wrong with the text.
Region parse_region(std::string_view text);

/// `region` with the ends of 0 replaced by the frame's. Throws UsageError if it is empty or exceeds the
/// shape.
Region region_within(const Region& region, const Shape3& shape);

/// The voxels of `region`, which must be a result of region_within for the frame's shape. The part has its
/// own origin: shift_by_region turns positions found in it into positions in the frame. O(voxels of the
/// region).
VolumeFrame crop_frame(const VolumeFrame& frame, const Region& region);

/// Turns positions found in crop_frame(frame, region) into positions in the whole frame. O(detections).
void shift_by_region(Detections& found, const Region& region, const Vec3& voxel_um);

}  // namespace motes::tracking
