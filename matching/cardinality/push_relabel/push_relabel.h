#pragma once
/// `push-relabel`: rows push their way to columns of least label, first come, first served.
///
/// Source: Kaya, Langguth, Manne & Ucar, "Push-relabel based algorithms for the maximum transversal problem",
/// Computers & Operations Research 40 (2013); threads: Langguth, Azad, Halappanavar & Manne, "On parallel
/// push-relabel based algorithms for bipartite maximum matching", Parallel Computing 40 (2014).

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// Whether the graph is reordered first: renumbered (bfs_reordering.h), or on one thread put into slots
/// (ell_graph.h).
enum class Reorder { automatic, always, never };

struct PushRelabelOptions {
  std::int64_t queue_limit = 500;  ///< rows that a thread takes at a time
  std::int64_t relabel_frequency =
      0;  ///< global relabellings for every `rows` pushes; 0: 2, on one thread as relabel_policy.h says
  std::int64_t chain = 0;  ///< GPU: pushes of a chain between two global relabellings; 0: by their levels
  Reorder reorder = Reorder::automatic;
};

/// A column's label is a lower bound of the alternating path from it to a free column, in columns. An active
/// (free) row takes the column of least label among its own, whose row becomes active in its turn, and raises
/// that label to one more than the second least: the papers' double push raises it to one more than the
/// least, but from its new row the column cannot be left by itself. A row whose columns all have no path left
/// stays free. Global relabelling makes all labels exact by a breadth-first search from the free columns; on
/// a GPU (push_kernels.cuh) it leaves lengths of paths, most of them the shortest. Labels only rise. O(rows *
/// nnz). Rows that start free first take free columns.
///
/// Threads. Between two relabellings each thread pushes rows of its own, with the rows that these
/// displace, and meets the others in the words of columns alone; then rows go home to the thread whose part
/// of the graph (partition.h) they are in. In a renumbered graph a thread's parts are neighbourhoods and
/// stay in its cache. A share of the pushes is for each thread, also where there are fewer rows than threads:
/// the last few rows are better off with new labels than with one thread's long walk. A batch of rows looks
/// at its columns' labels before the first of them pushes (csr_reader.h), and a row whose chosen column has
/// been raised since looks again.
///
/// The order of numbers. Each look at a column is a miss of the cache where neighbours are numbered far apart
/// and the labels do not fit in it: points numbered as drawn. Renumbering them costs about two looks at
/// each edge, and makes all later ones local; `automatic` does so for graphs that are large and look
/// scattered. One thread, which would wait for the numbering as long as for what it spares, pushes by state
/// and lists of its own instead (sequential_push_relabel.h).
class PushRelabel final : public CardinalitySolver {
 public:
  explicit PushRelabel(const PushRelabelOptions& options) : options_(options) {}

  /// For other solvers' last rows, too: from any matching, unchecked, a two-sided graph; phases are added to
  /// the statistics as they are counted here.
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;

 private:
  bool needs_columns() const override { return true; }
  void run_on_device(const Execution& execution, const CardinalityProblem& problem, const GivenStart& start,
                     Mates& mates, CardinalityStats& stats) const override;
  PushRelabelOptions options_;
};

}  // namespace motes::matching
