#include "matching/cardinality/push_relabel.h"

#include "matching/cardinality/labels.h"
#include "matching/cardinality/on_device.h"
#include "matching/cardinality/reorder.h"

namespace motes::matching {
namespace detail {

void push_relabel(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                  const PushRelabelOptions& options, CardinalityStats& stats) {
  Labels labels(graph, mates, execution.threads);
  std::vector<Lane>& lanes = labels.lanes();
  std::vector<Index> active = free_rows(graph, mates);
  const std::int64_t size_before =
      graph.rows - std::count(mates.row_to_col.begin(), mates.row_to_col.end(), -1);
  // [rows] no label of the row's columns is below this; only who holds the row looks at it
  std::vector<std::uint32_t> least(at(graph.rows), 0);
  const std::int64_t frequency = options.relabel_frequency != 0 ? options.relabel_frequency
                                 : execution.threads > 1        ? 16
                                                                : 2;
  const std::int64_t pushes_to_relabel = std::max<std::int64_t>(1, graph.rows / frequency);

  const auto relabel = [&] {
    const Timed timed(stats, "global_relabel");
    for (const Index i : active) labels.set_free(i);
    stats.levels.push_back(labels.relabel(active));
    ++stats.global_relabels;
  };
  // One double push: the row takes a column of least label, or stays free for good.
  const auto push = [&](Index row, Lane& lane) {
    while (true) {
      Index col = -1;
      // Label and place of the least; whole blocks without a branch, which would go wrong once a row.
      constexpr Offset kBlock = 16;
      Labels::Word best = Labels::word_of(Labels::kNoPath, 0);
      const Offset end = graph.row_offsets[row + 1];
      for (Offset e = graph.row_offsets[row]; e < end && Labels::label_of(best) > least[at(row)];) {
        const Offset block = e, block_end = std::min(end, e + kBlock);
        Labels::Word here = Labels::word_of(Labels::kNoPath, 0);
        for (; e < block_end; ++e)
          here = std::min(here, Labels::word_of(Labels::label_of(labels.look(graph.col_index[e])),
                                                static_cast<Index>(e - block)));
        lane.edges += e - block;
        if (Labels::label_of(here) >= Labels::label_of(best)) continue;
        best = Labels::word_of(Labels::label_of(here), -1);
        col = graph.col_index[block + Labels::row_of(here)];
      }
      const std::uint32_t label = Labels::label_of(best);
      if (label >= labels.limit()) return labels.set_free(row);
      const Labels::Word seen = labels.look(col);
      if (Labels::label_of(seen) != label) continue;  // raised since: look again
      least[at(row)] = label;
      if (!labels.push(col, seen, label + 1, row)) continue;  // someone was faster: look again
      ++lane.pushes;
      if (Labels::row_of(seen) != -1) lane.next.push_back(Labels::row_of(seen));
      return;
    }
  };

  if (!active.empty()) relabel();
  std::int64_t since_relabel = 0;
  while (!active.empty()) {
    {
      const Timed timed(stats, "push");
      over_parts(lanes, std::ssize(active), options.queue_limit, [&](Lane& lane, auto begin, auto end) {
        for_each_ahead(active, begin, end, graph.row_offsets, graph.col_index, labels.words(),
                       [&](Index row) { push(row, lane); });
      });
    }
    gather(lanes, active);
    ++stats.phases;
    for (Lane& lane : lanes) {
      since_relabel += lane.pushes;
      stats.pushes += lane.pushes;
      stats.relabels += 2 * lane.pushes;  // a double push raises its row's label and its column's
      lane.pushes = 0;
    }
    if (since_relabel < pushes_to_relabel || active.empty()) continue;
    relabel();
    since_relabel = 0;
  }
  labels.finish();
  count_in(lanes, stats);
  stats.augmentations +=
      graph.rows - std::count(mates.row_to_col.begin(), mates.row_to_col.end(), -1) - size_before;
}

}  // namespace detail

/// The new order is made by one thread: on more threads than this it would be what all wait for.
constexpr int kThreadsWorthReordering = 4;
/// Labels of this many columns stay in the cache however they are numbered.
constexpr Index kColumnsInCache = 1 << 18;

void PushRelabel::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                      CardinalityStats& stats) const {
  const auto pays = [&] {
    if (execution.threads > kThreadsWorthReordering || graph.cols <= kColumnsInCache) return false;
    const auto edges = static_cast<std::size_t>(graph.edges());
    return detail::scattered({graph.rows,
                              graph.cols,
                              {graph.row_offsets, static_cast<std::size_t>(graph.rows) + 1},
                              {graph.col_index, edges}});
  };
  const bool wanted =
      options_.reorder == Reorder::always || (options_.reorder == Reorder::automatic && pays());
  std::optional<detail::Reordered> near;
  if (wanted) {
    const detail::Timed timed(stats, "reorder");
    near = detail::reorder(graph);
  }
  if (!near) return detail::push_relabel(execution, graph, mates, options_, stats);
  Mates renumbered;
  const TwoSidedGraph local = near->graph();
  {
    const detail::Timed timed(stats, "reorder");
    renumbered = near->to_new(mates);
    stats.augmentations += detail::match_scarce_first(local, renumbered);
  }
  detail::push_relabel(execution, local, renumbered, options_, stats);
  const detail::Timed timed(stats, "reorder");
  near->to_old(renumbered, mates);
}

void PushRelabel::run_on_device(const Execution& execution, const CardinalityProblem& problem, Mates& mates,
                                CardinalityStats& stats) const {
  device::push_relabel(execution, problem, options_.chain, mates, stats);
}

}  // namespace motes::matching
