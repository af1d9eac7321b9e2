#pragma once
/// A level of the classical search over rows of a matrix, on the GPU: all rows of the problem or one rank's.
/// row_share.h's rules, element for element; the zeros are not stored, but claim their columns at once.

#include "matching/assignment/canonical/device_state.cuh"
#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::device::hungarian {

using namespace search;

constexpr int kRows = 8;              ///< rows that a warp reads at the same time
constexpr int kRowStrip = 4 * kWarp;  ///< columns a warp reads at a time

/// Rows, and what reading them needs and leaves.
template <class Entries>
struct RowScan {
  Entries entries;
  bool vectors;         ///< rows may be read four entries at a time
  Index first;          ///< the first row's number in the problem
  const char* covered;  ///< [cols]
  const Cost *u, *v;    ///< [entries.rows], [cols]
  Cost* slack;          ///< [entries.rows] falls to the least slack to an uncovered column
  unsigned* claim;      ///< [cols] falls to the least rank of rows with a zero there
};

/// The active rows claim the uncovered columns in which they have zeros, and store their least slack
/// elsewhere.
template <class Entries>
__device__ void read_rows(const RowScan<Entries>& f, const Index* active, int count) {
  const int lane = threadIdx.x % kWarp;
  const long long strips = (f.entries.cols + kRowStrip - 1) / kRowStrip, groups = (count + kRows - 1) / kRows;
  for (long long item = thread_index() / kWarp; item < strips * groups; item += thread_total() / kWarp) {
    const Index first = static_cast<Index>(item % strips) * kRowStrip + 4 * lane;
    Cost v[4];
    bool open[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      open[k] = first + k < f.entries.cols && f.covered[first + k] == 0;
      v[k] = open[k] ? f.v[first + k] : 0;
    }
    const int begin = static_cast<int>(item / strips) * kRows;
    const int rows = min(kRows, count - begin);
    // Issues all loads first. A row's present slack is read only to avoid atomics.
    Load4<Entries> four[kRows];
    Cost u[kRows], known[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= rows) continue;
      const Index i = active[begin + r];
      four[r] = Load4<Entries>(f.entries, f.vectors, i, first);
      u[r] = f.u[i];
      known[r] = f.slack[i];
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= rows) continue;
      const Index i = active[begin + r];
      Cost least = detail::kFar;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (!open[k] || !four[r].allowed(k)) continue;
        const Cost slack = four[r].value(f.entries, k) - u[r] - v[k];
        if (slack == 0)
          atomicMin(f.claim + first + k, detail::rank_of(f.first + i, detail::scramble(first + k)));
        else
          least = min(least, slack);
      }
      if (!__any_sync(kAll, least < known[r])) continue;
      least = warp_min(least);
      if (lane == 0) atomic_min(f.slack + i, least);
    }
  }
}

}  // namespace motes::matching::device::hungarian
