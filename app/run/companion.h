#pragma once
/// An image that accompanies the input frame by frame: a mask or labels.

#include <memory>
#include <string>

#include <motes/io/frame_source.h>

#include "app/options/config.h"

namespace motes::app {

class Companion {
 public:
  /// Opens `path` for a series. `key` begins error messages ("input.mask"). It must have the series' shape
  /// (or, if `one_plane` is true, may be a single plane of it) and as many frames as the series, or one.
  /// Throws InputError.
  Companion(const std::string& key, const std::string& path, const Config& config,
            const io::SeriesInfo& series, bool one_plane);

  /// The image for frame t of the series, with the series' time and voxel size; in a file if `scratch` is
  /// given. One plane is repeated.
  const VolumeFrame& read(std::int32_t t, const std::shared_ptr<Scratch>& scratch);

 private:
  io::SeriesInfo series_;
  std::unique_ptr<io::FrameSource> source_;
  VolumeFrame frame_;
  std::int32_t held_ = -1;  ///< frame of the source that frame_ holds
};

}  // namespace motes::app
