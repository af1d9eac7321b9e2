#include "matching/cardinality/labels.h"

#include <cstring>
#include <exception>

#include "matching/cardinality/spin_barrier.h"

namespace motes::matching::detail {

template <class Graph>
Labels<Graph>::Labels(const Graph& graph, const std::vector<Index>& col_to_row, int threads)
    : graph_(graph),
      lanes_(at(threads)),
      words_(at(graph.cols)),
      level_of_(at(graph.rows)),
      mate_(at(graph.rows)),
      found_(at(threads)),
      limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)) {
  over_columns([&](Lane&, Index j) { words_[at(j)] = word_of(0, col_to_row[at(j)]); });
}

// Seen or not is a guess that goes wrong once a column: rows that look unseen are put down without a branch,
// and marked when many have come together. Those put down twice until then are found out there.
template <class Graph>
template <bool kShared>
void Labels<Graph>::expand(std::size_t thread, std::int64_t begin, std::int64_t end) {
  std::vector<Index>& next = next_of(thread);
  Index found[kRoom];
  std::size_t count = 0;
  std::int64_t edges = 0, place = 0;
  for (const Found& theirs : found_) {
    const std::vector<Index>& cols = theirs.cols[turn_];
    const std::int64_t size = std::ssize(cols);
    for_each_ahead(cols, std::clamp<std::int64_t>(begin - place, 0, size),
                   std::clamp<std::int64_t>(end - place, 0, size), graph_.col_offsets, graph_.row_index,
                   kShared ? level_of_.data() : nullptr,  // of one thread they stay in the cache
                   [&](Index col) {
                     std::span<const Index> rows = graph_.rows_of(col);
                     edges += std::ssize(rows);
                     while (count + rows.size() > kRoom) {
                       const auto now = rows.first(std::min(rows.size(), kRoom - count));
                       put_down(now, found, count);
                       rows = rows.subspan(now.size());
                       mark<kShared>(found, count, next);
                       count = 0;
                     }
                     put_down(rows, found, count);
                   });
    place += size;
  }
  mark<kShared>(found, count, next);
  lanes_[thread].edges += edges;
}

template <class Graph>
template <bool kShared>
void Labels<Graph>::mark(Index* rows, std::size_t count, std::vector<Index>& next) {
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
  next.insert(next.end(), rows, rows + matched);
  if (met != matched) reached_.fetch_add(static_cast<std::int64_t>(met - matched), std::memory_order_relaxed);
}

template <class Graph>
void Labels<Graph>::begin_level() {
  turn_ = 1 - turn_;
  size_ = 0;
  for (const Found& found : found_) size_ += std::ssize(found.cols[turn_]);
  ++level_;
}

// Each thread's share of a level is a stretch of all threads' columns in turn: mostly those that it found
// itself, and whose lists and rows lie in its cache. Nothing is taken from a common counter.
template <class Graph>
void Labels<Graph>::search() {
  const auto alone = [&](std::size_t thread, std::int64_t most) {
    for (; searching() && size_ <= most; begin_level()) {
      for (std::size_t k = 0; k < found_.size(); ++k) next_of(k).clear();
      expand<false>(thread, 0, size_);
    }
  };
  if (lanes_.size() == 1) return alone(0, graph_.cols);
  SpinBarrier barrier;
  bool go_on = false;  // said when all meet: reached_ rises as soon as one of them goes on
  std::exception_ptr failure;
  bool failed = false;
  const auto guarded = [&](const auto& work) {  // memory may run out, but all must meet
    try {
      work();
    } catch (...) {
      if (!std::atomic_ref(failed).exchange(true, std::memory_order_relaxed))
        failure = std::current_exception();
    }
  };
#pragma omp parallel num_threads(static_cast <int>(lanes_.size()))
  {
    const int threads = omp_get_num_threads();
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    // The last to come does what one thread does best.
    const auto next = [&] {
      guarded([&] { alone(thread, kWorthSharing); });
      go_on = !failed && searching();
    };
    barrier.meet(threads, next);
    while (go_on) {
      const auto share = [&](std::size_t k) { return size_ * static_cast<std::int64_t>(k) / threads; };
      for (std::size_t k = thread; k < found_.size(); k += static_cast<std::size_t>(threads))
        next_of(k).clear();  // of threads, too, that were not given
      guarded([&] { expand<true>(thread, share(thread), share(thread + 1)); });
      barrier.meet(threads, [&] {
        begin_level();
        next();
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

template <class Graph>
std::int64_t Labels<Graph>::relabel(const std::vector<Index>& active) {
  over_parts(lanes_, graph_.rows, kPassPart, [&](Lane&, auto begin, auto end) {
    std::memset(level_of_.data() + begin, kUnseen, static_cast<std::size_t>(end - begin));
    std::fill(mate_.data() + begin, mate_.data() + end, Index{-1});
  });
  level_ = 0;
  reached_ = 0;
  waiting_ = std::ssize(active);
  for (Found& found : found_)
    for (std::vector<Index>& cols : found.cols) cols.clear();
  over_parts(lanes_, graph_.cols, kPassPart, [&](Lane&, auto begin, auto end) {
    std::vector<Index>& free = next_of(static_cast<std::size_t>(omp_get_thread_num()));
    for (auto j = static_cast<Index>(begin); j < end; ++j) {
      const Index i = row_of(words_[at(j)]);
      if (i == kNoRow)
        free.push_back(j);
      else
        mate_[at(i)] = j;
    }
  });
  begin_level();
  search();
  const std::int64_t levels = level_ - 1;
  // What was not seen is farther than the last level; how far nobody knows if the search was stopped.
  const std::uint32_t beyond = size_ == 0 ? kNoPath : level_;
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
