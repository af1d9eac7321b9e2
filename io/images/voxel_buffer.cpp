/// Allocates voxels of each type, and reads frames into them.

#include "io/images/voxel_buffer.h"

#include <new>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/system/memory.h>

#include "io/files/checked.h"
#include "io/images/calibration.h"

namespace motes::io::detail {
namespace {

[[noreturn]] void out_of_memory(const std::filesystem::path& source, std::int64_t bytes) {
  throw ResourceError(
      fmt::format("{}: one frame needs {:.1f} GiB of memory, more than this machine has; "
                  "set execution.memory_gb, crop or bin the images, or use a larger machine",
                  source.string(), static_cast<double>(bytes) / (1 << 30)));
}

template <class T>
std::span<std::byte> bytes_of(std::vector<T>& voxels) {
  return std::as_writable_bytes(std::span(voxels));
}
template <class T>
std::span<std::byte> bytes_of(FileVoxels<T>&) {
  return {};  // make_voxels does not return this
}

}  // namespace

std::int64_t frame_bytes(VoxelType type, const Shape3& shape, const std::filesystem::path& source) {
  const auto bytes = checked_product({shape.nz, shape.ny, shape.nx, bytes_per_voxel(type)});
  if (!bytes) {
    throw InputError(
        fmt::format("{}: a frame of {} x {} x {} voxels (z, y, x) is impossible: the metadata are damaged",
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

VolumeFrame read_into_memory(FrameSource& source, std::int32_t t) {
  return read_into_memory(source, t, VolumeFrame{});
}

VolumeFrame read_into_memory(FrameSource& source, std::int32_t t, VolumeFrame earlier) {
  const SeriesInfo& info = source.info();
  check_frame_number(info, t);
  VolumeFrame frame = empty_frame(info, t);
  const auto bytes = [](Voxels& held) {
    return std::visit([](auto& voxels) { return bytes_of(voxels); }, held);
  };
  const bool alike = earlier.shape == info.shape && info.shape.voxels() > 0 &&
                     std::ssize(bytes(earlier.voxels)) == frame_bytes(info.type, info.shape, info.path);
  frame.voxels = alike ? std::move(earlier.voxels) : make_voxels(info.type, info.shape, info.path);
  source.read_voxels(t, bytes(frame.voxels));
  return frame;
}

}  // namespace motes::io::detail
