#include "matching/cardinality/labels.h"

#include <cstring>

#include "matching/cardinality/spin_barrier.h"

namespace motes::matching::detail {

template <class Graph>
Labels<Graph>::Labels(const Graph& graph, const std::vector<Index>& col_to_row, int threads)
    : graph_(graph),
      lanes_(at(threads)),
      words_(at(graph.cols)),
      level_of_(at(graph.rows)),
      mate_(at(graph.rows)),
      queue_(at(graph.cols)),
      limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)) {
  over_columns([&](Lane&, Index j) { words_[at(j)] = word_of(0, col_to_row[at(j)]); });
}

// Seen or not is a guess that goes wrong once a column: rows that look unseen are put down without a branch,
// and marked when many have come together. Those put down twice until then are found out there.
template <class Graph>
template <bool kShared>
void Labels<Graph>::expand(Lane& lane, std::int64_t begin, std::int64_t end) {
  Index found[kRoom];
  std::size_t count = 0;
  std::int64_t edges = 0;
  for_each_ahead(frontier(), begin, end, graph_.col_offsets, graph_.row_index,
                 kShared ? level_of_.data() : nullptr,  // of one thread they stay in the cache
                 [&](Index col) {
                   std::span<const Index> rows = graph_.rows_of(col);
                   edges += std::ssize(rows);
                   while (count + rows.size() > kRoom) {
                     const auto now = rows.first(std::min(rows.size(), kRoom - count));
                     put_down(now, found, count);
                     rows = rows.subspan(now.size());
                     mark<kShared>(found, count);
                     count = 0;
                   }
                   put_down(rows, found, count);
                 });
  mark<kShared>(found, count);
  lane.edges += edges;
}

template <class Graph>
template <bool kShared>
void Labels<Graph>::mark(Index* rows, std::size_t count) {
  constexpr std::size_t kAhead = 16;
  const std::uint8_t byte = byte_of(level_);
  std::size_t met = 0, matched = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) __builtin_prefetch(&mate_[at(rows[k + kAhead])]);
    const Index i = rows[k], j = mate_[at(i)];
    std::uint8_t& level = level_of_[at(i)];
    bool mine;  // of all threads that see the row one goes on to its column
    if constexpr (kShared) {
      mine = std::atomic_ref(level).exchange(byte, std::memory_order_relaxed) == kUnseen;
    } else {
      mine = level == kUnseen;
      level = byte;
    }
    if (byte == kInWord && mine && j != -1) words_[at(j)] = word_of(level_, i);
    rows[matched] = j;
    matched += mine && j != -1;
    met += mine;
  }
  const auto cols = static_cast<std::int64_t>(matched);
  std::int64_t place;
  if constexpr (kShared) {
    place = tail_.fetch_add(cols, std::memory_order_relaxed);
  } else {
    place = tail_.load(std::memory_order_relaxed);
    tail_.store(place + cols, std::memory_order_relaxed);
  }
  std::copy(rows, rows + matched, queue_.data() + place);
  if (met != matched) reached_.fetch_add(static_cast<std::int64_t>(met - matched), std::memory_order_relaxed);
}

template <class Graph>
void Labels<Graph>::share_expansion(Lane& lane) {
  const std::int64_t size = end_ - begin_;
  const std::int64_t part = std::clamp(size / (kPartsOfAThread * std::ssize(lanes_)), kLeastPart, kMostPart);
  while (true) {
    const std::int64_t begin = head_.fetch_add(part, std::memory_order_relaxed);
    if (begin >= size) return;
    expand<true>(lane, begin, std::min(begin + part, size));
  }
}

template <class Graph>
void Labels<Graph>::search() {
  const auto alone = [&](std::int64_t most) {
    for (; searching() && end_ - begin_ <= most; begin_level()) expand<false>(lanes_[0], 0, end_ - begin_);
  };
  if (lanes_.size() == 1) return alone(graph_.cols);
  SpinBarrier barrier;
  bool go_on = false;  // said when all meet: reached_ rises as soon as one of them goes on
#pragma omp parallel num_threads(static_cast <int>(lanes_.size()))
  {
    const int threads = omp_get_num_threads();
    Lane& lane = lanes_[static_cast<std::size_t>(omp_get_thread_num())];
    // The last to come does what one thread does best.
    const auto next = [&] {
      alone(kWorthSharing);
      go_on = searching();
    };
    barrier.meet(threads, next);
    while (go_on) {
      share_expansion(lane);
      barrier.meet(threads, [&] {
        begin_level();
        next();
      });
    }
  }
}

template <class Graph>
std::int64_t Labels<Graph>::relabel(const std::vector<Index>& active) {
  over_parts(lanes_, graph_.rows, kPassPart, [&](Lane&, auto begin, auto end) {
    std::memset(level_of_.data() + begin, kUnseen, static_cast<std::size_t>(end - begin));
    std::fill(mate_.data() + begin, mate_.data() + end, Index{-1});
  });
  level_ = 0;
  begin_ = end_ = 0;
  waiting_ = std::ssize(active);
  tail_ = reached_ = 0;
  over_parts(lanes_, graph_.cols, kPassPart, [&](Lane&, auto begin, auto end) {
    Index free[kPassPart];
    std::int64_t count = 0;
    for (auto j = static_cast<Index>(begin); j < end; ++j) {
      const Index i = row_of(words_[at(j)]);
      if (i != kNoRow) {
        mate_[at(i)] = j;
        continue;
      }
      free[count++] = j;
      if (count == kPassPart) {  // one thread's part is all
        std::copy(free, free + count, queue_.data() + tail_.fetch_add(count, std::memory_order_relaxed));
        count = 0;
      }
    }
    std::copy(free, free + count, queue_.data() + tail_.fetch_add(count, std::memory_order_relaxed));
  });
  begin_level();
  search();
  const std::int64_t levels = level_ - 1;
  // What was not seen is farther than the last level; how far nobody knows if the search was stopped.
  const std::uint32_t beyond = begin_ == end_ ? kNoPath : level_;
  over_columns([&](Lane&, Index j) {
    Word& word = words_[at(j)];
    const Index i = row_of(word);
    if (i == kNoRow) return;
    const std::uint8_t byte = level_of_[at(i)];
    if (byte == kUnseen)
      word = word_of(std::max(label_of(word), beyond), i);
    else if (byte != kInWord)
      word = word_of(byte, i);
  });
  return levels;
}

template class Labels<TwoSidedGraph>;
template class Labels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
