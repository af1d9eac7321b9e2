/// A frame on the GPU: one block of threads per tile of 4 x 8 x 32 voxels, four voxels of a row per thread.
///
/// A voxel's light is a float sum in the order of the spots, as on the CPU, so atomics cannot be used. The
/// spots are binned to the tiles that they reach (count, scan, fill, then a stable radix sort by tile, which
/// keeps the spots of a tile in order), and each thread sums its own voxels in registers. All threads of a
/// block compute the shares of the axes (Gaussian), or the planes' lines of light (tables), and pass them
/// through shared memory. The same kernel computes photons and grey levels, so a frame is written once, as
/// grey levels, and never read. The file is compiled without fused multiply-adds, so that doubles and floats
/// round as on the host.

#include <limits>
#include <string>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/gpu/resources.cuh>

#include "sim/imaging/device_renderer.h"

namespace motes::sim::detail {
namespace {

constexpr int kThreads = 256;
constexpr int kTileZ = 4, kTileY = 8, kTileX = 32, kLane = 4;
static_assert(kTileZ * kTileY * kTileX == kThreads * kLane);
constexpr int kBatch = 16;  ///< spots whose shares are in shared memory at once

using gpu::require;

struct DeviceTables {
  gpu::GrowingArray<TableSpan> span;
  gpu::GrowingArray<std::uint32_t> last_word, guide;
  int guide_bits = 0;

  void upload(const InversionTables& tables, cudaStream_t stream) {
    span.upload(tables.span, stream);
    last_word.upload(tables.last_word, stream);
    guide.upload(tables.guide, stream);
    guide_bits = tables.guide_bits;
  }
  InversionView view() const { return {span.data(), last_word.data(), guide.data(), guide_bits}; }
};

/// The grid of tiles; tile number = (z * across.y + y) * across.x + x.
struct TileGrid {
  std::int64_t z, y, x;
  std::int64_t count() const { return z * y * x; }
};

struct TileRange {
  std::int64_t z0, z1, y0, y1, x0, x1;
  __device__ std::uint64_t count() const {
    return static_cast<std::uint64_t>((z1 - z0) * (y1 - y0) * (x1 - x0));
  }
};

__device__ TileRange tiles_of(const FrameRules& rules, const Spot& spot) {
  const SpotReach reach = reach_of(rules, spot);
  return {reach.z.first / kTileZ,          (reach.z.last - 1) / kTileZ + 1, reach.y.first / kTileY,
          (reach.y.last - 1) / kTileY + 1, reach.x.first / kTileX,          (reach.x.last - 1) / kTileX + 1};
}

__global__ void count_tiles(FrameRules rules, const Spot* spots, std::uint32_t count, std::uint64_t* tiles) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) tiles[i] = tiles_of(rules, spots[i]).count();
  if (i == count) tiles[i] = 0;  // so that the scan's last entry is the sum
}

__global__ void fill_tiles(FrameRules rules, TileGrid grid, const Spot* spots, std::uint32_t count,
                           const std::uint64_t* offset, std::uint32_t* tile, std::uint32_t* spot) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const TileRange range = tiles_of(rules, spots[i]);
  std::uint64_t at = offset[i];
  for (std::int64_t z = range.z0; z < range.z1; ++z)
    for (std::int64_t y = range.y0; y < range.y1; ++y)
      for (std::int64_t x = range.x0; x < range.x1; ++x, ++at) {
        tile[at] = static_cast<std::uint32_t>((z * grid.y + y) * grid.x + x);
        spot[at] = i;
      }
}

/// begin[t] = first entry of a tile >= t. Each element of begin is written by one thread.
__global__ void find_begins(const std::uint32_t* tile, std::uint32_t entries, std::uint32_t tiles,
                            std::uint32_t* begin) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > entries) return;
  const std::uint32_t from = i == 0 ? 0 : tile[i - 1] + 1;
  const std::uint32_t to = i == entries ? tiles : tile[i];
  for (std::uint32_t t = from; t <= to; ++t) begin[t] = i;
}

/// The data of the render kernel besides the rules.
struct TileWork {
  TileGrid grid;
  const Spot* spots;
  const std::uint32_t* entry;  ///< indices of spots, tile by tile
  const std::uint32_t* begin;  ///< [tiles + 1]
  std::uint16_t* grey;
};

struct Place {
  std::int64_t z, y, x;  ///< position of the thread's first voxel
};

__device__ void add_gaussians(const FrameRules& rules, const TileWork& work, std::uint32_t tile,
                              const Place& corner, float (&light)[kLane]) {
  constexpr int kShares = kTileX + kTileY + kTileZ;
  __shared__ AxisShare share[kBatch][kShares];
  __shared__ double spot_light[kBatch];
  const int thread = static_cast<int>(threadIdx.x);
  const int x = thread % (kTileX / kLane) * kLane, y = thread / (kTileX / kLane) % kTileY;
  const int z = thread / (kTileX / kLane * kTileY);
  const std::uint32_t end = work.begin[tile + 1];
  for (std::uint32_t first = work.begin[tile]; first < end; first += kBatch) {
    const int batch = end - first < kBatch ? static_cast<int>(end - first) : kBatch;
    for (int i = thread; i < batch * kShares; i += kThreads) {
      const int b = i / kShares, lane = i % kShares;
      const Spot& spot = work.spots[work.entry[first + static_cast<std::uint32_t>(b)]];
      if (lane < kTileX) {
        share[b][lane] = gaussian_share(rules.cumulative, corner.x + lane, rules.vx, spot.x, spot.sx);
      } else if (lane < kTileX + kTileY) {
        share[b][lane] =
            gaussian_share(rules.cumulative, corner.y + (lane - kTileX), rules.vy, spot.y, spot.sy);
      } else {
        share[b][lane] =
            gaussian_share(rules.cumulative, corner.z + (lane - kTileX - kTileY), rules.vz, spot.z, spot.sz);
      }
      if (lane == 0) spot_light[b] = spot.light;
    }
    __syncthreads();
    for (int b = 0; b < batch; ++b) {
      const AxisShare &along = share[b][kTileX + kTileY + z], &across = share[b][kTileX + y];
      const float left = cutoff_left(along, across);
      if (left < 0) continue;
      const float row = row_light(spot_light[b], along, across);
#pragma unroll
      for (int i = 0; i < kLane; ++i) {
        const AxisShare& s = share[b][x + i];
        light[i] += s.distance2 <= left ? row * s.weight : 0.0F;
      }
    }
    __syncthreads();
  }
}

/// `line`: kTileZ lines of r_nodes floats in shared memory.
__device__ void add_tabulated(const FrameRules& rules, const TileWork& work, std::uint32_t tile,
                              const Place& corner, const Place& mine, float* line, float (&light)[kLane]) {
  const std::int32_t nodes = rules.psf.r_nodes;
  for (std::uint32_t n = work.begin[tile]; n < work.begin[tile + 1]; ++n) {
    const Spot& spot = work.spots[work.entry[n]];
    for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < kTileZ * nodes; i += kThreads)
      line[i] = plane_light(rules, spot, corner.z + i / nodes, i % nodes);
    __syncthreads();
    const float* own = line + (mine.z - corner.z) * nodes;
    for (int i = 0; i < kLane; ++i) light[i] += voxel_light(rules, spot, own, mine.y, mine.x + i);
    __syncthreads();
  }
}

template <bool kTabulated>
__global__ void __launch_bounds__(kThreads) render_tiles(FrameRules rules, TileWork work) {
  extern __shared__ float line[];
  const std::uint32_t tile = blockIdx.x;
  const std::int64_t tx = tile % work.grid.x, ty = tile / work.grid.x % work.grid.y;
  const Place corner{tile / (work.grid.x * work.grid.y) * kTileZ, ty * kTileY, tx * kTileX};
  const int thread = static_cast<int>(threadIdx.x);
  const Place mine{corner.z + thread / (kTileX / kLane * kTileY),
                   corner.y + thread / (kTileX / kLane) % kTileY,
                   corner.x + thread % (kTileX / kLane) * kLane};
  float light[kLane] = {};
  if constexpr (kTabulated) {
    add_tabulated(rules, work, tile, corner, mine, line, light);
  } else {
    add_gaussians(rules, work, tile, corner, light);
  }
  if (mine.z >= rules.nz || mine.y >= rules.ny || mine.x >= rules.nx) return;

  const std::uint32_t block = block_of(rules, mine.z, mine.y, mine.x);
  const auto words = random_block(rules.seed, RandomStream::background, block, rules.frame);
  std::array<std::uint32_t, 4> noise{};
  if (rules.noise_step > 0) noise = random_block(rules.seed, RandomStream::camera, block, rules.frame);
  std::uint16_t grey[kLane] = {};
#pragma unroll
  for (std::uint32_t i = 0; i < kLane; ++i)
    if (mine.x + i < rules.nx)
      grey[i] = grey_level(rules, light[i], words[i], noise[i], MoreWords{rules.seed, block, rules.frame, i});
  const std::int64_t at = (mine.z * rules.ny + mine.y) * rules.nx + mine.x;
  if (at % kLane == 0 && mine.x + kLane <= rules.nx) {
    *reinterpret_cast<ushort4*>(work.grey + at) = make_ushort4(grey[0], grey[1], grey[2], grey[3]);
  } else {
#pragma unroll
    for (int i = 0; i < kLane; ++i)
      if (mine.x + i < rules.nx) work.grey[at + i] = grey[i];
  }
}

std::uint32_t blocks_for(std::uint64_t items) {
  return static_cast<std::uint32_t>((items + kThreads - 1) / kThreads);
}

int bits_of(std::uint64_t largest) {
  int bits = 1;
  while (largest >> bits) ++bits;
  return bits;
}

}  // namespace

std::string why_no_device() { return gpu::list_devices().why_none; }

struct DeviceRenderer::State {
  State(const Scene& of, int number)
      : scene(of), device(selected(number)), pinned(static_cast<std::size_t>(of.shape.voxels())) {
    cumulative.upload(scene.cumulative, stream);
    psf.upload(scene.psf.below, stream);
    fine.upload(scene.photons.fine, stream);
    coarse.upload(scene.photons.coarse, stream);
    noise.upload(scene.noise, stream);
    grey.reserve(static_cast<std::size_t>(scene.shape.voxels()));
    if (scene.tabulated())
      require(cudaFuncSetAttribute(render_tiles<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(line_bytes())),
              "reserving shared memory");
    require(cudaStreamSynchronize(stream), "copying to the device");
  }

  /// Makes the device current before members on it are initialised.
  static int selected(int number) {
    require(cudaSetDevice(number), "choosing the device");
    return number;
  }

  std::size_t line_bytes() const {
    return static_cast<std::size_t>(kTileZ) * static_cast<std::size_t>(scene.psf.r_nodes) * sizeof(float);
  }

  FrameRules device_rules(std::int32_t t) const {
    FrameRules rules = scene.rules(t);
    rules.cumulative = cumulative.data();
    rules.psf.below = psf.data();
    rules.photons.fine = fine.view();
    rules.photons.coarse = coarse.view();
    rules.noise = noise.view();
    return rules;
  }

  std::uint32_t bin(const FrameRules& rules, const TileGrid& grid, std::uint32_t count);
  void launch(const FrameRules& rules, const TileGrid& grid);

  const Scene& scene;
  int device;
  gpu::Stream stream;
  gpu::Event events[3]{gpu::Event(cudaEventDefault), gpu::Event(cudaEventDefault),
                       gpu::Event(cudaEventDefault)};
  gpu::GrowingArray<CumulativeNode> cumulative;
  gpu::GrowingArray<float> psf;
  DeviceTables fine, coarse, noise;
  gpu::GrowingArray<Spot> spots;
  gpu::GrowingArray<std::uint64_t> counts, offsets;
  gpu::GrowingArray<std::uint32_t> tile, tile_sorted, entry, entry_sorted, begin;
  gpu::GrowingArray<unsigned char> scratch;
  gpu::GrowingArray<std::uint16_t> grey;
  gpu::PinnedArray<std::uint16_t> pinned;
};

/// Sets entry_sorted and begin. Returns the number of entries.
std::uint32_t DeviceRenderer::State::bin(const FrameRules& rules, const TileGrid& grid, std::uint32_t count) {
  const auto tiles = static_cast<std::uint32_t>(grid.count());
  counts.reserve(std::size_t{count} + 1);
  offsets.reserve(std::size_t{count} + 1);
  begin.reserve(std::size_t{tiles} + 1);
  count_tiles<<<blocks_for(std::uint64_t{count} + 1), kThreads, 0, stream>>>(rules, spots.data(), count,
                                                                             counts.data());
  require(cudaGetLastError(), "counting tiles");
  std::size_t bytes = 0;
  const auto items = static_cast<std::int64_t>(count) + 1;
  require(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts.data(), offsets.data(), items, stream),
          "scan");
  scratch.reserve(bytes);
  require(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, counts.data(), offsets.data(), items, stream),
          "scan");
  std::uint64_t total = 0;
  require(cudaMemcpyAsync(&total, offsets.data() + count, sizeof total, cudaMemcpyDeviceToHost, stream),
          "scan");
  require(cudaStreamSynchronize(stream), "binning spots");
  if (total >= std::numeric_limits<std::int32_t>::max())
    throw ResourceError("GPU: the spots of a frame reach over 2^31 tiles; set execution.backend to cpu");
  const auto entries = static_cast<std::uint32_t>(total);
  for (gpu::GrowingArray<std::uint32_t>* array : {&tile, &tile_sorted, &entry, &entry_sorted})
    array->reserve(std::size_t{entries} + 1);
  fill_tiles<<<blocks_for(std::uint64_t{count} + 1), kThreads, 0, stream>>>(
      rules, grid, spots.data(), count, offsets.data(), tile.data(), entry.data());
  require(cudaGetLastError(), "filling tiles");
  const auto pairs = static_cast<std::int64_t>(entries);
  const int bits = bits_of(tiles);
  require(cub::DeviceRadixSort::SortPairs(nullptr, bytes, tile.data(), tile_sorted.data(), entry.data(),
                                          entry_sorted.data(), pairs, 0, bits, stream),
          "sort");
  scratch.reserve(bytes);
  require(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, tile.data(), tile_sorted.data(),
                                          entry.data(), entry_sorted.data(), pairs, 0, bits, stream),
          "sort");
  find_begins<<<blocks_for(std::uint64_t{entries} + 1), kThreads, 0, stream>>>(tile_sorted.data(), entries,
                                                                               tiles, begin.data());
  require(cudaGetLastError(), "finding tiles");
  return entries;
}

void DeviceRenderer::State::launch(const FrameRules& rules, const TileGrid& grid) {
  const TileWork work{grid, spots.data(), entry_sorted.data(), begin.data(), grey.data()};
  const auto tiles = static_cast<std::uint32_t>(grid.count());
  if (scene.tabulated()) {
    render_tiles<true><<<tiles, kThreads, line_bytes(), stream>>>(rules, work);
  } else {
    render_tiles<false><<<tiles, kThreads, 0, stream>>>(rules, work);
  }
  require(cudaGetLastError(), "rendering");
}

DeviceRenderer::DeviceRenderer(const Scene& scene, int device)
    : state_(std::make_unique<State>(scene, device)) {}
DeviceRenderer::~DeviceRenderer() = default;

const std::uint16_t* DeviceRenderer::render(std::int32_t t, const std::vector<Spot>& spots,
                                            RenderTimes& times) {
  State& s = *state_;
  require(cudaSetDevice(s.device), "choosing the device");
  const auto over = [](std::int64_t voxels, std::int64_t tile) { return (voxels + tile - 1) / tile; };
  const TileGrid grid{over(s.scene.shape.nz, kTileZ), over(s.scene.shape.ny, kTileY),
                      over(s.scene.shape.nx, kTileX)};
  if (grid.count() >= std::numeric_limits<std::int32_t>::max() ||
      spots.size() >= std::numeric_limits<std::int32_t>::max())
    throw ResourceError("GPU: a frame has too many voxels or spots; set execution.backend to cpu");
  const FrameRules rules = s.device_rules(t);
  require(cudaEventRecord(s.events[0], s.stream), "timing");
  s.spots.upload(spots, s.stream);
  s.bin(rules, grid, static_cast<std::uint32_t>(spots.size()));
  s.launch(rules, grid);
  require(cudaEventRecord(s.events[1], s.stream), "timing");
  const auto bytes = static_cast<std::size_t>(s.scene.shape.voxels()) * sizeof(std::uint16_t);
  require(cudaMemcpyAsync(s.pinned.data(), s.grey.data(), bytes, cudaMemcpyDeviceToHost, s.stream),
          "copying the frame");
  require(cudaEventRecord(s.events[2], s.stream), "timing");
  require(cudaStreamSynchronize(s.stream), "rendering");
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, s.events[0], s.events[1]), "timing");
  times.device_s = static_cast<double>(milliseconds) * 1e-3;
  require(cudaEventElapsedTime(&milliseconds, s.events[1], s.events[2]), "timing");
  times.copy_s = static_cast<double>(milliseconds) * 1e-3;
  return s.pinned.data();
}

}  // namespace motes::sim::detail
