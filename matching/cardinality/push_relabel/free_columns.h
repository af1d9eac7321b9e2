#pragma once
/// The first step of push-relabel: rows take free columns.

#include <motes/matching/cardinality_solver.h>

#include "matching/cardinality/partition.h"

namespace motes::matching::detail {

/// Gives each free row its first free column. `by_place`: if rows are numbered by position in space, the
/// first ones of a part would take the columns that the last ones of the previous part need (as in
/// init/starts.h); so they take columns of the same share of all first. Returns the rows that are left free
/// and have edges, a list for each thread, of its parts. Pairs are counted in stats.augmentations. O(nnz).
template <class Graph>
std::vector<std::vector<Index>> take_free_columns(const Graph& graph, const Partition& partition, int threads,
                                                  bool by_place, Mates& mates, CardinalityStats& stats);

extern template std::vector<std::vector<Index>> take_free_columns(const TwoSidedGraph&, const Partition&, int,
                                                                  bool, Mates&, CardinalityStats&);
extern template std::vector<std::vector<Index>> take_free_columns(const BasicTwoSidedGraph<std::uint32_t>&,
                                                                  const Partition&, int, bool, Mates&,
                                                                  CardinalityStats&);

}  // namespace motes::matching::detail
