#pragma once
/// A single pass over a row of a matrix that selects its few entries up to a limit and also checks that all
/// entries are legal and how large they are, so that the matrix is read once only.

#include <cstdint>
#include <limits>

#include <motes/matching/problem.h>

namespace motes::matching::detail {

enum class Instructions { plain, avx2 };

/// The widest instructions of this machine. All give identical results.
Instructions best_instructions();

/// The result of a pass over a row.
template <class T>
struct RowScan {
  Index hits = 0;
  T largest = 0;     ///< float, double: the largest magnitude of an allowed entry
  bool bad = false;  ///< float, double: an entry is NaN or -infinity
};

/// Writes to hit (room for `count`) by rising j every j with row[j] <= limit. limit must be a legal entry, so
/// that forbidden entries never count. O(count).
template <class T>
RowScan<T> scan_row(Instructions instructions, const T* row, Index count, T limit, Index* hit);

/// Writes to hit by rising j every j with row[j] < u + v[j], where the entries are no larger than 2^53 steps.
/// O(count).
template <class T>
Index scan_below(Instructions instructions, const T* row, Index count, double u, const double* v, Index* hit);

}  // namespace motes::matching::detail
