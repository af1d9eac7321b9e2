#include "matching/cardinality/push_relabel/near_paths.h"

#include <algorithm>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/prefetch.h>
#include <motes/base/raw_array.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching::detail {
namespace {

/// Who holds a column in which round, and the row that it was reached from, in one word: round << 32 | row.
///
/// Races. A column is won by one exchange of its word. Its winner alone reads and writes its mate in this
/// round, and the mate's own column, since a row is reached through its column or is the root, which one
/// thread took from a list.
class Claims {
 public:
  explicit Claims(Index cols) : words_(at(cols)) {}
  std::uint64_t* words() { return words_.data(); }
  void new_round() { ++round_; }
  bool win(Index col, Index row) {
    std::uint64_t& word = words_[at(col)];
    std::uint64_t seen = peek(word);
    const std::uint64_t mine = round_ << 32 | static_cast<std::uint32_t>(row);
    return seen >> 32 != round_ &&
           std::atomic_ref(word).compare_exchange_strong(seen, mine, std::memory_order_relaxed);
  }
  /// The row that a column won was reached from. Others may still try for the column, in vain.
  Index operator[](std::size_t col) const {
    return static_cast<Index>(static_cast<std::uint32_t>(peek(const_cast<std::uint64_t&>(words_[col]))));
  }

 private:
  RawArray<std::uint64_t> words_;  ///< [cols]
  std::uint64_t round_ = 0;
};

template <class Graph>
class NearPaths {
 public:
  NearPaths(const Graph& graph, std::vector<std::vector<Index>>& free, Mates& mates)
      : graph_(graph), free_(free), mates_(mates), lanes_(free.size()), claims_(graph.cols) {
    const auto threads = std::ssize(free_);
    most_looks_ = graph.edges() / threads;
    over_parts(lanes_, graph.cols, graph.cols / threads + 1, [&](Lane&, auto begin, auto end) {
      std::fill(claims_.words() + begin, claims_.words() + end, std::uint64_t{0});
    });
  }

  void run(CardinalityStats& stats) {
    std::int64_t waiting = count();
    while (waiting != 0) {
      round();
      ++stats.phases;
      const std::int64_t edges_before = stats.path_edges, before = waiting;
      const std::int64_t paths = count_in(lanes_, stats);
      stats.pushes += (std::exchange(stats.path_edges, edges_before) - edges_before + paths) / 2;
      waiting -= paths;
      if (2 * paths < before) break;
    }
  }

 private:
  static constexpr std::int64_t kMostTaken = 64;  ///< rows that a thread takes at a time
  static constexpr std::size_t kAhead = 8;

  std::int64_t count() const {
    std::int64_t all = 0;
    for (const auto& rows : free_) all += std::ssize(rows);
    return all;
  }

  /// Each thread searches from its own rows first, then from what others have not begun.
  void round() {
    claims_.new_round();
    const std::size_t lists = free_.size();
    const std::int64_t part = std::clamp<std::int64_t>(count() / (4 * std::ssize(free_)), 1, kMostTaken);
    struct alignas(64) Place {
      std::atomic<std::int64_t> next = 0;
    };
    std::vector<Place> places(lists);
    each_thread(static_cast<int>(lists), [&](std::size_t thread, std::size_t) {
      Lane& lane = lanes_[thread];
      for (std::size_t k = 0; k < lists; ++k) {
        const std::vector<Index>& rows = free_[(thread + k) % lists];
        std::atomic<std::int64_t>& next = places[(thread + k) % lists].next;
        while (next.load(std::memory_order_relaxed) < std::ssize(rows)) {
          const std::int64_t begin = next.fetch_add(part, std::memory_order_relaxed);
          const std::int64_t end = std::min(begin + part, std::ssize(rows));
          for (std::int64_t n = begin; n < end; ++n) {
            if (lane.edges > most_looks_) return;
            search(rows[static_cast<std::size_t>(n)], lane);
          }
        }
      }
    });
    each_thread(static_cast<int>(lists), [&](std::size_t thread, std::size_t given) {
      for (std::size_t k = thread; k < lists; k += given) drop_matched(mates_, free_[k]);
    });
  }

  void search(Index root, Lane& lane) {
    lane.queue.assign(1, root);
    for (std::size_t head = 0; head < lane.queue.size() && lane.edges <= most_looks_; ++head) {
      if (head + kAhead < lane.queue.size())
        prefetch(graph_.col_index + graph_.row_offsets[lane.queue[head + kAhead]]);
      const Index row = lane.queue[head];
      for (const Index j : graph_.cols_of(row)) {
        ++lane.edges;
        if (!claims_.win(j, row)) continue;
        const Index mate = peek(mates_.col_to_row[at(j)]);
        if (mate == -1) return flip_back(mates_, claims_, j, lane);
        prefetch(graph_.row_offsets + mate);
        lane.queue.push_back(mate);
      }
    }
  }

  const Graph& graph_;
  std::vector<std::vector<Index>>& free_;
  Mates& mates_;
  std::vector<Lane> lanes_;
  Claims claims_;
  std::int64_t most_looks_ = 0;  ///< at edges, of a thread in a round
};

}  // namespace

template <class Graph>
std::vector<std::vector<Index>> take_free_columns(const Graph& graph, const Split& split, int threads,
                                                  bool by_place, Mates& mates, CardinalityStats& stats) {
  const Timed timed(stats, "start");
  const auto match = [&](Index i, Index begin, Index end) {
    for (const Index j : graph.cols_of(i)) {
      if (j < begin || j >= end) continue;
      Index& mate = mates.col_to_row[at(j)];
      Index none = -1;
      if (peek(mate) != -1) continue;
      if (threads > 1 && !std::atomic_ref(mate).compare_exchange_strong(none, i, std::memory_order_relaxed))
        continue;
      put(mate, i);
      mates.row_to_col[at(i)] = j;
      return true;
    }
    return false;
  };
  const auto same_share = [&](Index row) {
    return static_cast<Index>(Offset{graph.cols} * row / std::max(graph.rows, 1));
  };
  std::vector<std::vector<Index>> free(at(threads));
  std::int64_t pairs = 0;
  const auto count = [&](std::int64_t made) {
    std::atomic_ref(pairs).fetch_add(made, std::memory_order_relaxed);
  };
  split.over_parts(threads, [&](std::size_t part) {
    const Index begin = by_place ? same_share(split.first_row(part)) : 0;
    const Index end = by_place ? same_share(split.end_row(part)) : graph.cols;
    std::vector<Index> left;  // apart from what other threads write
    left.swap(free[part % free.size()]);
    std::int64_t made = 0;
    for (Index i = split.first_row(part); i < split.end_row(part); ++i) {
      if (mates.row_to_col[at(i)] != -1 || graph.row_offsets[i] == graph.row_offsets[i + 1]) continue;
      if (match(i, begin, end))
        ++made;
      else
        left.push_back(i);
    }
    left.swap(free[part % free.size()]);
    count(made);
  });
  if (by_place)
    each_thread(threads, [&](std::size_t k, std::size_t given) {
      for (; k < free.size(); k += given)
        count(static_cast<std::int64_t>(
            std::erase_if(free[k], [&](Index i) { return match(i, 0, graph.cols); })));
    });
  stats.augmentations += pairs;
  return free;
}

template <class Graph>
void find_near_paths(const Graph& graph, std::vector<std::vector<Index>>& free, Mates& mates,
                     CardinalityStats& stats) {
  const Timed timed(stats, "near");
  NearPaths<Graph>(graph, free, mates).run(stats);
}

template std::vector<std::vector<Index>> take_free_columns(const TwoSidedGraph&, const Split&, int, bool,
                                                           Mates&, CardinalityStats&);
template std::vector<std::vector<Index>> take_free_columns(const BasicTwoSidedGraph<std::uint32_t>&,
                                                           const Split&, int, bool, Mates&,
                                                           CardinalityStats&);
template void find_near_paths(const TwoSidedGraph&, std::vector<std::vector<Index>>&, Mates&,
                              CardinalityStats&);
template void find_near_paths(const BasicTwoSidedGraph<std::uint32_t>&, std::vector<std::vector<Index>>&,
                              Mates&, CardinalityStats&);

}  // namespace motes::matching::detail
