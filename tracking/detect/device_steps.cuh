#pragma once
/// The steps of the search for spots on a GPU. All work runs on the arena's stream, in memory of the arena.
/// Voxels of a volume have 32-bit indices, x fastest.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/thread_index.cuh>
#include <motes/tracking/volume_frame.h>

#include "tracking/detect/evidence/evidence.h"
#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect::device {

using VoxelIndex = std::uint32_t;
constexpr int kThreads = 256;
using gpu::thread_index;

inline unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

/// Copies a few values to the host through the arena's pinned page. Waits for the device.
template <std::size_t Count, class T>
std::array<T, Count> fetch(gpu::Arena& arena, const T* from) {
  static_assert(Count * sizeof(T) <= 4096);
  auto* page = static_cast<T*>(arena.pinned());
  MOTES_CUDA(cudaMemcpyAsync(page, from, Count * sizeof(T), cudaMemcpyDeviceToHost, arena.stream()));
  arena.synchronize();
  std::array<T, Count> values;
  std::copy(page, page + Count, values.begin());
  return values;
}

/// Pointers to voxels, or to means over blocks of them; the one of the frame's type is not null.
struct Values {
  const std::uint8_t* u8 = nullptr;
  const std::uint16_t* u16 = nullptr;
  const float* f32 = nullptr;
  template <class Use>
  void visit(const Use& use) const {
    if (u8 != nullptr) return use(u8);
    if (u16 != nullptr) return use(u16);
    use(f32);
  }
};

/// Copies the frame's voxels to the device through a few pieces of pinned memory.
Values upload_voxels(gpu::Arena& arena, const VolumeFrame& frame, int threads);

/// Smallest and largest value, and whether a value is NaN, infinite or too large. Waits for the device.
struct ToldRange {
  ValueRange range;
  bool bad = false;
};
ToldRange range_of(gpu::Arena& arena, const Values& values, std::size_t count);

/// [count] every step-th value.
std::vector<float> sampled_values(gpu::Arena& arena, const Values& values, const CountingSample& sample);

/// Means over blocks, as make_source makes them.
Values block_means(gpu::Arena& arena, const Values& voxels, const Shape3& shape, const Source& geometry);

/// Memory for a response, reused from scale to scale.
struct Volumes {
  float* log = nullptr;  ///< [nz][ny][nx + 2] during the computation, then [nz][ny][nx]
  float* plane_smoothed = nullptr;
  float* smoothed = nullptr;  ///< [nz + 2][ny + 2][nx + 2]
};
Volumes take_volumes(gpu::Arena& arena, const Shape3& shape);

/// Computes the response in `volumes`, as Response does. `filter` must exist until the stream has done this
/// work.
ResponseView respond(gpu::Arena& arena, const Values& voxels, const Shape3& shape, const Filter& filter,
                     Polarity polarity, float offset, const Volumes& volumes);

/// Voxels in storage order.
struct VoxelList {
  const VoxelIndex* voxels = nullptr;
  std::size_t count = 0;
};

/// As local_maxima, within a mask [voxels] (nullptr: everywhere). False if a plateau has too many voxels for
/// the device. Waits for the device.
bool find_maxima(gpu::Arena& arena, const ResponseView& response, float floor, const std::uint8_t* mask,
                 VoxelList& maxima);

/// As sample_minima; `rows` gets the number of rows searched. Waits for the device.
VoxelList find_minima(gpu::Arena& arena, const ResponseView& response, float floor,
                      std::int64_t rows_per_sample, const std::uint8_t* mask, std::int64_t& rows);

/// Evidence of each extremum [n].
struct EvidenceList {
  std::size_t count = 0;
  double *score = nullptr, *roundness = nullptr, *single = nullptr, *amplitude = nullptr;
  float* response = nullptr;
  __device__ Evidence at(std::size_t i) const { return {score[i], roundness[i], single[i], amplitude[i]}; }
};
EvidenceList score(gpu::Arena& arena, const rules::EvidenceModel& model, const Values& values,
                   const ResponseView& response, const VoxelList& extrema);

}  // namespace motes::tracking::detect::device
