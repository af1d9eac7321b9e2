#pragma once
/// Maximum cardinality matching of a graph distributed over ranks (base/communicator.h): for graphs that do
/// not fit into one machine's memory.
///
///   const Execution execution{1};
///   DistributedGraph mine = generate_distributed_graph(ranks, execution, "gen:rmat?scale=24");
///   DistributedMatching answer = solve_distributed(ranks, execution, mine);
///   CardinalityCertificate proof = verify_distributed(ranks, mine, answer);
///
/// Rows and columns are distributed in contiguous blocks (block_of). A rank holds the edges of its rows, the
/// mates of its rows and columns, and a few bits for every row and every column of the whole graph.
///
/// All functions that take a communicator are collective: every rank calls them in the same order. The
/// cardinality does not depend on the number of ranks. Which of several maximum matchings is returned depends
/// only on the number of ranks: each rank works on one thread, and messages are handled in the order of
/// ranks.

#include <string_view>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/koenig.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// A rank's part of a graph.
struct DistributedGraph {
  Index rows = 0, cols = 0;  ///< of the whole graph
  Block my_rows, my_cols;    ///< those of this rank
  /// The edges of this rank's rows: part.rows == my_rows.count; columns are those of the whole graph.
  BipartiteGraph part;
};

/// A rank's part of a maximum matching, with a vertex cover of the same size that proves it. Vertices are
/// those of the whole graph.
struct DistributedMatching {
  std::vector<Index> row_to_col;   ///< [my_rows.count], -1 = free
  std::vector<Index> col_to_row;   ///< [my_cols.count], -1 = free
  std::vector<bool> row_in_cover;  ///< [my_rows.count]
  std::vector<bool> col_in_cover;  ///< [my_cols.count]
  std::int64_t cardinality = 0;    ///< of the whole matching
  std::int64_t local_pairs = 0;    ///< pairs of all ranks before the first message
  std::int64_t initial_pairs = 0;  ///< pairs before the first phase
  /// phases, augmentations (pairs gained), path_edges (of trees), edges_traversed, pushes and augmented are
  /// those of all ranks; levels counts exchanges. Seconds are this rank's: "local", "greedy", "grow",
  /// "augment", "push", "relabel"; "communication" is part of all but the first.
  CardinalityStats stats;
};

/// Whether the cardinality solver has a form for several ranks; true for `ms-bfs` and `ms-bfs-graft`.
bool cardinality_runs_on_ranks(std::string_view solver);

/// This rank's part of a graph that every rank has as a whole. O(edges of the part).
DistributedGraph distribute(const Communicator& ranks, const BipartiteGraphView& whole);

/// This rank's part of the graph that generate_graph (graph_instances.h) makes of the same text. For
/// `erdos-renyi`, `rmat`, `road`, `web`, `grid`, `hexagonal`, `gated` and `rgg` no rank has the edges of
/// other ranks' rows at any time (but the positions of all vertices, if there are any); for other families,
/// and with permute=1, each rank makes the whole graph first. Throws on every rank as generate_graph does.
DistributedGraph generate_distributed_graph(Communicator& ranks, const Execution& execution,
                                            std::string_view text);

/// A maximum matching. Every rank first solves the graph of its own rows and columns with the solver that
/// `auto` takes for one thread; free rows then propose to columns of other ranks; then one forest of
/// alternating trees grows over all ranks, phase by phase (Azad, Buluc & Pothen 2015), until a phase finds no
/// path. If the phases become slow, push-relabel matches most of the remaining rows in between (as on one
/// rank). Throws std::invalid_argument, on every rank, for a part that is not a graph of those sizes. Memory
/// of a rank beside the graph: about 20 bytes for each of its rows and columns; as much as its edges again
/// while its own part is solved, or while push-relabel runs; rows / 8 + cols / 8 bytes, with push-relabel 2
/// cols more; and the messages of a round: at most 12 bytes for each edge to a column of another rank.
DistributedMatching solve_distributed(Communicator& ranks, const DistributedGraph& graph);

/// As verify(), for the matching and the cover, trusting neither: each rank checks its own rows, their edges
/// and its columns, against one bit of every column. The fault is that of the lowest rank that found one.
CardinalityCertificate verify_distributed(Communicator& ranks, const DistributedGraph& graph,
                                          const DistributedMatching& answer);

}  // namespace motes::matching
