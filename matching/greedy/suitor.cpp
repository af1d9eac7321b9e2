#include "matching/greedy/suitor.h"

#include <atomic>

#include "matching/greedy/keys.h"
#include "matching/greedy/on_device.h"

namespace motes::matching {
namespace {

std::size_t at(Offset e) { return static_cast<std::size_t>(e); }

struct Counts {
  std::int64_t proposals = 0, scanned = 0;
};

/// `suitor` [vertices that are proposed to]. A bipartite graph's column j is vertex first_other + j in the
/// order, but place j of the array.
template <bool kShared, class KeyOf>
Counts propose(const BipartiteGraphView& graph, std::uint32_t first_other, const KeyOf& key_of_entry,
               std::vector<Word>& suitor, int threads) {
  const bool general = first_other == 0;
  const auto load = [&](Index w) {
    if constexpr (kShared)
      return std::atomic_ref(suitor[at(w)]).load(std::memory_order_relaxed);
    else
      return suitor[at(w)];
  };
  // Words say nothing of other memory, so that relaxed orders do.
  const auto take = [&](Index w, Word seen, Word mine) {
    if constexpr (kShared) {
      return std::atomic_ref(suitor[at(w)]).compare_exchange_strong(seen, mine, std::memory_order_relaxed);
    } else {
      suitor[at(w)] = mine;
      return true;
    }
  };
  std::int64_t proposals = 0, scanned = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) reduction(+ : proposals, scanned) if (kShared)
  for (Index first = 0; first < graph.rows; ++first) {
    for (auto v = static_cast<std::uint32_t>(first);;) {
      const Offset begin = graph.row_offsets[v], end = graph.row_offsets[at(v) + 1];
      Word best = 0, mine = 0, seen = 0;
      for (Offset e = begin; e < end; ++e) {
        const Index w = graph.col_index[at(e)];
        const std::uint32_t key = key_of_entry(e);
        const Word there = word(key, first_other + static_cast<std::uint32_t>(w));
        if (there <= best || (general && w == static_cast<Index>(v))) continue;
        const Word now = load(w), offer = word(key, v);
        if (offer <= now) continue;
        best = there, mine = offer, seen = now;
      }
      scanned += end - begin;
      if (best == 0) break;
      ++proposals;
      if (!take(static_cast<Index>(vertex_of(best) - first_other), seen, mine)) continue;
      if (seen == 0) break;
      v = vertex_of(seen);
    }
  }
  return {proposals, scanned};
}

}  // namespace

void Suitor::run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const {
  const auto& graph = problem.graph;
  const bool general = problem.kind == GraphKind::general;
  const std::uint32_t first_other = general ? 0 : static_cast<std::uint32_t>(graph.rows);
  const Keys keys(problem.weights, execution.threads);
  std::vector<Word> suitor(at(graph.cols), 0);
  const Counts counts = keys.visit([&](const auto& key_of_entry) {
    return execution.threads > 1 ? propose<true>(graph, first_other, key_of_entry, suitor, execution.threads)
                                 : propose<false>(graph, first_other, key_of_entry, suitor, 1);
  });
  answer.stats.proposals = counts.proposals;
  answer.stats.arcs_scanned = counts.scanned;
  Matching& matching = answer.matching;
  matching.row_to_col.assign(at(graph.rows), -1);
  if (general) {
    for (Index v = 0; v < graph.rows; ++v)
      if (suitor[at(v)] != 0) matching.row_to_col[at(v)] = static_cast<Index>(vertex_of(suitor[at(v)]));
    return;
  }
  matching.col_to_row.assign(at(graph.cols), -1);
  for (Index j = 0; j < graph.cols; ++j) {
    if (suitor[at(j)] == 0) continue;
    const auto i = static_cast<Index>(vertex_of(suitor[at(j)]));
    matching.col_to_row[at(j)] = i;
    matching.row_to_col[at(i)] = j;
  }
}

void Suitor::run_on_device(const Execution& execution, const GreedyProblem& problem,
                           GreedyAnswer& answer) const {
  device::greedy_suitor(execution, problem, answer);
}

}  // namespace motes::matching
