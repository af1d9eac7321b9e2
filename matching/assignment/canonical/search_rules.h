#pragma once
/// The rules that the CPU and the GPU forms of the Hungarian solvers share: the winner of a tie, the start of
/// a row's scan, the width of the next band of distances. With these rules, and with every step of the
/// algorithms synchronous, both forms give the same matching and the same duals, bit by bit.

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::detail {

/// Sums stay inside 64 bits: |c| <= 2^58, duals within 2^60 and distances within 2^61 (see make_sides), so
/// that distance - u + c stays below 2^62.
inline constexpr Cost kFar = Cost{1} << 62;  ///< an unlabelled column's distance; no end known

/// Scrambles an index into 31 bits.
MOTES_HOST_DEVICE inline std::uint32_t scramble(Index k) {
  std::uint32_t x = static_cast<std::uint32_t>(k) * 0x9e3779b1U;
  x = (x ^ (x >> 15)) * 0x85ebca6bU;
  return (x ^ (x >> 13)) & 0x7fffffffU;
}

/// Among rows that make column j equal offers, the one of least rank wins. `salt` is scramble(j): every
/// column ranks the rows in its own order, so that no row wins all ties, and ends are spread evenly over
/// trees. Ranks begin with 1; 0 and kNoRank are reserved for "none".
MOTES_HOST_DEVICE inline std::uint32_t rank_of(Index row, std::uint32_t salt) {
  return (static_cast<std::uint32_t>(row) ^ salt) + 1;
}
MOTES_HOST_DEVICE inline Index row_of_rank(std::uint32_t rank, std::uint32_t salt) {
  return static_cast<Index>((rank - 1) ^ salt);
}
inline constexpr std::uint32_t kNoRank = 0xffffffffU;

/// A row as a list of pairs: how many it has, and the k-th one (cost kInfiniteCost: forbidden).
MOTES_HOST_DEVICE inline Index length_of(const SparseEntries& e, Index i) {
  return static_cast<Index>(e.offsets[i + 1] - e.offsets[i]);
}
template <class Entries>
MOTES_HOST_DEVICE Index length_of(const Entries& e, Index) {
  return e.cols;
}
struct Edge {
  Index col;
  Cost cost;
};
MOTES_HOST_DEVICE inline Edge edge_of(const SparseEntries& e, Index i, Index k) {
  return {e.col_index[e.offsets[i] + k], e.cost[e.offsets[i] + k]};
}
template <class Entries>
MOTES_HOST_DEVICE Edge edge_of(const Entries& e, Index i, Index k) {
  return {k, e.at(i, k)};
}

/// The forest of one search grows in bands of distance: labels up to `reach` are final before the next band
/// begins. Width 0 is Dijkstra's order, tie by tie; wider bands trade repeated scans of a row for rounds.
struct Band {
  Cost reach = 0;  ///< labels up to here are final, or about to be
  Cost width = 0;
  std::int64_t scanned = 0;  ///< rows scanned in this band

  /// Moves to the band that begins at the nearest label beyond, but not past `limit`.
  MOTES_HOST_DEVICE void advance(Cost nearest, Cost limit) {
    constexpr std::int64_t kFew = 64, kMany = 1024;
    if (scanned < kFew) {
      const Cost gap = nearest - reach;
      width = width > gap / 2 ? width * 2 : gap;
      if (width > kFar / 4) width = kFar / 4;
    } else if (scanned > kMany) {
      width /= 4;
    }
    scanned = 0;
    reach = nearest + width;
    if (reach > limit) reach = limit > nearest ? limit : nearest;
    if (reach > kFar / 2) reach = nearest > kFar / 2 ? nearest : kFar / 2;
  }
};

/// The number of trees that must have found an end before a search stops.
MOTES_HOST_DEVICE inline std::int64_t trees_wanted(std::int64_t trees) { return (trees + 1) / 2; }

}  // namespace motes::matching::detail
