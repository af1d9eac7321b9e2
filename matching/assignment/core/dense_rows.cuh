#pragma once
/// Common parts of all passes over a matrix: how a block reads its rows, and the definition of a pair's key.

#include "matching/assignment/core/core_solver.cuh"

namespace motes::matching::device::core {

constexpr int kLanes = 32;
constexpr int kDenseBlock = 256;
constexpr int kRowsAtOnce = 8;  ///< one for each warp of a block
static_assert(kRowsAtOnce * kLanes == kDenseBlock);
constexpr int kMostWanted = 64;
constexpr int kMostKept = 3 * kMostWanted;  ///< pairs of a row in the first core, without ties
constexpr int kMostExtras = 64;             ///< pairs a row may get from its columns
constexpr int kBands = 16;                  ///< of rows, from each of which a column gets a neighbour
constexpr int kColumnBlock = 128;
constexpr int kFewChoices = 4;        ///< rows that choose a column...
constexpr int kMostPoor = 16;         ///< ...of which at most one column in this many has fewer
constexpr int kSampled = 6;           ///< one in this many pieces of a row is sampled
constexpr int kMinima = 10;           ///< groups a lane keeps apart when it samples
constexpr int kBins = 1024;           ///< of a histogram
constexpr Index kSampledFrom = 4096;  ///< columns; below, limits are exact at once
/// Above every key; a limit that all allowed pairs meet.
constexpr Cost kAllKeys = kNoBound - 1;

/// A list of rows that are not done yet, in any order.
struct RowList {
  Index* row;
  int* count;
};

template <class T>
__device__ Cost key_of(const DenseEntries<T>& e, const Load4<DenseEntries<T>>& four, int k, Cost price) {
  return static_cast<Cost>(static_cast<unsigned long long>(four.value(e, k)) -
                           static_cast<unsigned long long>(price));
}

struct FourPrices {
  Cost price[4];
  __device__ FourPrices(const Cost* all, Index first, Index cols) {
    if (first + 4 <= cols) {  // 32 bytes aligned: arrays of the arena are, and first is a multiple of 4
      const longlong2 a = *reinterpret_cast<const longlong2*>(all + first);
      const longlong2 b = *reinterpret_cast<const longlong2*>(all + first + 2);
      price[0] = a.x, price[1] = a.y, price[2] = b.x, price[3] = b.y;
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) price[k] = first + k < cols ? all[first + k] : 0;
    }
  }
};

}  // namespace motes::matching::device::core
