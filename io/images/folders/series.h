#pragma once
/// A folder with one folder per volume as a time series.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// The subfolders of `folder` with images, each as one time point, if their names count time (t000, time1,
/// frame_02). Null if there are none; a single one is opened by itself. Throws InputError if the names do not
/// count time, numbers are missing, or the volumes differ in shape, type or voxel size.
std::unique_ptr<FrameSource> open_folder_series(const std::filesystem::path& folder,
                                                const FrameOptions& options);

/// Whether the folder has several subfolders of images.
bool is_folder_series(const std::filesystem::path& folder);

}  // namespace motes::io::detail
