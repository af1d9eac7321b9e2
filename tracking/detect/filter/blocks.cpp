#include "tracking/detect/filter/blocks.h"

#include <algorithm>

#include <motes/base/parallel_for.h>

#include "tracking/detect/filter/frame_rows.h"

namespace motes::tracking::detect {
namespace {

constexpr double kBinnedFrom = 3;  // frames are binned from this sigma on, in voxels,
constexpr double kBinnedTo = 1.5;  // and their sigma is at least this afterwards

}  // namespace

Source block_geometry(const VolumeFrame& frame, const Filter& filter) {
  Source source;
  source.frame = &frame;
  source.size = {frame.shape.nx, frame.shape.ny, frame.shape.nz};
  source.sigma = filter.sigma;
  for (std::size_t a = 0; a < 3; ++a) {
    if (filter.sigma[a] < kBinnedFrom) continue;
    source.block[a] = std::clamp<std::int64_t>(static_cast<std::int64_t>(filter.sigma[a] / kBinnedTo), 1,
                                               std::max<std::int64_t>(1, source.size[a] / 3));
    source.size[a] /= source.block[a];
    source.sigma[a] /= static_cast<double>(source.block[a]);
  }
  return source;
}

Source make_source(const Execution& execution, const VolumeFrame& frame, const Filter& filter) {
  Source source = block_geometry(frame, filter);
  if (source.block == Index3{1, 1, 1}) return source;
  // No structured bindings: clang before 16 cannot capture them in a lambda.
  const std::int64_t nx = source.size[0], ny = source.size[1], nz = source.size[2];
  const std::int64_t bx = source.block[0], by = source.block[1], bz = source.block[2];
  source.means.resize(static_cast<std::size_t>(nx * ny * nz));
  const float share = 1.0F / static_cast<float>(bx * by * bz);
  parallel_for(thread_count(execution), nz * ny, [&](std::int64_t task) {
    const std::int64_t z = task / ny, y = task % ny;
    std::vector<float> row(static_cast<std::size_t>(nx * bx));
    float* out = &source.means[static_cast<std::size_t>(task * nx)];
    for (std::int64_t k = 0; k < bz; ++k)
      for (std::int64_t j = 0; j < by; ++j) {
        read_row(frame, z * bz + k, y * by + j, 0, nx * bx, 0, row.data());
        for (std::int64_t i = 0; i < nx * bx; ++i) out[i / bx] += row[static_cast<std::size_t>(i)];
      }
    for (std::int64_t i = 0; i < nx; ++i) out[i] *= share;
  });
  return source;
}

}  // namespace motes::tracking::detect
