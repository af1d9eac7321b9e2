#pragma once
/// Rows of a matrix in their own number type, for decisions that need no 64-bit grid values: several
/// entries per instruction.

#include <cmath>
#include <limits>
#include <vector>

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::detail {

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
