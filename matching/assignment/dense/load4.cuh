#pragma once
/// Reads rows of a matrix four entries at a time.

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::device {

/// Row i's costs at columns j to j + 3, loaded but not used yet, so that many loads can be in flight.
template <class Entries>
struct Load4 {
  Cost cost[4];
  __device__ Load4() = default;
  __device__ Load4(const Entries& e, bool, Index i, Index j) {
#pragma unroll
    for (int k = 0; k < 4; ++k) cost[k] = j + k < e.cols ? e.at(i, j + k) : kInfiniteCost;
  }
  /// Any number where the pair is forbidden.
  __device__ Cost value(const Entries&, int k) const { return cost[k]; }
  __device__ bool allowed(int k) const { return cost[k] != kInfiniteCost; }
};
template <class T>
struct Load4<detail::DenseEntries<T>> {
  T raw[4];
  __device__ Load4() = default;
  /// Reads 16 bytes at a time if `vectors`.
  __device__ Load4(const detail::DenseEntries<T>& e, bool vectors, Index i, Index j) {
    const T* from = e.data + i * e.row_stride + j;
    if (vectors && j + 4 <= e.cols) {
      constexpr int kLoads = sizeof raw / sizeof(int4);
      int4 part[kLoads];
#pragma unroll
      for (int k = 0; k < kLoads; ++k) part[k] = __ldg(reinterpret_cast<const int4*>(from) + k);
      memcpy(raw, part, sizeof raw);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) raw[k] = j + k < e.cols ? from[k * e.col_stride] : T{};
    }
  }
  __device__ Cost value(const detail::DenseEntries<T>& e, int k) const {
    if constexpr (std::is_integral_v<T>)
      return raw[k];
    else
      return detail::nearest(detail::multiply(raw[k], e.scale));
  }
  /// By the entry itself: the number on the grid need not be formed. NaN is allowed, for a check to see.
  __device__ bool allowed(int k) const {
    if constexpr (std::is_integral_v<T>)
      return raw[k] != std::numeric_limits<T>::max();
    else
      return !(raw[k] > std::numeric_limits<T>::max());
  }
};

/// Whether rows of this matrix can be read as vectors.
template <class T>
bool loads_four(const detail::DenseEntries<T>& e) {
  return e.col_stride == 1 && e.row_stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(e.data) % 16 == 0;
}
template <class Entries>
bool loads_four(const Entries&) {
  return false;
}

}  // namespace motes::matching::device
