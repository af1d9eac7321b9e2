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
  /// A thread's columns of the level at work and of the next, which take turns.
  struct alignas(64) Found {
    std::vector<Index> cols[2];
  };
  std::vector<Index>& next_of(std::size_t thread) { return found_[thread].cols[1 - turn_]; }
  /// What was found is the frontier now.
  void begin_level();
  bool searching() const { return size_ != 0 && reached_.load(std::memory_order_relaxed) < waiting_; }
  /// Rows that look unseen join `found`.
  void put_down(std::span<const Index> rows, Index* found, std::size_t& count) {
    for (const Index i : rows) {
      found[count] = i;
      count += peek(level_of_[at(i)]) == kUnseen;
    }
  }
  /// Unseen ones of the rows are marked with this level: their columns are found, those without one are
  /// counted in reached_. Uses up the list.
  template <bool kShared>
  void mark(Index* rows, std::size_t count, std::vector<Index>& next);
  /// The same for the rows next to places [begin, end) of the frontier, all threads' columns in turn;
  /// kShared: while other threads do others.
  template <bool kShared>
  void expand(std::size_t thread, std::int64_t begin, std::int64_t end);
  void search();  ///< all levels, in all threads

  const Graph& graph_;
  std::vector<Lane> lanes_;
  RawArray<Word> words_;             ///< [cols] label << 32 | row, or kNoRow
  RawArray<std::uint8_t> level_of_;  ///< [rows] by this relabelling; kUnseen, kInWord: in its column's word
  RawArray<Index> mate_;             ///< [rows] column, as the relabelling began; -1 = free
  std::vector<Found> found_;         ///< [threads]
  std::uint32_t limit_;
  // The level at work; these words change while the threads meet.
  std::size_t turn_ = 0;
  std::int64_t size_ = 0, waiting_ = 0;  ///< of the frontier; rows to be reached
  std::uint32_t level_ = 0;
  std::atomic<std::int64_t> reached_ = 0;  ///< of the rows without columns
};

extern template class Labels<TwoSidedGraph>;
extern template class Labels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
