#include "matching/cardinality/labels.h"

namespace motes::matching::detail {

std::int64_t Labels::relabel(std::span<const Index> active) {
  std::fill(row_seen_.begin(), row_seen_.end(), std::uint8_t{0});
  frontier_.clear();
  for (Index j = 0; j < graph_.cols; ++j)
    if (row_of(words_[at(j)]) == -1) frontier_.push_back(j);
  std::int64_t reached = 0;  // of the active rows
  std::int64_t waiting = 0;  // of them, those that have edges and so can be reached
  for (const Index i : active) waiting += graph_.row_offsets[i] != graph_.row_offsets[i + 1];
  std::uint32_t level = 0;
  while (!frontier_.empty() && reached < waiting) {
    ++level;
    // A row is seen by one thread, which alone writes the word of its column.
    over_parts(lanes_, std::ssize(frontier_), kLevelPart, [&](Lane& lane, auto begin, auto end) {
      std::vector<Index>& found = lane.queue;  // rows seen first here
      std::size_t count = 0;
      for_each_ahead(
          frontier_, begin, end, graph_.col_offsets, graph_.row_index, row_seen_.data(), [&](Index col) {
            const auto rows = graph_.rows_of(col);
            lane.edges += std::ssize(rows);
            if (found.size() < count + rows.size()) found.resize(2 * (count + rows.size()));
            const std::size_t first = count;
            if (lanes_.size() == 1) {
              // Seen or not is a guess that goes wrong once a column: no branch.
              for (const Index i : rows) {
                found[count] = i;
                count += row_seen_[at(i)] ^ 1u;
                row_seen_[at(i)] = 1;
              }
            } else {
              for (const Index i : rows) {
                std::uint8_t& seen = row_seen_[at(i)];
                if (peek(seen) == 0 && std::atomic_ref(seen).exchange(1, std::memory_order_relaxed) == 0)
                  found[count++] = i;
              }
            }
            for (std::size_t k = first; k < count; ++k) __builtin_prefetch(&mates_.row_to_col[at(found[k])]);
          });
      std::int64_t met = 0;
      constexpr std::size_t kAhead = 12;
      for (std::size_t k = 0; k < count; ++k) {
        if (k + kAhead < count) {
          const Index later = mates_.row_to_col[at(found[k + kAhead])];
          if (later != -1) __builtin_prefetch(&words_[at(later)], 1);
        }
        const Index i = found[k], j = mates_.row_to_col[at(i)];
        if (j == -1) {
          ++met;
          continue;
        }
        words_[at(j)] = word_of(level, i);
        lane.next.push_back(j);
      }
      if (met != 0) std::atomic_ref(reached).fetch_add(met, std::memory_order_relaxed);
    });
    gather(lanes_, frontier_);
  }
  // What was not seen is farther than the last level; how far nobody knows if the search was stopped.
  const std::uint32_t beyond = frontier_.empty() ? kNoPath : level + 1;
  for (Index j = 0; j < graph_.cols; ++j) {
    Word& word = words_[at(j)];
    const Index i = row_of(word);
    if (i != -1 && row_seen_[at(i)] == 0) word = word_of(std::max(label_of(word), beyond), i);
  }
  return level;
}

}  // namespace motes::matching::detail
