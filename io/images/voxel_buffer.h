#pragma once
/// Memory for one frame's voxels.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include <motes/io/frame_source.h>
#include <motes/tracking/volume_frame.h>

namespace motes::io::detail {

/// Zeroed voxels. Throws InputError if the size overflows, ResourceError (with the memory needed) if the
/// machine does not have it.
Voxels make_voxels(VoxelType type, const Shape3& shape, const std::filesystem::path& source);

/// Frame t by source.read_voxels, in memory from make_voxels.
VolumeFrame read_into_memory(FrameSource& source, std::int32_t t);

/// The same, in the memory of `earlier` if it has that size; for sources that write every voxel.
VolumeFrame read_into_memory(FrameSource& source, std::int32_t t, VolumeFrame earlier);

/// Bytes of one frame. Throws InputError if they overflow int64.
std::int64_t frame_bytes(VoxelType type, const Shape3& shape, const std::filesystem::path& source);

}  // namespace motes::io::detail
