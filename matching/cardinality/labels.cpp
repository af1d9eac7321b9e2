#include "matching/cardinality/labels.h"

#include <cstring>

namespace motes::matching::detail {

template <class Graph>
Labels<Graph>::Labels(const Graph& graph, const std::vector<Index>& col_to_row, int threads)
    : graph_(graph),
      lanes_(at(threads)),
      words_(at(graph.cols)),
      level_(at(graph.rows)),
      mate_(at(graph.rows)),
      found_(threads == 1 ? at(graph.rows) + 1 : 0),
      limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)) {
  over_columns([&](Lane&, Index j) { words_[at(j)] = word_of(0, col_to_row[at(j)]); });
}

template <class Graph>
std::int64_t Labels<Graph>::next_level_alone(std::uint32_t level) {
  const std::uint8_t byte = byte_of(level);
  Lane& lane = lanes_[0];
  Index* found = found_.data();
  std::size_t count = 0;
  frontier_.over_parts(lanes_, kLevelPart, [&](Lane&, const auto& cols, auto begin, auto end) {
    constexpr const std::uint8_t* kNoWords = nullptr;  // one byte a row stays in the cache
    for_each_ahead(cols, begin, end, graph_.col_offsets, graph_.row_index, kNoWords, [&](Index col) {
      const auto rows = graph_.rows_of(col);
      lane.edges += std::ssize(rows);
      // Seen or not is a guess that goes wrong once a column: no branch. Marks come after, since a mark that
      // depends on what was there makes each look wait for the last.
      const std::size_t first = count;
      for (const Index i : rows) {
        found[count] = i;
        count += level_[at(i)] == kUnseen;
      }
      for (std::size_t k = first; k < count; ++k) level_[at(found[k])] = byte;
    });
  });
  constexpr std::size_t kAhead = 16;
  std::size_t matched = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) __builtin_prefetch(&mate_[at(found[k + kAhead])]);
    const Index i = found[k], j = mate_[at(i)];
    if (byte == kInWord && j != -1) words_[at(j)] = word_of(level, i);
    found[matched] = j;
    matched += j != -1;
  }
  lane.next.assign(found, found + matched);
  frontier_.take(lanes_);
  return static_cast<std::int64_t>(count - matched);
}

template <class Graph>
std::int64_t Labels<Graph>::next_level(std::uint32_t level) {
  const std::uint8_t byte = byte_of(level);
  std::int64_t without = 0;
  // A row is seen by one thread, which alone goes on to its column.
  frontier_.over_parts(lanes_, kLevelPart, [&](Lane& lane, const auto& cols, auto begin, auto end) {
    const auto visit = [&](Index col) {
      const auto rows = graph_.rows_of(col);
      lane.edges += std::ssize(rows);
      for (const Index i : rows) {
        std::uint8_t& mark = level_[at(i)];
        if (peek(mark) == kUnseen &&
            std::atomic_ref(mark).exchange(byte, std::memory_order_relaxed) == kUnseen)
          lane.queue.push_back(i);
      }
    };
    lane.queue.clear();
    for_each_ahead(cols, begin, end, graph_.col_offsets, graph_.row_index, level_.data(), visit);
    std::int64_t met = 0;
    constexpr std::size_t kAhead = 16;
    for (std::size_t k = 0; k < lane.queue.size(); ++k) {
      if (k + kAhead < lane.queue.size()) __builtin_prefetch(&mate_[at(lane.queue[k + kAhead])]);
      const Index i = lane.queue[k], j = mate_[at(i)];
      if (j == -1) {
        ++met;
        continue;
      }
      if (byte == kInWord) words_[at(j)] = word_of(level, i);
      lane.next.push_back(j);
    }
    if (met != 0) std::atomic_ref(without).fetch_add(met, std::memory_order_relaxed);
  });
  frontier_.take(lanes_);
  return without;
}

template <class Graph>
std::int64_t Labels<Graph>::relabel(const std::vector<Index>& active) {
  over_parts(lanes_, graph_.rows, kPassPart, [&](Lane&, auto begin, auto end) {
    std::memset(level_.data() + begin, kUnseen, static_cast<std::size_t>(end - begin));
    std::fill(mate_.data() + begin, mate_.data() + end, Index{-1});
  });
  over_columns([&](Lane& lane, Index j) {
    const Index i = row_of(words_[at(j)]);
    if (i == kNoRow)
      lane.next.push_back(j);
    else
      mate_[at(i)] = j;
  });
  frontier_.take(lanes_);
  const std::int64_t waiting = std::ssize(active);
  std::int64_t reached = 0;  // of the active rows
  std::uint32_t level = 0;
  while (!frontier_.empty() && reached < waiting) {
    ++level;
    reached += lanes_.size() == 1 ? next_level_alone(level) : next_level(level);
  }
  // What was not seen is farther than the last level; how far nobody knows if the search was stopped.
  const std::uint32_t beyond = frontier_.empty() ? kNoPath : level + 1;
  over_columns([&](Lane&, Index j) {
    Word& word = words_[at(j)];
    const Index i = row_of(word);
    if (i == kNoRow) return;
    const std::uint8_t byte = level_[at(i)];
    if (byte == kUnseen)
      word = word_of(std::max(label_of(word), beyond), i);
    else if (byte != kInWord)
      word = word_of(byte, i);
  });
  return level;
}

template class Labels<TwoSidedGraph>;
template class Labels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
