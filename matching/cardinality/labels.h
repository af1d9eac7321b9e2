#pragma once
/// The state of push-relabel solvers: for each column its label and its row, in one word.
///
/// The label of a column is a lower bound of its distance from the nearest free column along alternating
/// paths, in columns: 0 for a free one; for the column of row i no more than one above the least label among
/// i's other columns. A row i takes column j by one compare-and-exchange, which fails if label or row have
/// changed since i looked; labels of other columns that i saw may have risen meanwhile, never fallen, so that
/// the new label that i computed from them is still a lower bound. Hence any number of threads may push at
/// once.
///
/// What a relabelling touches. Memory is what it waits for, so each row has one byte for its level, which
/// also says whether it was seen, and the rows' columns (mate_) are made from the words when they are needed
/// and not kept in step by pushes. A byte holds 254 levels; what lies beyond, little as a rule, is written to
/// the words at once.

#include "matching/cardinality/search.h"
#include "matching/detail/raw_array.h"

namespace motes::matching::detail {

/// `Graph` is a BasicTwoSidedGraph with columns.
template <class Graph>
class Labels {
 public:
  using Word = std::uint64_t;
  static constexpr Index kNoRow = -1;
  static constexpr std::uint32_t kNoPath = 0x7fffffffu;

  static std::uint32_t label_of(Word word) { return static_cast<std::uint32_t>(word >> 32); }
  static Index row_of(Word word) { return static_cast<Index>(static_cast<std::uint32_t>(word)); }
  static Word word_of(std::uint32_t label, Index row) {
    return Word{label} << 32 | static_cast<std::uint32_t>(row);
  }

  /// Labels of 0 for the matching that `col_to_row` [cols] holds.
  Labels(const Graph& graph, const std::vector<Index>& col_to_row, int threads);

  const Word* words() const { return words_.data(); }
  Word look(Index col) { return peek(words_[at(col)]); }
  /// Labels from here on mean that there is no path.
  std::uint32_t limit() const { return limit_; }

  /// Takes the column for `row` if its word is still `seen`.
  bool push(Index col, Word seen, std::uint32_t label, Index row) {
    Word& word = words_[at(col)];
    if (lanes_.size() == 1) {
      word = word_of(label, row);
      return true;
    }
    return std::atomic_ref(word).compare_exchange_strong(seen, word_of(label, row),
                                                         std::memory_order_relaxed);
  }

  /// A breadth-first search from the free columns makes labels exact, kNoPath for columns without a path. It
  /// stops as soon as all of `active`, the free rows that may have a path, are reached; columns farther away
  /// then get that distance as their bound. Returns the levels.
  std::int64_t relabel(const std::vector<Index>& active);

  /// Calls pair(row, col) for each pair of the matching as it stands and free(col) for each free column, by
  /// parts in all threads.
  template <class Pair, class Free>
  void for_each_column(const Pair& pair, const Free& free) {
    over_columns([&](Lane&, Index col) {
      const Index row = row_of(words_[at(col)]);
      if (row == kNoRow)
        free(col);
      else
        pair(row, col);
    });
  }

  std::vector<Lane>& lanes() { return lanes_; }

 private:
  static constexpr std::uint8_t kUnseen = 0, kInWord = 255;
  static constexpr std::int64_t kPassPart = 1 << 14;
  static constexpr std::int64_t kLeastPart = 32, kMostPart = 512, kPartsOfAThread = 4;  ///< of a level
  static constexpr std::int64_t kWorthSharing = 256;  ///< a smaller level is done before all have met
  static constexpr std::size_t kRoom = 512;           ///< rows put down before they are marked

  template <class Body>
  void over_columns(const Body& body) {
    over_parts(lanes_, graph_.cols, kPassPart, [&](Lane& lane, auto begin, auto end) {
      for (auto j = begin; j < end; ++j) body(lane, static_cast<Index>(j));
    });
  }
  static std::uint8_t byte_of(std::uint32_t level) {
    return level < kInWord ? static_cast<std::uint8_t>(level) : kInWord;
  }
  std::span<const Index> frontier() const {
    return {queue_.data() + begin_, static_cast<std::size_t>(end_ - begin_)};
  }
  /// Makes what the queue got since the next level.
  void begin_level() {
    begin_ = end_;
    end_ = tail_.load(std::memory_order_relaxed);
    head_.store(0, std::memory_order_relaxed);
    ++level_;
  }
  bool searching() const { return begin_ != end_ && reached_.load(std::memory_order_relaxed) < waiting_; }
  /// Rows that look unseen join `found`.
  void put_down(std::span<const Index> rows, Index* found, std::size_t& count) {
    for (const Index i : rows) {
      found[count] = i;
      count += peek(level_of_[at(i)]) == kUnseen;
    }
  }
  /// Unseen ones of the rows are marked with this level: their columns join the queue, those without one are
  /// counted in reached_. Uses up the list.
  template <bool kShared>
  void mark(Index* rows, std::size_t count);
  /// The same for the rows next to a part of the frontier; kShared: while other threads do others.
  template <bool kShared>
  void expand(Lane& lane, std::int64_t begin, std::int64_t end);
  void share_expansion(Lane& lane);  ///< one thread's share of a level
  void search();                     ///< all levels, in all threads

  const Graph& graph_;
  std::vector<Lane> lanes_;
  RawArray<Word> words_;             ///< [cols] label << 32 | row, or kNoRow
  RawArray<std::uint8_t> level_of_;  ///< [rows] by this relabelling; kUnseen, kInWord: in its column's word
  RawArray<Index> mate_;             ///< [rows] column, as the relabelling began; -1 = free
  RawArray<Index> queue_;            ///< [cols] as they are reached
  std::uint32_t limit_;
  // The levels in the queue: all before begin_ are done, [begin_, end_) is the frontier. These words change
  // while the threads meet; the rest while they work.
  std::int64_t begin_ = 0, end_ = 0, waiting_ = 0;
  std::uint32_t level_ = 0;
  alignas(64) std::atomic<std::int64_t> head_ = 0;  ///< of the frontier, taken by threads
  alignas(64) std::atomic<std::int64_t> tail_ = 0;  ///< of the queue
  std::atomic<std::int64_t> reached_ = 0;           ///< of the rows without columns
};

extern template class Labels<TwoSidedGraph>;
extern template class Labels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
