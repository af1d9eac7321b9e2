#pragma once
/// A folder of numbered TIFFs, or PNGs, as a time series.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// Without input.axes, each file is one time point and its pages are the volume. With it, the axes describe
/// the pages of all files as one list, in the natural order of names; axes without T, for files of several
/// pages, describe each file, which is then a time point. Throws as open_frames does.
std::unique_ptr<FrameSource> open_folder_frames(const std::filesystem::path& folder,
                                                const FrameOptions& options);

/// Whether the folder has files that are TIFFs, or else PNGs, by name and (the first) by content.
bool is_image_folder(const std::filesystem::path& folder);

}  // namespace motes::io::detail
