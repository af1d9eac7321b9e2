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
  std::int64_t alpha = 5;  ///< bottom-up if the frontier has at least 1/alpha of the unvisited columns
  bool direction = true;   ///< choose the direction; else always top-down
  bool graft = true;       ///< graft columns of trees that found a path onto others; else start over
  bool finish = true;      ///< leave the last rows to push-relabel if trees are too slow for them
};

/// A tree stops growing at its first free column. O(rows * nnz) without the finish.
///
/// The finish. On gated graphs and random ones of low degree, the trees of the last 0.1 to 1 % of the rows
/// cover most of the graph. Each of dozens of phases then takes a pass over the graph, with up to hundreds
/// of levels, and gains a few rows. Grafting makes it worse, because most of what it moves belongs to trees
/// that are about to find a path. So these rows are left to push-relabel (push_relabel.h), whose labels
/// keep what is known of distances from one path to the next. It takes over when the remaining phases are
/// expected to scan more than twice the edges of the graph, or the run has scanned six times as many. The
/// expectation: the numbers of paths per phase keep falling at the rate of the last two phases, and each
/// phase scans as many edges as the last. On one thread gated particles stop after two or three phases, in
/// a quarter to two fifths of the time; graphs on which trees are fast end before that.
///
/// On a GPU (ms_bfs_kernels.cuh) the same forest grows in one kernel, after the cheap start (a phase of one
/// level), and the finish is the CUDA form of push-relabel, in device memory. It usually begins after the
/// phase in which half the edges have been scanned: from then on push-relabel is faster on most families of
/// graphs. There, parts of a frontier are explored some levels ahead of others, and rows reached at the
/// same time may be in different trees from run to run.
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

namespace detail {
/// Whether the remaining phases of a forest are worth the edges that they scan; else push-relabel is faster.
/// The number of paths per phase is expected to keep falling at the present rate, with `edges` scanned in
/// each, until it is below one or none of the `roots` is left.
bool more_phases_pay(std::int64_t paths, std::int64_t paths_before, std::int64_t edges, std::int64_t roots,
                     std::int64_t all_edges);
}  // namespace detail

}  // namespace motes::matching
