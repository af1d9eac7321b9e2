#pragma once
/// The total order of edges that makes sorted greedy matching unique.
///
/// Edge a comes before edge b where it is heavier; of equal weights, where the greater of its ends' mixed
/// numbers is greater; then the smaller. Seen from one vertex this is the order of (weight, mixed number of
/// the neighbour), so that each vertex can tell its best edge alone: of two equal edges {v, a} and {v, b}
/// with mix(a) < mix(b), {v, b} is first whatever mix(v) is. Plain numbers instead of mixed ones would make
/// long chains of dependence where weights are equal and neighbours are numbered in a row.
///
/// Vertices are numbered as GraphKind says; of bipartite graphs column j is vertex rows + j (as in
/// to_general).
///
/// Words: 32 bits of weight above 32 bits of mixed number; greater is better; 0 is none.

#include <cstdint>
#include <cstring>

#include <motes/base/host_device.h>
#include <motes/matching/problem.h>

namespace motes::matching {

using Word = std::uint64_t;

/// A bijection of 32-bit numbers, and its inverse.
MOTES_HOST_DEVICE inline std::uint32_t mix(std::uint32_t vertex) {
  return (vertex ^ vertex >> 16) * 0x9e3779b1u;
}
MOTES_HOST_DEVICE inline std::uint32_t unmix(std::uint32_t mixed) {
  const std::uint32_t x = mixed * 0x0e8b2f51u;  // 0x9e3779b1 * 0x0e8b2f51 = 1 (mod 2^32)
  return x ^ x >> 16;
}

/// Weights as 32-bit keys of the same order, never 0: of floats (finite, not below 0) their bits plus 1.
MOTES_HOST_DEVICE inline std::uint32_t weight_key(float weight) {
  std::uint32_t bits;
  memcpy(&bits, &weight, sizeof bits);
  return (bits & 0x7fffffffu) + 1;  // -0 is 0
}

MOTES_HOST_DEVICE inline Word word(std::uint32_t key, std::uint32_t vertex) {
  return static_cast<Word>(key) << 32 | mix(vertex);
}
MOTES_HOST_DEVICE inline std::uint32_t key_of(Word word) { return static_cast<std::uint32_t>(word >> 32); }
MOTES_HOST_DEVICE inline std::uint32_t vertex_of(Word word) {
  return unmix(static_cast<std::uint32_t>(word));
}

}  // namespace motes::matching
