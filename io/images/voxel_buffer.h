#pragma once
/// Memory for one frame's voxels.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include <motes/io/frame_source.h>
#include <motes/tracking/volume_frame.h>

namespace motes::io::detail {

std::int64_t bytes_per_voxel(VoxelType type);

/// Zeroed voxels. Throws InputError when the size cannot be counted (overflow) and ResourceError, saying how
/// much is needed, when the machine has not that much memory.
Voxels make_voxels(VoxelType type, const Shape3& shape, const std::filesystem::path& source);

std::span<std::byte> bytes_of(Voxels& voxels);

/// Bytes of one frame. Throws InputError when int64 cannot hold them.
std::int64_t frame_bytes(VoxelType type, const Shape3& shape, const std::filesystem::path& source);

}  // namespace motes::io::detail
