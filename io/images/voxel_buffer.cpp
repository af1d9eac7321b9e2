#include "io/images/voxel_buffer.h"

#include <new>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/system/memory.h>

#include "io/files/checked.h"

namespace motes::io::detail {
namespace {

[[noreturn]] void out_of_memory(const std::filesystem::path& source, std::int64_t bytes) {
  throw ResourceError(
      fmt::format("{}: one frame needs {:.1f} GiB of memory, more than this machine has; "
                  "crop or bin the images, or use a larger machine",
                  source.string(), static_cast<double>(bytes) / (1 << 30)));
}

}  // namespace

std::int64_t bytes_per_voxel(VoxelType type) {
  switch (type) {
    case VoxelType::u8:
      return 1;
    case VoxelType::u16:
      return 2;
    case VoxelType::f32:
      return 4;
  }
  return 0;
}

std::int64_t frame_bytes(VoxelType type, const Shape3& shape, const std::filesystem::path& source) {
  const auto bytes = checked_product({shape.nz, shape.ny, shape.nx, bytes_per_voxel(type)});
  if (!bytes) {
    throw InputError(
        fmt::format("{}: a frame of {} x {} x {} voxels (z, y, x) cannot be: the metadata are damaged",
                    source.string(), shape.nz, shape.ny, shape.nx));
  }
  return *bytes;
}

Voxels make_voxels(VoxelType type, const Shape3& shape, const std::filesystem::path& source) {
  const std::int64_t bytes = frame_bytes(type, shape, source);
  if (bytes > system::physical_memory()) out_of_memory(source, bytes);
  const auto count = static_cast<std::size_t>(shape.voxels());
  try {
    switch (type) {
      case VoxelType::u8:
        return std::vector<std::uint8_t>(count);
      case VoxelType::u16:
        return std::vector<std::uint16_t>(count);
      case VoxelType::f32:
        return std::vector<float>(count);
    }
  } catch (const std::bad_alloc&) {
    out_of_memory(source, bytes);
  }
  return {};
}

std::span<std::byte> bytes_of(Voxels& voxels) {
  return std::visit([](auto& values) { return std::as_writable_bytes(std::span(values)); }, voxels);
}

}  // namespace motes::io::detail
