#pragma once
/// A row of costs converted to 64-bit grid values, so that loops over it vectorise.

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::detail {

/// The cost of a forbidden pair: above every legal cost, and small enough to add two duals to.
inline constexpr Cost kForbiddenCost = Cost{1} << 61;

template <class T>
void fill_row(const DenseEntries<T>& e, Index i, Cost* out) {
  const T* row = e.data + i * e.row_stride;
  const Offset stride = e.col_stride;
  const auto put = [&](Index j, T value) {
    const Cost c = grid_value(value, e.scale);
    out[j] = c == kInfiniteCost ? kForbiddenCost : c;
  };
  if (stride == 1) {
    for (Index j = 0; j < e.cols; ++j) put(j, row[j]);
  } else {
    for (Index j = 0; j < e.cols; ++j) put(j, row[j * stride]);
  }
}

inline void fill_row(const GeometricEntries& e, Index i, Cost* out) {
  for (Index j = 0; j < e.cols; ++j) {
    const Cost c = e.at(i, j);
    out[j] = c == kInfiniteCost ? kForbiddenCost : c;
  }
}

}  // namespace motes::matching::detail
