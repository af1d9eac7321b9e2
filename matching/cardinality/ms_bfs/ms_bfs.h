#pragma once
/// `ms-bfs` and `ms-bfs-graft`: one forest of alternating trees, level by level, from all free rows.
///
/// Source: Azad, Buluc & Pothen, "A parallel tree grafting algorithm for maximum cardinality matching in
/// bipartite graphs", IPDPS 2015, Algorithms 2 to 7.
///
/// Differences. The sets that the paper finds by a pass over all vertices (active and renewable columns, its
/// "statistics") are kept as lists of the forest's columns, so that a phase costs what its forest costs. The
/// finish (below) is ours.

#include <motes/matching/cardinality_solver.h>

namespace motes::matching {

struct MsBfsOptions {
  std::int64_t alpha = 5;  ///< upwards (from unseen columns) where the frontier is not below 1/alpha of them
  bool direction = true;   ///< choose the direction; else always downwards, from the frontier
  bool graft = true;       ///< columns of trees that found a path are given to the others; else start over
  bool finish = true;      ///< leave the last rows to push-relabel where the trees do not pay
};

/// A tree stops growing at its first free column. O(rows * nnz) without the finish.
///
/// The finish. On gated graphs (and random ones of low degree) the last 0.1 to 1 % of the rows have trees
/// that cover most of the graph, so that each of dozens of phases costs a pass over the graph, up to hundreds
/// of levels deep, and gains a few rows; grafting makes it worse, because most of what it moves belongs to
/// trees that are about to find a path. So what is left is done by push-relabel (push_relabel.h), whose
/// labels carry over from one path to the next what was learned of distances, once the phases to come promise
/// to look at more than twice the edges of the graph, or the run has looked at six times as many. The
/// promise: each phase finds as much less than the one before as the last one did, and looks at as many
/// edges. On one thread gated particles stop after two phases or three, in a quarter to two fifths of the
/// time; graphs on which trees do well end before that.
///
/// On a GPU (ms_bfs_kernels.cuh) the same forest grows in one kernel, after the cheap start (a phase of one
/// level), and the finish is push-relabel's CUDA form, from the matching where it lies. It comes once half
/// the edges have been looked at, after a phase as a rule: there push-relabel is the faster on most families
/// of graphs. Parts of a frontier are there followed for some levels ahead of others, and rows that are found
/// at the same time may go to different trees from run to run.
class MsBfs final : public CardinalitySolver {
 public:
  explicit MsBfs(const MsBfsOptions& options) : options_(options) {}

 private:
  bool needs_columns() const override { return options_.direction || options_.graft || options_.finish; }
  void run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
           CardinalityStats& stats) const override;
  void run_on_device(const Execution& execution, const CardinalityProblem& problem, const GivenStart& start,
                     Mates& mates, CardinalityStats& stats) const override;
  MsBfsOptions options_;
};

}  // namespace motes::matching
