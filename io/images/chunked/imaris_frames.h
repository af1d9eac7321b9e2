#pragma once
/// Imaris 5.5 and later (.ims): HDF5 with a dataset per resolution level, time point and channel.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// Whether the file is HDF5 with the groups of that layout.
bool is_imaris(const std::filesystem::path& path);

/// Reads the finest level without the padding. The voxel size is the extent divided by the size; the interval
/// is that of the time stamps. Throws as open_frames does.
std::unique_ptr<FrameSource> open_imaris_frames(const std::filesystem::path& path,
                                                const FrameOptions& options);

}  // namespace motes::io::detail
