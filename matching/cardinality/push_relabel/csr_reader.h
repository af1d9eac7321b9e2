#pragma once
/// Reads many adjacency lists at a time in CSR form, for push-relabel on several threads.
///
/// A load of labels or bits that depends on an earlier store, or that might, waits for that store. So a
/// batch of lists is read first, with results in fixed places, and the stores that follow from them are
/// made afterwards. With AVX-512, 16 neighbours are read at once.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include <motes/base/prefetch.h>
#include <motes/matching/cardinality_solver.h>

namespace motes::matching::detail {

/// Labels in 16 bits. The greatest value means that there is no path; the one before it, that the path has
/// at least this length.
using ShortLabel = std::uint16_t;
inline constexpr ShortLabel kShortNoPath = std::numeric_limits<ShortLabel>::max();
inline constexpr ShortLabel kShortFar = kShortNoPath - 1;

/// Sets the bit of a vertex; returns whether it was not set before.
inline bool set_bit(std::uint32_t* bits, Index v) {
  std::uint32_t& word = bits[static_cast<std::size_t>(v) / 32];
  const std::uint32_t before = word;
  word |= std::uint32_t{1} << (v & 31);
  return word != before;
}

/// A row's column of least label. If no column has a path, `col` is meaningless.
struct ShortOffer {
  Index col;
  ShortLabel label, second;  ///< the least label, and the least of the other columns
};

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
    prefetch(list + 12);  // a short list that does not end in the first line, ends there
  }
  for (std::size_t k = up_to(begin + 2 * kListsAhead); k < up_to(end + 2 * kListsAhead); ++k)
    prefetch(lists.offsets + vertices[k]);
}

/// Whose rows are: owners[row >> shift].
struct OwnersView {
  const Index* owners;
  int shift;
  Index me;
};

/// Of some rows: how many are this thread's and have a column, are this thread's and have none, are others'.
struct Settled {
  std::size_t cols, without, others;
};

/// Vertices are read at places [begin, end) of a list whose later ones are asked of memory ahead. Labels may
/// be read two bytes beyond their end. Labels may be written by others meanwhile: what is read is
/// what they were at some time.
template <class OffsetType>
struct CsrReader {
  /// out[k]: of rows[begin + k], which has columns. Returns the columns read.
  std::int64_t (*offers)(const CsrView<OffsetType>& lists, std::span<const Index> rows, std::size_t begin,
                         std::size_t end, const ShortLabel* label_of, ShortOffer* out);
  /// Sets the bits of the columns' rows, and puts down those that were not set, each once. `out` has room for
  /// all that are next to the columns, and kSlack more. Returns how many there are.
  std::size_t (*unseen)(const CsrView<OffsetType>& lists, std::span<const Index> cols, std::size_t begin,
                        std::size_t end, std::uint32_t* seen, Index* out);
  /// Puts down the columns of `me`'s rows, and the rows that are others'. Both have room for as many as there
  /// are rows, and kSlack more. mate_of[row]: -1, no column.
  Settled (*settle)(std::span<const Index> rows, const OwnersView& owners, const Index* mate_of, Index* cols,
                    Index* others);
  /// to[k] = word_of[names[k]].
  void (*look_up)(std::span<const Index> names, const Index* word_of, Index* to);
  static constexpr std::size_t kSlack = 16;
};

/// The best this CPU can do, and the plain one. For tests both.
template <class OffsetType>
CsrReader<OffsetType> csr_reader();
template <class OffsetType>
CsrReader<OffsetType> plain_csr_reader();

extern template CsrReader<Offset> csr_reader<Offset>();
extern template CsrReader<Offset> plain_csr_reader<Offset>();
extern template CsrReader<std::uint32_t> csr_reader<std::uint32_t>();
extern template CsrReader<std::uint32_t> plain_csr_reader<std::uint32_t>();

}  // namespace motes::matching::detail
