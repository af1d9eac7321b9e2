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
      queue_(at(graph.rows) + at(graph.cols) + 1),
      limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)) {
  over_columns([&](Lane&, Index j) { words_[at(j)] = word_of(0, col_to_row[at(j)]); });
}

template <class Graph>
void Labels<Graph>::expand_alone() {
  const std::uint8_t byte = byte_of(level_);
  Lane& lane = lanes_[0];
  Index* found = queue_.data() + end_;
  std::size_t count = 0;
  constexpr const std::uint8_t* kNoWords = nullptr;  // one byte a row stays in the cache
  for_each_ahead(frontier(), 0, end_ - begin_, graph_.col_offsets, graph_.row_index, kNoWords,
                 [&](Index col) {
                   const auto rows = graph_.rows_of(col);
                   lane.edges += std::ssize(rows);
                   // Seen or not is a guess that goes wrong once a column: no branch. Marks come after, since
                   // a mark that depends on what was there makes each look wait for the last.
                   const std::size_t first = count;
                   for (const Index i : rows) {
                     found[count] = i;
                     count += level_of_[at(i)] == kUnseen;
                   }
                   for (std::size_t k = first; k < count; ++k) level_of_[at(found[k])] = byte;
                 });
  const std::size_t matched = columns_of(found, count, found);
  tail_.store(end_ + static_cast<std::int64_t>(matched), std::memory_order_relaxed);
  reached_.fetch_add(static_cast<std::int64_t>(count - matched), std::memory_order_relaxed);
}

template <class Graph>
std::size_t Labels<Graph>::columns_of(const Index* rows, std::size_t count, Index* cols) {
  constexpr std::size_t kAhead = 16;
  std::size_t matched = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) __builtin_prefetch(&mate_[at(rows[k + kAhead])]);
    const Index i = rows[k], j = mate_[at(i)];
    if (level_ >= kInWord && j != -1) words_[at(j)] = word_of(level_, i);
    cols[matched] = j;
    matched += j != -1;
  }
  return matched;
}

template <class Graph>
void Labels<Graph>::share_expansion(Lane& lane) {
  const std::uint8_t byte = byte_of(level_);
  const std::int64_t size = end_ - begin_;
  const auto threads = std::ssize(lanes_);
  const std::int64_t part = std::clamp(size / (kPartsOfAThread * threads), kLeastPart, kMostPart);
  Index found[kRoom];
  std::size_t count = 0;
  std::int64_t edges = 0;
  // A row is seen by one thread, which alone goes on to its column.
  const auto hand_in = [&] {
    const std::size_t matched = columns_of(found, count, found);
    const std::int64_t place = tail_.fetch_add(static_cast<std::int64_t>(matched), std::memory_order_relaxed);
    std::copy(found, found + matched, queue_.data() + place);
    if (matched != count)
      reached_.fetch_add(static_cast<std::int64_t>(count - matched), std::memory_order_relaxed);
    count = 0;
  };
  while (true) {
    const std::int64_t begin = head_.fetch_add(part, std::memory_order_relaxed);
    if (begin >= size) break;
    for_each_ahead(frontier(), begin, std::min(begin + part, size), graph_.col_offsets, graph_.row_index,
                   level_of_.data(), [&](Index col) {
                     const auto rows = graph_.rows_of(col);
                     edges += std::ssize(rows);
                     for (const Index i : rows) {
                       std::uint8_t& mark = level_of_[at(i)];
                       if (peek(mark) != kUnseen ||
                           std::atomic_ref(mark).exchange(byte, std::memory_order_relaxed) != kUnseen)
                         continue;
                       found[count++] = i;
                       if (count == kRoom) hand_in();
                     }
                   });
  }
  if (count != 0) hand_in();
  lane.edges += edges;
}

template <class Graph>
void Labels<Graph>::search() {
  const auto alone = [&](std::int64_t most) {
    for (; searching() && end_ - begin_ <= most; begin_level()) expand_alone();
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
