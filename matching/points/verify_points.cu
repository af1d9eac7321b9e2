/// Checks the tree itself, then every row's pairs against its dual, with bounds for whole nodes.

#include <algorithm>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/points/point_tree.cuh"
#include "matching/points/verify_points.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 128;
constexpr int kFanout = PointTreeView::kFanout;

using gpu::thread_index;
using gpu::thread_total;

__device__ double z_of(const double* z, Index j) { return z == nullptr ? 0.0 : z[j]; }

/// Checks that every column point is at exactly one place of the order, unchanged, and inside its leaf's box.
__global__ void check_points_kernel(PointTreeView tree, GeometricEntries e, int* seen, int* wrong) {
  for (Index k = thread_index(); k < e.cols; k += thread_total()) {
    const Index j = tree.original[k], leaf = k / kFanout;
    const bool known = j >= 0 && j < e.cols && atomicExch(seen + j, 1) == 0;
    const bool same =
        known && tree.x[k] == e.col_x[j] && tree.y[k] == e.col_y[j] && tree.z[k] == z_of(e.col_z, j);
    const bool inside = tree.low[0][leaf] <= tree.x[k] && tree.x[k] <= tree.high[0][leaf] &&
                        tree.low[1][leaf] <= tree.y[k] && tree.y[k] <= tree.high[1][leaf] &&
                        tree.low[2][leaf] <= tree.z[k] && tree.z[k] <= tree.high[2][leaf];
    if (!same || !inside) *wrong = 1;  // all write the same
  }
}
/// Checks that the boxes of a level lie inside those of the level above.
__global__ void check_boxes_kernel(PointTreeView tree, int level, int* wrong) {
  for (Index k = thread_index(); k < tree.level_size(level); k += thread_total()) {
    const Index node = tree.level_begin[level] + k, parent = tree.level_begin[level + 1] + k / kFanout;
    for (int axis = 0; axis < 3; ++axis)
      if (!(tree.low[axis][parent] <= tree.low[axis][node] &&
            tree.high[axis][node] <= tree.high[axis][parent]))
        *wrong = 1;  // all write the same
  }
}

/// The highest v of a leaf's points, and of a node's children.
__global__ void leaf_most_kernel(PointTreeView tree, const Cost* v, Cost* most) {
  for (Index leaf = thread_index(); leaf < tree.level_size(0); leaf += thread_total()) {
    Cost highest = v[tree.original[leaf * kFanout]];
    for (Index k = leaf * kFanout; k < min(tree.count, (leaf + 1) * kFanout); ++k)
      highest = max(highest, v[tree.original[k]]);
    most[leaf] = highest;
  }
}
__global__ void node_most_kernel(PointTreeView tree, int level, Cost* most) {
  for (Index node = thread_index(); node < tree.level_size(level); node += thread_total()) {
    const Cost* below = most + tree.level_begin[level - 1];
    Cost highest = below[node * kFanout];
    for (Index k = node * kFanout; k < min(tree.level_size(level - 1), (node + 1) * kFanout); ++k)
      highest = max(highest, below[k]);
    most[tree.level_begin[level] + node] = highest;
  }
}

/// A thread per row; depth first, children in order, storing only the current position.
__global__ void find_kernel(PointTreeView tree, GeometricEntries e, const Cost* u, const Cost* v,
                            const Cost* most, unsigned long long* least) {
  const int top = tree.levels - 1;
  for (Index i = thread_index(); i < e.rows; i += thread_total()) {
    if (*const_cast<volatile unsigned long long*>(least) >> 32 < static_cast<unsigned long long>(i))
      return;  // an earlier row has a fault, and the first one counts
    const Point p{e.row_x[i], e.row_y[i], z_of(e.row_z, i)};
    int level = top;
    Index node = 0;
    while (true) {
      const Index at = tree.level_begin[level] + node;
      const Cost nearest = e.cost_of(tree.squared_to(p, at));
      if (nearest != kInfiniteCost && static_cast<__int128>(u[i]) + most[at] > nearest) {
        if (level > 0) {
          --level, node *= kFanout;
          continue;
        }
        for (Index k = node * kFanout; k < min(tree.count, (node + 1) * kFanout); ++k) {
          const Index j = tree.original[k];
          const Cost c = e.at(i, j);
          if (c != kInfiniteCost && static_cast<__int128>(u[i]) + v[j] > c)
            atomicMin(least, (static_cast<unsigned long long>(i) << 32) | static_cast<unsigned>(j));
        }
      }
      ++node;
      while (level < top && (node % kFanout == 0 || node >= tree.level_size(level)))
        node = (node - 1) / kFanout + 1, ++level;
      if (node >= tree.level_size(level)) break;
    }
  }
}

int blocks_for(const gpu::Arena& arena, Index count) {
  return std::clamp((count + kThreads - 1) / kThreads, 1, 64 * arena.multiprocessors());
}

}  // namespace

void find_infeasible_points(gpu::Arena& arena, const GeometricEntries& e, const Cost* u, const Cost* v,
                            unsigned long long* least) {
  if (e.rows == 0 || e.cols == 0) return;
  const PointTreeView tree = build_point_tree(arena, e.col_x, e.col_y, e.col_z, e.cols);
  const auto stream = arena.stream();
  int* wrong = arena.take_filled<int>(1, 0);
  int* seen = arena.take_filled<int>(static_cast<std::size_t>(e.cols), 0);
  Cost* most = arena.take<Cost>(static_cast<std::size_t>(tree.nodes));
  check_points_kernel<<<blocks_for(arena, e.cols), kThreads, 0, stream>>>(tree, e, seen, wrong);
  leaf_most_kernel<<<blocks_for(arena, e.cols / kFanout), kThreads, 0, stream>>>(tree, v, most);
  for (int level = 0; level + 1 < tree.levels; ++level) {
    check_boxes_kernel<<<blocks_for(arena, e.cols / kFanout), kThreads, 0, stream>>>(tree, level, wrong);
    node_most_kernel<<<blocks_for(arena, e.cols / kFanout), kThreads, 0, stream>>>(tree, level + 1, most);
  }
  MOTES_CUDA_LAUNCHED();
  Index leaves = (e.cols + kFanout - 1) / kFanout;
  bool complete = tree.count == e.cols && tree.levels > 0 && tree.level_begin[0] == 0;
  for (int level = 0; level < tree.levels; ++level, leaves = (leaves + kFanout - 1) / kFanout)
    complete = complete && tree.level_begin[level + 1] - tree.level_begin[level] == leaves;
  if (!complete || arena.download(wrong, 1)[0] != 0)
    throw std::logic_error("verify: the tree of points does not hold every point");
  find_kernel<<<blocks_for(arena, e.rows), kThreads, 0, stream>>>(tree, e, u, v, most, least);
  MOTES_CUDA_LAUNCHED();
}

}  // namespace motes::matching::device
