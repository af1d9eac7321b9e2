#pragma once
/// The images that tracks belong to, for pictures of both and for formats that refer to images.

#include <memory>
#include <string>
#include <vector>

#include <motes/io/frame_source.h>
#include <motes/io/track_image.h>

#include "app/config.h"

namespace motes::app {

/// Opens images to go with tracks. Their voxel size is input.voxel_um; without it, for images that state none
/// and for those that a run has tracked, the one that this run's tracks.h5 states. `notes` receives a line
/// where that is another than the images'. Throws as io::open_frames.
std::unique_ptr<io::FrameSource> open_images_of(const std::string& images, const std::string& tracks,
                                                const Config& config, std::vector<std::string>& notes);

/// What formats that point to images need: of `images`, which are at `path` (empty: in memory), else (null)
/// of the configuration.
io::TrackImage image_of(const std::string& path, const io::FrameSource* images, const TrackSet& tracks,
                        const Config& config);

}  // namespace motes::app
