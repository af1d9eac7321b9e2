#pragma once
/// What threads find by themselves, before they have to work together: free columns, then paths.

#include <motes/matching/cardinality_solver.h>

#include "matching/cardinality/partition.h"

namespace motes::matching::detail {

/// Gives each free row its first free column. `by_place`: where rows are numbered by place, the first ones of
/// a part would take what the last ones of the part before it need (as in init/starts.h); so they take
/// columns of the same share of all first. Returns the rows that are left free and have edges, a list for
/// each thread, of its parts. Pairs are counted in stats.augmentations. O(nnz).
template <class Graph>
std::vector<std::vector<Index>> take_free_columns(const Graph& graph, const Split& split, int threads,
                                                  bool by_place, Mates& mates, CardinalityStats& stats);

/// Rounds of breadth-first searches on disjoint sets of columns, as in `p-dbfs` (disjoint_bfs.h). Where a
/// graph is numbered by place, most free rows have a free column near by, a thread's own rows lie together,
/// and nobody waits for anybody but at the end of a round. The last rows have long ways; their searches take
/// most of the graph, or all of it where they have no path. So a thread ends its round when it has looked at
/// its share of the edges, which is what a relabelling costs, and rounds end that find paths for less than
/// half of the rows. Then labels, which all rows share, are cheaper.
///
/// `free`: the free rows that have edges, a list for each thread; those left free stay. Paths are counted in
/// stats.augmentations, and their columns as pushes, which is what they spare. O(nnz * log(rows)).
template <class Graph>
void find_near_paths(const Graph& graph, std::vector<std::vector<Index>>& free, Mates& mates,
                     CardinalityStats& stats);

extern template std::vector<std::vector<Index>> take_free_columns(const TwoSidedGraph&, const Split&, int,
                                                                  bool, Mates&, CardinalityStats&);
extern template std::vector<std::vector<Index>> take_free_columns(const BasicTwoSidedGraph<std::uint32_t>&,
                                                                  const Split&, int, bool, Mates&,
                                                                  CardinalityStats&);
extern template void find_near_paths(const TwoSidedGraph&, std::vector<std::vector<Index>>&, Mates&,
                                     CardinalityStats&);
extern template void find_near_paths(const BasicTwoSidedGraph<std::uint32_t>&,
                                     std::vector<std::vector<Index>>&, Mates&, CardinalityStats&);

}  // namespace motes::matching::detail
