/// The distributed cardinality solver, step by step.

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <motes/base/timer.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/distributed/cardinality/distributed_state.h"
#include "matching/instances/graph_families.h"

namespace motes::matching {
namespace {

void check_part(const Communicator& ranks, const DistributedGraph& graph) {
  const auto same = [](const Block& a, const Block& b) { return a.first == b.first && a.count == b.count; };
  if (graph.rows < 0 || graph.cols < 0 ||
      !same(graph.my_rows, block_of(graph.rows, ranks.rank(), ranks.size())) ||
      !same(graph.my_cols, block_of(graph.cols, ranks.rank(), ranks.size())) ||
      graph.part.rows != graph.my_rows.count || graph.part.cols != graph.cols)
    throw std::invalid_argument("this rank's part of the graph is not that of its rank");
  check_problem({graph.part.view(), {}, {}});
}

}  // namespace

bool cardinality_runs_on_ranks(std::string_view solver) {
  return solver == "ms-bfs" || solver == "ms-bfs-graft";
}

DistributedGraph distribute(const Communicator& ranks, const BipartiteGraphView& whole) {
  DistributedGraph out{whole.rows,
                       whole.cols,
                       block_of(whole.rows, ranks.rank(), ranks.size()),
                       block_of(whole.cols, ranks.rank(), ranks.size()),
                       {}};
  out.part.rows = out.my_rows.count;
  out.part.cols = whole.cols;
  const auto offsets = whole.row_offsets.begin() + out.my_rows.first;
  const Offset first = *offsets, last = offsets[out.my_rows.count];
  out.part.row_offsets.assign(offsets, offsets + out.my_rows.count + 1);
  for (Offset& offset : out.part.row_offsets) offset -= first;
  out.part.col_index.assign(whole.col_index.begin() + first, whole.col_index.begin() + last);
  return out;
}

DistributedGraph generate_distributed_graph(Communicator& ranks, const Execution& execution,
                                            std::string_view text) {
  DistributedGraph out;
  ranks.agreed([&] { out.part = instances::generate_rows(execution, text, {ranks.rank(), ranks.size()}); });
  out.rows = static_cast<Index>(ranks.all_reduce(out.part.rows, Reduction::sum));
  out.cols = out.part.cols;
  out.my_rows = block_of(out.rows, ranks.rank(), ranks.size());
  out.my_cols = block_of(out.cols, ranks.rank(), ranks.size());
  return out;
}

DistributedMatching solve_distributed(Communicator& ranks, const DistributedGraph& graph) {
  using detail::Timed;
  const Communicator::Traffic before = ranks.traffic();
  DistributedMatching answer;
  CardinalityStats& stats = answer.stats;
  detail::DistributedState state(ranks, graph);
  ranks.agreed([&] {
    const Timed timed(stats, "local");
    check_part(ranks, graph);
    answer.local_pairs = match_own_columns(state);
  });
  {
    const Timed timed(stats, "greedy");
    match_other_columns(state);
  }
  const auto pairs = [&] {
    return std::ssize(state.row_to_col) - std::count(state.row_to_col.begin(), state.row_to_col.end(), -1);
  };
  answer.initial_pairs = pairs();
  grow_distributed_forest(state, answer);
  std::int64_t sums[] = {answer.local_pairs,    answer.initial_pairs, pairs(),
                         stats.edges_traversed, stats.path_edges,     stats.pushes};
  ranks.all_reduce(sums, Reduction::sum);
  answer.local_pairs = sums[0];
  answer.initial_pairs = sums[1];
  answer.cardinality = sums[2];
  stats.edges_traversed = sums[3];
  stats.path_edges = sums[4];
  stats.pushes = sums[5];
  stats.augmentations = answer.cardinality - answer.initial_pairs;
  stats.seconds["communication"] = ranks.traffic().seconds - before.seconds;
  answer.row_to_col = std::move(state.row_to_col);
  answer.col_to_row = std::move(state.col_to_row);
  return answer;
}

}  // namespace motes::matching
