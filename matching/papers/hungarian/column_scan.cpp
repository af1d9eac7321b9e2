/// The vectorised inner loop of the column scan: a row relaxes the labels of columns.

#include "matching/papers/hungarian/column_scan.h"

#include <motes/base/function_clones.h>

namespace motes::matching::detail {

MOTES_CLONES void relax(const Cost* __restrict cost, Cost base, std::int64_t row,
                        const std::int64_t* __restrict salt, Cost* __restrict offer,
                        std::int64_t* __restrict rank, Index count) {
  for (Index j = 0; j < count; ++j) {
    const Cost mine = cost[j] == kInfiniteCost ? kInfiniteCost : base + cost[j];
    const std::int64_t my_rank = (row ^ salt[j]) + 1;
    const bool take = (mine < offer[j]) | ((mine == offer[j]) & (my_rank < rank[j]));
    offer[j] = take ? mine : offer[j];
    rank[j] = take ? my_rank : rank[j];
  }
}

}  // namespace motes::matching::detail
