#pragma once
/// Adjacency lists in ELL form, for visits in random order: the neighbours of a vertex are in one cache
/// line.
///
/// A visit of a CSR list waits for memory: for the line with its offset, then for the one or two lines that
/// contain a list of mean length. In ELL form every vertex has the same number of slots, chosen by the mean
/// degree. A list is then found without an offset and is one line (two lines for mean degrees from 12, three
/// from 25). Slots beyond the end of a list hold a neighbour that does not exist, so that all lists are read
/// in the same way: a branch on the length would be mispredicted once per visit. Longer lists are few; their
/// remaining neighbours are stored separately.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/prefetch.h>
#include <motes/base/raw_array.h>
#include <motes/matching/cardinality_solver.h>

#include "matching/cardinality/push_relabel/short_labels.h"

namespace motes::matching::detail {

inline constexpr std::size_t kMostSlots = 48;
/// The most lists in one batch, and the number of vertices after the batch that must be readable, since
/// their lists are prefetched.
inline constexpr std::size_t kRowsAtOnce = 16, kColsAtOnce = 64, kAskedAhead = 64;
/// Memory for the neighbours of a batch of vertices, one list after another, and for some words after the
/// last.
inline constexpr std::size_t kFlatRoom = (kColsAtOnce + 1) * kMostSlots;

/// The offers of a batch of rows, in the rows' order.
struct Offers {
  alignas(64) std::array<Index, kRowsAtOnce> col;
  alignas(64) std::array<std::uint32_t, kRowsAtOnce> label, second;
};

/// Counters of a batch.
struct Visit {
  std::int64_t looks;  ///< neighbours read
  bool longer;         ///< some lists are longer than their slots
};

/// Functions that read the slots of a batch of vertices; with AVX-512 many at once, with the same results.
/// Nothing is written until all are read, so that loads overlap: a gather waits for older stores whose
/// addresses are not known yet. The slots of sixteen rows are transposed, so that one gather loads a label
/// of each row, and minima need no reduction within a row. The label of the vertex `none`, one after the
/// last, must be readable (no path), and three more bytes of labels. If the last slot of a list exceeds
/// `none`, the list continues elsewhere, and only its other slots are read.
struct EllReader {
  template <class Label>
  using ReadOffers = Visit (*)(const Index* slots, std::span<const Index> rows, const Label* label_of,
                               Index none, Offers& out);
  ReadOffers<std::uint8_t> offers_8;
  ReadOffers<std::uint16_t> offers_16;
  /// Marks the slots whose bits are not set, in a word for each of up to kColsAtOnce vertices. The bit of
  /// `none` is set.
  Visit (*unset)(const Index* slots, std::span<const Index> vertices, const std::uint32_t* bits, Index none,
                 std::uint64_t* out);
  /// Writes the neighbours of up to kColsAtOnce vertices one after another; `looks` is their number.
  Visit (*flatten)(const Index* slots, std::span<const Index> vertices, Index none, Index* flat);
};

/// Functions that read a list of any length in CSR form.
struct AdjacencyReader {
  Offer (*offer_8)(std::span<const Index> cols, const std::uint8_t* label_of);
  Offer (*offer_16)(std::span<const Index> cols, const std::uint16_t* label_of);
  /// Writes those neighbours whose bits are not set, in order, and up to 16 words more. Returns their number.
  /// At most kFlatRoom neighbours.
  std::int64_t (*unseen)(std::span<const Index> list, const std::uint32_t* seen, Index* out);
  /// Writes a list (at most its first kMostSlots neighbours) and up to kMostSlots words more. Returns the
  /// end.
  Index* (*append)(std::span<const Index> list, Index* to);

  template <class Label>
  Offer offer(std::span<const Index> cols, const Label* label_of) const {
    if constexpr (sizeof(Label) == 1)
      return offer_8(cols, label_of);
    else
      return offer_16(cols, label_of);
  }
};

class EllGraph {
 public:
  /// Not for graphs of mean degree above 40, nor where hubs have most of the edges in a sample of the lists,
  /// nor where vertices and twice the edges are more than an Index can count. O(1).
  static bool pay(const TwoSidedGraph& graph);
  /// O(rows + cols + nnz); 32, 64, 128 or 192 bytes per vertex.
  explicit EllGraph(const TwoSidedGraph& graph);

  /// The best offers to up to kRowsAtOnce rows by their columns; kAskedAhead more rows must be readable after
  /// them. Returns the columns read.
  template <class Label>
  std::int64_t offers(std::span<const Index> rows, const Label* label_of, Offers& out) const {
    Visit visit;
    if constexpr (sizeof(Label) == 1)
      visit = reader_.offers_8(row_slots_.data(), rows, label_of, graph_->cols, out);
    else
      visit = reader_.offers_16(row_slots_.data(), rows, label_of, graph_->cols, out);
    if (visit.longer) [[unlikely]]
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto cols = rest_of(row_slots_, rows[k], graph_->cols);
        if (cols.empty()) continue;
        const Offer more = list_reader_.offer(cols, label_of);
        const std::uint32_t label = out.label[k];
        if (more.label < label) out.col[k] = more.col, out.label[k] = more.label;
        out.second[k] = more.label < label ? std::min<std::uint32_t>(label, more.second)
                                           : std::min<std::uint32_t>(out.second[k], more.label);
        visit.looks += std::ssize(cols);
      }
    return visit.looks;
  }
  /// The best offer to one row.
  template <class Label>
  Offer offer(Index row, const Label* label_of) const {
    return list_reader_.offer(graph_->cols_of(row), label_of);
  }
  /// For each of up to kColsAtOnce rows, one after another, the first of its columns that take(col) accepts,
  /// or -1, into `out`. Those that it would not accept at first have a bit in `taken`.
  template <class Take>
  void take_first(std::span<const Index> rows, const std::uint32_t* taken, const Take& take,
                  Index* out) const {
    std::array<std::uint64_t, kColsAtOnce> offered;
    const bool longer = reader_.unset(row_slots_.data(), rows, taken, graph_->cols, offered.data()).longer;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Index* const slots = row_slots_.data() + static_cast<std::size_t>(rows[k]) * count_;
      out[k] = -1;
      for (std::uint64_t left = offered[k]; left != 0 && out[k] == -1; left &= left - 1) {
        const Index col = slots[std::countr_zero(left)];
        if (take(col)) out[k] = col;
      }
      if (longer && out[k] == -1) out[k] = first_of(rest_of(row_slots_, rows[k], graph_->cols), take);
    }
  }
  template <class Take>
  static Index first_of(std::span<const Index> cols, const Take& take) {
    const auto first = std::find_if(cols.begin(), cols.end(), take);
    return first == cols.end() ? -1 : *first;
  }
  /// The neighbours of up to kColsAtOnce columns as far as they lie in slots, one list after another;
  /// kAskedAhead more columns must be readable after them.
  Visit flat_cols(std::span<const Index> cols, Index* flat) const {
    return reader_.flatten(col_slots_.data(), cols, graph_->rows, flat);
  }
  /// The neighbours of a column that flat_cols() leaves out, to be read by lists().
  std::span<const Index> rest(Index col) const { return rest_of(col_slots_, col, graph_->rows); }
  const AdjacencyReader& lists() const { return list_reader_; }

 private:
  EllGraph(const TwoSidedGraph& graph, std::size_t count);
  std::span<const Index> rest_of(const RawArray<Index>& slots, Index v, Index none) const {
    const Index last = slots[static_cast<std::size_t>(v) * count_ + count_ - 1];
    if (last <= none) return {};
    const Index* const more = more_.data() + (last - none - 1);
    return {more + 1, static_cast<std::size_t>(*more)};
  }

  const TwoSidedGraph* graph_;
  std::size_t count_;  ///< slots of a vertex
  /// [rows * count_], [cols * count_]; slots after the end of a list hold `cols` or `rows`. If the last
  /// slot exceeds that by k, the list continues at more_[k - 1].
  RawArray<Index> row_slots_, col_slots_;
  std::vector<Index>
      more_;  ///< lengths, each followed by as many neighbours; few, so that they stay in cache
  EllReader reader_;
  AdjacencyReader list_reader_;
};

/// Readers for 8, 16, 32 or 48 slots: the fastest of this CPU, and the portable one, which tests compare.
EllReader ell_reader(std::size_t count);
EllReader plain_ell_reader(std::size_t count);
AdjacencyReader adjacency_reader();
AdjacencyReader plain_adjacency_reader();

}  // namespace motes::matching::detail
