#pragma once
/// Reads many adjacency lists at a time in CSR form, for push-relabel on several threads.
///
/// A load of labels or bits that depends on an earlier store, or that might, waits for that store. So a
/// batch of lists is read first, with results in fixed places, and the stores that follow from them are
/// made afterwards. With AVX-512, 16 neighbours are read at once.

#include <algorithm>
#include <cstdint>
#include <span>

#include <motes/base/prefetch.h>
#include <motes/matching/cardinality_solver.h>

#include "matching/cardinality/push_relabel/short_labels.h"

namespace motes::matching::detail {

using ShortLabel = std::uint16_t;

/// One side's lists.
template <class OffsetType>
struct CsrView {
  const OffsetType* offsets;
  const Index* neighbours;

  std::int64_t degree(Index v) const { return static_cast<std::int64_t>(offsets[v + 1] - offsets[v]); }
};

/// The number of vertices whose lists are prefetched together.
inline constexpr std::size_t kListsAhead = 32;

/// Prefetches the lists of vertices[begin, ...), before those up to `end` are read; otherwise lists in
/// random order are a chain of cache misses. The offsets of the first kListsAhead vertices should be
/// prefetched as soon as these are known.
template <class OffsetType>
inline void look_ahead(const CsrView<OffsetType>& lists, std::span<const Index> vertices, std::size_t begin,
                       std::size_t end) {
  if (lists.neighbours == nullptr) return;  // a graph without edges
  const auto up_to = [&](std::size_t k) { return std::min(k, vertices.size()); };
  for (std::size_t k = begin == 0 ? 0 : up_to(begin + kListsAhead); k < up_to(end + kListsAhead); ++k) {
    const Index* list = lists.neighbours + lists.offsets[vertices[k]];
    prefetch(list);
    prefetch(list + 12);  // a short list that exceeds the first line ends in this one
  }
  for (std::size_t k = up_to(begin + 2 * kListsAhead); k < up_to(end + 2 * kListsAhead); ++k)
    prefetch(lists.offsets + vertices[k]);
}

/// The thread that owns a row: owners[row >> shift].
struct OwnersView {
  const Index* owners;
  int shift;
  Index me;
};

/// Counts of a list of rows: this thread's with a column, this thread's without one, and other threads'.
struct Settled {
  std::size_t cols, without, others;
};

/// Functions on the vertices [begin, end) of a list; the lists of later ones are prefetched. Labels may be
/// read two bytes beyond their end. Other threads may write labels meanwhile: a value read is one of the
/// label's values in the meantime.
template <class OffsetType>
struct CsrReader {
  /// out[k]: of rows[begin + k], which has columns. Returns the columns read.
  std::int64_t (*offers)(const CsrView<OffsetType>& lists, std::span<const Index> rows, std::size_t begin,
                         std::size_t end, const ShortLabel* label_of, Offer* out);
  /// Sets the bits of the columns' rows and writes the rows whose bit was not set, each once, to `out`, which
  /// has room for all neighbours of the columns and kSlack more. Returns their number.
  std::size_t (*unseen)(const CsrView<OffsetType>& lists, std::span<const Index> cols, std::size_t begin,
                        std::size_t end, std::uint32_t* seen, Index* out);
  /// Writes the columns of the rows that `me` owns, and the rows of other owners. Both outputs have room for
  /// all rows and kSlack more. mate_of[row]: -1, no column.
  Settled (*settle)(std::span<const Index> rows, const OwnersView& owners, const Index* mate_of, Index* cols,
                    Index* others);
  /// to[k] = word_of[names[k]].
  void (*look_up)(std::span<const Index> names, const Index* word_of, Index* to);
  static constexpr std::size_t kSlack = 16;
};

/// The fastest reader of this CPU, and the portable one, which tests compare.
template <class OffsetType>
CsrReader<OffsetType> csr_reader();
template <class OffsetType>
CsrReader<OffsetType> plain_csr_reader();

extern template CsrReader<Offset> csr_reader<Offset>();
extern template CsrReader<Offset> plain_csr_reader<Offset>();
extern template CsrReader<std::uint32_t> csr_reader<std::uint32_t>();
extern template CsrReader<std::uint32_t> plain_csr_reader<std::uint32_t>();

}  // namespace motes::matching::detail
