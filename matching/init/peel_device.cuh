#pragma once
/// Peeling on the GPU: on both sides, vertices with a single remaining neighbour are matched with it,
/// repeatedly (the first of the two rules of Karp & Sipser, "Maximum matching in sparse random graphs",
/// FOCS 1981).
///
/// Some maximum matching contains all of these pairs, and the rest of it is among the remaining vertices,
/// that is, free ones with free neighbours. Solvers need not visit the others again.

#include "matching/cardinality/two_sided_device_graph.cuh"

namespace motes::matching::device {

/// The state of a vertex: in the high half the sum (modulo 2^32) of the numbers of its neighbours that are
/// not taken, in the low half their number; the highest bit of the low half is set once the vertex
/// itself is taken.
using Left = unsigned long long;
constexpr unsigned kTaken = 1U << 31;

/// Whether peeling has settled a vertex: it is matched, or has no neighbour left.
__device__ inline bool is_peeled(Left left) { return static_cast<unsigned>(left) - 1U >= kTaken - 1U; }

/// Counters of a peeling, in device memory.
struct PeelCounters {
  int on;                    ///< whether there was a peeling
  int listed[3];             ///< length of the list of round r at r % 3
  int rows_left, cols_left;  ///< for solvers that list the remaining vertices
};
struct Peeling {
  Left* left;       ///< [rows + cols], rows first
  PeelCounters* n;  ///< `on` is 0 until peel() has begun
};

/// When peel() starts, and when it stops.
struct PeelPlan {
  bool always = true;  ///< else only if in a sample one vertex in kSingleShare has one neighbour
  int few = 0;  ///< stops once at most this many vertices are listed, and at most a 64th of the first list
  bool greedy = false;  ///< rows left take a free column, if they have one, in any order
};
constexpr int kSingleShare = 11;

/// The approximate number of bytes it needs.
std::size_t peeling_bytes(std::size_t rows, std::size_t cols, std::size_t edges);

/// Allocates the arrays of a graph's peeling in the arena.
Peeling make_peeling(gpu::Arena& arena, const DeviceSides& sides);

/// Peels a graph without pairs; both mates on the device, filled with -1. If several vertices have the same
/// single neighbour, timing decides which one gets it. O(rows + cols + nnz) work.
void peel(gpu::Arena& arena, const DeviceSides& sides, Offset edges, const PeelPlan& plan,
          const Peeling& peeling, Index* row_to_col, Index* col_to_row);

}  // namespace motes::matching::device
