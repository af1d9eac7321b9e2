#pragma once
/// The sample of voxels from which the standard deviation of the noise is estimated (threshold.cpp), on the
/// CPU and on the GPU.

#include <cstdint>

#include <motes/base/host_device.h>
#include <motes/tracking/geometry.h>

namespace motes::tracking::detect::rules {

struct SampledVoxel {
  std::int64_t z, y, x;
};

/// About 512 rows x 256 columns spread over a volume.
struct NoiseSample {
  std::int64_t ny = 0, nx = 0, rows = 0, taken = 0, columns = 0;

  NoiseSample() = default;
  explicit NoiseSample(const Shape3& shape) : ny(shape.ny), nx(shape.nx), rows(shape.nz * shape.ny) {
    constexpr std::int64_t kRows = 512, kColumns = 256;
    taken = rows < kRows ? rows : kRows;
    columns = nx < kColumns ? nx : kColumns;
  }
  MOTES_HOST_DEVICE std::int64_t count() const { return taken * columns; }
  MOTES_HOST_DEVICE SampledVoxel at(std::int64_t k) const {
    const std::int64_t i = k / columns, row = row_of(i);
    return {row / ny, row % ny, (column_of(k - i * columns) + shift_of(i)) % nx};
  }
  /// The row of part i of the sample; its columns are column_of(j) plus shift_of(i), modulo nx.
  MOTES_HOST_DEVICE std::int64_t row_of(std::int64_t i) const { return (2 * i + 1) * rows / (2 * taken); }
  MOTES_HOST_DEVICE std::int64_t column_of(std::int64_t j) const { return (2 * j + 1) * nx / (2 * columns); }
  /// Rows start at different columns, so that a regular pattern in the frame does not bias the sample.
  MOTES_HOST_DEVICE std::int64_t shift_of(std::int64_t i) const { return 7 * i % nx; }
};

/// The second difference along x and y (along x only, if the volume is too small): the finest detail of a
/// frame, to which spots wider than a voxel contribute little. value(z, y, x): a float. The volume has three
/// columns at least.
template <class Value>
MOTES_HOST_DEVICE float finest_detail(const NoiseSample& sample, const SampledVoxel& v, const Value& value) {
  const float weights[3] = {1, -2, 1};
  const bool in_y = sample.ny >= 3;
  std::int64_t left = v.x - 1, y = v.y;
  if (left > sample.nx - 3) left = sample.nx - 3;
  if (left < 0) left = 0;
  if (in_y && y > sample.ny - 2) y = sample.ny - 2;
  if (in_y && y < 1) y = 1;
  float sum = 0;
  for (int dy = in_y ? -1 : 0; dy <= (in_y ? 1 : 0); ++dy)
    for (int i = 0; i < 3; ++i)
      sum += (in_y ? weights[dy + 1] : 1.0F) * weights[i] * value(v.z, y + dy, left + i);
  return sum;
}

}  // namespace motes::tracking::detect::rules
