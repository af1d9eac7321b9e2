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

/// Solves a problem in either space on the device: copies host arrays there, exchanges sides if the canonical
/// form requires it, calls solve(arena, sides, canonical) -> detail::Solution (sides: the host's copy of
/// exits and starting prices), and finishes. `seconds` of the stats gain "transfer".
template <class Solve>
Matching solve_canonical_on_device(const Execution& execution, const CostsView& problem, Solve&& solve) {
  Workspace own;
  gpu::Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  const auto start = std::chrono::steady_clock::now();
  const HostUnmatched unmatched = host_unmatched(problem);
  const CostsView readable = with_unmatched(problem, unmatched);
  const auto run = [&](const auto& on_device, const Survey& survey) {
    CanonicalSides sides =
        detail::make_sides(readable, std::max(survey.largest, detail::largest_unmatched_cost(readable)));
    const auto with = [&](const auto& entries) {
      using Entries = std::decay_t<decltype(entries)>;
      DeviceCanonical<Entries> canonical{
          sides.rows,   sides.cols, entries, nullptr, arena.upload(std::span<const Cost>(sides.start)),
          sides.perfect};
      if (!sides.row_exit.empty()) canonical.row_exit = arena.upload(sides.row_exit);
      if (!sides.exchanged) canonical.row_least = survey.row_least;
      arena.synchronize();
      const double transfer_s = seconds_since(start);
      detail::Solution solution = solve(arena, sides, canonical);
      Cost* cost = arena.take<Cost>(solution.row_to_col.size());
      const Index* pairs = arena.upload(std::span<const Index>(solution.row_to_col));
      if (sides.rows > 0) {
        matched_cost_kernel<<<4 * arena.multiprocessors(), 256, 0, arena.stream()>>>(entries, pairs, cost);
        MOTES_CUDA_LAUNCHED();
      }
      const std::vector<Cost> matched_cost = arena.download(cost, solution.row_to_col.size());
      Matching out = detail::finish_solution(readable, sides, std::move(solution), matched_cost);
      out.stats.seconds["transfer"] = transfer_s;
      return out;
    };
    using Entries = std::decay_t<decltype(on_device)>;
    if (!sides.exchanged) return with(on_device);
    if constexpr (std::is_same_v<Entries, SparseEntries>)
      throw std::logic_error("sparse problems are exchanged before they reach the device");
    else if constexpr (std::is_same_v<Entries, GeometricEntries>)
      return with(detail::exchanged(on_device));
    else
      return with(transposed(arena, on_device));
  };
  const auto bring = [&](const CostsView& view) {
    const auto* sparse = std::get_if<SparseCostsView>(&view);
    const Offset edges = sparse != nullptr ? sparse->graph.edges() : 0;
    return detail::with_entries(view, [&](const auto& entries) {
      const auto on_device = to_device(arena, entries, space_of(view), edges);
      const Survey survey = survey_entries(arena, on_device);
      // Matrices in device memory are not checked before (check_problem): the survey finds every fault.
      if (space_of(problem) == Space::device && std::holds_alternative<DenseCostsView>(problem) &&
          (survey.largest < 0 || survey.largest > detail::largest_allowed(problem)))
        detail::check_device_problem(nullptr, execution.device, problem);
      return run(on_device, survey);
    });
  };
  const auto* sparse = std::get_if<SparseCostsView>(&problem);
  if (sparse == nullptr || !detail::make_sides(readable, 0).exchanged) return bring(problem);
  // Sparse and exchanged: transposed on the host, solved, and transposed back.
  const SparseCosts host = copy_to_host(*sparse);
  const SparseCosts other = transpose(host.view());
  Matching out = solve_canonical_on_device(execution, other.view(), solve);
  std::swap(out.row_to_col, out.col_to_row);
  std::swap(out.duals.u, out.duals.v);
  return out;
}

/// The caller's start in the orientation of the canonical form. It is needed because `sides` does not show
/// that solve_canonical_on_device has transposed a sparse problem on the host.
struct OrientedStart {
  Start start;
  std::vector<Index> turned;

  OrientedStart(const CostsView& problem, const Start& given) : start(given) {
    const auto* sparse = std::get_if<SparseCostsView>(&problem);
    if (sparse == nullptr) return;
    const HostUnmatched unmatched = host_unmatched(problem);
    if (!detail::make_sides(with_unmatched(problem, unmatched), 0).exchanged) return;
    std::swap(start.u, start.v);
    if (given.row_to_col.empty()) return;
    turned.assign(static_cast<std::size_t>(sparse->graph.cols), -1);
    for (std::size_t i = 0; i < given.row_to_col.size(); ++i)
      if (given.row_to_col[i] != -1)
        turned[static_cast<std::size_t>(given.row_to_col[i])] = static_cast<Index>(i);
    start.row_to_col = turned;
  }
  OrientedStart(const OrientedStart&) = delete;
  OrientedStart& operator=(const OrientedStart&) = delete;
};

}  // namespace motes::matching::device
