/// Uploads the frame and computes its response: one thread for each element, by the rules of response_view.h
/// in the order in which the CPU applies them. Along y and z a thread computes a run of elements and slides
/// its taps along them, so that each input is read about (run + 2 radius) / run times rather than 2 radius +
/// 1 times.

#include <algorithm>
#include <array>
#include <memory>

#include <motes/base/gpu/resources.cuh>
#include <motes/base/parallel_copy.h>

#include "tracking/detect/device_steps.cuh"

namespace motes::tracking::detect::device {
namespace {

constexpr std::size_t kPieceOfThread = std::size_t{1} << 20;  // bytes of an upload for each thread,
constexpr int kMostThreads = 8;                               // of which there are at most this many
constexpr int kPieces = 4;                                    // uploads in flight
constexpr int kRunY = 8, kRunZ = 16;

/// The values beyond both ends of lines along one axis, one for each line.
struct Ends {
  float *before, *after;
};

Ends take_ends(gpu::Arena& arena, std::size_t lines) {
  float* before = arena.take<float>(lines);
  return {before, arena.take<float>(lines)};
}

/// Maps floats to unsigned numbers in the same order.
__device__ unsigned ordered(float v) {
  const unsigned bits = __float_as_uint(v);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
float from_ordered(unsigned key) {
  return std::bit_cast<float>((key & 0x80000000U) != 0 ? key & 0x7fffffffU : ~key);
}

struct RangeKeys {
  unsigned low, high, bad;
};

template <class T>
__global__ void range_kernel(const T* values, std::size_t count, RangeKeys* keys) {
  unsigned low = ~0U, high = 0, bad = 0;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = thread_index<std::size_t>(); i < count; i += stride) {
    const float v = static_cast<float>(values[i]);
    if (!(fabsf(v) <= kLargestVoxel)) bad = 1;
    const unsigned key = ordered(v);
    low = min(low, key);
    high = max(high, key);
  }
  low = __reduce_min_sync(0xffffffffU, low);
  high = __reduce_max_sync(0xffffffffU, high);
  bad = __reduce_or_sync(0xffffffffU, bad);
  if (threadIdx.x % 32 != 0) return;
  atomicMin(&keys->low, low);
  atomicMax(&keys->high, high);
  if (bad != 0) atomicOr(&keys->bad, bad);
}

template <class T>
__global__ void sample_kernel(const T* values, std::size_t step, std::size_t count, float* out) {
  const std::size_t i = thread_index<std::size_t>();
  if (i < count) out[i] = static_cast<float>(values[i * step]);
}

struct BlockGrid {
  unsigned nx, ny, bx, by, bz;
  unsigned frame_nx, frame_ny;
  float share;
};

template <class T>
__global__ void means_kernel(const T* voxels, BlockGrid grid, std::size_t count, float* means) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= count) return;
  const std::size_t x = i % grid.nx, y = i / grid.nx % grid.ny, z = i / grid.nx / grid.ny;
  float sum = 0;
  for (unsigned k = 0; k < grid.bz; ++k)
    for (unsigned j = 0; j < grid.by; ++j) {
      const T* row =
          voxels + ((z * grid.bz + k) * grid.frame_ny + y * grid.by + j) * grid.frame_nx + x * grid.bx;
      for (unsigned b = 0; b < grid.bx; ++b) sum += static_cast<float>(row[b]) - 0.0F;
    }
  means[i] = sum * grid.share;
}

template <class T>
__global__ void row_ends_kernel(const T* voxels, std::size_t rows, int nx, int edge, float offset,
                                Ends ends) {
  const std::size_t row = thread_index<std::size_t>();
  if (row >= rows) return;
  const T* values = voxels + row * nx;
  float before = 0, after = 0;
  for (int i = 0; i < edge; ++i) {
    before += static_cast<float>(values[i]) - offset;
    after += static_cast<float>(values[nx - 1 - i]) - offset;
  }
  ends.before[row] = before / static_cast<float>(edge);
  ends.after[row] = after / static_cast<float>(edge);
}

template <class T>
__global__ void smooth_rows_kernel(const T* voxels, std::size_t count, int nx, float offset,
                                   const float* weights, int radius, Ends ends, float* out) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= count) return;
  const unsigned width = static_cast<unsigned>(nx) + 2, row = static_cast<unsigned>(i) / width;
  const int x = static_cast<int>(static_cast<unsigned>(i) - row * width) - 1;
  const T* values = voxels + static_cast<std::size_t>(row) * nx;
  float sum;
  if (x >= radius && x + radius < nx) {
    sum = weights[0] * (static_cast<float>(values[x]) - offset);
    for (int k = 1; k <= radius; ++k)
      sum = with_pair(sum, weights[k], static_cast<float>(values[x - k]) - offset,
                      static_cast<float>(values[x + k]) - offset);
  } else {
    const float before = ends.before[row], after = ends.after[row];
    const auto value = [&](int at) {
      return at < 0 ? before : at >= nx ? after : static_cast<float>(values[at]) - offset;
    };
    sum = weights[0] * value(x);
    for (int k = 1; k <= radius; ++k) sum = with_pair(sum, weights[k], value(x - k), value(x + k));
  }
  out[i] = sum;
}

/// Lines of n elements, `inner` apart: [outer][n][inner].
struct Lines {
  const float* values;
  unsigned outer, inner;
  int n;
};

__global__ void line_ends_kernel(Lines lines, int edge, Ends ends) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= static_cast<std::size_t>(lines.outer) * lines.inner) return;
  const std::size_t o = i / lines.inner;
  const float* line = lines.values + o * lines.n * lines.inner + (i - o * lines.inner);
  const float share = 1.0F / static_cast<float>(edge);
  float before = 0, after = 0;
  for (int k = 0; k < edge; ++k) {
    before += share * line[static_cast<std::size_t>(k) * lines.inner];
    after += share * line[static_cast<std::size_t>(lines.n - edge + k) * lines.inner];
  }
  ends.before[i] = before;
  ends.after[i] = after;
}

/// [outer][n][inner] -> [outer][n + 2][inner]; the result begins one element before the first.
template <int Run>
__global__ void smooth_lines_kernel(Lines lines, unsigned runs, const float* weights, int radius, Ends ends,
                                    float* out) {
  const std::size_t thread = thread_index<std::size_t>();
  if (thread >= static_cast<std::size_t>(lines.outer) * runs * lines.inner) return;
  const unsigned rest = static_cast<unsigned>(thread / lines.inner);
  const unsigned i = static_cast<unsigned>(thread - static_cast<std::size_t>(rest) * lines.inner);
  const unsigned o = rest / runs;
  const int first = static_cast<int>(rest - o * runs) * Run - 1, n = lines.n;
  const float* line = lines.values + static_cast<std::size_t>(o) * n * lines.inner + i;
  const float before = ends.before[static_cast<std::size_t>(o) * lines.inner + i],
              after = ends.after[static_cast<std::size_t>(o) * lines.inner + i];
  const auto value = [&](int at) {
    return at < 0 ? before : at >= n ? after : line[static_cast<std::size_t>(at) * lines.inner];
  };
  float sum[Run], left[Run], right[Run];
#pragma unroll
  for (int j = 0; j < Run; ++j) {
    left[j] = right[j] = value(first + j);
    sum[j] = weights[0] * left[j];
  }
  for (int k = 1; k <= radius; ++k) {
#pragma unroll
    for (int j = Run - 1; j > 0; --j) left[j] = left[j - 1];
#pragma unroll
    for (int j = 0; j + 1 < Run; ++j) right[j] = right[j + 1];
    left[0] = value(first - k);
    right[Run - 1] = value(first + Run - 1 + k);
    const float weight = weights[k];
#pragma unroll
    for (int j = 0; j < Run; ++j) sum[j] = with_pair(sum[j], weight, left[j], right[j]);
  }
  float* to = out + static_cast<std::size_t>(o) * (n + 2) * lines.inner + i;
#pragma unroll
  for (int j = 0; j < Run; ++j)
    if (first + j <= n) to[static_cast<std::size_t>(first + 1 + j) * lines.inner] = sum[j];
}

struct Weights3 {
  float x, y, z;
};

__global__ void laplacian_kernel(const float* smoothed, std::size_t count, unsigned ny, unsigned nx,
                                 Weights3 weights, float* log) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= count) return;
  const unsigned row = static_cast<unsigned>(i) / nx, x = static_cast<unsigned>(i) - row * nx;
  const unsigned z = row / ny, y = row - z * ny;
  const std::size_t width = nx + 2, plane = width * (ny + 2);
  const float* c = smoothed + (z + 1) * plane + (y + 1) * width + x + 1;
  log[i] = laplacian_of(c[0], *(c - 1), c[1], *(c - width), c[width], *(c - plane), c[plane], weights.x,
                        weights.y, weights.z);
}

template <int Run>
void smooth_lines(gpu::Arena& arena, const Lines& lines, const HalfKernel& kernel, float* out) {
  const std::size_t count = static_cast<std::size_t>(lines.outer) * lines.inner;
  const Ends ends = take_ends(arena, count);
  const auto edge = static_cast<int>(edge_voxels(kernel.radius(), lines.n));
  line_ends_kernel<<<blocks_for(count), kThreads, 0, arena.stream()>>>(lines, edge, ends);
  const float* weights = arena.upload(std::span<const float>(kernel.weights));
  const auto runs = static_cast<unsigned>((lines.n + 2 + Run - 1) / Run);
  smooth_lines_kernel<Run><<<blocks_for(count * runs), kThreads, 0, arena.stream()>>>(
      lines, runs, weights, kernel.radius(), ends, out);
  MOTES_CUDA_LAUNCHED();
}

}  // namespace

Values upload_voxels(gpu::Arena& arena, const VolumeFrame& frame, int threads) {
  Values values;
  std::visit(
      [&](const auto& voxels) {
        using T = typename std::decay_t<decltype(voxels)>::value_type;
        const std::size_t bytes = voxels.size() * sizeof(T);
        T* to = arena.take<T>(voxels.size());
        const std::size_t most =
            kPieceOfThread * static_cast<std::size_t>(std::clamp(threads, 1, kMostThreads));
        char* staged = arena.staging(std::min(bytes, kPieces * most));
        std::array<std::unique_ptr<gpu::Event>, kPieces> passed;
        const auto* from = reinterpret_cast<const char*>(voxels.data());
        std::size_t piece = 0;
        for (std::size_t at = 0; at < bytes; at += most, ++piece) {
          const std::size_t slot = piece % kPieces, some = std::min(most, bytes - at);
          if (passed[slot])
            MOTES_CUDA(cudaEventSynchronize(*passed[slot]));
          else
            passed[slot] = std::make_unique<gpu::Event>();
          parallel_copy(staged + slot * most, from + at, some, threads);
          MOTES_CUDA(cudaMemcpyAsync(reinterpret_cast<char*>(to) + at, staged + slot * most, some,
                                     cudaMemcpyHostToDevice, arena.stream()));
          MOTES_CUDA(cudaEventRecord(*passed[slot], arena.stream()));
        }
        if constexpr (sizeof(T) == 1)
          values.u8 = to;
        else if constexpr (sizeof(T) == 2)
          values.u16 = to;
        else
          values.f32 = to;
      },
      frame.voxels);
  return values;
}

ToldRange range_of(gpu::Arena& arena, const Values& values, std::size_t count) {
  const RangeKeys none{~0U, 0, 0};
  RangeKeys* keys = arena.upload(std::span(&none, 1));
  const auto blocks =
      std::min<std::size_t>(blocks_for(count), 32U * static_cast<unsigned>(arena.multiprocessors()));
  values.visit([&](const auto* v) {
    range_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, arena.stream()>>>(v, count, keys);
  });
  MOTES_CUDA_LAUNCHED();
  const RangeKeys told = fetch<1>(arena, keys)[0];
  return {{from_ordered(told.low) + 0.0F, from_ordered(told.high) + 0.0F}, told.bad != 0};
}

std::vector<float> sampled_values(gpu::Arena& arena, const Values& values, const CountingSample& sample) {
  float* out = arena.take<float>(sample.count);
  values.visit([&](const auto* v) {
    sample_kernel<<<blocks_for(sample.count), kThreads, 0, arena.stream()>>>(v, sample.step, sample.count,
                                                                             out);
  });
  MOTES_CUDA_LAUNCHED();
  return arena.download(out, sample.count);
}

Values block_means(gpu::Arena& arena, const Values& voxels, const Shape3& shape, const Source& geometry) {
  const Index3 &size = geometry.size, &block = geometry.block;
  const auto count = static_cast<std::size_t>(size[0] * size[1] * size[2]);
  const auto u = [](std::int64_t v) { return static_cast<unsigned>(v); };
  const BlockGrid grid{
      u(size[0]),  u(size[1]),  u(block[0]), u(block[1]),
      u(block[2]), u(shape.nx), u(shape.ny), 1.0F / static_cast<float>(block[0] * block[1] * block[2])};
  float* means = arena.take<float>(count);
  voxels.visit([&](const auto* v) {
    means_kernel<<<blocks_for(count), kThreads, 0, arena.stream()>>>(v, grid, count, means);
  });
  MOTES_CUDA_LAUNCHED();
  return {nullptr, nullptr, means};
}

Volumes take_volumes(gpu::Arena& arena, const Shape3& s) {
  const auto take = [&](std::int64_t nz, std::int64_t ny, std::int64_t nx) {
    return arena.take<float>(static_cast<std::size_t>(nz * ny * nx));
  };
  Volumes volumes;
  volumes.log = take(s.nz, s.ny, s.nx + 2);
  volumes.plane_smoothed = take(s.nz, s.ny + 2, s.nx + 2);
  volumes.smoothed = take(s.nz + 2, s.ny + 2, s.nx + 2);
  return volumes;
}

ResponseView respond(gpu::Arena& arena, const Values& voxels, const Shape3& s, const Filter& filter,
                     Polarity polarity, float offset, const Volumes& volumes) {
  const auto rows = static_cast<std::size_t>(s.nz * s.ny), count = rows * static_cast<std::size_t>(s.nx + 2);
  const auto nx = static_cast<int>(s.nx);
  const HalfKernel& along_x = filter.kernels[0];
  const Ends ends = take_ends(arena, rows);
  const float* weights = arena.upload(std::span<const float>(along_x.weights));
  const auto edge = static_cast<int>(edge_voxels(along_x.radius(), nx));
  voxels.visit([&](const auto* v) {
    row_ends_kernel<<<blocks_for(rows), kThreads, 0, arena.stream()>>>(v, rows, nx, edge, offset, ends);
    smooth_rows_kernel<<<blocks_for(count), kThreads, 0, arena.stream()>>>(
        v, count, nx, offset, weights, along_x.radius(), ends, volumes.log);
  });
  MOTES_CUDA_LAUNCHED();
  const auto u = [](std::int64_t v) { return static_cast<unsigned>(v); };
  smooth_lines<kRunY>(arena, {volumes.log, u(s.nz), u(s.nx + 2), static_cast<int>(s.ny)}, filter.kernels[1],
                      volumes.plane_smoothed);
  smooth_lines<kRunZ>(arena, {volumes.plane_smoothed, 1, u((s.ny + 2) * (s.nx + 2)), static_cast<int>(s.nz)},
                      filter.kernels[2], volumes.smoothed);
  const float sign = polarity == Polarity::bright ? -1.0F : 1.0F;
  const auto weight = [&](std::size_t a) {
    return sign * static_cast<float>(filter.sigma[a] * filter.sigma[a]);
  };
  const auto voxels_of = static_cast<std::size_t>(s.voxels());
  laplacian_kernel<<<blocks_for(voxels_of), kThreads, 0, arena.stream()>>>(
      volumes.smoothed, voxels_of, u(s.ny), u(s.nx), {weight(0), weight(1), weight(2)}, volumes.log);
  MOTES_CUDA_LAUNCHED();
  const HalfKernel& along_z = filter.kernels[2];
  return {volumes.log,
          volumes.plane_smoothed,
          s.nz,
          s.ny,
          s.nx,
          arena.upload(std::span<const float>(along_z.weights)),
          along_z.radius(),
          offset};
}

}  // namespace motes::tracking::detect::device
