#pragma once
/// Lists of a graph laid out for visits in no order: a vertex's neighbours in one line of the cache.
///
/// A visit of a list waits for memory: for the line with its offset, then for the one or two lines that a
/// list of mean length lies across. In slots, as many of them for each vertex as the mean degree asks for, a
/// list is found without an offset and is one line (two for mean degrees from 12 on). Slots beyond a list
/// hold a neighbour that does not exist, so that all lists are read alike: how long each one is, is a guess
/// that goes wrong once a visit. Longer lists are few, and are read where they are.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "matching/cardinality/solver.h"
#include "matching/detail/prefetch.h"
#include "matching/detail/raw_array.h"

namespace motes::matching::detail {

/// Labels of 8 or 16 bits. The greatest value says that there is no path, the one before it that the path is
/// that long or longer.
template <class Label>
inline constexpr Label kNoShortPath = std::numeric_limits<Label>::max();

/// What a row's columns offer: the first of those of least label; where none has a path, `col` means nothing.
struct Offer {
  Index col;
  std::uint16_t label, second;  ///< the least label, and the least of the other columns
  std::int64_t looks;           ///< columns read
};

struct Unseen {
  std::int64_t found, looks;
};

/// unseen() writes this many words, most of no meaning.
inline constexpr std::size_t kMostSlots = 32;

/// How slots are read; on CPUs with AVX-512 all of a list at once, with the same answers. The label and the
/// bit of the vertex after the last can be read too, no path and seen, and three more bytes of labels.
struct SlotReader {
  /// Of a row's slots.
  Offer (*offer_8)(const Index* slots, const std::uint8_t* label_of, Index none);
  Offer (*offer_16)(const Index* slots, const std::uint16_t* label_of, Index none);
  /// Puts down those of a column's slots whose bits are not set.
  Unseen (*unseen)(const Index* slots, const std::uint32_t* seen, Index none, Index* out);
};

class Slots {
 public:
  /// Nothing for graphs of mean degree above 24, and of as many vertices as an Index can count.
  /// O(rows + cols + nnz); 32, 64 or 128 bytes a vertex.
  static std::optional<Slots> of(const TwoSidedGraph& graph);

  void prefetch_row(Index row) const { prefetch_lines(row_slots_.data() + place(row)); }
  void prefetch_col(Index col) const { prefetch_lines(col_slots_.data() + place(col)); }
  void prefetch_row_early(Index) const {}
  void prefetch_col_early(Index) const {}

  template <class Label>
  Offer offer(Index row, const Label* label_of) const {
    const Index* slots = row_slots_.data() + place(row);
    if (slots[count_ - 1] == kLonger) [[unlikely]]
      return offer_of(graph_->cols_of(row), label_of);
    if constexpr (sizeof(Label) == 1)
      return reader_.offer_8(slots, label_of, graph_->cols);
    else
      return reader_.offer_16(slots, label_of, graph_->cols);
  }
  /// The whole list where it is read as it is, else nothing: unseen() is to be asked.
  std::span<const Index> long_list(Index col) const {
    if (col_slots_[place(col) + count_ - 1] != kLonger) [[likely]]
      return {};
    return graph_->rows_of(col);
  }
  Unseen unseen(Index col, const std::uint32_t* seen, Index* out) const {
    return reader_.unseen(col_slots_.data() + place(col), seen, graph_->rows, out);
  }

  /// The same of any list, one by one.
  template <class Label>
  static Offer offer_of(std::span<const Index> cols, const Label* label_of);
  static Unseen unseen_of(std::span<const Index> rows, const std::uint32_t* seen, Index* out);

 private:
  static constexpr Index kLonger = -1;  ///< in the last slot: the list does not fit
  static constexpr std::size_t kLine = 16;

  Slots(const TwoSidedGraph& graph, std::size_t count);
  std::size_t place(Index v) const { return static_cast<std::size_t>(v) * count_; }
  void prefetch_lines(const Index* slots) const {
    prefetch(slots);
    if (count_ > kLine) prefetch(slots + kLine);
  }

  const TwoSidedGraph* graph_;
  std::size_t count_;                      ///< slots of a vertex
  RawArray<Index> row_slots_, col_slots_;  ///< [rows * count_], [cols * count_]
  SlotReader reader_;
};

template <class Label>
Offer Slots::offer_of(std::span<const Index> cols, const Label* label_of) {
  // Places of a long list need more bits than are left beside a label in a word of 32.
  constexpr std::uint64_t kNone = std::uint64_t{kNoShortPath<Label>} << 48;
  std::uint64_t best = kNone, second = kNone;
  for (std::size_t e = 0; e < cols.size(); ++e) {
    const std::uint64_t word = std::uint64_t{label_of[cols[e]]} << 48 | e;
    const std::uint64_t larger = std::max(best, word);
    best = std::min(best, word);
    second = std::min(second, larger);
  }
  const std::size_t place = best & ((std::uint64_t{1} << 48) - 1);
  return {cols[place], static_cast<std::uint16_t>(best >> 48), static_cast<std::uint16_t>(second >> 48),
          std::ssize(cols)};
}

/// Readers for 8, 16 or 32 slots: the best this CPU can do, and the plain one. For tests both.
SlotReader slot_reader(std::size_t count);
SlotReader plain_slot_reader(std::size_t count);

}  // namespace motes::matching::detail
