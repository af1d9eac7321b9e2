#pragma once
/// One time point of a volume series.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <motes/base/scratch.h>
#include <motes/tracking/geometry.h>

namespace motes {

/// Voxels in a file, for frames that do not fit into memory. Copies share them; they are constant.
template <class T>
class FileVoxels {
 public:
  using value_type = T;
  FileVoxels() = default;
  explicit FileVoxels(ScratchArray<T> voxels)
      : voxels_(std::make_shared<const ScratchArray<T>>(std::move(voxels))) {}

  const T* data() const { return voxels_ ? voxels_->data() : nullptr; }
  std::size_t size() const { return voxels_ ? voxels_->size() : 0; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::shared_ptr<Scratch> scratch() const { return voxels_ ? voxels_->scratch() : nullptr; }

  friend bool operator==(const FileVoxels& a, const FileVoxels& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const ScratchArray<T>> voxels_;
};

/// The voxels of a frame, in memory or in a file.
using Voxels = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<float>,
                            FileVoxels<std::uint8_t>, FileVoxels<std::uint16_t>, FileVoxels<float>>;

/// The centre of voxel (z, y, x) lies at (x * voxel_um.x, y * voxel_um.y, z * voxel_um.z): the first
/// voxel's centre is the origin.
struct VolumeFrame {
  std::int32_t index = 0;  ///< frame number as the input counts, from 0
  double time_s = 0;       ///< index * frame interval; the frame number if the interval is unknown
  Shape3 shape;
  Vec3 voxel_um;
  Voxels voxels;  ///< [nz * ny * nx], x fastest
};

/// Calls use(voxels) with a std::span<const T>, whether the voxels are in memory or in a file.
template <class Use>
decltype(auto) visit_voxels(const Voxels& voxels, const Use& use) {
  return std::visit(
      [&](const auto& held) -> decltype(auto) {
        using T = typename std::decay_t<decltype(held)>::value_type;
        return use(std::span<const T>(held.data(), held.size()));
      },
      voxels);
}

/// The scratch folder that holds the frame's voxels, for other arrays of that size; null if they are in
/// memory.
inline std::shared_ptr<Scratch> scratch_of(const VolumeFrame& frame) {
  if (const auto* u8 = std::get_if<FileVoxels<std::uint8_t>>(&frame.voxels)) return u8->scratch();
  if (const auto* u16 = std::get_if<FileVoxels<std::uint16_t>>(&frame.voxels)) return u16->scratch();
  if (const auto* f32 = std::get_if<FileVoxels<float>>(&frame.voxels)) return f32->scratch();
  return nullptr;
}

}  // namespace motes
