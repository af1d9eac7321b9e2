#pragma once
/// The rules that the CPU and the GPU forms of assignment solvers share: distances that do not exist, and the
/// winner of a tie. With these rules, and with every step synchronous, both forms of the Hungarian solvers
/// give the same matching and the same duals, bit by bit.

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

}  // namespace motes::matching::detail
