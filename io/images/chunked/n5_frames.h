#pragma once
/// BigDataViewer's N5 folders, as BigStitcher writes them: setupS/timepointT/s0.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// Whether the folder has an attributes.json and setups.
bool is_bdv_n5(const std::filesystem::path& folder);

/// Opens `folder`, or the BigDataViewer XML that names it and has the voxel sizes. Reads the finest level,
/// with one block in memory beside the frame; view setups become channels. Throws as open_frames does.
std::unique_ptr<FrameSource> open_n5_frames(const std::filesystem::path& path, const FrameOptions& options);

}  // namespace motes::io::detail
