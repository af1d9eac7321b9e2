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
///
/// Threads of a relabelling. Each has a list of the columns that it found and goes on from these, and from
/// some of who found more than its share, which all know when they have met, once a level. Levels of few
/// columns are done by one thread for all, while the others wait.
///
/// Races. A row's level is written without an exchange, which would wait for another core's line each time.
/// Two threads that come upon a row in the same level may both see it unseen; both then write the same, and
/// its column is in both lists and expanded twice. Only rows without a column are counted, and are therefore
/// won by an exchange. When all have met, everybody sees the level, so that no row gets two.

#include "matching/cardinality/meeting.h"
#include "matching/cardinality/search.h"
#include "matching/cardinality/split.h"
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

  /// Labels of the matching that `col_to_row` [cols] holds: 0 for free columns, 1 for others. `near`
  /// (reorder.h): neighbours are numbered near each other and each part of the split is a neighbourhood, so
  /// that threads have in their caches what they look at, and asking for it beforehand costs more than it
  /// saves.
  Labels(const Graph& graph, const std::vector<Index>& col_to_row, Split split, bool near);

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
  /// stops as soon as all of `active` [parts], the free rows that may have a path, in as many lists as the
  /// split has parts, are reached; columns farther away then get that distance as their bound. Returns the
  /// levels.
  std::int64_t relabel(std::span<const std::vector<Index>> active);
  /// The row, free, has no path; its column as the last relabelling saw it is not its column any more.
  void give_up(Index row) { mate_[at(row)] = -1; }

  /// Calls pair(row, col) for each pair of the matching as it stands and free(col) for each free column, in
  /// all threads.
  template <class Pair, class Free>
  void for_each_column(const Pair& pair, const Free& free) {
    split_.over_parts([&](std::size_t part) {
      for (Index j = split_.first_col(part); j < split_.end_col(part); ++j) {
        const Index row = row_of(words_[at(j)]);
        if (row == kNoRow)
          free(j);
        else
          pair(row, j);
      }
    });
  }

  std::vector<Lane>& lanes() { return lanes_; }
  const Split& split() const { return split_; }

 private:
  static constexpr std::uint8_t kUnseen = 0, kInWord = 255;
  static constexpr std::size_t kRoom = 512;  ///< rows put down before they are marked

  static std::uint8_t byte_of(std::uint32_t level) {
    return level < kInWord ? static_cast<std::uint8_t>(level) : kInWord;
  }
  /// What the threads of a relabelling tell each other when they meet.
  struct Said {
    std::int64_t size = 0;      ///< of the frontier, rows put down for others counted in
    std::uint32_t reached = 0;  ///< rows without a column, of all levels
    std::uint32_t levels = 0;   ///< done by one thread for all
    bool failed = false;        ///< memory ran out
    Said& operator+=(const Said& other) {
      size += other.size;
      reached += other.reached;
      levels += other.levels;
      failed |= other.failed;
      return *this;
    }
  };
  /// A thread's part of the frontier and of the next one, which take turns.
  struct alignas(64) Found {
    std::vector<Index> cols[2];
    std::vector<std::int64_t> sizes;  ///< [threads] what it heard from all
  };
  /// One thread's view of a relabelling.
  class Search;

  /// Unseen ones of the rows are marked with this level and their columns join `cols`. Returns how many rows
  /// have no column. Uses up the list.
  template <bool kShared>
  std::uint32_t mark(std::uint32_t level, Index* rows, std::size_t count, std::vector<Index>& cols);
  /// The same for the rows next to the columns; kShared: while other threads do others.
  template <bool kShared>
  std::uint32_t expand(std::uint32_t level, std::span<const Index> cols, Lane& lane,
                       std::vector<Index>& next);

  const Graph& graph_;
  const Split split_;
  const bool near_;
  std::vector<Lane> lanes_;
  RawArray<Word> words_;             ///< [cols] label << 32 | row, or kNoRow
  RawArray<std::uint8_t> level_of_;  ///< [rows] by this relabelling; kUnseen, kInWord: in its column's word
  RawArray<Index> mate_;             ///< [rows] column, as the relabelling began; -1 = free
  std::vector<Found> found_;         ///< [threads]
  std::uint32_t limit_;
};

extern template class Labels<TwoSidedGraph>;
extern template class Labels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
