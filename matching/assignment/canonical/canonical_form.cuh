#pragma once
/// The canonical form (canonical_form.h) with its entries in device memory, for CUDA solvers.

#include <algorithm>
#include <limits>
#include <type_traits>

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/thread_index.cuh>
#include <motes/base/timer.h>
#include <motes/matching/device_costs.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/dense/load4.cuh"
#include "matching/assignment/device_problem.h"
#include "matching/points/point_bounds.cuh"

namespace motes::matching::device {

using detail::CanonicalSides;
using detail::DenseEntries;
using detail::GeometricEntries;
using detail::SparseEntries;

/// Trivially copyable: passed by value to kernels. All pointers are to device memory.
template <class Entries>
struct DeviceCanonical {
  Index rows = 0, cols = 0;
  Entries entries;
  const Cost* row_exit = nullptr;  ///< [rows], or nullptr: no row has an exit
  const Cost* start = nullptr;     ///< [cols]
  bool perfect = false;
  /// [rows] each row's least cost, 0 if it has no pair; nullptr if no pass over the entries has computed
  /// them.
  const Cost* row_least = nullptr;

  __device__ Cost exit_of(Index i) const { return row_exit == nullptr ? kInfiniteCost : row_exit[i]; }
};

/// The unmatched costs of a view in either space, on the host.
struct HostUnmatched {
  std::vector<Cost> row, col;
};
HostUnmatched host_unmatched(const CostsView& problem);

/// The view with its unmatched costs replaced by host copies; its entries stay where they are.
CostsView with_unmatched(const CostsView& problem, const HostUnmatched& unmatched);

/// Entries on the device for a view on either side: device arrays are used as they are, host arrays are
/// copied through the arena.
inline SparseEntries to_device(gpu::Arena& arena, const SparseEntries& e, Space space, Offset edges) {
  if (space == Space::device) return e;
  return {e.rows, e.cols, arena.upload(std::span(e.offsets, static_cast<std::size_t>(e.rows) + 1)),
          arena.upload(std::span(e.col_index, static_cast<std::size_t>(edges))),
          arena.upload(std::span(e.cost, static_cast<std::size_t>(edges)))};
}
template <class T>
DenseEntries<T> to_device(gpu::Arena& arena, DenseEntries<T> e, Space space, Offset) {
  if (space == Space::device || e.rows == 0 || e.cols == 0) return e;
  T* data = arena.take<T>(static_cast<std::size_t>(e.rows) * static_cast<std::size_t>(e.cols));
  const std::size_t width = static_cast<std::size_t>(e.cols) * sizeof(T);
  // The stride of a single row has no meaning, and may be shorter than the row.
  const std::size_t pitch = e.rows == 1 ? width : static_cast<std::size_t>(e.row_stride) * sizeof(T);
  MOTES_CUDA(cudaMemcpy2DAsync(data, width, e.data, pitch, width, static_cast<std::size_t>(e.rows),
                               cudaMemcpyHostToDevice, arena.stream()));
  e.data = data;
  e.row_stride = e.cols;
  return e;
}
inline GeometricEntries to_device(gpu::Arena& arena, GeometricEntries e, Space space, Offset) {
  if (space == Space::device) return e;
  const auto copy = [&](const double* p, Index count) {
    return p == nullptr ? nullptr : arena.upload(std::span(p, static_cast<std::size_t>(count)));
  };
  e.row_x = copy(e.row_x, e.rows), e.row_y = copy(e.row_y, e.rows), e.row_z = copy(e.row_z, e.rows);
  e.col_x = copy(e.col_x, e.cols), e.col_y = copy(e.col_y, e.cols), e.col_z = copy(e.col_z, e.cols);
  return e;
}

/// out[col * rows + row] = in[row * row_stride + col], so that the exchanged problem reads along its rows
/// too.
template <class T>
__global__ void transpose_kernel(const T* in, Offset row_stride, Index rows, Index cols, T* out) {
  __shared__ T tile[32][33];
  const Offset col = static_cast<Offset>(blockIdx.x) * 32 + threadIdx.x;
  for (Offset band = blockIdx.y; band * 32 < rows; band += gridDim.y) {
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
      if (band * 32 + k < rows && col < cols) tile[k][threadIdx.x] = in[(band * 32 + k) * row_stride + col];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
      const Offset out_row = static_cast<Offset>(blockIdx.x) * 32 + k, out_col = band * 32 + threadIdx.x;
      if (out_row < cols && out_col < rows) out[out_row * rows + out_col] = tile[threadIdx.x][k];
    }
    __syncthreads();
  }
}

template <class T>
DenseEntries<T> transposed(gpu::Arena& arena, const DenseEntries<T>& e) {
  if (e.rows == 0 || e.cols == 0) return detail::exchanged(e);
  T* data = arena.take<T>(static_cast<std::size_t>(e.rows) * static_cast<std::size_t>(e.cols));
  const dim3 grid(static_cast<unsigned>((e.cols + 31) / 32),
                  static_cast<unsigned>(std::min((e.rows + 31) / 32, 65535)));
  transpose_kernel<<<grid, dim3(32, 8), 0, arena.stream()>>>(e.data, e.row_stride, e.rows, e.cols, data);
  MOTES_CUDA_LAUNCHED();
  return {e.cols, e.rows, data, e.rows, 1, e.scale};
}

/// *largest = max |cost| over the allowed pairs, faulty ones included. One warp a row.
template <class Entries>
__global__ void largest_cost_kernel(Entries entries, Cost* largest) {
  const int lane = threadIdx.x % 32;
  const Index warps = static_cast<Index>(gridDim.x * blockDim.x / 32);
  Cost mine = 0;
  for (Index i = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / 32); i < entries.rows;
       i += warps)
    entries.for_each(i, lane, 32, [&](Index, Cost c) { mine = max(mine, c < 0 ? -c : c); });
  for (int step = 16; step > 0; step /= 2) mine = max(mine, __shfl_xor_sync(0xffffffffU, mine, step));
  if (lane == 0 && mine > 0)
    atomicMax(reinterpret_cast<unsigned long long*>(largest), static_cast<unsigned long long>(mine));
}

/// As above for a matrix, and least[i] = the row's least cost (0: no allowed pair), in one pass at the speed
/// of memory. `largest` may be nullptr. NaN, infinities and other illegal costs give a value above every
/// legal one.
template <class T>
__global__ void __launch_bounds__(256)
    survey_rows_kernel(DenseEntries<T> e, bool vectors, Cost* least, Cost* largest) {
  using Limits = std::numeric_limits<T>;
  constexpr T kNone = Limits::has_infinity ? Limits::infinity() : Limits::max();
  constexpr unsigned kAll = 0xffffffffU;
  constexpr int kDeep = 8, kStep = 4 * 32;
  const int lane = threadIdx.x % 32;
  const Index warps = static_cast<Index>(gridDim.x * blockDim.x / 32);
  const auto magnitude = [&](T entry) {
    const Cost c = detail::grid_value(entry, e.scale);
    return c < 0 ? 0 - static_cast<unsigned long long>(c) : static_cast<unsigned long long>(c);
  };
  unsigned long long most = 0;
  // Entries are compared before conversion, which is monotone.
  for (Index i = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / 32); i < e.rows; i += warps) {
    T low = kNone, high = Limits::lowest();
    bool odd = false;
    for (Offset from = 4 * lane; from < e.cols; from += kDeep * kStep) {
      Load4<DenseEntries<T>> four[kDeep];
#pragma unroll
      for (int d = 0; d < kDeep; ++d)
        if (from + d * kStep < e.cols) four[d] = {e, vectors, i, static_cast<Index>(from + d * kStep)};
#pragma unroll
      for (int d = 0; d < kDeep; ++d)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (from + d * kStep + k >= e.cols || !four[d].allowed(k)) continue;
          const T entry = four[d].raw[k];
          low = entry < low ? entry : low;
          high = entry > high ? entry : high;
          odd = odd || !(entry >= Limits::lowest());
        }
    }
    for (int step = 16; step > 0; step /= 2) {
      const T other_low = __shfl_xor_sync(kAll, low, step), other_high = __shfl_xor_sync(kAll, high, step);
      low = other_low < low ? other_low : low;
      high = other_high > high ? other_high : high;
    }
    odd = __any_sync(kAll, odd) != 0;
    if (lane != 0) continue;
    least[i] = low == kNone ? 0 : detail::grid_value(low, e.scale);
    if (odd) most = 1ULL << 62;
    if (low != kNone) most = max(most, max(magnitude(low), magnitude(high)));
  }
  if (largest != nullptr && lane == 0 && most > 0)
    atomicMax(reinterpret_cast<unsigned long long*>(largest), most);
}
template <class T>
void survey_rows(gpu::Arena& arena, const DenseEntries<T>& e, Cost* least, Cost* largest) {
  if (e.rows == 0) return;
  const Index blocks = std::min<Index>((e.rows + 7) / 8, 1 << 20);
  survey_rows_kernel<<<blocks, 256, 0, arena.stream()>>>(e, loads_four(e), least, largest);
  MOTES_CUDA_LAUNCHED();
}

struct Survey {
  Cost largest = 0;
  const Cost* row_least = nullptr;  ///< on the device; see DeviceCanonical
};
template <class Entries>
Survey survey_entries(gpu::Arena& arena, const Entries& entries) {
  if constexpr (std::is_same_v<Entries, GeometricEntries>) {
    const Cost bound = detail::farthest_cost(entries, bounds_on_device(arena, entries));
    if (bound <= kMaxGridCost) return {bound, nullptr};  // else the box may be too coarse: read the pairs
  }
  Cost* largest = arena.take_filled<Cost>(1, 0);
  if (entries.rows > 0) {
    largest_cost_kernel<<<8 * arena.multiprocessors(), 256, 0, arena.stream()>>>(entries, largest);
    MOTES_CUDA_LAUNCHED();
  }
  return {arena.download(largest, 1)[0], nullptr};
}
template <class T>
Survey survey_entries(gpu::Arena& arena, const DenseEntries<T>& entries) {
  if constexpr (std::is_same_v<T, std::int32_t>) return {detail::kLargestInt32, nullptr};
  Cost* largest = arena.take_filled<Cost>(1, 0);
  Cost* least = arena.take<Cost>(static_cast<std::size_t>(entries.rows));
  survey_rows(arena, entries, least, largest);
  return {arena.download(largest, 1)[0], least};
}

template <class Entries>
__global__ void matched_cost_kernel(Entries entries, const Index* row_to_col, Cost* cost) {
  for (Index i = gpu::thread_index(); i < entries.rows; i += gpu::thread_total())
    cost[i] = row_to_col[i] == -1 ? 0 : entries.at(i, row_to_col[i]);
}

}  // namespace motes::matching::device
