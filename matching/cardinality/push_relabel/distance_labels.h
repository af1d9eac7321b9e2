#pragma once
/// The state of push-relabel on several threads: each column's distance label and its row, in one word.
///
/// The label of a column is a lower bound of its distance, counted in columns, from the nearest free column
/// along alternating paths: 0 for a free column; for the column of row i at most one more than the least
/// label among i's other columns. A row i takes column j by one compare-and-exchange, which fails if label
/// or row have changed since i read them. The labels of other columns may have risen meanwhile but not
/// fallen, so the new label that i computed from them is still a lower bound. Hence any number of threads
/// may push at once.
///
/// Rows do not read these words but short labels next to them, of two bytes each, many of which are read at
/// once (csr_reader.h). A short label is written after its word, and two threads may write theirs in the
/// opposite order. It holds the present label or an earlier one, so it is a bound too, and the word decides
/// which row takes the column. Labels that do not fit into two bytes, usually few, are read in the words.
///
/// A global relabelling is a breadth-first search over rows. Each thread marks only the rows of its own
/// ranges of the partition, with one bit each in an array of its own, where it also marks the rows of other
/// threads that it has found. It sends those to their owners, who check after the next barrier whether they
/// are new. So no cache lines move between cores but those of the messages, and those of the few columns
/// whose row belongs to another thread. There is one barrier per level. A thread has several ranges, since
/// frontiers are dense in some places and sparse in others. (Reading the bits of other threads before
/// sending, and letting idle threads expand the columns of others, were slower.)
///
/// Races. Between two barriers a thread writes its own bits and lists, and messages that others read after
/// the next barrier. A column's short label is written by one thread, the owner of the column's row, and
/// read by the column's owner after the barrier. The rows' columns (mates) are written by the thread that
/// pushes, and read after that.

#include <atomic>
#include <exception>

#include <motes/base/index.h>
#include <motes/base/raw_array.h>
#include <motes/base/thread_barrier.h>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/partition.h"
#include "matching/cardinality/push_relabel/csr_reader.h"

namespace motes::matching::detail {

/// `Graph` is a BasicTwoSidedGraph with columns.
template <class Graph>
class DistanceLabels {
 public:
  using Word = std::uint64_t;
  using OffsetType = std::remove_cvref_t<decltype(*std::declval<Graph>().row_offsets)>;
  static constexpr Index kNoRow = -1;
  static constexpr std::uint32_t kNoPath = 0x7fffffffu;

  static std::uint32_t label_of(Word word) { return static_cast<std::uint32_t>(word >> 32); }
  static Index row_of(Word word) { return static_cast<Index>(static_cast<std::uint32_t>(word)); }
  static Word word_of(std::uint32_t label, Index row) {
    return Word{label} << 32 | static_cast<std::uint32_t>(row);
  }
  static ShortLabel short_of(std::uint32_t label) {
    return label == kNoPath ? kNoShortPath<ShortLabel>
                            : static_cast<ShortLabel>(std::min<std::uint32_t>(label, kShortFar<ShortLabel>));
  }

  /// Labels of the matching that `col_to_row` [cols] holds: 0 for free columns, 1 for others. Thread k of
  /// `threads` has parts k, k + threads, ... of the partition.
  DistanceLabels(const Graph& graph, const std::vector<Index>& col_to_row, Partition partition, int threads);

  Word look(Index col) { return peek(words_[at(col)]); }
  const ShortLabel* short_labels() const { return short_.data(); }
  const Word* words() const { return words_.data(); }
  /// Labels from here on mean that there is no path.
  std::uint32_t limit() const { return limit_; }

  /// Takes the column for `row` if its word is still `seen`. The row's column is written before the
  /// exchange: after it, another thread may displace the row and write its column too, and the exchange
  /// orders the two stores.
  bool push(Index col, Word seen, std::uint32_t label, Index row) {
    Word& word = words_[at(col)];
    mate_[at(row)] = col;
    if (lanes_.size() == 1)
      word = word_of(label, row);
    else if (!std::atomic_ref(word).compare_exchange_strong(
                 seen, word_of(label, row), std::memory_order_acq_rel, std::memory_order_relaxed))
      return false;
    store_short_label(col, label);
    return true;
  }
  /// The short label of a column whose label is at least this.
  void store_short_label(Index col, std::uint32_t label) { put(short_[at(col)], short_of(label)); }

  /// A breadth-first search from the free columns makes labels exact, kNoPath for columns without a path. It
  /// stops as soon as all of `active`, lists of the free rows that may have a path, are reached; columns
  /// farther away then get that distance as their bound. Returns the levels.
  std::int64_t relabel(std::span<const std::vector<Index>> active);
  /// Gives up a free row that has no path: clears the column that it had last.
  void give_up(Index row) { mate_[at(row)] = -1; }

  /// Calls pair(row, col) for each pair of the current matching and free(col) for each free column, in all
  /// threads.
  template <class Pair, class Free>
  void for_each_column(const Pair& pair, const Free& free) {
    over_parts([&](std::size_t part) {
      for (Index j = partition_.first_col(part); j < partition_.end_col(part); ++j) {
        const Index row = row_of(words_[at(j)]);
        if (row == kNoRow)
          free(j);
        else
          pair(row, j);
      }
    });
  }
  /// Calls body(part) for all parts, each thread its own.
  template <class Body>
  void over_parts(const Body& body) {
    partition_.over_parts(static_cast<int>(lanes_.size()), body);
  }

  std::vector<Lane>& lanes() { return lanes_; }  ///< [threads]
  const Partition& partition() const { return partition_; }
  /// The thread that owns the row.
  std::size_t owner(Index row) const { return at(owners_[at(row >> partition_.grain_shift())]); }
  const CsrReader<OffsetType>& reader() const { return reader_; }

 private:
  /// The report of a relabelling's threads at a barrier.
  struct Report {
    std::int64_t size = 0;     ///< of the frontier, including mail
    std::int64_t reached = 0;  ///< rows without a column, of all levels
    std::uint64_t mail = 0;    ///< a bit for each thread, modulo 64, that has mail
    std::uint32_t levels = 0;  ///< searched by one thread alone
    bool failed = false;       ///< memory ran out
    Report& operator+=(const Report& other) {
      size += other.size;
      reached += other.reached;
      mail |= other.mail;
      levels += other.levels;
      failed |= other.failed;
      return *this;
    }
  };
  /// The memory of a thread between relabellings.
  struct alignas(64) Place {
    RawArray<std::uint32_t> seen;  ///< a bit for each row: own rows visited, and rows sent to others
    std::vector<Index> free;       ///< columns of its parts that were free at the last relabelling
    RawArray<Index> cols[2];       ///< its part of the frontier and of the next one
    std::size_t size = 0;          ///< of its part of the frontier
    RawArray<Index> found, others;
    std::vector<std::size_t> from;  ///< threads that have mail for it
    /// [threads] rows for others, alternately of this level and of the one before: they are read until the
    /// barrier after the next.
    std::vector<std::vector<Index>> mail[2];
  };
  /// One thread's view of a relabelling.
  class Search;

  const Graph& graph_;
  const Partition partition_;
  const std::vector<Index> owners_;  ///< of grains of rows
  std::vector<Lane> lanes_;
  RawArray<Word> words_;        ///< [cols] label << 32 | row, or kNoRow
  RawArray<ShortLabel> short_;  ///< [cols + 1] the last one is read but not used
  RawArray<Index> mate_;        ///< [rows] column; of active rows the one that they had last; -1: none
  std::vector<Place> places_;   ///< [threads]
  std::uint32_t limit_;
  const CsrReader<OffsetType> reader_;
};

extern template class DistanceLabels<TwoSidedGraph>;
extern template class DistanceLabels<BasicTwoSidedGraph<std::uint32_t>>;

}  // namespace motes::matching::detail
