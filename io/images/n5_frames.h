#pragma once
/// BigDataViewer's N5 folders, as BigStitcher writes them: setupS/timepointT/s0 in each.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// True for a folder with an attributes.json and setups.
bool is_bdv_n5(const std::filesystem::path& folder);

/// `folder`, or the BigDataViewer XML that names it, which has the voxel sizes. The finest level, one block
/// beside the frame in memory; view setups are channels. Throws as open_frames does.
std::unique_ptr<FrameSource> open_n5_frames(const std::filesystem::path& path, const FrameOptions& options);

}  // namespace motes::io::detail
