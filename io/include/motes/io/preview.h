#pragma once
/// preview.png: maximum-intensity projections (xy and xz) with the tracks drawn over them. Needs no display.

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <motes/tracking/track_set.h>
#include <motes/tracking/volume_frame.h>

namespace motes::io {

/// The maximum-intensity projections of all frames added so far.
class Projection {
 public:
  /// O(voxels).
  void add(const VolumeFrame& frame);
  /// Adds another projection of the same series. Throws InputError if sizes differ.
  void add(std::span<const float> xy, std::span<const float> xz);
  bool empty() const { return xy_.empty(); }
  Shape3 shape() const { return shape_; }
  Vec3 voxel_um() const { return voxel_um_; }
  const std::vector<float>& xy() const { return xy_; }  ///< [ny * nx]
  const std::vector<float>& xz() const { return xz_; }  ///< [nz * nx]

 private:
  Shape3 shape_;
  Vec3 voxel_um_;
  std::vector<float> xy_, xz_;
};

/// The preview draws every n-th track; this is n: more than 1 if the lines of all tracks would cover more
/// than half of the picture. Arguments as for write_preview_png. O(points).
std::size_t preview_track_step(const TrackSet& tracks, const Projection& projection, int max_pixels = 1024);

/// Draws xy above xz in one picture, to scale in um and at most `max_pixels` wide, with tracks coloured by
/// identity. With an empty projection (tables) the tracks are drawn on black over their own bounding box.
/// Throws ResourceError for errors of the disk.
void write_preview_png(const std::filesystem::path& path, const TrackSet& tracks,
                       const Projection& projection, int max_pixels = 1024);

}  // namespace motes::io
