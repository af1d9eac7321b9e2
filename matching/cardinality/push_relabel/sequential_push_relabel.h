#pragma once
/// Push-relabel on one thread: the pushes of push_relabel.h, with state that is not shared.
///
/// Labels are stored apart from the columns' rows, in 16 bits each, or in 8 if they would otherwise not fit
/// the cache (large graphs in random order), since a push reads all labels of a row. Rows farther from a
/// free column than a label can count wait for the next relabelling; only when no others are left, wider
/// labels are used. Rows read their columns a batch at a time, and the stores follow afterwards, so that
/// reads overlap. The row of the one column that a push takes is prefetched when the column is known, and
/// read one batch later: the choice of columns depends on labels only, so rows may lag behind. A
/// relabelling marks the rows visited with a bit each, and continues from batches of columns in the same
/// way. Lists are in ELL form (ell_graph.h) if many rows have to be matched; renumbering the graph, as
/// several threads do, would take longer here than it saves.
///
/// The first relabelling is omitted if many rows and many columns start free: every column that is taken is
/// at least one step from a free one, and this is a good enough label as long as free columns are
/// everywhere.

#include "matching/cardinality/push_relabel/push_relabel.h"

namespace motes::matching::detail {

/// Makes the matching maximum. Returns false if all rows that may have a path are 65,534 columns or more from
/// its end, beyond 16-bit labels; the matching is then valid and no smaller than before. Of the options:
/// relabel_frequency (0: when pushes bring too little, relabel_policy.h) and reorder (here: whether lists are
/// stored in slots). Needs columns. O(rows * nnz).
bool push_on_one_thread(const TwoSidedGraph& graph, Mates& mates, const PushRelabelOptions& options,
                        CardinalityStats& stats);

}  // namespace motes::matching::detail
