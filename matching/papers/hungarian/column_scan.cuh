#pragma once
/// A round of the alternating-tree search over the columns of a matrix on the GPU, for all columns of the
/// problem or those of one rank; each block has its own columns. The rules are those of column_scan.h,
/// element by element.

#include <cooperative_groups.h>

#include "matching/assignment/canonical/device_state.cuh"
#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::device::hungarian {

using namespace search;

constexpr int kBlock = 512;         ///< threads of a block that scans columns
constexpr int kStrip = 4 * kBlock;  ///< columns a block handles at a time
constexpr int kDeep = 8;            ///< rows that a thread loads at the same time
constexpr int kTileRows = 1024;     ///< frontier rows brought to shared memory at a time

/// a + b that may wrap.
__device__ inline Cost wrapping_sum(Cost a, Cost b) {
  return static_cast<Cost>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}

/// A row to scan: its offer to column j is base + c_ij - v_j.
struct Active {
  Cost base;
  Offset row;  ///< an index, widened so that no byte stays unwritten
};

struct ScanScratch {
  Active tile[kTileRows];
  Cost best[kStrip];
  unsigned rank[kStrip];
};

/// Columns and their labels.
template <class Entries>
struct ColumnLabels {
  Entries entries;
  bool vectors;     ///< rows may be read four entries at a time
  Index first;      ///< the first column's number in the problem
  const Cost* v;    ///< [entries.cols]
  const Cost* key;  ///< [entries.cols] kFar: no label
};

/// One round of a block of kBlock threads over columns [begin, end) of `c`: `count` rows frontier(t) make
/// their offers; label(j, key, rank) is called for each column whose label falls. Behind and before a barrier
/// of the block.
template <class Entries, class Frontier, class Label>
__device__ void scan_columns(const ColumnLabels<Entries>& c, Offset begin, Offset end, int count,
                             ScanScratch& shared, const Frontier& frontier, const Label& label) {
  const int tid = static_cast<int>(threadIdx.x);
  for (Offset strip = begin; strip < end; strip += kStrip) {
    const int columns = static_cast<int>(min(static_cast<Offset>(kStrip), end - strip));
    const int quads = (columns + 3) / 4, groups = kBlock / quads;
    const int quad = tid % quads, group = tid / quads;
    for (int k = tid; k < columns; k += kBlock) {
      const Index j = static_cast<Index>(strip) + k;
      shared.best[k] = c.key[j] == detail::kFar ? detail::kFar : c.key[j] + c.v[j];
      shared.rank[k] = detail::kNoRank;
    }
    __syncthreads();
    const Index first = static_cast<Index>(strip) + 4 * quad;
    Cost best[4];
    unsigned rank[4], salt[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      best[k] = 4 * quad + k < columns ? shared.best[4 * quad + k] : -detail::kFar;
      rank[k] = 0;  // below every rank: the column's present label wins ties
      salt[k] = detail::scramble(c.first + first + k);
    }
    for (int tile = 0; tile < count; tile += kTileRows) {
      const int rows = min(kTileRows, count - tile);
      __syncthreads();
      for (int t = tid; t < rows; t += kBlock) shared.tile[t] = frontier(tile + t);
      __syncthreads();
      if (group >= groups) continue;
      for (int from = group; from < rows; from += kDeep * groups) {
        Load4<Entries> four[kDeep];
#pragma unroll
        for (int d = 0; d < kDeep; ++d)
          if (const int t = from + d * groups; t < rows)
            four[d] = Load4<Entries>(c.entries, c.vectors, static_cast<Index>(shared.tile[t].row), first);
#pragma unroll
        for (int d = 0; d < kDeep; ++d) {
          const int t = from + d * groups;
          if (t >= rows) continue;
          const Active a = shared.tile[t];
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const Cost offer = wrapping_sum(a.base, four[d].value(c.entries, k));
            if (offer > best[k] || !four[d].allowed(k)) continue;
            const unsigned mine = detail::rank_of(static_cast<Index>(a.row), salt[k]);
            if (offer < best[k] || mine < rank[k]) best[k] = offer, rank[k] = mine;
          }
        }
      }
    }
    if (group < groups)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (rank[k] != 0) atomic_min(shared.best + 4 * quad + k, best[k]);
    __syncthreads();
    if (group < groups)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (rank[k] != 0 && best[k] == shared.best[4 * quad + k])
          atomicMin(shared.rank + 4 * quad + k, rank[k]);
    __syncthreads();
    for (int k = tid; k < columns; k += kBlock) {
      const Index j = static_cast<Index>(strip) + k;
      if (shared.rank[k] != detail::kNoRank) label(j, shared.best[k] - c.v[j], shared.rank[k]);
    }
    __syncthreads();
  }
}

}  // namespace motes::matching::device::hungarian
