#include "matching/cardinality/labels.h"

#include <cstring>
#include <exception>
#include <utility>

namespace motes::matching::detail {

template <class Graph>
Labels<Graph>::Labels(const Graph& graph, const std::vector<Index>& col_to_row, Split split, bool near)
    : graph_(graph),
      split_(std::move(split)),
      near_(near),
      lanes_(split_.size()),
      words_(at(graph.cols)),
      level_of_(at(graph.rows)),
      mate_(at(graph.rows)),
      found_(split_.size()),
      limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)) {
  for (Found& found : found_) found.sizes.resize(split_.size());
  split_.over_parts([&](std::size_t part) {
    for (Index j = split_.first_col(part); j < split_.end_col(part); ++j)
      words_[at(j)] = word_of(col_to_row[at(j)] == -1 ? 0 : 1, col_to_row[at(j)]);
    std::fill(mate_.data() + split_.first_row(part), mate_.data() + split_.end_row(part), Index{-1});
  });
}

// Seen or not is a guess that goes wrong once a column: rows that look unseen are put down without a branch,
// and marked when many have come together. Those put down twice until then are found out there.
template <class Graph>
template <bool kShared>
std::uint32_t Labels<Graph>::expand(std::uint32_t level, std::span<const Index> cols, Lane& lane,
                                    std::vector<Index>& next) {
  Index found[kRoom];
  std::size_t count = 0;
  std::uint32_t reached = 0;
  std::int64_t edges = 0;
  const auto put_down = [&](std::span<const Index> rows) {
    for (const Index i : rows) {
      found[count] = i;
      count += peek(level_of_[at(i)]) == kUnseen;
    }
  };
  for_each_ahead(cols, 0, std::ssize(cols), graph_.col_offsets, graph_.row_index,
                 kShared && !near_ ? level_of_.data() : nullptr, [&](Index col) {
                   std::span<const Index> rows = graph_.rows_of(col);
                   edges += std::ssize(rows);
                   while (count + rows.size() > kRoom) {
                     const auto now = rows.first(std::min(rows.size(), kRoom - count));
                     put_down(now);
                     rows = rows.subspan(now.size());
                     reached += mark<kShared>(level, found, count, next);
                     count = 0;
                   }
                   put_down(rows);
                 });
  lane.edges += edges;
  return reached + mark<kShared>(level, found, count, next);
}

template <class Graph>
template <bool kShared>
std::uint32_t Labels<Graph>::mark(std::uint32_t level, Index* rows, std::size_t count,
                                  std::vector<Index>& cols) {
  constexpr std::size_t kAhead = 16;
  const std::uint8_t byte = byte_of(level);
  std::uint32_t reached = 0;
  std::size_t matched = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) __builtin_prefetch(&mate_[at(rows[k + kAhead])]);
    const Index i = rows[k], j = mate_[at(i)];
    std::uint8_t& seen = level_of_[at(i)];
    if (j == -1) {  // rare
      if constexpr (kShared)
        reached += std::atomic_ref(seen).exchange(byte, std::memory_order_relaxed) == kUnseen;
      else
        reached += std::exchange(seen, byte) == kUnseen;
      continue;
    }
    const bool mine = peek(seen) == kUnseen;
    put(seen, byte);  // what others put down was unseen before this level
    if (byte == kInWord && mine) put(words_[at(j)], word_of(level, i));
    rows[matched] = j;
    matched += mine;
  }
  cols.insert(cols.end(), rows, rows + matched);
  return reached;
}

/// Races. Between two meetings a thread's next list is its own, and the lists of the frontier are read by all
/// and written by nobody. mate_ of a matched row is written by whoever has its column, of an active one by
/// whoever has that in its list, of others by nobody, and read after the first meeting. When one thread works
/// for all, the others only wait. Levels beyond the bytes are written to the words by who marks the row; only
/// this row's column has that word.
template <class Graph>
class Labels<Graph>::Search {
 public:
  Search(Labels& labels, std::span<const std::vector<Index>> active, Meeting<Said>& meeting,
         std::exception_ptr& failure)
      : labels_(labels),
        found_(labels.found_),
        active_(active),
        meeting_(meeting),
        failure_(failure),
        thread_(static_cast<std::size_t>(omp_get_thread_num())),
        threads_(static_cast<std::size_t>(omp_get_num_threads())),
        sizes_(found_[thread_].sizes) {
    for (const auto& rows : active) waiting_ += rows.size();
  }

  void run() {
    begin();
    while (searching()) {
      if (threads_ == 1 || all_.size <= kWorthSharing)
        one_for_all();
      else
        share_level();
    }
    finish();
  }

  std::int64_t levels() const { return level_; }

 private:
  static constexpr std::int64_t kWorthSharing = 128;   ///< a smaller level is done by one thread
  static constexpr std::int64_t kTooMuchForOne = 256;  ///< who goes on until one is larger than that

  /// A thread does its parts of the split: one, unless fewer threads were given than asked for.
  template <class Body>
  void each_part(const Body& body) {
    labels_.split_.each_part(thread_, threads_, body);
  }
  /// Memory may run out, but all must meet.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      mine_.failed = true;
#pragma omp critical(motes_relabelling_failure)
      failure_ = std::current_exception();
    }
  }
  void meet() {
    all_ = {};
    meeting_.meet(thread_, threads_, mine_, [&](std::size_t thread, const Said& said) {
      all_ += said;
      sizes_[thread] = said.size;
    });
  }
  bool searching() const { return all_.size != 0 && all_.reached < waiting_ && !all_.failed; }

  void begin() {
    guarded([&] {
      Found& found = found_[thread_];
      for (auto& cols : found.cols) cols.clear();
      each_part([&](std::size_t part) {
        const Split& split = labels_.split_;
        std::memset(labels_.level_of_.data() + split.first_row(part), kUnseen,
                    at(split.end_row(part) - split.first_row(part)));
        for (Index j = split.first_col(part); j < split.end_col(part); ++j) {
          const Index i = row_of(labels_.words_[at(j)]);
          if (i == kNoRow)
            found.cols[turn_].push_back(j);
          else
            labels_.mate_[at(i)] = j;
        }
        for (const Index i : active_[part]) labels_.mate_[at(i)] = -1;
      });
      mine_.size = std::ssize(found.cols[turn_]);
    });
    meet();
  }

  void one_for_all() {
    mine_.size = 0;
    if (thread_ == 0) guarded([&] { one_for_all_by_me(); });
    meet();
    level_ += all_.levels;
    mine_.levels = 0;
    if (thread_ != 0) found_[thread_].cols[turn_].clear();
  }
  void one_for_all_by_me() {
    std::vector<Index>&now = found_[0].cols[turn_], &next = found_[0].cols[1 - turn_];
    for (std::size_t k = 1; k < threads_; ++k)
      now.insert(now.end(), found_[k].cols[turn_].begin(), found_[k].cols[turn_].end());
    std::uint32_t reached = all_.reached;
    const std::int64_t most = threads_ == 1 ? std::numeric_limits<std::int64_t>::max() : kTooMuchForOne;
    std::uint32_t level = level_;
    while (!now.empty() && std::ssize(now) <= most && reached < waiting_) {
      next.clear();
      reached += labels_.template expand<false>(++level, now, labels_.lanes_[0], next);
      now.swap(next);
    }
    mine_.size = std::ssize(now);
    mine_.reached += reached - all_.reached;
    mine_.levels = level - level_;
  }

  void share_level() {
    guarded([&] {
      std::vector<Index>& next = found_[thread_].cols[1 - turn_];
      next.clear();
      each_share([&](std::span<const Index> cols) {
        mine_.reached += labels_.template expand<true>(level_ + 1, cols, labels_.lanes_[thread_], next);
      });
      mine_.size = std::ssize(next);
    });
    ++level_;
    turn_ = 1 - turn_;
    meet();
  }
  /// Calls body(columns) for this thread's share of the frontier: of its own as many as are fair; if these
  /// are fewer, it takes what others have too many, which is dealt out in the order of the threads.
  template <class Body>
  void each_share(const Body& body) {
    const auto count = static_cast<std::int64_t>(threads_);
    const std::int64_t fair = (all_.size + count - 1) / count;
    const auto cols = [&](std::size_t k, std::int64_t begin, std::int64_t end) {
      return std::span<const Index>(found_[k].cols[turn_])
          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    };
    body(cols(thread_, 0, std::min(fair, sizes_[thread_])));
    std::int64_t begin = 0;  // of what is left over by all, where this thread's begins
    for (std::size_t k = 0; k < thread_; ++k) begin += std::max<std::int64_t>(0, fair - sizes_[k]);
    const std::int64_t end = begin + std::max<std::int64_t>(0, fair - sizes_[thread_]);
    std::int64_t place = 0;
    for (std::size_t k = 0; k < threads_ && place < end; ++k) {
      const std::int64_t over = std::max<std::int64_t>(0, sizes_[k] - fair);
      const std::int64_t from = std::max(begin, place), to = std::min(end, place + over);
      if (from < to) body(cols(k, fair + from - place, fair + to - place));
      place += over;
    }
  }

  void finish() {
    // What was not seen is farther than the last level; how far nobody knows if the search was stopped.
    const std::uint32_t beyond = all_.size == 0 ? kNoPath : level_ + 1;
    each_part([&](std::size_t part) {
      for (Index j = labels_.split_.first_col(part); j < labels_.split_.end_col(part); ++j) {
        Word& word = labels_.words_[at(j)];
        const Index i = row_of(word);
        if (i == kNoRow) continue;
        const std::uint8_t byte = labels_.level_of_[at(i)];
        if (byte == kUnseen)
          word = word_of(std::max(label_of(word), beyond), i);
        else if (byte != kInWord)
          word = word_of(byte, i);
      }
    });
  }

  Labels& labels_;
  std::vector<Found>& found_;
  const std::span<const std::vector<Index>> active_;
  std::size_t waiting_ = 0;  ///< rows to be reached
  Meeting<Said>& meeting_;
  std::exception_ptr& failure_;
  const std::size_t thread_, threads_;
  Said mine_, all_;
  std::vector<std::int64_t>& sizes_;  ///< [threads] of the lists of the frontier, as this thread heard them
  std::size_t turn_ = 0;
  std::uint32_t level_ = 0;
};

template <class Graph>
std::int64_t Labels<Graph>::relabel(std::span<const std::vector<Index>> active) {
  Meeting<Said> meeting(split_.size());
  std::exception_ptr failure;
  std::int64_t levels = 0;
#pragma omp parallel num_threads(static_cast <int>(split_.size()))
  {
    Search search(*this, active, meeting, failure);
    search.run();
    if (omp_get_thread_num() == 0) levels = search.levels();
  }
  if (failure) std::rethrow_exception(failure);
  return levels;
}

template class Labels<TwoSidedGraph>;
template class Labels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
