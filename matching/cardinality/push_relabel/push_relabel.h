#pragma once
/// `push-relabel`: rows push their way to columns of least label, first come, first served.
///
/// Source: Kaya, Langguth, Manne & Ucar, "Push-relabel based algorithms for the maximum transversal problem",
/// Computers & Operations Research 40 (2013); threads: Langguth, Azad, Halappanavar & Manne, "On parallel
/// push-relabel based algorithms for bipartite maximum matching", Parallel Computing 40 (2014).

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

/// Whether the graph is reordered first: renumbered (bfs_reordering.h), or on one thread converted to ELL
/// form (ell_graph.h).
enum class Reorder { automatic, always, never };

struct PushRelabelOptions {
  std::int64_t queue_limit = 500;  ///< rows that a thread takes at a time
  std::int64_t relabel_frequency =
      0;  ///< global relabellings for every `rows` pushes; 0: 2, on one thread as relabel_policy.h says
  std::int64_t chain = 0;  ///< GPU: pushes of a chain between two global relabellings; 0: by their levels
  Reorder reorder = Reorder::automatic;
};

/// A column's label is a lower bound of the length, in columns, of an alternating path from it to a free
/// column. An active (free) row takes the column of least label among its own, and raises that label to one
/// more than its second least; the row that had the column becomes active. (The papers' double push raises
/// it to one more than the least. But the new row would have to leave the column through another of its
/// columns, so the second least is a valid bound.) A row none of whose columns has a path stays free.
/// Global relabelling makes all labels exact by a breadth-first search from the free columns; on a GPU
/// (push_kernels.cuh) labels are then lengths of paths, most of them shortest. Labels only rise. O(rows *
/// nnz). At the beginning, free rows take free columns.
///
/// Threads. Between two relabellings each thread pushes its own rows and the rows that these displace, and
/// shares only the words of columns with the others; then rows return to the thread that owns their part of
/// the graph (partition.h). In a renumbered graph a thread's parts are neighbourhoods and stay in its
/// cache. Every thread has its share of the pushes, even if there are fewer rows than threads: the last few
/// rows need new labels more than one thread's long walk. A batch of rows reads the labels of its columns
/// before the first of them pushes (csr_reader.h); a row whose chosen column has been raised since reads
/// again.
///
/// Numbering. If neighbours have distant numbers (points numbered as drawn) and the labels do not fit the
/// cache, each access to a column is a cache miss. Renumbering costs about two scans of each edge and makes
/// all later accesses local; `automatic` does it for large graphs that look scattered. On one thread
/// renumbering would take as long as it saves, so that state and lists of its own are used instead
/// (sequential_push_relabel.h).
class PushRelabel final : public CardinalitySolver {
 public:
  explicit PushRelabel(const PushRelabelOptions& options) : options_(options) {}

  /// Makes any matching of a two-sided graph maximum; also for the last rows of other solvers. Nothing is
  /// checked. Adds its phases to the statistics.
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;

 private:
  bool needs_columns() const override { return true; }
  void run_on_device(const Execution& execution, const CardinalityProblem& problem, const GivenStart& start,
                     Mates& mates, CardinalityStats& stats) const override;
  PushRelabelOptions options_;
};

}  // namespace motes::matching
