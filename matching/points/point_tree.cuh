#pragma once
/// A tree of points on the device, with which a warp finds the points near a position without reading the
/// others.
///
/// The points are sorted along Hilbert's curve (hilbert_curve.h). Every 32 consecutive points are a leaf
/// with a bounding box, every 32 leaves are a node with the box around theirs, and so on: a tree without
/// pointers, whose nodes' children are adjacent, one for each lane of a warp. There is no cell size to
/// choose, so clusters, outliers, planes, lines and coincident points do not slow it down: if many different
/// points share a cell of the curve, that cell is divided again within its own box, until none is shared
/// (`Build` in point_tree.cu).
///
/// Distances to boxes are lower bounds to the last bit: rounding is monotonic, so the squared distance to a
/// box, computed like that to a point in detail::GeometricEntries, never exceeds that to a point inside.

#include <motes/base/gpu/arena.cuh>

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::device {

struct Point {
  double x, y, z;
};

/// A trivially copyable view, passed by value to kernels; all pointers are to device memory, valid until the
/// arena's next reset.
struct PointTreeView {
  static constexpr int kFanout = 32;
  static constexpr int kMaxLevels = 7;  ///< an eighth level would need more than 32^7 points

  Index count = 0;
  const double *x = nullptr, *y = nullptr, *z = nullptr;  ///< [count] in the order of the curve
  const Index* original = nullptr;           ///< [count] the caller's number of the point at a place
  int levels = 0;                            ///< 0 for no points; the top level has at most 32 nodes
  Index nodes = 0;                           ///< of all levels
  Index level_begin[kMaxLevels + 1] = {};    ///< level l's nodes, from the leaves' 0 up, in the arrays below
  const double *low[3] = {}, *high[3] = {};  ///< [nodes] boxes

  __device__ Index level_size(int level) const { return level_begin[level + 1] - level_begin[level]; }

  /// The squared distance of a place to a node's box, at most that to any point of it.
  __device__ double squared_to(Point p, Index node) const {
    const double dx = fmax(fmax(low[0][node] - p.x, p.x - high[0][node]), 0.0);
    const double dy = fmax(fmax(low[1][node] - p.y, p.y - high[1][node]), 0.0);
    const double dz = fmax(fmax(low[2][node] - p.z, p.z - high[2][node]), 0.0);
    return squared(dx, dy, dz);
  }
  /// The squared distance of a place to the k-th point of the order.
  __device__ double squared_to_point(Point p, Index k) const {
    return squared(p.x - x[k], p.y - y[k], p.z - z[k]);
  }
  static __device__ double squared(double dx, double dy, double dz) {
    using detail::multiply, detail::plus;
    return plus(plus(multiply(dx, dx), multiply(dy, dy)), multiply(dz, dz));
  }

  /// Walks the tree with a whole warp, in the order of the curve. near(node, squared) is called for nodes, by
  /// each lane for its own, with the squared distance of p to it; visit(leaf, k) is called by all lanes
  /// together for the leaves that are near, with k the lane's place in the order, or -1 past the end; near is
  /// called again just before.
  template <class Near, class Visit>
  __device__ void walk(Point p, Near&& near, Visit&& visit) const {
    constexpr unsigned kAll = 0xffffffffU;
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (levels == 0) return;
    // Lane l stores the pending work of level l: the children of a group.
    unsigned pending = 0;
    Index group = 0;
    int level = levels;
    Index first = 0;
    double squared = 0;  // of the lane's leaf in the current group of leaves
    for (bool descend = true;;) {
      if (descend) {
        --level;
        bool wanted = false;
        if (first + lane < level_size(level)) {
          const Index node = level_begin[level] + first + lane;
          squared = squared_to(p, node);
          wanted = near(node, squared);
        }
        const unsigned found = __ballot_sync(kAll, wanted);
        if (lane == level) pending = found, group = first;
      }
      const unsigned left = __shfl_sync(kAll, pending, level);
      descend = false;
      if (left == 0) {
        if (++level == levels) return;
        continue;
      }
      const int child = __ffs(static_cast<int>(left)) - 1;
      if (lane == level) pending &= pending - 1;
      const Index node = __shfl_sync(kAll, group, level) + child;
      if (level > 0) {
        first = node * kFanout;
        descend = true;
        continue;
      }
      if (!near(level_begin[0] + node, __shfl_sync(kAll, squared, child))) continue;
      const Index k = node * kFanout + lane;
      visit(node, k < count ? k : -1);
    }
  }

  /// A squared distance above which sqrt(squared) > distance in spite of rounding.
  static __device__ double beyond(double distance) { return distance * distance * (1 + 0x1p-40) + 0x1p-1022; }
};

/// Sorts the points and puts boxes around them. x, y, z: [count] device memory (z may be nullptr: a plane),
/// all finite. All its memory is taken from the arena, about 80 bytes per point; one or a few round trips to
/// the host. The order depends only on the points, not on timing. O(count).
PointTreeView build_point_tree(gpu::Arena& arena, const double* x, const double* y, const double* z,
                               Index count);

}  // namespace motes::matching::device
