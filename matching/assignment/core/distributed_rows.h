#pragma once
/// Rows of a matrix that may be distributed over ranks, for the passes that select a core: each rank reads
/// its own rows, and results for columns are combined.

#include <span>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/index.h>

namespace motes::matching::detail {

struct DistributedRows {
  Communicator* ranks = nullptr;  ///< nullptr: all rows are here
  Index first = 0;                ///< number of the first row here among all rows
  Index all = 0;                  ///< rows of all ranks, if there are ranks

  /// The rows of all ranks, of which `here` are here.
  Index of_all(Index here) const { return ranks == nullptr ? here : all; }

  /// values[k] = join over the values[k] of all ranks, in rank order, so that every rank gets the same bits.
  /// Every rank must call it, with as many values.
  template <class T, class Join>
  void combine(std::span<T> values, Join&& join) const {
    if (ranks == nullptr || ranks->size() == 1 || values.empty()) return;
    const std::vector<T> all_values = ranks->all_gather<T>(values);
    for (std::size_t k = 0; k < all_values.size(); ++k) {
      T& value = values[k % values.size()];
      value = k < values.size() ? all_values[k] : join(value, all_values[k]);
    }
  }
};

}  // namespace motes::matching::detail
