#pragma once
/// The total order of edges that makes sorted greedy matching unique.
///
/// Edge a precedes edge b if it is heavier. Of equal weights, the edge whose greater mixed end is greater
/// precedes; then the one whose smaller mixed end is greater, where the mixed number of a vertex is a
/// bijective hash of it. For the edges of one vertex this is the order of (weight, mixed number of the
/// neighbour), so each vertex can determine its best edge alone: of two equally heavy edges {v, a} and {v,
/// b} with mix(a) > mix(b), {v, a} precedes whatever mix(v) is. Without mixing there would be long chains
/// of dependence where weights are equal and neighbours have consecutive numbers.
///
/// Vertices are numbered as GraphKind says; in bipartite graphs column j is vertex rows + j (as in
/// to_general).
///
/// Packed words: 32 bits of weight above 32 bits of mixed number; greater is better; 0 means none.

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
