#pragma once
/// Rows of a matrix in their own number type: what can be decided without going to the 64-bit grid, several
/// entries an instruction.

#include <cmath>
#include <limits>
#include <vector>

#include "matching/detail/entries.h"

namespace motes::matching::detail {

/// A number that rises with the cost of a pair, cheaper to have than the grid value: the entry itself, or the
/// squared distance.
template <class Entries>
struct KeyOf;
template <class T>
struct KeyOf<DenseEntries<T>> {
  using type = T;
};
template <>
struct KeyOf<GeometricEntries> {
  using type = double;
};
template <class Entries>
using Key = typename KeyOf<Entries>::type;

/// The largest key that is not the mark of a forbidden pair.
template <class K>
inline constexpr K kLastKey = std::numeric_limits<K>::has_infinity
                                  ? std::numeric_limits<K>::max()
                                  : static_cast<K>(std::numeric_limits<K>::max() - 1);

/// The keys of row i, [cols]: in place, or in the buffer.
template <class T>
const T* row_keys(const DenseEntries<T>& e, Index i, std::vector<T>& buffer) {
  const T* row = e.data + i * e.row_stride;
  if (e.col_stride == 1) return row;
  buffer.resize(static_cast<std::size_t>(e.cols));
  for (Index j = 0; j < e.cols; ++j) buffer[static_cast<std::size_t>(j)] = row[j * e.col_stride];
  return buffer.data();
}
inline const double* row_keys(const GeometricEntries& e, Index i, std::vector<double>& buffer) {
  buffer.resize(static_cast<std::size_t>(e.cols));
  double* out = buffer.data();
  const double x = e.row_x[i], y = e.row_y[i];
  if (e.row_z == nullptr) {
    for (Index j = 0; j < e.cols; ++j) {
      const double dx = x - e.col_x[j], dy = y - e.col_y[j];
      out[j] = dx * dx + dy * dy;
    }
    return out;
  }
  const double z = e.row_z[i];
  for (Index j = 0; j < e.cols; ++j) {
    const double dx = x - e.col_x[j], dy = y - e.col_y[j], dz = z - e.col_z[j];
    out[j] = (dx * dx + dy * dy) + dz * dz;
  }
  return out;
}

/// Calls take(j) for every j with key[j] <= limit, of which there are few.
template <class K, class Take>
void for_each_up_to(const K* key, Index count, K limit, Take&& take) {
  constexpr Index kBlock = 16;
  Index j = 0;
  for (; j + kBlock <= count; j += kBlock) {
    int any = 0;
    for (Index k = 0; k < kBlock; ++k) any |= key[j + k] <= limit;
    if (any == 0) continue;
    for (Index k = 0; k < kBlock; ++k)
      if (key[j + k] <= limit) take(j + k);
  }
  for (; j < count; ++j)
    if (key[j] <= limit) take(j);
}

/// The largest magnitude among the allowed entries of a row of floats or doubles, and whether one is NaN or
/// -infinity.
template <class T>
struct RowMagnitude {
  T largest = 0;
  bool bad = false;
};
template <class T>
RowMagnitude<T> row_magnitude(const T* row, Index count) {
  T largest = 0;
  int bad = 0;
  for (Index j = 0; j < count; ++j) {
    const T c = row[j];
    bad |= !(c >= -std::numeric_limits<T>::max());
    const T magnitude = c > std::numeric_limits<T>::max() ? T{0} : std::abs(c);
    largest = magnitude > largest ? magnitude : largest;
  }
  return {largest, bad != 0};
}

}  // namespace motes::matching::detail
