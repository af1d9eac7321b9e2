#pragma once
/// A parallel search for the first row with a property, for verifiers.

#include <motes/base/index.h>

namespace motes::matching::detail {

/// The first row i of 0..rows-1 for which bad(i) is true, or rows. bad() is called by `threads` threads and
/// must not throw. O(rows) calls.
template <class Bad>
Index first_row(Index rows, int threads, const Bad& bad) {
  Index first = rows;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) reduction(min : first) if (threads > 1)
  for (Index i = 0; i < rows; ++i)
    if (i < first && bad(i)) first = i;
  return first;
}

}  // namespace motes::matching::detail
