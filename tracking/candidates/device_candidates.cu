/// The hashed uniform grid of row_grid.h on the GPU.
///
/// Loading a frame snaps its points to the grid, finds their bounds, counts them into slots and orders them
/// by slot. The order within a slot depends on timing. The result does not: this order only determines when a
/// row is processed, and the columns of a row are sorted. A pair of frames takes two passes over the rows,
/// with a thread for each row: count, then (after a scan) fill. A thread sorts a short row before it writes
/// it. Long rows are written unsorted; afterwards a warp sorts each.

#include <algorithm>

#include <cub/device/device_scan.cuh>
#include <cuda/functional>

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/staged_upload.cuh>
#include <motes/base/gpu/thread_index.cuh>
#include <motes/matching/device_costs.h>

#include "tracking/candidates/device_candidates.h"
#include "tracking/candidates/link_cost.h"

namespace motes::tracking {
namespace {

using gpu::Arena;
using matching::Cost;
using matching::Index;
using matching::Offset;

constexpr int kThreads = 256;
constexpr int kShortRow = 32;     ///< up to this many candidates are sorted by a thread
constexpr int kStagedRow = 1024;  ///< up to this many by a warp in shared memory
constexpr int kSortingThreads = 128;
constexpr unsigned long long kNoFault = ~0ULL;

struct Bounds {
  long long low[3], high[3];  ///< initially 0, so they include the origin
};

/// The results of loading a frame that the host needs.
struct Loaded {
  unsigned long long fault;  ///< the first detection outside the grid; kNoFault: none
  long long most_in_slot;
};

/// A frame as kernels see it; passed by value.
struct FrameView {
  Index count = 0;
  const CellTable* table = nullptr;
  SlottedPoints slotted;
  const Index* detection = nullptr;  ///< [count] index of each point's detection
};

int blocks_for(std::int64_t count) {
  return static_cast<int>(std::max<std::int64_t>(1, (count + kThreads - 1) / kThreads));
}

__device__ void lower_to(long long* bound, long long value) {
  for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_xor_sync(0xffffffffU, value, step));
  if (threadIdx.x % 32 == 0 && value < *bound) atomicMin(bound, value);
}
__device__ void raise_to(long long* bound, long long value) {
  for (int step = 16; step > 0; step /= 2) value = max(value, __shfl_xor_sync(0xffffffffU, value, step));
  if (threadIdx.x % 32 == 0 && value > *bound) atomicMax(bound, value);
}

/// Snaps points to the grid. Of detections outside it the lowest index is kept, so that the message does not
/// depend on timing.
__global__ void snap_kernel(const double* x, const double* y, const double* z, Index count,
                            double steps_per_um, GridPoint* points, Bounds* bounds,
                            unsigned long long* fault) {
  const Index k = gpu::thread_index();
  GridPoint p{0, 0, 0};
  if (k < count) {
    const bool good =
        snap(x[k], steps_per_um, p.x) & snap(y[k], steps_per_um, p.y) & snap(z[k], steps_per_um, p.z);
    if (!good) {
      atomicMin(fault, static_cast<unsigned long long>(k));
      p = {0, 0, 0};
    }
    points[k] = p;
  }
  lower_to(&bounds->low[0], p.x), lower_to(&bounds->low[1], p.y), lower_to(&bounds->low[2], p.z);
  raise_to(&bounds->high[0], p.x), raise_to(&bounds->high[1], p.y), raise_to(&bounds->high[2], p.z);
}

__global__ void table_kernel(Index count, const Bounds* bounds, CellTable* table, Loaded* loaded) {
  const long long *low = bounds->low, *high = bounds->high;
  *table = CellTable::of(count, {low[0], low[1], low[2]}, {high[0], high[1], high[2]});
  loaded->most_in_slot = 0;
}

/// Counts the points of each slot; the old value of the counter is the point's place in its slot.
__global__ void slot_kernel(const GridPoint* points, Index count, const CellTable* table, Index* slot_count,
                            Index* slot, Index* rank, Loaded* loaded) {
  const Index k = gpu::thread_index();
  long long in_slot = 0;
  if (k < count) {
    slot[k] = static_cast<Index>(table->slot(points[k]));
    rank[k] = atomicAdd(&slot_count[slot[k]], 1);
    in_slot = rank[k] + 1LL;
  }
  raise_to(&loaded->most_in_slot, in_slot);
}

__global__ void place_kernel(const GridPoint* points, Index count, const Index* starts, const Index* slot,
                             const Index* rank, GridPoint* sorted, Index* detection) {
  const Index k = gpu::thread_index();
  if (k >= count) return;
  const Index place = starts[slot[k]] + rank[k];
  sorted[place] = points[k];
  detection[place] = k;
}

/// The results of the count that the host needs.
struct Counted {
  unsigned long long candidates;  ///< exact up to the limit; beyond it, only known to exceed it
  unsigned long long long_rows;
};

__global__ void count_kernel(FrameView rows, FrameView cols, unsigned long long limit, Index* row_count,
                             Index* long_rows, Counted* counted) {
  const Index r = gpu::thread_index();
  // Beyond the limit an error is reported and counting stops.
  const bool active =
      r < rows.count && *const_cast<volatile unsigned long long*>(&counted->candidates) <= limit;
  Index found = 0;
  if (active) {
    const CellTable table = *cols.table;
    for_each_in_gate(table, cols.slotted, rows.slotted.points[r], [&](Index, std::int64_t) { ++found; });
    const Index row = rows.detection[r];
    row_count[row] = found;
    if (found > kShortRow) long_rows[atomicAdd(&counted->long_rows, 1ULL)] = row;
  }
  unsigned long long all = static_cast<unsigned long long>(found);
  for (int step = 16; step > 0; step /= 2) all += __shfl_xor_sync(0xffffffffU, all, step);
  if (threadIdx.x % 32 == 0 && all > 0) atomicAdd(&counted->candidates, all);
}

struct Fill {
  FrameView rows, cols;
  LinkCost kind;
  const Offset* offsets;
  Index* col_index;
  Cost* cost;
};

__global__ void fill_kernel(Fill fill) {
  const Index r = gpu::thread_index();
  if (r >= fill.rows.count) return;
  const Index row = fill.rows.detection[r];
  const Offset begin = fill.offsets[row];
  const auto count = static_cast<Index>(fill.offsets[row + 1] - begin);
  if (count == 0) return;
  const CellTable table = *fill.cols.table;
  const GridPoint p = fill.rows.slotted.points[r];
  const std::uint64_t row_hash = hash_of(p);
  const auto cost_of = [&](Index place, std::int64_t squared) {
    const double root = fill.kind == LinkCost::squared ? 0 : sqrt(static_cast<double>(squared));
    return candidate_cost(fill.kind, squared, root, row_hash, hash_of(fill.cols.slotted.points[place]));
  };
  Index found = 0;
  if (count > kShortRow) {
    for_each_in_gate(table, fill.cols.slotted, p, [&](Index place, std::int64_t squared) {
      fill.col_index[begin + found] = fill.cols.detection[place];
      fill.cost[begin + found] = cost_of(place, squared);
      ++found;
    });
    return;
  }
  // Insertion sort by column; squared distances are computed again instead of moved.
  std::uint64_t key[kShortRow];
  key[0] = 0;  // avoids a false warning of nvcc
  for_each_in_gate(table, fill.cols.slotted, p, [&](Index place, std::int64_t) {
    const std::uint64_t mine =
        (static_cast<std::uint64_t>(fill.cols.detection[place]) << 32) | static_cast<std::uint32_t>(place);
    Index k = found++;
    for (; k > 0 && key[k - 1] > mine; --k) key[k] = key[k - 1];
    key[k] = mine;
  });
  for (Index k = 0; k < count; ++k) {
    const auto place = static_cast<Index>(key[k] & 0xffffffffU);
    const GridPoint q = fill.cols.slotted.points[place];
    const std::int64_t dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    fill.col_index[begin + k] = static_cast<Index>(key[k] >> 32);
    fill.cost[begin + k] = cost_of(place, dx * dx + dy * dy + dz * dz);
  }
}

/// Bitonic sort by one warp for any length; missing elements beyond the end count as largest.
__device__ void sort_by_column(Index* col, Cost* cost, int count, int lane) {
  int padded = 1;
  while (padded < count) padded *= 2;
  const auto order = [&](int a, int b) {
    if (b >= count || col[a] < col[b]) return;
    const Index c = col[a];
    col[a] = col[b], col[b] = c;
    const Cost d = cost[a];
    cost[a] = cost[b], cost[b] = d;
  };
  for (int size = 2; size <= padded; size *= 2) {
    const int half = size / 2;
    for (int i = lane; i < padded / 2; i += 32) {
      const int first = i / half * size, offset = i % half;
      order(first + offset, first + size - 1 - offset);
    }
    __syncwarp();
    for (int step = half / 2; step > 0; step /= 2) {
      for (int i = lane; i < padded / 2; i += 32) {
        const int a = i / step * 2 * step + i % step;
        order(a, a + step);
      }
      __syncwarp();
    }
  }
}

__global__ void __launch_bounds__(kSortingThreads)
    sort_long_rows_kernel(const Index* long_rows, Index rows, const Offset* offsets, Index* col_index,
                          Cost* cost) {
  __shared__ Index staged_col[kSortingThreads / 32][kStagedRow];
  __shared__ Cost staged_cost[kSortingThreads / 32][kStagedRow];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const Index mine = static_cast<Index>(blockIdx.x) * (kSortingThreads / 32) + warp;
  if (mine >= rows) return;
  const Offset begin = offsets[long_rows[mine]];
  const auto count = static_cast<int>(offsets[long_rows[mine] + 1] - begin);
  if (count > kStagedRow) {
    sort_by_column(col_index + begin, cost + begin, count, lane);
    return;
  }
  for (int k = lane; k < count; k += 32) {
    staged_col[warp][k] = col_index[begin + k];
    staged_cost[warp][k] = cost[begin + k];
  }
  __syncwarp();
  sort_by_column(staged_col[warp], staged_cost[warp], count, lane);
  for (int k = lane; k < count; k += 32) {
    col_index[begin + k] = staged_col[warp][k];
    cost[begin + k] = staged_cost[warp][k];
  }
}

__global__ void fill_cost_kernel(Cost* cost, Index count, Cost value) {
  const Index k = gpu::thread_index();
  if (k < count) cost[k] = value;
}

/// out[k] = the sum of in[0..k), for k < count; CUB asks for scratch first.
template <class In, class Out>
void exclusive_sum(gpu::Arena& arena, const In* in, Out* out, std::int64_t count) {
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    MOTES_CUDA(cub::DeviceScan::ExclusiveScan(scratch, bytes, in, out, ::cuda::std::plus<>{}, Out{0}, count,
                                              arena.stream()));
  };
  scan(nullptr);
  scan(arena.take<char>(bytes));
}

template <class T>
std::span<const T> device_span(const T* data, std::int64_t count) {
  return {data, static_cast<std::size_t>(count)};
}

}  // namespace

namespace detail {

struct FrameMemory {
  explicit FrameMemory(int device) : arena(device) {}
  gpu::Arena arena;
  FrameView view;
};

struct GraphMemory {
  explicit GraphMemory(int device) : arena(device) {}
  gpu::Arena arena;
};

}  // namespace detail

DeviceFrame::DeviceFrame(int device) : memory_(std::make_unique<detail::FrameMemory>(device)) {}
DeviceFrame::~DeviceFrame() = default;
DeviceFrame::DeviceFrame(DeviceFrame&&) noexcept = default;
DeviceFrame& DeviceFrame::operator=(DeviceFrame&&) noexcept = default;

void DeviceFrame::load(const Execution& execution, const Detections& detections,
                       const CandidateTerms& terms) {
  gpu::Arena& arena = memory_->arena;
  arena.reset();
  const auto count = static_cast<Index>(detections.size());
  const auto n = static_cast<std::size_t>(count);
  const std::size_t slots = CellTable::slots_for(count);
  // Pinned memory is slow to allocate, so the caller's is used instead of one for each frame.
  gpu::Arena& lender = execution.workspace != nullptr ? execution.workspace->arena(execution.device) : arena;
  gpu::StagedUpload upload(arena, lender, 3 * n * sizeof(double), thread_count(execution));
  const double* x = upload(std::span<const double>(detections.x_um));
  const double* y = upload(std::span<const double>(detections.y_um));
  const double* z = upload(std::span<const double>(detections.z_um));
  auto* points = arena.take<GridPoint>(n);
  auto* sorted = arena.take<GridPoint>(n);
  auto* slot = arena.take<Index>(n);
  auto* rank = arena.take<Index>(n);
  auto* detection = arena.take<Index>(n);
  auto* starts = arena.take_filled<Index>(slots + 1, 0);
  auto* bounds = arena.take_filled<Bounds>(1, 0);
  auto* loaded = arena.take_filled<Loaded>(1, 0xff);
  auto* table = arena.take<CellTable>(1);
  const int blocks = blocks_for(count);
  const cudaStream_t stream = arena.stream();
  snap_kernel<<<blocks, kThreads, 0, stream>>>(x, y, z, count, terms.steps_per_um, points, bounds,
                                               &loaded->fault);
  table_kernel<<<1, 1, 0, stream>>>(count, bounds, table, loaded);
  slot_kernel<<<blocks, kThreads, 0, stream>>>(points, count, table, starts, slot, rank, loaded);
  exclusive_sum(arena, starts, starts, static_cast<std::int64_t>(slots) + 1);
  place_kernel<<<blocks, kThreads, 0, stream>>>(points, count, starts, slot, rank, sorted, detection);
  MOTES_CUDA_LAUNCHED();
  const Loaded found = arena.download(loaded, 1)[0];
  if (found.fault != kNoFault)
    refuse_position(detections, static_cast<std::size_t>(found.fault), terms.steps_per_um);
  most_in_slot_ = static_cast<std::size_t>(found.most_in_slot);
  memory_->view = {count, table, {starts, sorted}, detection};
}

DeviceCandidates::DeviceCandidates(int device) : memory_(std::make_unique<detail::GraphMemory>(device)) {}
DeviceCandidates::~DeviceCandidates() = default;
DeviceCandidates::DeviceCandidates(DeviceCandidates&&) noexcept = default;
DeviceCandidates& DeviceCandidates::operator=(DeviceCandidates&&) noexcept = default;

DeviceCandidateGraph DeviceCandidates::build(const DeviceFrame& from_frame, const DeviceFrame& to_frame,
                                             const CandidateOptions& options, const CandidateTerms& terms,
                                             const Detections& from, const Detections& to) {
  gpu::Arena& arena = memory_->arena;
  arena.reset();
  const cudaStream_t stream = arena.stream();
  const FrameView &rows = from_frame.memory().view, &cols = to_frame.memory().view;
  std::int64_t limit = options.max_candidates;
  if (limit <= 0) {
    std::size_t free = 0, total = 0;
    MOTES_CUDA(cudaMemGetInfo(&free, &total));
    limit = static_cast<std::int64_t>((free + arena.bytes()) / 4 / (sizeof(Index) + sizeof(Cost)));
  }
  const auto row_places = static_cast<std::size_t>(rows.count) + 1;
  auto* row_count = arena.take_filled<Index>(row_places, 0);
  auto* long_rows = arena.take<Index>(row_places);
  auto* counted = arena.take_filled<Counted>(1, 0);
  auto* offsets = arena.take<Offset>(row_places);
  auto* row_cost = arena.take<Cost>(row_places);
  auto* col_cost = arena.take<Cost>(static_cast<std::size_t>(cols.count) + 1);
  count_kernel<<<blocks_for(rows.count), kThreads, 0, stream>>>(
      rows, cols, static_cast<unsigned long long>(limit), row_count, long_rows, counted);
  exclusive_sum(arena, row_count, offsets, static_cast<std::int64_t>(row_places));
  fill_cost_kernel<<<blocks_for(rows.count), kThreads, 0, stream>>>(row_cost, rows.count, terms.free_cost);
  fill_cost_kernel<<<blocks_for(cols.count), kThreads, 0, stream>>>(col_cost, cols.count, terms.free_cost);
  MOTES_CUDA_LAUNCHED();
  auto* found = static_cast<Counted*>(arena.pinned());
  MOTES_CUDA(cudaMemcpyAsync(found, counted, sizeof *found, cudaMemcpyDeviceToHost, stream));
  arena.synchronize();
  const auto edges = static_cast<std::int64_t>(found->candidates);
  const auto long_count = static_cast<Index>(found->long_rows);
  if (edges > limit) refuse_candidates(from, to, options.gate, limit);

  auto* col_index = arena.take<Index>(static_cast<std::size_t>(edges));
  auto* cost = arena.take<Cost>(static_cast<std::size_t>(edges));
  fill_kernel<<<blocks_for(rows.count), kThreads, 0, stream>>>(
      {rows, cols, options.cost, offsets, col_index, cost});
  MOTES_CUDA_LAUNCHED();
  if (long_count > 0) {
    constexpr Index kRows = kSortingThreads / 32;
    sort_long_rows_kernel<<<(long_count + kRows - 1) / kRows, kSortingThreads, 0, stream>>>(
        long_rows, long_count, offsets, col_index, cost);
    MOTES_CUDA_LAUNCHED();
  }
  arena.synchronize();

  DeviceCandidateGraph out;
  out.cost_unit = terms.cost_unit;
  out.costs.graph = {rows.count, cols.count, device_span(offsets, rows.count + std::int64_t{1}),
                     device_span(col_index, edges)};
  out.costs.cost = device_span(cost, edges);
  out.costs.unmatched_row_cost = device_span(row_cost, rows.count);
  out.costs.unmatched_col_cost = device_span(col_cost, cols.count);
  out.costs.space = matching::Space::device;
  return out;
}

CandidateGraph copy_to_host(const DeviceCandidateGraph& graph) {
  return {matching::copy_to_host(graph.costs), graph.cost_unit};
}

}  // namespace motes::tracking
