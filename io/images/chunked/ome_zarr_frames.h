#pragma once
/// OME-Zarr 0.4 and 0.5 images, and plain Zarr arrays whose axes the user names.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

#include "io/images/calibration.h"

namespace motes::io::detail {

/// Opens the finest level of the first multiscale image, with one chunk in memory beside the frame. A plain
/// array needs input.axes. `scale` is used if the metadata have none. Throws as open_frames does; for plates
/// and several series the message names an image to give.
std::unique_ptr<FrameSource> open_zarr_frames(const std::filesystem::path& folder,
                                              const FrameOptions& options, const Calibration& scale = {});

/// Whether the folder is a Zarr group or array, and not a GEFF.
bool is_zarr_folder(const std::filesystem::path& folder);

}  // namespace motes::io::detail
