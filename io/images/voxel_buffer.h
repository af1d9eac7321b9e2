#pragma once
/// Memory for one frame's voxels.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include <motes/io/frame_source.h>
#include <motes/tracking/volume_frame.h>

namespace motes::io::detail {

/// Zeroed voxels. Throws InputError when the size cannot be counted (overflow) and ResourceError, saying how
/// much is needed, when the machine has not that much memory.
Voxels make_voxels(VoxelType type, const Shape3& shape, const std::filesystem::path& source);

/// Frame t by source.read_voxels, in memory made so.
VolumeFrame read_into_memory(FrameSource& source, std::int32_t t);

/// The same, in the memory of `earlier` where that is as large, for sources that write every voxel.
VolumeFrame read_into_memory(FrameSource& source, std::int32_t t, VolumeFrame earlier);

/// Bytes of one frame. Throws InputError when int64 cannot hold them.
std::int64_t frame_bytes(VoxelType type, const Shape3& shape, const std::filesystem::path& source);

}  // namespace motes::io::detail
