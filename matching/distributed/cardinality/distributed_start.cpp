/// The start of the distributed cardinality solver: each rank's own rows and columns, then proposals.
///
/// Own columns first: where vertices with close numbers are neighbours (roads, meshes, particles sorted by
/// place), nearly all pairs are found there, at the speed of the solver on one rank and without a message.

#include <motes/matching/initialiser.h>
#include <motes/matching/registry.h>

#include "matching/distributed/cardinality/distributed_state.h"

namespace motes::matching::detail {
namespace {

/// This rank's rows and columns, numbered from 0, with the edges between them.
BipartiteGraph own_graph(const DistributedGraph& graph) {
  const auto& part = graph.part;
  const Block& cols = graph.my_cols;
  BipartiteGraph own{part.rows, cols.count, {}, {}};
  own.row_offsets.clear();
  own.row_offsets.reserve(at(part.rows) + 1);
  own.row_offsets.push_back(0);
  for (std::size_t i = 0; i < at(part.rows); ++i) {
    for (Offset e = part.row_offsets[i]; e < part.row_offsets[i + 1]; ++e) {
      const Index j = part.col_index[at(e)];
      if (j >= cols.first && j - cols.first < cols.count) own.col_index.push_back(j - cols.first);
    }
    own.row_offsets.push_back(static_cast<Offset>(own.col_index.size()));
  }
  return own;
}

struct Proposal {
  Index col, row;
};

}  // namespace

std::int64_t match_own_columns(DistributedState& state) {
  const BipartiteGraph own = own_graph(state.graph);
  const Execution one_thread{1};
  const AutoChoice choice = choose_cardinality_solver(own.view(), Backend::cpu, Gpu::none, 1);
  const Transposed columns = transpose(own.view(), 1);
  const CardinalityProblem problem{own.view(), columns.col_offsets, columns.row_index};
  const auto start = find_initialiser(choice.init)->run(one_thread, problem, 0);
  const Matching pairs = choice.info->make_cardinality()->solve(one_thread, problem, start).matching;
  const auto moved = [](const std::vector<Index>& mates, Index first, std::vector<Index>& out) {
    for (std::size_t k = 0; k < mates.size(); ++k) out[k] = mates[k] == -1 ? -1 : first + mates[k];
  };
  moved(pairs.row_to_col, state.graph.my_cols.first, state.row_to_col);
  moved(pairs.col_to_row, state.graph.my_rows.first, state.col_to_row);
  return pairs.cardinality;
}

// A rank learns that a column of another rank is matched only when its proposal is refused. It keeps a list
// of the columns to which it has proposed, and proposes to none of them again.
void match_other_columns(DistributedState& state) {
  if (state.ranks.size() == 1) return;
  VertexSet tried(state.graph.cols);
  std::vector<Index> free_rows;
  std::vector<Offset> next(state.row_to_col.size());  // [rows] the next neighbour to look at
  const Index first = state.graph.my_rows.first;
  for (std::size_t k = 0; k < state.row_to_col.size(); ++k)
    if (state.row_to_col[k] == -1 && !state.cols_of(first + static_cast<Index>(k)).empty())
      free_rows.push_back(first + static_cast<Index>(k));
  Mail<Proposal> proposals(state.ranks), answers(state.ranks);
  for (bool more = true; more;) {
    for (const Index i : free_rows) {
      const auto cols = state.cols_of(i);
      Offset& e = next[at(i - first)];
      while (e < std::ssize(cols)) {
        const Index j = cols[at(e++)];
        if (state.my_col(j) || !tried.insert(j)) continue;  // own columns next to it have mates already
        proposals.send(state.col_owners.of(j), {j, i});
        break;
      }
    }
    more = proposals.exchange([&](const Proposal& asked) {
      if (state.mate_of_col(asked.col) != -1) return;
      state.mate_of_col(asked.col) = asked.row;
      answers.send(state.row_owners.of(asked.row), asked);
    });
    if (!more) break;
    answers.exchange([&](const Proposal& taken) { state.mate_of_row(taken.row) = taken.col; });
    std::erase_if(free_rows, [&](Index i) {
      return state.mate_of_row(i) != -1 || next[at(i - first)] == std::ssize(state.cols_of(i));
    });
  }
}

}  // namespace motes::matching::detail
