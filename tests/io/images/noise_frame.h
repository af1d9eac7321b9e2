#pragma once
/// Frames of noise for tests of writers.

#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <motes/tracking/volume_frame.h>

namespace motes::testing {

/// Voxels determined by the index: integers below 60,000 (u8: their lowest 8 bits), or these divided by 7.
template <class T>
VolumeFrame noise_frame(const Shape3& shape, std::int32_t index) {
  std::mt19937 random(static_cast<unsigned>(index) + 1);
  std::vector<T> voxels(static_cast<std::size_t>(shape.voxels()));
  for (T& v : voxels) v = static_cast<T>(random() % 60000) / (std::is_same_v<T, float> ? T(7) : T(1));
  VolumeFrame frame;
  frame.index = index;
  frame.shape = shape;
  frame.voxel_um = {0.1, 0.2, 1.0 / 3};
  frame.voxels = std::move(voxels);
  return frame;
}

}  // namespace motes::testing
