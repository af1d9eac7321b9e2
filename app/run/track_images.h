#pragma once
/// The images that tracks belong to, for pictures of both and for formats that refer to images.

#include <memory>
#include <string>
#include <vector>

#include <motes/io/frame_source.h>
#include <motes/io/track_image.h>

#include "app/options/config.h"

namespace motes::app {

/// Opens the images of tracks. Their voxel size is input.voxel_um if given; else, for images without one and
/// for images that a run has tracked, the voxel size in that run's tracks.h5. If it differs from that of the
/// images, a line is added to `notes`. Throws as io::open_frames.
std::unique_ptr<io::FrameSource> open_images_of(const std::string& images, const std::string& tracks,
                                                const Config& config, std::vector<std::string>& notes);

/// The data for formats that refer to images: of `images` at `path` (empty: in memory), or, if null, of the
/// configuration.
io::TrackImage image_of(const std::string& path, const io::FrameSource* images, const TrackSet& tracks,
                        const Config& config);

}  // namespace motes::app
