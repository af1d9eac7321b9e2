#pragma once
/// The state of push-relabel solvers: for each column its label and its row, in one word.
///
/// The label of a column is a lower bound of its distance from the nearest free column along alternating
/// paths, in columns: 0 for a free one; for the column of row i no more than one above the least label among
/// i's columns. A row i takes column j by one compare-and-exchange, which fails if label or row have changed
/// since i looked; labels of other columns that i saw may have risen meanwhile, never fallen, so that the new
/// label that i computed from them is still a lower bound. Hence any number of threads may push at once.

#include "matching/cardinality/search.h"

namespace motes::matching::detail {

class Labels {
 public:
  using Word = std::uint64_t;
  static constexpr std::uint32_t kNoRow = 0xffffffffu;
  static constexpr std::uint32_t kNoPath = 0x7fffffffu;

  static std::uint32_t label_of(Word word) { return static_cast<std::uint32_t>(word >> 32); }
  static Index row_of(Word word) { return static_cast<Index>(static_cast<std::uint32_t>(word)); }
  static Word word_of(std::uint32_t label, Index row) {
    return Word{label} << 32 | static_cast<std::uint32_t>(row);
  }

  Labels(const TwoSidedGraph& graph, Mates& mates, int threads)
      : graph_(graph),
        mates_(mates),
        lanes_(at(threads)),
        words_(at(graph.cols)),
        row_seen_(at(graph.rows)),
        limit_(std::min(static_cast<std::uint32_t>(std::min(graph.rows, graph.cols)) + 1, kNoPath)) {
    for (Index j = 0; j < graph.cols; ++j) words_[at(j)] = word_of(0, mates.col_to_row[at(j)]);
  }

  const Word* words() const { return words_.data(); }
  Word look(Index col) { return peek(words_[at(col)]); }
  /// Labels from here on mean that there is no path.
  std::uint32_t limit() const { return limit_; }

  /// Takes the column for `row` if its word is still `seen`. The row's own mate is written first: who
  /// displaces the row later sees it (release, acquire), and only then may anyone write it again.
  bool push(Index col, Word seen, std::uint32_t label, Index row) {
    mates_.row_to_col[at(row)] = col;
    if (lanes_.size() == 1) {
      words_[at(col)] = word_of(label, row);
      return true;
    }
    return std::atomic_ref(words_[at(col)])
        .compare_exchange_strong(seen, word_of(label, row), std::memory_order_acq_rel);
  }
  /// A row that was displaced or gives up; the caller holds it.
  void set_free(Index row) { mates_.row_to_col[at(row)] = -1; }

  /// A breadth-first search from the free columns makes labels exact, kNoPath for columns without a path. It
  /// stops as soon as all of `active`, rows that have been set free, are reached; columns farther away then
  /// get that distance as their bound. Returns the levels.
  std::int64_t relabel(std::span<const Index> active);

  /// Both sides of the matching as it stands.
  void finish() {
    for (Index j = 0; j < graph_.cols; ++j) mates_.col_to_row[at(j)] = row_of(words_[at(j)]);
  }

  std::vector<Lane>& lanes() { return lanes_; }

 private:
  const TwoSidedGraph& graph_;
  Mates& mates_;
  std::vector<Lane> lanes_;
  std::vector<Word> words_;             ///< [cols] label << 32 | row, or kNoRow
  std::vector<std::uint8_t> row_seen_;  ///< [rows] by this relabelling
  std::uint32_t limit_;
  std::vector<Index> frontier_;
};

}  // namespace motes::matching::detail
