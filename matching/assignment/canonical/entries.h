#pragma once
/// The entries of a cost matrix of any kind (sparse, dense, geometric) behind one small interface that CPU
/// and GPU code share:
///
///   rows, cols
///   at(i, j)                       cost on the integer grid; kInfiniteCost if the pair is forbidden
///   for_each(i, first, step, f)    f(j, cost) for allowed pairs first, first + step, ... of row i
///
/// (first, step) = (0, 1) visits a whole row; (lane, lanes) distributes a row over the lanes of a warp. All
/// classes are trivially copyable and hold plain pointers to host or device memory.

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>

#include <motes/base/host_device.h>
#include <motes/base/index.h>
#include <motes/matching/problem.h>

namespace motes::matching::detail {

// Double arithmetic without fused multiply-adds: on the host the compiler's flags see to that.
MOTES_HOST_DEVICE inline double multiply(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
MOTES_HOST_DEVICE inline double plus(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

/// Nearest integer, ties to even, for |x| <= kMaxGridCost; for anything else (NaN too) a number beyond it,
/// but never kInfiniteCost: check_problem must see it.
MOTES_HOST_DEVICE inline Cost nearest(double x) {
#ifdef __CUDA_ARCH__
  return __double2ll_rn(fmin(x, 0x1p61));  // the conversion would saturate at the mark of a forbidden pair
#else
  // Adding 3 * 2^51 leaves the integer in the low bits, rounded as the hardware rounds; unlike a library
  // call this vectorises.
  constexpr double kShift = 0x1.8p52;
  return static_cast<Cost>(std::bit_cast<std::uint64_t>(x + kShift) - std::bit_cast<std::uint64_t>(kShift));
#endif
}

MOTES_HOST_DEVICE inline Cost grid_value(std::int32_t c, double) {
  return c == INT32_MAX ? kInfiniteCost : c;
}
MOTES_HOST_DEVICE inline Cost grid_value(std::int64_t c, double) { return c; }
MOTES_HOST_DEVICE inline Cost grid_value(double c, double scale) {
  return c > 0x1.fffffffffffffp1023 ? kInfiniteCost : nearest(multiply(c, scale));
}
MOTES_HOST_DEVICE inline Cost grid_value(float c, double scale) {
  return c > 0x1.fffffep127f ? kInfiniteCost : nearest(multiply(c, scale));
}

struct SparseEntries {
  Index rows = 0, cols = 0;
  const Offset* offsets = nullptr;
  const Index* col_index = nullptr;
  const Cost* cost = nullptr;

  MOTES_HOST_DEVICE Cost at(Index i, Index j) const {
    Offset low = offsets[i], high = offsets[i + 1];
    while (low < high) {
      const Offset middle = (low + high) / 2;
      if (col_index[middle] < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low < offsets[i + 1] && col_index[low] == j ? cost[low] : kInfiniteCost;
  }
  template <class F>
  MOTES_HOST_DEVICE void for_each(Index i, Index first, Index step, F&& f) const {
    for (Offset e = offsets[i] + first, end = offsets[i + 1]; e < end; e += step) f(col_index[e], cost[e]);
  }
};

template <class T>
struct DenseEntries {
  Index rows = 0, cols = 0;
  const T* data = nullptr;
  Offset row_stride = 0, col_stride = 1;  ///< exchanged for the transposed problem
  double scale = 1;                       ///< 2^fraction_bits

  MOTES_HOST_DEVICE Cost at(Index i, Index j) const {
    return grid_value(data[i * row_stride + j * col_stride], scale);
  }
  template <class F>
  MOTES_HOST_DEVICE void for_each(Index i, Index first, Index step, F&& f) const {
    const Offset row = i * row_stride;  // not a pointer: a matrix without columns may have null
    for (Offset j = first; j < cols; j += step) {
      const Cost c = grid_value(data[row + j * col_stride], scale);
      if (c != kInfiniteCost) f(static_cast<Index>(j), c);
    }
  }
};

struct GeometricEntries {
  Index rows = 0, cols = 0;
  const double *row_x = nullptr, *row_y = nullptr, *row_z = nullptr;  ///< z: nullptr for points of a plane
  const double *col_x = nullptr, *col_y = nullptr, *col_z = nullptr;
  Metric metric = Metric::euclidean;
  double gate = 0;  ///< may be infinite
  double scale = 1;

  MOTES_HOST_DEVICE Cost at(Index i, Index j) const {
    const double dx = row_x[i] - col_x[j], dy = row_y[i] - col_y[j];
    const double dz = row_z == nullptr ? 0 : row_z[i] - col_z[j];
    return cost_of(plus(plus(multiply(dx, dx), multiply(dy, dy)), multiply(dz, dz)));
  }
  /// The cost of a pair at that squared distance.
  MOTES_HOST_DEVICE Cost cost_of(double squared) const {
    const double distance = sqrt(squared);
    if (distance > gate) return kInfiniteCost;
    return nearest(multiply(metric == Metric::squared ? squared : distance, scale));
  }
  template <class F>
  MOTES_HOST_DEVICE void for_each(Index i, Index first, Index step, F&& f) const {
    for (Offset j = first; j < cols; j += step) {
      const Cost c = at(i, static_cast<Index>(j));
      if (c != kInfiniteCost) f(static_cast<Index>(j), c);
    }
  }
};

/// 2^bits, exactly.
inline double scale_of(int fraction_bits) { return std::ldexp(1.0, fraction_bits); }

/// Calls f(entries) with the entries of that kind; pointers stay in the view's space.
template <class F>
auto with_entries(const CostsView& problem, F&& f) {
  return std::visit(
      [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        if constexpr (std::is_same_v<View, SparseCostsView>) {
          return f(SparseEntries{view.graph.rows, view.graph.cols, view.graph.row_offsets.data(),
                                 view.graph.col_index.data(), view.cost.data()});
        } else if constexpr (std::is_same_v<View, DenseCostsView>) {
          return std::visit(
              [&](const auto* data) {
                using T = std::decay_t<decltype(*data)>;
                return f(DenseEntries<T>{view.rows, view.cols, data, view.row_stride, 1,
                                         scale_of(view.fraction_bits)});
              },
              view.data);
        } else {
          const PointsView &r = view.row_points, &c = view.col_points;
          const bool flat = r.z.empty() && c.z.empty();
          return f(GeometricEntries{r.size(), c.size(), r.x.data(), r.y.data(), flat ? nullptr : r.z.data(),
                                    c.x.data(), c.y.data(), flat ? nullptr : c.z.data(), view.metric,
                                    view.gate, scale_of(view.fraction_bits)});
        }
      },
      problem);
}

/// The same entries with rows and columns exchanged; sparse ones must be transposed instead.
template <class T>
DenseEntries<T> exchanged(const DenseEntries<T>& e) {
  return {e.cols, e.rows, e.data, e.col_stride, e.row_stride, e.scale};
}
inline GeometricEntries exchanged(const GeometricEntries& e) {
  return {e.cols, e.rows, e.col_x, e.col_y, e.col_z, e.row_x, e.row_y, e.row_z, e.metric, e.gate, e.scale};
}

/// Rows [first, first + count), numbered from 0.
inline GeometricEntries block_of_rows(GeometricEntries e, Index first, Index count) {
  for (const double** axis : {&e.row_x, &e.row_y, &e.row_z})
    if (*axis != nullptr) *axis += first;
  e.rows = count;
  return e;
}

}  // namespace motes::matching::detail
