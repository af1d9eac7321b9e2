#pragma once
/// A folder with one folder per volume as a time series.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// Folders below `folder` that hold TIFFs, each one time point, where their names count time (t000, time1,
/// frame_02). Null where there are none; one alone is opened as it is. Throws InputError where the names do
/// not count time, numbers are missing, or the volumes differ in shape, type or voxel size.
std::unique_ptr<FrameSource> open_folder_series(const std::filesystem::path& folder,
                                                const FrameOptions& options);

/// True for a folder of several folders of TIFFs.
bool is_folder_series(const std::filesystem::path& folder);

}  // namespace motes::io::detail
