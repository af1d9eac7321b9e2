#include "matching/cardinality/push_relabel.h"

#include "matching/cardinality/labels.h"
#include "matching/cardinality/on_device.h"
#include "matching/cardinality/push_serial.h"
#include "matching/cardinality/reorder.h"

namespace motes::matching {
namespace {

using namespace detail;

template <class Graph>
class Pushing {
 public:
  Pushing(const Execution& execution, const Graph& graph, const std::vector<Index>& col_to_row,
          const std::vector<Index>& active, const PushRelabelOptions& options, CardinalityStats& stats)
      : graph_(graph),
        labels_(graph, col_to_row, execution.threads),
        lanes_(labels_.lanes()),
        active_(active),
        options_(options),
        stats_(stats) {}

  /// Returns the rows that have no path.
  std::int64_t run() {
    const std::int64_t frequency =
        options_.relabel_frequency != 0 ? options_.relabel_frequency : kRelabelFrequency;
    const std::int64_t pushes_to_relabel = std::max<std::int64_t>(1, graph_.rows / frequency);
    while (!active_.empty()) {
      relabel();
      push_all(pushes_to_relabel, stats_.levels.back());
    }
    count_in(lanes_, stats_);
    return given_up_;
  }

  /// Both sides of the matching, by names that the caller gives rows and columns.
  template <class RowName, class ColName>
  void tell(const RowName& row_name, const ColName& col_name, Mates& mates) {
    over_parts(lanes_, graph_.rows, kPart, [&](Lane&, auto begin, auto end) {
      std::fill(mates.row_to_col.begin() + begin, mates.row_to_col.begin() + end, -1);
    });
    labels_.for_each_column(
        [&](Index row, Index col) {
          const Index i = row_name(row), j = col_name(col);
          mates.col_to_row[at(j)] = i;
          mates.row_to_col[at(i)] = j;
        },
        [&](Index col) { mates.col_to_row[at(col_name(col))] = -1; });
  }

 private:
  using Word = typename Labels<Graph>::Word;
  static constexpr std::int64_t kRelabelFrequency = 2;
  static constexpr std::int64_t kPart = 1 << 14;  ///< rows of a pass over all

  void relabel() {
    const Timed timed(stats_, "global_relabel");
    stats_.levels.push_back(labels_.relabel(active_));
    ++stats_.global_relabels;
  }

  /// Each thread takes some of the active rows and lets them, and the rows that they displace, push, first
  /// come, first served, until none is active or its share of `most` pushes is made. Where there are fewer
  /// rows than threads none gets more: all would wait for pushes that one relabelling by all makes needless.
  /// But `least`, the levels of the last one, are what one row's path may take.
  void push_all(std::int64_t most, std::int64_t least) {
    const Timed timed(stats_, "push");
    const std::int64_t count = std::ssize(active_);
    const auto threads = std::ssize(lanes_);
    const std::int64_t part =
        threads == 1 ? count : std::min(options_.queue_limit, (count + threads - 1) / threads);
    const std::int64_t parts = (count + part - 1) / part;
    const std::int64_t share =
        std::max({std::int64_t{1}, least, most / std::max<std::int64_t>(parts, threads)});
    over_parts(lanes_, count, part, [&](Lane& lane, auto begin, auto end) {
      const std::int64_t last = lane.pushes + share;
      std::vector<Index>& queue = lane.queue;
      std::vector<Index> displaced;
      queue.assign(active_.begin() + begin, active_.begin() + end);
      while (!queue.empty() && lane.pushes < last) {
        displaced.clear();
        for_each_ahead(queue, std::int64_t{0}, std::ssize(queue), graph_.row_offsets, graph_.col_index,
                       labels_.words(), [&](Index row) {
                         const Index next = push(row, lane);
                         if (next != -1) displaced.push_back(next);
                       });
        queue.swap(displaced);
      }
      lane.next.insert(lane.next.end(), queue.begin(), queue.end());
    });
    gather(lanes_, active_);
    ++stats_.phases;
    for (Lane& lane : lanes_) {
      stats_.pushes += lane.pushes;
      stats_.relabels += 2 * lane.pushes;  // a double push raises its row's label and its column's
      lane.pushes = 0;
    }
  }

  /// One double push: the row takes a column of least label, whose row is returned (-1: it was free), or
  /// stays free for good, -1 too. The column cannot be left but through the row's other columns: its label
  /// becomes one more than the least of theirs.
  Index push(Index row, Lane& lane) {
    while (true) {
      const auto begin = graph_.row_offsets[row], end = graph_.row_offsets[row + 1];
      // Label and place of the least, label of the next, without a branch, which would go wrong once a row.
      constexpr Word kNone = Word{Labels<Graph>::kNoPath} << 32;
      Word best = kNone, second = kNone;
      for (auto e = begin; e < end; ++e) {
        const Word here = Labels<Graph>::word_of(Labels<Graph>::label_of(labels_.look(graph_.col_index[e])),
                                                 static_cast<Index>(e - begin));
        const Word larger = std::max(best, here);
        best = std::min(best, here);
        second = std::min(second, larger);
      }
      lane.edges += static_cast<std::int64_t>(end - begin);
      const std::uint32_t label = Labels<Graph>::label_of(best);
      if (label >= labels_.limit()) {
        std::atomic_ref(given_up_).fetch_add(1, std::memory_order_relaxed);
        return -1;
      }
      const Index col = graph_.col_index[begin + static_cast<std::uint32_t>(best)];
      const Word seen = labels_.look(col);
      if (Labels<Graph>::label_of(seen) != label) continue;  // raised since: look again
      const std::uint32_t raised = std::min(Labels<Graph>::label_of(second) + 1, Labels<Graph>::kNoPath);
      if (!labels_.push(col, seen, raised, row)) continue;  // someone was faster: look again
      ++lane.pushes;
      return Labels<Graph>::row_of(seen);
    }
  }

  const Graph& graph_;
  Labels<Graph> labels_;
  std::vector<Lane>& lanes_;
  std::vector<Index> active_;
  const PushRelabelOptions& options_;
  CardinalityStats& stats_;
  std::int64_t given_up_ = 0;
};

/// Gives free rows their first free column. Returns the pairs made. O(nnz).
template <class Graph>
std::int64_t match_free_columns(int threads, const Graph& graph, Mates& mates) {
  std::vector<Lane> lanes(at(threads));
  // One range of rows for each thread, as in start_cheap.
  over_parts(lanes, graph.rows, graph.rows / threads + 1, [&](Lane& lane, auto begin, auto end) {
    for (auto i = static_cast<Index>(begin); i < end; ++i) {
      if (mates.row_to_col[at(i)] != -1) continue;
      for (const Index j : graph.cols_of(i)) {
        Index& mate = mates.col_to_row[at(j)];
        Index none = -1;
        if (peek(mate) != -1) continue;
        if (threads > 1 && !std::atomic_ref(mate).compare_exchange_strong(none, i, std::memory_order_relaxed))
          continue;
        put(mate, i);
        mates.row_to_col[at(i)] = j;
        ++lane.augmentations;
        break;
      }
    }
  });
  std::int64_t pairs = 0;
  for (const Lane& lane : lanes) pairs += lane.augmentations;
  return pairs;
}

constexpr auto kSameName = [](Index k) { return k; };

}  // namespace

namespace detail {

void push_relabel(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                  const PushRelabelOptions& options, CardinalityStats& stats) {
  if (execution.threads == 1 && push_on_one_thread(graph, mates, options, stats)) return;
  const std::vector<Index> active = free_rows(graph, mates, execution.threads);
  if (active.empty()) return;
  Pushing pushing(execution, graph, mates.col_to_row, active, options, stats);
  stats.augmentations += std::ssize(active) - pushing.run();
  pushing.tell(kSameName, kSameName, mates);
}

}  // namespace detail

/// Labels of this many columns stay in the cache however they are numbered.
constexpr Index kColumnsInCache = 1 << 18;

void PushRelabel::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                      CardinalityStats& stats) const {
  if (execution.threads == 1) return detail::push_relabel(execution, graph, mates, options_, stats);
  const auto pays = [&] {
    if (graph.cols <= kColumnsInCache) return false;
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
    near = detail::reorder(graph, execution.threads);
  }
  if (!near) {
    {
      const detail::Timed timed(stats, "start");
      stats.augmentations += match_free_columns(execution.threads, graph, mates);
    }
    return detail::push_relabel(execution, graph, mates, options_, stats);
  }
  Mates renumbered;
  const detail::NearGraph local = near->graph();
  std::vector<Index> active;
  {
    const detail::Timed timed(stats, "start");
    renumbered = near->to_new(mates, execution.threads);
    stats.augmentations += execution.threads == 1 ? detail::match_scarce_first(local, renumbered)
                                                  : match_free_columns(execution.threads, local, renumbered);
    active = detail::free_rows(local, renumbered, execution.threads);
  }
  Pushing pushing(execution, local, renumbered.col_to_row, active, options_, stats);
  stats.augmentations += std::ssize(active) - pushing.run();
  const detail::Timed timed(stats, "renumber");
  pushing.tell([&](Index row) { return near->rows[detail::at(row)]; },
               [&](Index col) { return near->cols[detail::at(col)]; }, mates);
}

void PushRelabel::run_on_device(const Execution& execution, const CardinalityProblem& problem, Mates& mates,
                                CardinalityStats& stats) const {
  device::push_relabel(execution, problem, options_.chain, mates, stats);
}

}  // namespace motes::matching
