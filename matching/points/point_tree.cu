/// Build: a key on the curve for each point, relative to the bounding box of all; a stable radix sort. If
/// more points than fit into a leaf share a key although they differ (two clusters far apart, an outlier that
/// stretches the box), all runs of equal keys get new keys relative to the run's box, and the sort is
/// repeated with the run as the leading key. Every repetition resolves another 2^21 along each axis, so
/// three are enough for doubles of one magnitude; after kMostCuts the rest stays as it is, which only affects
/// speed.

#include <algorithm>
#include <cmath>
#include <limits>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/points/hilbert_curve.h"
#include "matching/points/point_bounds.cuh"
#include "matching/points/point_tree.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffU;
constexpr int kMostCuts = 4;
/// Coordinates must be below this, so that sums of squares of differences do not overflow.
constexpr double kFinite = 1e300;
constexpr double kNone = std::numeric_limits<double>::infinity();

using Ordered = unsigned long long;

/// Doubles as unsigned numbers of the same order, so that atomics can take minima.
__device__ Ordered to_ordered(double value) {
  const auto bits = static_cast<Ordered>(__double_as_longlong(value));
  return (bits >> 63) != 0 ? ~bits : bits | (Ordered{1} << 63);
}
__host__ __device__ double from_ordered(Ordered bits) {
  const Ordered raw = (bits >> 63) != 0 ? bits & ~(Ordered{1} << 63) : ~bits;
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(raw));
#else
  return std::bit_cast<double>(raw);
#endif
}

using gpu::thread_index;
using gpu::thread_total;

/// Least and greatest of each axis, as ordered numbers: [low x, y, z, ~high x, y, z], all by minimum, so that
/// bytes of all ones are the empty box.
struct OrderedBox {
  Ordered side[6];
};

__device__ double warp_least(double value) {
  for (int step = 16; step > 0; step /= 2) value = fmin(value, __shfl_xor_sync(kAll, value, step));
  return value;
}

__global__ void bounds_kernel(const double* x, const double* y, const double* z, Index count, OrderedBox* box,
                              int* unfinite) {
  double side[6] = {kNone, kNone, kNone, kNone, kNone, kNone};
  bool bad = false;
  for (Index i = thread_index(); i < count; i += thread_total()) {
    const double p[3] = {x[i], y[i], z == nullptr ? 0.0 : z[i]};
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      bad = bad || !(fabs(p[axis]) < kFinite);
      side[axis] = fmin(side[axis], p[axis]);
      side[axis + 3] = fmin(side[axis + 3], -p[axis]);
    }
  }
  if (bad && unfinite != nullptr) *unfinite = 1;  // all write the same
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    const double least = warp_least(side[k]);
    if (threadIdx.x % 32 == 0 && least != kNone) atomicMin(&box->side[k], to_ordered(least));
  }
}

/// The key of a point within a box, extended to a cube, so that flat boxes are not divided along their
/// thickness.
__device__ Ordered key_in(const OrderedBox& box, double x, double y, double z) {
  const double p[3] = {x, y, z};
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis)
    extent = fmax(extent, -from_ordered(box.side[axis + 3]) - from_ordered(box.side[axis]));
  const double cells = extent > 1e-280 ? (1 << kCurveBits) / extent : 0;
  std::uint32_t cell[3];
  for (int axis = 0; axis < 3; ++axis)
    cell[axis] = min(static_cast<std::uint32_t>((p[axis] - from_ordered(box.side[axis])) * cells),
                     (1U << kCurveBits) - 1);
  return curve_place(cell[0], cell[1], cell[2]);
}

__global__ void keys_kernel(const double* x, const double* y, const double* z, Index count,
                            const OrderedBox* box, Ordered* key, Index* place) {
  for (Index i = thread_index(); i < count; i += thread_total()) {
    key[i] = key_in(*box, x[i], y[i], z == nullptr ? 0.0 : z[i]);
    place[i] = i;
  }
}

/// Checks whether a key repeats over more than a leaf with different points. It suffices to compare
/// neighbours of a run.
__global__ void crowded_kernel(const Ordered* key, const Index* place, const double* x, const double* y,
                               const double* z, Index count, int* crowded) {
  for (Index k = thread_index() + PointTreeView::kFanout; k < count; k += thread_total()) {
    if (key[k] != key[k - PointTreeView::kFanout]) continue;
    const Index a = place[k], b = place[k - 1];
    if (x[a] != x[b] || y[a] != y[b] || (z != nullptr && z[a] != z[b])) *crowded = 1;  // all write the same
  }
}

__global__ void heads_kernel(const Ordered* key, Index count, Index* head) {
  for (Index k = thread_index(); k < count; k += thread_total()) head[k] = k > 0 && key[k] != key[k - 1];
}

/// Boxes of runs; lanes of one run are combined before they access memory.
__global__ void run_bounds_kernel(const Index* place, const Index* run, const double* x, const double* y,
                                  const double* z, Index count, OrderedBox* box) {
  const Index whole = (count + 31) / 32 * 32;
  for (Index k = thread_index(); k < whole; k += thread_total()) {
    const Index mine = k < count ? run[k] : -1;
    const Index i = k < count ? place[k] : 0;
    const double p[3] = {x[i], y[i], z == nullptr ? 0.0 : z[i]};
    const bool one = __all_sync(kAll, mine == __shfl_sync(kAll, mine, 0));
    for (int side = 0; side < 6; ++side) {
      double least = side < 3 ? p[side] : -p[side - 3];
      if (one) least = warp_least(least);
      if (mine != -1 && (!one || threadIdx.x % 32 == 0)) atomicMin(&box[mine].side[side], to_ordered(least));
    }
  }
}
__global__ void run_keys_kernel(const Index* place, const Index* run, const double* x, const double* y,
                                const double* z, Index count, const OrderedBox* box, Ordered* key) {
  for (Index k = thread_index(); k < count; k += thread_total()) {
    const Index i = place[k];
    key[k] = key_in(box[run[k]], x[i], y[i], z == nullptr ? 0.0 : z[i]);
  }
}
/// Keys that two equal neighbours share exactly when they share run and key within it.
__global__ void join_keys_kernel(const Index* run, const Ordered* key, Index count, Index* differs) {
  for (Index k = thread_index(); k < count; k += thread_total())
    differs[k] = k > 0 && (run[k] != run[k - 1] || key[k] != key[k - 1]);
}
__global__ void widen_kernel(const Index* run, Index count, Ordered* key) {
  for (Index k = thread_index(); k < count; k += thread_total()) key[k] = static_cast<Ordered>(run[k]);
}
__global__ void gather_kernel(const Index* from, const Index* by, Index count, Index* to) {
  for (Index k = thread_index(); k < count; k += thread_total()) to[k] = from[by[k]];
}
__global__ void gather_keys_kernel(const Ordered* from, const Index* by, Index count, Ordered* to) {
  for (Index k = thread_index(); k < count; k += thread_total()) to[k] = from[by[k]];
}
__global__ void iota_kernel(Index count, Index* to) {
  for (Index k = thread_index(); k < count; k += thread_total()) to[k] = k;
}

struct Sorted {
  double *x, *y, *z;
  double* side[6];  ///< [nodes] low, then high
};

/// Coordinates in the order, and the leaves' boxes; a warp per leaf.
__global__ void leaves_kernel(const Index* place, const double* x, const double* y, const double* z,
                              Index count, Sorted out) {
  const Index whole = (count + 31) / 32 * 32;
  for (Index k = thread_index(); k < whole; k += thread_total()) {
    double p[3] = {kNone, kNone, kNone}, q[3] = {kNone, kNone, kNone};
    if (k < count) {
      const Index i = place[k];
      p[0] = out.x[k] = x[i];
      p[1] = out.y[k] = y[i];
      p[2] = out.z[k] = z == nullptr ? 0.0 : z[i];
      for (int axis = 0; axis < 3; ++axis) q[axis] = -p[axis];
    }
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const double low = warp_least(p[axis]), high = -warp_least(q[axis]);
      if (threadIdx.x % 32 == 0) out.side[axis][k / 32] = low, out.side[axis + 3][k / 32] = high;
    }
  }
}

/// Boxes of one level from those of the level below; a warp per node.
__global__ void nodes_kernel(Sorted out, Index below_begin, Index below_size, Index begin) {
  const Index whole = (below_size + 31) / 32 * 32;
  for (Index k = thread_index(); k < whole; k += thread_total()) {
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const bool there = k < below_size;
      const double low = warp_least(there ? out.side[axis][below_begin + k] : kNone);
      const double high = -warp_least(there ? -out.side[axis + 3][below_begin + k] : kNone);
      if (threadIdx.x % 32 == 0)
        out.side[axis][begin + k / 32] = low, out.side[axis + 3][begin + k / 32] = high;
    }
  }
}

/// Sorts keys, and places with them; the arrays swap roles.
class KeySort {
 public:
  KeySort(gpu::Arena& arena, Index count) : arena_(arena), count_(count) {
    const auto n = static_cast<std::size_t>(count);
    for (int k = 0; k < 2; ++k) key_[k] = arena.take<Ordered>(n), place_[k] = arena.take<Index>(n);
    cub::DoubleBuffer<Ordered> keys(key_[0], key_[1]);
    cub::DoubleBuffer<Index> places(place_[0], place_[1]);
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes_, keys, places, count_, 0, 3 * kCurveBits,
                                               arena.stream()));
    scratch_ = arena.take<char>(bytes_);
  }
  void sort(int bits) {
    cub::DoubleBuffer<Ordered> keys(key_[0], key_[1]);
    cub::DoubleBuffer<Index> places(place_[0], place_[1]);
    MOTES_CUDA(
        cub::DeviceRadixSort::SortPairs(scratch_, bytes_, keys, places, count_, 0, bits, arena_.stream()));
    if (keys.Current() != key_[0]) std::swap(key_[0], key_[1]);
    if (places.Current() != place_[0]) std::swap(place_[0], place_[1]);
  }
  Ordered* key() const { return key_[0]; }
  Index* place() const { return place_[0]; }

 private:
  gpu::Arena& arena_;
  Index count_;
  Ordered* key_[2];
  Index* place_[2];
  std::size_t bytes_ = 0;
  char* scratch_ = nullptr;
};

int blocks_for(const gpu::Arena& arena, Index count) {
  return std::clamp((count + kThreads - 1) / kThreads, 1, 16 * arena.multiprocessors());
}

/// The cuts of the header: order within runs of equal keys. `sorted` holds keys and places by them.
void cut_runs(gpu::Arena& arena, const double* x, const double* y, const double* z, Index count,
              KeySort& sorted) {
  const auto n = static_cast<std::size_t>(count);
  const int blocks = blocks_for(arena, count);
  const auto stream = arena.stream();
  Index* place = arena.take<Index>(n);
  Index* run = arena.take<Index>(n);
  Index* other = arena.take<Index>(n);
  Ordered* fresh = arena.take<Ordered>(n);
  auto* box = arena.take<OrderedBox>(n);
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, other, run, count, stream));
  char* scratch = arena.take<char>(bytes);
  const auto number_runs = [&] {
    MOTES_CUDA(cub::DeviceScan::InclusiveSum(scratch, bytes, other, run, count, stream));
  };
  heads_kernel<<<blocks, kThreads, 0, stream>>>(sorted.key(), count, other);
  number_runs();
  MOTES_CUDA(cudaMemcpyAsync(place, sorted.place(), n * sizeof(Index), cudaMemcpyDeviceToDevice, stream));
  int* crowded = arena.take<int>(1);
  for (int cut = 0; cut < kMostCuts; ++cut) {
    MOTES_CUDA(cudaMemsetAsync(box, 0xff, n * sizeof(OrderedBox), stream));
    run_bounds_kernel<<<blocks, kThreads, 0, stream>>>(place, run, x, y, z, count, box);
    run_keys_kernel<<<blocks, kThreads, 0, stream>>>(place, run, x, y, z, count, box, fresh);
    // Least significant first: by the key within the run, then, stably, by the run.
    MOTES_CUDA(cudaMemcpyAsync(sorted.key(), fresh, n * sizeof(Ordered), cudaMemcpyDeviceToDevice, stream));
    iota_kernel<<<blocks, kThreads, 0, stream>>>(count, sorted.place());
    sorted.sort(3 * kCurveBits);
    gather_kernel<<<blocks, kThreads, 0, stream>>>(run, sorted.place(), count, other);
    widen_kernel<<<blocks, kThreads, 0, stream>>>(other, count, sorted.key());
    sorted.sort(32);
    // `sorted.place` permutes the earlier order; runs keep their places, so `run` stays, and keys and places
    // move.
    gather_kernel<<<blocks, kThreads, 0, stream>>>(place, sorted.place(), count, other);
    gather_keys_kernel<<<blocks, kThreads, 0, stream>>>(fresh, sorted.place(), count, sorted.key());
    MOTES_CUDA(cudaMemcpyAsync(place, other, n * sizeof(Index), cudaMemcpyDeviceToDevice, stream));
    join_keys_kernel<<<blocks, kThreads, 0, stream>>>(run, sorted.key(), count, other);
    number_runs();
    MOTES_CUDA(cudaMemsetAsync(crowded, 0, sizeof(int), stream));
    widen_kernel<<<blocks, kThreads, 0, stream>>>(run, count, sorted.key());
    crowded_kernel<<<blocks, kThreads, 0, stream>>>(sorted.key(), place, x, y, z, count, crowded);
    MOTES_CUDA_LAUNCHED();
    if (arena.download(crowded, 1)[0] == 0) break;
  }
  MOTES_CUDA(cudaMemcpyAsync(sorted.place(), place, n * sizeof(Index), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

PointTreeView build_point_tree(gpu::Arena& arena, const double* x, const double* y, const double* z,
                               Index count) {
  PointTreeView tree;
  tree.count = count;
  if (count == 0) return tree;
  const auto n = static_cast<std::size_t>(count);
  const auto stream = arena.stream();
  const int blocks = blocks_for(arena, count);
  auto* box = arena.take_filled<OrderedBox>(1, 0xff);
  int* crowded = arena.take_filled<int>(1, 0);
  KeySort sorted(arena, count);
  bounds_kernel<<<blocks, kThreads, 0, stream>>>(x, y, z, count, box, nullptr);
  keys_kernel<<<blocks, kThreads, 0, stream>>>(x, y, z, count, box, sorted.key(), sorted.place());
  MOTES_CUDA_LAUNCHED();
  sorted.sort(3 * kCurveBits);
  if (count > PointTreeView::kFanout) {
    crowded_kernel<<<blocks, kThreads, 0, stream>>>(sorted.key(), sorted.place(), x, y, z, count, crowded);
    MOTES_CUDA_LAUNCHED();
    if (arena.download(crowded, 1)[0] != 0) cut_runs(arena, x, y, z, count, sorted);
  }
  Index size = count;
  do {
    size = (size + PointTreeView::kFanout - 1) / PointTreeView::kFanout;
    tree.level_begin[tree.levels + 1] = tree.level_begin[tree.levels] + size;
    ++tree.levels;
  } while (size > PointTreeView::kFanout);
  tree.nodes = tree.level_begin[tree.levels];
  const auto nodes = static_cast<std::size_t>(tree.nodes);
  Sorted out{arena.take<double>(n), arena.take<double>(n), arena.take<double>(n), {}};
  for (double*& side : out.side) side = arena.take<double>(nodes);
  leaves_kernel<<<blocks, kThreads, 0, stream>>>(sorted.place(), x, y, z, count, out);
  MOTES_CUDA_LAUNCHED();
  for (int level = 1; level < tree.levels; ++level) {
    const Index below = tree.level_begin[level] - tree.level_begin[level - 1];
    nodes_kernel<<<blocks_for(arena, below), kThreads, 0, stream>>>(out, tree.level_begin[level - 1], below,
                                                                    tree.level_begin[level]);
    MOTES_CUDA_LAUNCHED();
  }
  tree.x = out.x, tree.y = out.y, tree.z = out.z;
  tree.original = sorted.place();
  for (int axis = 0; axis < 3; ++axis) tree.low[axis] = out.side[axis], tree.high[axis] = out.side[axis + 3];
  return tree;
}

detail::PairOfBounds bounds_on_device(gpu::Arena& arena, const detail::GeometricEntries& e) {
  struct Found {
    OrderedBox row, col;
  };
  auto* found = arena.take_filled<Found>(1, 0xff);
  int* unfinite = arena.take_filled<int>(2, 0);
  const auto stream = arena.stream();
  if (e.rows > 0)
    bounds_kernel<<<blocks_for(arena, e.rows), kThreads, 0, stream>>>(e.row_x, e.row_y, e.row_z, e.rows,
                                                                      &found->row, unfinite);
  if (e.cols > 0)
    bounds_kernel<<<blocks_for(arena, e.cols), kThreads, 0, stream>>>(e.col_x, e.col_y, e.col_z, e.cols,
                                                                      &found->col, unfinite + 1);
  MOTES_CUDA_LAUNCHED();
  const auto host = arena.download(found, 1)[0];
  const auto bad = arena.download(unfinite, 2);
  const auto bounds = [](const OrderedBox& box, Index count, bool finite) {
    detail::PointBounds out{};
    for (int axis = 0; axis < 3; ++axis) {
      out.low[axis] = count == 0 ? kNone : from_ordered(box.side[axis]);
      out.high[axis] = count == 0 ? -kNone : -from_ordered(box.side[axis + 3]);
    }
    out.finite = finite;
    return out;
  };
  return {bounds(host.row, e.rows, bad[0] == 0), bounds(host.col, e.cols, bad[1] == 0)};
}

}  // namespace motes::matching::device
