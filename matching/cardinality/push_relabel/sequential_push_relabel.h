#pragma once
/// Push-relabel on one thread: the same pushes as push_relabel.h, with state that need not be shared.
///
/// Labels lie apart from the columns' rows, in 16 bits each, or in 8 where they would leave the cache
/// otherwise (graphs that are large and look scattered): a push looks at all of a row's. Rows farther from a
/// free column than labels tell wait for the next relabelling; only when none else is left, wider labels take
/// over. Rows look at their columns a batch at a time, and what they chose is written after that, so that
/// looks overlap. The row of the one column that a push takes is asked for when the column is known, and read
/// a batch later: labels alone decide where rows go, so that rows may follow behind. A relabelling marks the
/// rows it has seen in a bit each, and goes on from batches of columns in the same way. Lists lie in slots
/// (ell_graph.h) where many rows have to be matched; renumbering the graph, as several threads do, takes
/// longer here than it spares.
///
/// The first relabelling is left out where many rows start free, and columns: every column that is taken is
/// at least one step from a free one, and that much is enough to go by as long as free columns are
/// everywhere.

#include "matching/cardinality/push_relabel/push_relabel.h"

namespace motes::matching::detail {

/// Makes the matching maximum. False: all rows that may have a path are 65,534 columns or more from its end,
/// for which 16 bits do not do; the matching is valid, and no smaller than before. Of the options:
/// relabel_frequency (0: when pushes bring too little, relabel_policy.h) and reorder, which is whether lists
/// go into slots. Needs columns. O(rows * nnz).
bool push_on_one_thread(const TwoSidedGraph& graph, Mates& mates, const PushRelabelOptions& options,
                        CardinalityStats& stats);

}  // namespace motes::matching::detail
