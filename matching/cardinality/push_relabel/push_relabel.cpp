/// `push-relabel` on the CPU: phases of pushes and global relabellings on several threads.

#include "matching/cardinality/push_relabel/push_relabel.h"

#include <algorithm>
#include <array>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/prefetch.h>
#include <motes/base/stop.h>

#include "matching/cardinality/bfs_reordering.h"
#include "matching/cardinality/device_solvers.h"
#include "matching/cardinality/push_relabel/distance_labels.h"
#include "matching/cardinality/push_relabel/free_columns.h"
#include "matching/cardinality/push_relabel/sequential_push_relabel.h"
#include "matching/graph_side.h"

namespace motes::matching {
namespace {

using namespace detail;

/// Parts of the graph for each thread, assigned cyclically: they balance the load.
constexpr int kPartsOfAThread = 4;

std::int64_t count_all(const std::vector<std::vector<Index>>& lists) {
  std::int64_t count = 0;
  for (const auto& list : lists) count += std::ssize(list);
  return count;
}

template <class Graph>
class Pushing {
 public:
  /// `active`: the free rows that may have a path, a list for each thread.
  Pushing(const Graph& graph, const Partition& partition, const std::vector<Index>& col_to_row,
          std::vector<std::vector<Index>> active, const PushRelabelOptions& options, CardinalityStats& stats)
      : graph_(graph),
        labels_(graph, col_to_row, partition, static_cast<int>(active.size())),
        lanes_(labels_.lanes()),
        active_(std::move(active)),
        options_(options),
        stats_(stats) {}

  /// Pushes until no row is active, and counts the rows that got a column in.
  void run() {
    const std::int64_t frequency =
        options_.relabel_frequency != 0 ? options_.relabel_frequency : kRelabelFrequency;
    const std::int64_t pushes_to_relabel = std::max<std::int64_t>(1, graph_.rows / frequency);
    const std::int64_t active = count_all(active_);
    stats_.augmentations += active;
    // If free columns are everywhere, label 1 for all taken columns is good enough.
    if (kManyFree * active >= graph_.rows) push_all(pushes_to_relabel, 1);
    const Stop stop = Stop::of_this_thread();
    while (count_all(active_) != 0) {
      stop.check();
      relabel();
      const std::int64_t levels = stats_.levels.back();
      push_all(std::min(pushes_to_relabel, kPathsOfARow * levels * count_all(active_)), levels);
    }
    count_in(lanes_, stats_);
    stats_.augmentations -= given_up_;
  }

  /// Writes both sides of the matching, with rows and columns renamed by the caller's functions.
  template <class RowName, class ColName>
  void tell(const RowName& row_name, const ColName& col_name, Mates& mates) {
    labels_.over_parts([&](std::size_t part) {
      std::fill(mates.row_to_col.begin() + labels_.partition().first_row(part),
                mates.row_to_col.begin() + labels_.partition().end_row(part), -1);
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
  using Labels = DistanceLabels<Graph>;
  using Word = typename Labels::Word;
  static constexpr std::int64_t kRelabelFrequency = 2;
  static constexpr std::size_t kBatch = 16;  ///< rows that read labels before they push
  static constexpr std::int64_t kTurnsOfAThread = 4;
  static constexpr std::int64_t kLeastPart = 16;  ///< rows: a batch
  /// Pushes per active row before the next relabelling, in multiples of the levels of the last one.
  static constexpr std::int64_t kPathsOfARow = 128;
  static constexpr std::int64_t kManyFree =
      20;  ///< one row in this many starts free: no relabelling at first

  void relabel() {
    const Timed timed(stats_, "global_relabel");
    stats_.levels.push_back(labels_.relabel(active_));
    ++stats_.global_relabels;
  }

  /// Threads take parts of the active rows, which push, as do the rows that they displace, first come, first
  /// served, until none is active or the part's share of `most` pushes is made. A thread first takes its own
  /// list, whose labels are in its cache, then parts that other threads have not begun. The share does not
  /// grow if there are fewer rows than threads: a relabelling by all threads then replaces many pushes of a
  /// few. It is at least `least`, the levels of the last relabelling, as the path of one row may need so
  /// many.
  void push_all(std::int64_t most, std::int64_t least) {
    const Timed timed(stats_, "push");
    const std::int64_t count = count_all(active_);
    const std::size_t lists = active_.size();
    // Several parts per thread, since all wait for the last to end.
    const auto wanted = kTurnsOfAThread * static_cast<std::int64_t>(lists);
    const std::int64_t part =
        lists == 1 ? count
                   : std::min(options_.queue_limit, std::max((count + wanted - 1) / wanted, kLeastPart));
    std::int64_t parts = 0;
    for (const auto& list : active_) parts += (std::ssize(list) + part - 1) / part;
    const std::int64_t share =
        std::max({std::int64_t{1}, least, most / std::max<std::int64_t>(parts, std::ssize(active_))});
    struct alignas(64) Place {
      std::atomic<std::int64_t> next = 0;
    };
    std::vector<Place> places(lists);
    each_thread(static_cast<int>(lists), [&](std::size_t thread, std::size_t) {
      for (std::size_t k = 0; k < lists; ++k) {
        const std::size_t at_list = (thread + k) % lists;
        const std::vector<Index>& list = active_[at_list];
        std::atomic<std::int64_t>& next = places[at_list].next;
        while (next.load(std::memory_order_relaxed) < std::ssize(list)) {
          const std::int64_t begin = next.fetch_add(part, std::memory_order_relaxed);
          if (begin < std::ssize(list))
            push_some(
                std::span(list).subspan(static_cast<std::size_t>(begin),
                                        static_cast<std::size_t>(std::min(part, std::ssize(list) - begin))),
                share, lanes_[thread]);
        }
      }
    });
    ++stats_.phases;
    each_thread(static_cast<int>(lists), [&](std::size_t thread, std::size_t given) {
      for (std::size_t k = thread; k < lists; k += given) gather_own(k);
    });
    for (Lane& lane : lanes_) {
      lane.next.clear();
      stats_.pushes += lane.pushes;
      stats_.relabels += 2 * lane.pushes;  // a double push raises its row's label and its column's
      lane.pushes = 0;
    }
  }
  /// Collects the active rows that a thread owns, whichever thread displaced them.
  void gather_own(std::size_t thread) {
    std::vector<Index>& active = active_[thread];
    active.clear();
    for (const Lane& lane : lanes_)
      for (const Index row : lane.next)
        if (labels_.owner(row) == thread) active.push_back(row);
  }

  void push_some(std::span<const Index> rows, std::int64_t share, Lane& lane) {
    const std::int64_t last = lane.pushes + share;
    std::vector<Index>&queue = lane.queue, &displaced = lane.joined;
    queue.assign(rows.begin(), rows.end());
    while (!queue.empty() && lane.pushes < last) {
      displaced.clear();
      for (std::size_t begin = 0; begin < queue.size(); begin += kBatch)
        push_batch(queue, begin, std::min(begin + kBatch, queue.size()), displaced, lane);
      queue.swap(displaced);
    }
    lane.next.insert(lane.next.end(), queue.begin(), queue.end());
  }

  /// The rows queue[begin, end) read labels, then push. A row whose chosen column was raised in between
  /// reads again in the next sweep.
  void push_batch(std::span<const Index> queue, std::size_t begin, std::size_t end,
                  std::vector<Index>& displaced, Lane& lane) {
    std::array<Offer, kBatch> offers;
    lane.edges += labels_.reader().offers({graph_.row_offsets, graph_.col_index}, queue, begin, end,
                                          labels_.short_labels(), offers.data());
    for (std::size_t k = 0; k < end - begin; ++k)
      if (offers[k].label < kShortFar<ShortLabel>) prefetch_to_write(labels_.words() + offers[k].col);
    for (std::size_t k = begin; k < end; ++k) {
      const Index row = queue[k];
      const Offer& offer = offers[k - begin];
      if (offer.label >= kShortFar<ShortLabel> || offer.label >= labels_.limit()) [[unlikely]] {
        const Index next = push_by_words(row, lane);
        if (next != -1) displaced.push_back(next);
        continue;
      }
      const Word seen = labels_.look(offer.col);
      const std::uint32_t now = Labels::label_of(seen);
      const std::uint32_t raised =
          offer.second == kNoShortPath<ShortLabel> ? Labels::kNoPath : std::uint32_t{offer.second} + 1;
      if (now != offer.label) labels_.store_short_label(offer.col, now);
      if (now != offer.label || !labels_.push(offer.col, seen, raised, row)) {
        displaced.push_back(row);
        continue;
      }
      ++lane.pushes;
      const Index next = Labels::row_of(seen);
      if (next == -1) continue;
      prefetch(graph_.row_offsets + next);
      displaced.push_back(next);
    }
  }

  /// One double push: the row takes a column of least label. Returns the displaced row, or -1 if the column
  /// was free or the row stays free for good. A path from the column must continue through the row's other
  /// columns, so its label becomes one more than their least.
  Index push_by_words(Index row, Lane& lane) {
    while (true) {
      const auto cols = graph_.cols_of(row);
      // Label and place of the least, label of the next.
      constexpr Word kNone = Word{Labels::kNoPath} << 32;
      Word best = kNone, second = kNone;
      for (std::size_t e = 0; e < cols.size(); ++e) {
        const Word here = Labels::word_of(Labels::label_of(labels_.look(cols[e])), static_cast<Index>(e));
        second = std::min(second, std::max(best, here));
        best = std::min(best, here);
      }
      lane.edges += std::ssize(cols);
      const std::uint32_t label = Labels::label_of(best);
      if (label >= labels_.limit()) {
        std::atomic_ref(given_up_).fetch_add(1, std::memory_order_relaxed);
        labels_.give_up(row);
        return -1;
      }
      const Index col = cols[static_cast<std::uint32_t>(best)];
      const Word seen = labels_.look(col);
      if (Labels::label_of(seen) != label) continue;  // raised since: read again
      const std::uint32_t raised = std::min(Labels::label_of(second) + 1, Labels::kNoPath);
      if (!labels_.push(col, seen, raised, row)) continue;  // another thread was faster: read again
      ++lane.pushes;
      return Labels::row_of(seen);
    }
  }

  const Graph& graph_;
  Labels labels_;
  std::vector<Lane>& lanes_;
  std::vector<std::vector<Index>> active_;  ///< [threads]
  const PushRelabelOptions& options_;
  CardinalityStats& stats_;
  std::int64_t given_up_ = 0;
};

/// Each thread keeps the region that it grew, unless some region is much larger than others. A thread on a
/// faster core grows a somewhat larger region, but also works it off faster.
Partition partition_of(const BfsReordering& near, int threads) {
  const std::size_t parts = near.row_borders.size() - 1;
  std::vector<Index> rows(at(threads), 0);
  for (std::size_t k = 0; k < parts; ++k)
    rows[k % rows.size()] += near.row_borders[k + 1] - near.row_borders[k];
  const Index largest = *std::max_element(rows.begin(), rows.end()), all = near.row_borders.back();
  if (5 * at(largest) * rows.size() <= 8 * at(all)) return {near.row_borders, near.col_borders};
  return {near.graph(), kPartsOfAThread * threads};
}

constexpr auto kSameName = [](Index k) { return k; };

/// Solves without renumbering.
void push_relabel(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                  const PushRelabelOptions& options, CardinalityStats& stats) {
  if (execution.threads == 1 && push_on_one_thread(graph, mates, options, stats)) return;
  const Partition partition(graph, kPartsOfAThread * execution.threads);
  const bool by_place = !scattered(view_of(graph));
  std::vector<std::vector<Index>> active =
      take_free_columns(graph, partition, execution.threads, by_place, mates, stats);
  if (count_all(active) == 0) return;
  Pushing pushing(graph, partition, mates.col_to_row, std::move(active), options, stats);
  pushing.run();
  pushing.tell(kSameName, kSameName, mates);
}

}  // namespace

/// From this many columns renumbering saves time: their labels exceed the cache, and neighbours with close
/// numbers cause fewer messages between threads.
constexpr Index kWorthReordering = 1 << 16;

void PushRelabel::run(const Execution& execution, const TwoSidedGraph& graph, Mates& mates,
                      CardinalityStats& stats) const {
  if (execution.threads == 1) return push_relabel(execution, graph, mates, options_, stats);
  const auto pays = [&] {
    if (graph.cols <= kWorthReordering) return false;
    return detail::may_have_places(view_of(graph));
  };
  const bool wanted =
      options_.reorder == Reorder::always || (options_.reorder == Reorder::automatic && pays());
  std::optional<detail::BfsReordering> near;
  if (wanted) {
    const detail::Timed timed(stats, "reorder");
    near = detail::bfs_reorder(graph, execution.threads);
  }
  if (!near) return push_relabel(execution, graph, mates, options_, stats);
  Mates renumbered;
  const detail::ReorderedGraph local = near->graph();
  const detail::Partition partition = partition_of(*near, execution.threads);
  {
    const detail::Timed timed(stats, "start");
    renumbered = near->to_new(mates, execution.threads);
  }
  std::vector<std::vector<Index>> active =
      detail::take_free_columns(local, partition, execution.threads, false, renumbered, stats);
  Pushing pushing(local, partition, renumbered.col_to_row, std::move(active), options_, stats);
  pushing.run();
  const detail::Timed timed(stats, "renumber");
  pushing.tell([&](Index row) { return near->rows[at(row)]; }, [&](Index col) { return near->cols[at(col)]; },
               mates);
}

void PushRelabel::run_on_device(const Execution& execution, const CardinalityProblem& problem,
                                const GivenStart& start, Mates& mates, CardinalityStats& stats) const {
  device::push_relabel(execution, problem, options_.chain, start, mates, stats);
}

}  // namespace motes::matching
