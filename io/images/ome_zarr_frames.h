#pragma once
/// OME-Zarr 0.4 and 0.5 images, and plain Zarr arrays whose axes the user names.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

#include "io/images/calibration.h"

namespace motes::io::detail {

/// The finest level of the first multiscale image; one chunk beside the frame in memory. A plain array needs
/// input.axes. Throws as open_frames does, also for plates and for several series, which it names.
/// `scale` stands in where the metadata have none.
std::unique_ptr<FrameSource> open_zarr_frames(const std::filesystem::path& folder,
                                              const FrameOptions& options, const Calibration& scale = {});

/// True for a folder that is a Zarr group or array, and no GEFF.
bool is_zarr_folder(const std::filesystem::path& folder);

}  // namespace motes::io::detail
