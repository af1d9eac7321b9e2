#pragma once
/// Matrices as a policy of core_device.cuh: which pairs are cheap, and which of the others violate.
///
/// Everything is streamed: a block reads eight rows at a time, sixteen bytes and more a thread and row, so
/// that what it needs of the columns is read once for eight rows. Passes over the matrix, of which the first
/// is made only where rows must be matched and no prices are given:
///   1. columns: for each its cheapest row within each of kBands bands of rows, after every row's own level
///   was
///      taken off. A column that no row would pick gets neighbours so; where the problem is perfect, the
///      least of them is its price, as in the column reduction of Jonker & Volgenant.
///   2. rows: all pairs up to a limit, which a sample of the row has set for about `wanted` pairs.
/// A sample is a sixth of a row, in pieces of 64 bytes. Rows where the sample misled (too few pairs, too
/// many, thousands of equal ones) are done again, exactly, a block each.
///
/// The reference price is part of a pair's key, key_ij = c_ij - price_j; limits and bounds are keys.

#include "matching/assignment/core_dense.cuh"
#include "matching/assignment/core_device.cuh"

namespace motes::matching::device::hungarian {

/// The alternating-tree solver on a whole matrix, from scratch (hungarian_tree.cu).
template <class Entries>
detail::Solution solve_by_forests(Arena& arena, const CanonicalSides& sides,
                                  const DeviceCanonical<Entries>& p);

}  // namespace motes::matching::device::hungarian

namespace motes::matching::device::core {

constexpr int kLanes = 32;
constexpr int kDenseBlock = 256;
constexpr int kRowsAtOnce = 8;  ///< one for each warp of a block
static_assert(kRowsAtOnce * kLanes == kDenseBlock);
constexpr int kMostWanted = 64;
constexpr int kMostKept = 3 * kMostWanted;  ///< pairs a row may bring to the first core, ties apart
constexpr int kMostExtras = 64;             ///< pairs a row may get from its columns
constexpr int kBands = 8;
constexpr int kSampled = 6;           ///< one in so many pieces of a row is sampled
constexpr int kMinima = 10;           ///< groups a lane keeps apart when it samples
constexpr int kBins = 1024;           ///< of a histogram
constexpr Index kSampledFrom = 4096;  ///< columns; below, limits are exact at once
/// Above every key; a limit that all allowed pairs meet.
constexpr Cost kAllKeys = kNoBound - 1;

/// Rows' pairs before they become a CSR: room for `stride` each.
struct Slots {
  int stride;   ///< the most pairs a row may have here
  int wanted;   ///< ... should have
  int* length;  ///< [rows]
  Index* col;
  Cost* cost;
  Cost* bound;  ///< [rows]
};

/// Rows to be done again.
struct RowList {
  Index* row;
  int* count;
};

template <class T>
__device__ Cost key_of(const DenseEntries<T>& e, const hungarian::Four<DenseEntries<T>>& four, int k,
                       Cost price) {
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

/// level[i] = the row's least cost, 0 where it has no allowed pair; a warp a row.
template <class T>
__global__ void __launch_bounds__(kDenseBlock)
    least_of_rows_kernel(DenseEntries<T> e, bool vectors, Cost* level) {
  const int lane = threadIdx.x % kLanes;
  const Index i = static_cast<Index>(blockIdx.x) * kRowsAtOnce + static_cast<Index>(threadIdx.x) / kLanes;
  if (i >= e.rows) return;
  Cost least = kInfiniteCost;
  constexpr int kDeep = 8, kStep = 4 * kLanes;
  for (Offset from = 4 * lane; from < e.cols; from += kDeep * kStep) {
    hungarian::Four<DenseEntries<T>> four[kDeep];
#pragma unroll
    for (int d = 0; d < kDeep; ++d)
      if (from + d * kStep < e.cols) four[d] = {e, vectors, i, static_cast<Index>(from + d * kStep)};
#pragma unroll
    for (int d = 0; d < kDeep; ++d)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (from + d * kStep + k < e.cols && four[d].allowed(k)) least = min(least, four[d].value(e, k));
  }
  least = hungarian::warp_min(least);
  if (lane == 0) level[i] = least == kInfiniteCost ? 0 : least;
}

/// limit[i] = the rank-th least key of a sample of row i, kAllKeys where it has not so many allowed pairs; a
/// warp a row. Least keys of small groups stand for all keys of the sample: two of the few least seldom share
/// one of the 320 groups.
template <class T>
__global__ void __launch_bounds__(kDenseBlock)
    sample_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* price, int rank, Cost* limit) {
  const int lane = threadIdx.x % kLanes;
  const Index warps = static_cast<Index>(gridDim.x) * kRowsAtOnce;
  const Index quads = (e.cols + 3) / 4;
  for (Index i = static_cast<Index>(blockIdx.x) * kRowsAtOnce + static_cast<Index>(threadIdx.x) / kLanes;
       i < e.rows; i += warps) {
    Cost least[kMinima];
#pragma unroll
    for (int m = 0; m < kMinima; ++m) least[m] = detail::kFar;
    // Pieces of four quads, one in kSampled; a lane's quad within its piece is fixed.
    const Index step = kSampled * kLanes;
    for (Index base = (lane / 4) * 4 * kSampled + lane % 4; base < quads; base += kMinima * step) {
      hungarian::Four<DenseEntries<T>> four[kMinima];
#pragma unroll
      for (int m = 0; m < kMinima; ++m)
        if (base + m * step < quads) four[m] = {e, vectors, i, 4 * (base + m * step)};
#pragma unroll
      for (int m = 0; m < kMinima; ++m) {
        const Index first = 4 * (base + m * step);
        if (first >= e.cols) continue;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (first + k >= e.cols || !four[m].allowed(k)) continue;
          least[m] = min(least[m], key_of(e, four[m], k, price[first + k]));
        }
      }
    }
    Cost found = detail::kFar;
    for (int r = 0; r < rank; ++r) {
      Cost mine = detail::kFar;
#pragma unroll
      for (int m = 0; m < kMinima; ++m) mine = min(mine, least[m]);
      found = hungarian::warp_min(mine);
      if (found == detail::kFar) break;
      const unsigned holders = __ballot_sync(hungarian::kAll, mine == found);
      if (lane != __ffs(static_cast<int>(holders)) - 1) continue;
      bool taken = false;
#pragma unroll
      for (int m = 0; m < kMinima; ++m)
        if (!taken && least[m] == found) least[m] = detail::kFar, taken = true;
    }
    if (lane == 0) limit[i] = found == detail::kFar ? kAllKeys : found;
  }
}

/// The least of a column within one split of the rows, after the rows' levels were taken off, and the row it
/// lies in (-1: none). Ties go to the least rank, so that no row gets them all.
struct SplitMinima {
  Cost* value;  ///< [splits * cols]
  Index* row;
  int splits;
};
template <class T>
__global__ void __launch_bounds__(kDenseBlock)
    split_columns_kernel(DenseEntries<T> e, bool vectors, const Cost* level, SplitMinima out) {
  const Index first = 4 * static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= e.cols) return;
  const Offset split = blockIdx.y, begin = split * e.rows / out.splits,
               end = (split + 1) * e.rows / out.splits;
  Cost best[4];
  unsigned rank[4], salt[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    best[k] = kInfiniteCost, rank[k] = detail::kNoRank, salt[k] = detail::scramble(first + k);
  for (Offset i = begin; i < end; i += kRowsAtOnce) {
    hungarian::Four<DenseEntries<T>> four[kRowsAtOnce];
#pragma unroll
    for (int r = 0; r < kRowsAtOnce; ++r)
      if (i + r < end) four[r] = {e, vectors, static_cast<Index>(i + r), first};
#pragma unroll
    for (int r = 0; r < kRowsAtOnce; ++r) {
      if (i + r >= end) continue;
      const Cost base = level[i + r];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Cost key = key_of(e, four[r], k, base);
        if (key > best[k] || !four[r].allowed(k)) continue;
        const unsigned mine = detail::rank_of(static_cast<Index>(i + r), salt[k]);
        if (key < best[k] || mine < rank[k]) best[k] = key, rank[k] = mine;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (first + k >= e.cols) continue;
    out.value[split * e.cols + first + k] = best[k];
    out.row[split * e.cols + first + k] =
        rank[k] == detail::kNoRank ? -1 : detail::row_of_rank(rank[k], salt[k]);
  }
}

/// Splits to bands: band_row [kBands * cols]; price (may be nullptr) gets the least of all, 0 where a column
/// has no allowed pair.
[[maybe_unused]] static __global__ void join_splits_kernel(SplitMinima in, Index cols, Index* band_row,
                                                           Cost* price) {
  const Index j = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= cols) return;
  Cost least = kInfiniteCost;
  for (int b = 0; b < kBands; ++b) {
    Cost best = kInfiniteCost;
    Index row = -1;
    for (int s = b * in.splits / kBands; s < (b + 1) * in.splits / kBands; ++s) {
      const Cost value = in.value[Offset{s} * cols + j];
      if (value < best) best = value, row = in.row[Offset{s} * cols + j];
    }
    band_row[Offset{b} * cols + j] = row;
    least = min(least, best);
  }
  if (price != nullptr) price[j] = least == kInfiniteCost ? 0 : least;
}

/// Writes `count` pairs of a list in shared memory to row i's slots, by rising column; a warp.
__device__ inline void store_row(const Slots& slots, Index i, const Index* col, const Cost* cost, int count,
                                 Cost bound) {
  const int lane = threadIdx.x % kLanes;
  const Offset base = Offset{i} * slots.stride;
  for (int k = lane; k < count; k += kLanes) {
    const Index mine = col[k];
    int place = 0;
    for (int other = 0; other < count; ++other) place += col[other] < mine;
    slots.col[base + place] = mine;
    slots.cost[base + place] = cost[k];
  }
  if (lane == 0) slots.length[i] = count, slots.bound[i] = bound;
}

/// All pairs with keys up to the rows' limits; a block eight rows. Rows with far fewer than wanted, or more
/// than the slots take, go to `again`.
template <class T>
__global__ void __launch_bounds__(kDenseBlock, sizeof(T) == 4 ? 3 : 2)
    select_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* price, const Cost* limit, Slots slots,
                       RowList again) {
  __shared__ Index col[kRowsAtOnce][kMostKept];
  __shared__ Cost cost[kRowsAtOnce][kMostKept];
  __shared__ int count[kRowsAtOnce];
  __shared__ Cost most[kRowsAtOnce];
  const Index row = static_cast<Index>(blockIdx.x) * kRowsAtOnce;
  const int tid = static_cast<int>(threadIdx.x), rows = min(kRowsAtOnce, e.rows - row);
  if (tid < kRowsAtOnce) count[tid] = 0, most[tid] = tid < rows ? limit[row + tid] : -detail::kFar;
  __syncthreads();
  for (Offset from = 4 * tid; from < e.cols; from += 4 * kDenseBlock) {
    const Index first = static_cast<Index>(from);
    hungarian::Four<DenseEntries<T>> four[kRowsAtOnce];
#pragma unroll
    for (int r = 0; r < kRowsAtOnce; ++r)
      if (r < rows) four[r] = {e, vectors, row + r, first};
    const FourPrices prices(price, first, e.cols);
#pragma unroll
    for (int r = 0; r < kRowsAtOnce; ++r) {
      if (r >= rows) continue;
      const Cost up_to = most[r];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (key_of(e, four[r], k, prices.price[k]) > up_to || !four[r].allowed(k) || first + k >= e.cols)
          continue;
        const int place = atomicAdd(count + r, 1);
        if (place < slots.stride) col[r][place] = first + k, cost[r][place] = four[r].value(e, k);
      }
    }
  }
  __syncthreads();
  const int r = tid / kLanes;
  if (r >= rows) return;
  const int found = count[r];
  const bool all = most[r] == kAllKeys;
  if (found > slots.stride || (found < slots.wanted / 3 && !all)) {
    if (tid % kLanes == 0) again.row[atomicAdd(again.count, 1)] = row + r;
    return;
  }
  store_row(slots, row + r, col[r], cost[r], found, all ? kNoBound : most[r]);
}

/// The rows of a list, or all, exactly: the limit by histograms that close in on it, ties cut from a place of
/// the row's own, so that rows do not all compete for the same columns. A block a row.
template <class T>
class ExactRow {
 public:
  struct Shared {
    int bins[kBins];
    Index col[kMostKept];
    Cost cost[kMostKept];
    Cost low[kRowsAtOnce], high[kRowsAtOnce];
    int warp_count[kRowsAtOnce], count, bin, below;
  };

  __device__ ExactRow(const DenseEntries<T>& e, bool vectors, const Cost* price, const Slots& slots,
                      Index row, Shared& shared)
      : e_(e), vectors_(vectors), price_(price), slots_(slots), row_(row), s_(shared) {}

  __device__ void select() {
    const int tid = static_cast<int>(threadIdx.x), warp = tid / kLanes, lane = tid % kLanes;
    Cost low = detail::kFar, high = -detail::kFar;
    int allowed = 0;
    for_each([&](Index, Cost key, Cost) { low = min(low, key), high = max(high, key), ++allowed; });
    low = hungarian::warp_min(low);
    high = -hungarian::warp_min(-high);
    allowed = __reduce_add_sync(hungarian::kAll, allowed);
    if (lane == 0) s_.low[warp] = low, s_.high[warp] = high, s_.warp_count[warp] = allowed;
    __syncthreads();
    allowed = 0;
    for (int w = 0; w < kRowsAtOnce; ++w)
      low = min(low, s_.low[w]), high = max(high, s_.high[w]), allowed += s_.warp_count[w];
    __syncthreads();
    if (allowed <= slots_.stride) return store(kAllKeys, kNoBound, 0, 0);
    for (int below = 0;;) {
      const auto range = static_cast<unsigned long long>(high - low);
      const int shift = max(0, 54 - __clzll(static_cast<long long>(range | 1)));
      static_assert(kBins == 1 << 10);
      histogram(low, high, shift);
      find_bin(below);
      const int up_to = s_.below + s_.bins[s_.bin];
      below = s_.below;
      low += static_cast<Cost>(static_cast<unsigned long long>(s_.bin) << shift);
      high = min(high, low + static_cast<Cost>((1ULL << shift) - 1));
      __syncthreads();
      if (up_to <= slots_.stride) return store(high, high, 0, 0);
      if (shift == 0) return store(low - 1, low - 1, low, slots_.wanted - below);
    }
  }

 private:
  /// f(j, key, cost) for this thread's allowed pairs.
  template <class F>
  __device__ void for_each(F&& f) const {
    for (Offset from = 4 * static_cast<int>(threadIdx.x); from < e_.cols; from += 4 * kDenseBlock) {
      const Index first = static_cast<Index>(from);
      const hungarian::Four<DenseEntries<T>> four(e_, vectors_, row_, first);
      const FourPrices prices(price_, first, e_.cols);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (first + k < e_.cols && four.allowed(k))
          f(first + k, key_of(e_, four, k, prices.price[k]), four.value(e_, k));
    }
  }

  __device__ void histogram(Cost low, Cost high, int shift) {
    for (int b = static_cast<int>(threadIdx.x); b < kBins; b += kDenseBlock) s_.bins[b] = 0;
    __syncthreads();
    for_each([&](Index, Cost key, Cost) {
      if (key >= low && key <= high)
        atomicAdd(s_.bins + (static_cast<unsigned long long>(key - low) >> shift), 1);
    });
    __syncthreads();
  }

  /// The first bin with which `below` pairs and those of the bins so far are as many as wanted.
  __device__ void find_bin(int below) {
    if (threadIdx.x < kLanes) {
      const int lane = static_cast<int>(threadIdx.x);
      constexpr int kEach = kBins / kLanes;
      int mine = 0;
      for (int k = 0; k < kEach; ++k) mine += s_.bins[lane * kEach + k];
      int up_to = mine;
      for (int step = 1; step < kLanes; step *= 2) {
        const int other = __shfl_up_sync(hungarian::kAll, up_to, step);
        if (lane >= step) up_to += other;
      }
      const unsigned enough = __ballot_sync(hungarian::kAll, below + up_to >= slots_.wanted);
      if (lane == __ffs(static_cast<int>(enough)) - 1) {
        int sum = below + up_to - mine, bin = lane * kEach;
        while (sum + s_.bins[bin] < slots_.wanted) sum += s_.bins[bin++];
        s_.bin = bin, s_.below = sum;
      }
    }
    __syncthreads();
  }

  /// Everything up to `limit`, and the first `ties` pairs of key `tie`.
  __device__ void store(Cost limit, Cost bound, Cost tie, int ties) {
    const int tid = static_cast<int>(threadIdx.x), warp = tid / kLanes, lane = tid % kLanes;
    if (tid == 0) s_.count = 0;
    __syncthreads();
    for_each([&](Index j, Cost key, Cost c) {
      if (key <= limit) put(atomicAdd(&s_.count, 1), j, c);
    });
    __syncthreads();
    int have = s_.count;
    const int enough = have + ties;
    const auto place =
        static_cast<Offset>((static_cast<unsigned long long>(row_) * 0x9e3779b97f4a7c15ULL >> 32) %
                            static_cast<unsigned long long>(e_.cols));
    for (Offset from = 0; from < e_.cols && have < enough; from += kDenseBlock) {
      Offset j = from + tid;
      bool tied = j < e_.cols;
      Cost c = 0;
      if (tied) {
        j = j + place < e_.cols ? j + place : j + place - e_.cols;
        c = e_.at(row_, static_cast<Index>(j));
        tied = c != kInfiniteCost && c - price_[j] == tie;
      }
      const unsigned hits = __ballot_sync(hungarian::kAll, tied);
      if (lane == 0) s_.warp_count[warp] = __popc(hits);
      __syncthreads();
      int mine = have + __popc(hits & ((1U << lane) - 1));
      for (int w = 0; w < kRowsAtOnce; ++w) {
        if (w < warp) mine += s_.warp_count[w];
        have += s_.warp_count[w];
      }
      if (tied && mine < enough) put(mine, static_cast<Index>(j), c);
      __syncthreads();
    }
    if (warp == 0) store_row(slots_, row_, s_.col, s_.cost, min(have, enough), bound);
    __syncthreads();
  }
  __device__ void put(int place, Index j, Cost c) { s_.col[place] = j, s_.cost[place] = c; }

  const DenseEntries<T>& e_;
  bool vectors_;
  const Cost* price_;
  const Slots& slots_;
  Index row_;
  Shared& s_;
};

template <class T>
__global__ void __launch_bounds__(kDenseBlock)
    exact_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* price, Slots slots, RowList list) {
  __shared__ typename ExactRow<T>::Shared shared;
  const Index count = list.count == nullptr ? e.rows : *list.count;
  for (Index k = static_cast<Index>(blockIdx.x); k < count; k += static_cast<Index>(gridDim.x))
    ExactRow<T>(e, vectors, price, slots, list.count == nullptr ? k : list.row[k], shared).select();
}

/// Pairs that columns bring: bands' cheapest, and pairs given by the caller. `place` is where in its row's
/// extras such a pair goes, -1: nowhere.
struct Extras {
  const Index* band_row;  ///< [kBands * cols], or nullptr
  const Index* mate;      ///< [cols] the caller's pairs, or nullptr
  int* count;             ///< [rows]
  int* place;             ///< [(kBands + 1) * cols]

  __device__ Index row(int b, Index j, Index cols) const {
    if (b == kBands) return mate == nullptr ? -1 : mate[j];
    return band_row == nullptr ? -1 : band_row[Offset{b} * cols + j];
  }
};
template <class T>
__global__ void place_extras_kernel(DenseEntries<T> e, const Cost* price, Slots slots, Extras extras) {
  const int b = static_cast<int>(blockIdx.y);
  for (Index j = hungarian::thread_index(); j < e.cols; j += static_cast<Index>(gridDim.x * blockDim.x)) {
    const Index i = extras.row(b, j, e.cols);
    bool fresh = i != -1;
    if (fresh && b == kBands)
      for (int other = 0; other < kBands; ++other) fresh = fresh && extras.row(other, j, e.cols) != i;
    if (fresh) {
      const Cost c = e.at(i, j), bound = slots.bound[i];
      fresh = c != kInfiniteCost && c - price[j] > bound;
      if (fresh && c - price[j] == bound + 1)  // one of the ties that were cut, or not
        for (int k = 0; k < slots.length[i]; ++k)
          fresh = fresh && slots.col[Offset{i} * slots.stride + k] != j;
    }
    int place = fresh ? atomicAdd(extras.count + i, 1) : -1;
    if (place >= kMostExtras) place = -1;
    extras.place[Offset{b} * e.cols + j] = place;
  }
}
[[maybe_unused]] static __global__ void first_lengths_kernel(Slots slots, const int* extras, Index rows,
                                                             Offset* length) {
  for (Index i = hungarian::thread_index(); i <= rows; i += hungarian::thread_total())
    length[i] = i == 0 ? 0 : slots.length[i - 1] + min(kMostExtras, extras[i - 1]);
}
/// A warp a row: slots to CSR.
[[maybe_unused]] static __global__ void gather_slots_kernel(Slots slots, Index rows, const Offset* offsets,
                                                            Index* col, Cost* cost) {
  for (Index i = hungarian::thread_index() / kLanes; i < rows; i += hungarian::thread_total() / kLanes)
    for (int k = static_cast<int>(threadIdx.x) % kLanes; k < slots.length[i]; k += kLanes) {
      col[offsets[i] + k] = slots.col[Offset{i} * slots.stride + k];
      cost[offsets[i] + k] = slots.cost[Offset{i} * slots.stride + k];
    }
}
template <class T>
__global__ void scatter_extras_kernel(DenseEntries<T> e, Slots slots, Extras extras, const Offset* offsets,
                                      Index* col, Cost* cost) {
  const int b = static_cast<int>(blockIdx.y);
  for (Index j = hungarian::thread_index(); j < e.cols; j += static_cast<Index>(gridDim.x * blockDim.x)) {
    const int place = extras.place[Offset{b} * e.cols + j];
    if (place == -1) continue;
    const Index i = extras.row(b, j, e.cols);
    const Offset to = offsets[i] + slots.length[i] + place;
    col[to] = j;
    cost[to] = e.at(i, j);
  }
}

/// *highest = max_j v_j - price_j.
[[maybe_unused]] static __global__ void highest_kernel(const Cost* v, const Cost* price, Index cols,
                                                       Cost* highest) {
  Cost mine = -detail::kFar;
  for (Index j = hungarian::thread_index(); j < cols; j += hungarian::thread_total())
    mine = max(mine, v[j] - price[j]);
  mine = -hungarian::warp_min(-mine);
  if (threadIdx.x % kLanes == 0)
    atomicMax(reinterpret_cast<long long*>(highest), static_cast<long long>(mine));
}
/// The rows that their bounds do not prove.
[[maybe_unused]] static __global__ void unproven_rows_kernel(const Cost* bound, const Cost* u, Index rows,
                                                             const Cost* highest, RowList out) {
  for (Index i = hungarian::thread_index(); i < rows; i += hungarian::thread_total())
    if (bound[i] + 1 < u[i] + *highest) out.row[atomicAdd(out.count, 1)] = i;
}

/// What a pass of pricing writes; rows with no violation have length 0 and are left out of the list.
struct Found {
  Index* row;
  int* length;
  Index* col;
  Cost* cost;
  int* count;
  unsigned long long* pairs;
};

/// The worst violation in each thread's columns, then the worst kAddedPerRow of those; Rows rows a block.
template <int Rows, class T>
__global__ void __launch_bounds__(kDenseBlock, 2)
    scan_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* u, const Cost* v, const Index* list,
                     int count, Found out) {
  __shared__ Cost offer[Rows][kDenseBlock];
  __shared__ Index where[Rows][kDenseBlock];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kLanes;
  const int base = static_cast<int>(blockIdx.x) * Rows, rows = min(Rows, count - base);
  Index row[Rows], col[Rows];
  Cost best[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    row[r] = list[base + min(r, rows - 1)];
    best[r] = u[row[r]];
    col[r] = -1;
  }
  for (Offset from = 4 * tid; from < e.cols; from += 4 * kDenseBlock) {
    const Index first = static_cast<Index>(from);
    hungarian::Four<DenseEntries<T>> four[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      if (r < rows) four[r] = {e, vectors, row[r], first};
    const FourPrices prices(v, first, e.cols);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (r >= rows) continue;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Cost key = key_of(e, four[r], k, prices.price[k]);
        if (key < best[r] && four[r].allowed(k) && first + k < e.cols) best[r] = key, col[r] = first + k;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) offer[r][tid] = best[r], where[r][tid] = col[r];
  __syncthreads();
  const int r = tid / kLanes;
  if (r >= rows) return;
  const Index i = list[base + r];
  Cost mine[kRowsAtOnce];
  int any = 0;
#pragma unroll
  for (int k = 0; k < kRowsAtOnce; ++k) {
    const bool found = where[r][k * kLanes + lane] != -1;
    mine[k] = found ? offer[r][k * kLanes + lane] : detail::kFar;
    any += found;
  }
  any = __reduce_add_sync(hungarian::kAll, any);
  if (any == 0) return;
  const int length = min(any, kAddedPerRow);
  int slot = 0;
  if (lane == 0) {
    slot = atomicAdd(out.count, 1);
    out.row[slot] = i;
    out.length[slot] = length;
    atomicAdd(out.pairs, static_cast<unsigned long long>(length));
  }
  slot = __shfl_sync(hungarian::kAll, slot, 0);
  for (int taken = 0; taken < length; ++taken) {
    Cost least = detail::kFar;
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) least = min(least, mine[k]);
    const Cost worst = hungarian::warp_min(least);
    const unsigned holders = __ballot_sync(hungarian::kAll, least == worst);
    if (lane != __ffs(static_cast<int>(holders)) - 1) continue;
    bool done = false;
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (done || mine[k] != worst) continue;
      done = true;
      mine[k] = detail::kFar;
      const Index j = where[r][k * kLanes + lane];
      out.col[Offset{slot} * kAddedPerRow + taken] = j;
      out.cost[Offset{slot} * kAddedPerRow + taken] = e.at(i, j);
    }
  }
}

/// The policy; see core_device.cuh.
template <class T>
class DensePolicy {
 public:
  using Problem = DeviceCanonical<DenseEntries<T>>;

  explicit DensePolicy(int wanted) : wanted_(std::clamp(wanted, 1, kMostWanted)) {}

  Core select(Arena& arena, const Problem& p, const hungarian::State& s, Cost* price, bool unpriced) {
    const DenseEntries<T>& e = p.entries;
    const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
    const bool vectors = hungarian::four_at_a_time(e), sampled = p.cols >= kSampledFrom;
    const unsigned bands_of_rows = static_cast<unsigned>((p.rows + kRowsAtOnce - 1) / kRowsAtOnce);
    Cost* limit = arena.take<Cost>(rows);
    Extras extras{nullptr, s.col_to_row, arena.take_filled<int>(rows, 0), nullptr};
    if (p.row_exit == nullptr && unpriced) {
      least_of_rows_kernel<<<bands_of_rows, kDenseBlock, 0, arena.stream()>>>(e, vectors, limit);
      MOTES_CUDA_LAUNCHED();
      extras.band_row = reduce_columns(arena, p, vectors, limit, p.perfect ? price : nullptr);
    }
    Core core;
    core.bound = arena.take<Cost>(rows);
    const int stride = std::min<int>(3 * wanted_, kMostKept);
    const Slots slots{stride,
                      wanted_,
                      arena.take<int>(rows),
                      arena.take<Index>(rows * static_cast<std::size_t>(stride)),
                      arena.take<Cost>(rows * static_cast<std::size_t>(stride)),
                      core.bound};
    RowList again{nullptr, nullptr};
    if (sampled) {
      sample_rows_kernel<<<bands_of_rows, kDenseBlock, 0, arena.stream()>>>(
          e, vectors, price, std::max(2, wanted_ / kSampled), limit);
      MOTES_CUDA_LAUNCHED();
      again = {arena.take<Index>(rows), arena.take_filled<int>(1, 0)};
      select_rows_kernel<<<bands_of_rows, kDenseBlock, 0, arena.stream()>>>(e, vectors, price, limit, slots,
                                                                            again);
      MOTES_CUDA_LAUNCHED();
    }
    exact_rows_kernel<<<std::min<int>(p.rows, 8 * arena.multiprocessors()), kDenseBlock, 0, arena.stream()>>>(
        e, vectors, price, slots, again);
    MOTES_CUDA_LAUNCHED();
    extras.place = arena.take<int>((kBands + 1) * cols);
    const dim3 by_column(static_cast<unsigned>(std::min<std::size_t>((cols + 255) / 256, 4096)), kBands + 1);
    place_extras_kernel<<<by_column, 256, 0, arena.stream()>>>(e, price, slots, extras);
    MOTES_CUDA_LAUNCHED();

    Offset* offsets = arena.take<Offset>(rows + 1);
    const int blocks = 8 * arena.multiprocessors();
    first_lengths_kernel<<<blocks, 256, 0, arena.stream()>>>(slots, extras.count, p.rows, offsets);
    MOTES_CUDA_LAUNCHED();
    scan_in_place(arena, offsets, p.rows + 1);
    core.pairs = arena.download(offsets + rows, 1)[0];
    Index* col = arena.take<Index>(static_cast<std::size_t>(core.pairs));
    Cost* cost = arena.take<Cost>(static_cast<std::size_t>(core.pairs));
    gather_slots_kernel<<<blocks, 256, 0, arena.stream()>>>(slots, p.rows, offsets, col, cost);
    MOTES_CUDA_LAUNCHED();
    scatter_extras_kernel<<<by_column, 256, 0, arena.stream()>>>(e, slots, extras, offsets, col, cost);
    MOTES_CUDA_LAUNCHED();
    core.entries = {p.rows, p.cols, offsets, col, cost};
    return core;
  }

  Additions price(Arena& arena, const Problem& p, const hungarian::State& s, const Cost* price,
                  const Core& core) {
    const auto rows = static_cast<std::size_t>(p.rows);
    const int blocks = 8 * arena.multiprocessors();
    if (list_.row == nullptr) {
      list_ = {arena.take<Index>(rows), nullptr};
      counts_ = arena.take<Counts>(1);
      list_.count = &counts_->unproven;
    }
    MOTES_CUDA(cudaMemsetAsync(counts_, 0x80, sizeof(Cost), arena.stream()));  // far below every price
    MOTES_CUDA(cudaMemsetAsync(&counts_->unproven, 0, sizeof(Counts) - sizeof(Cost), arena.stream()));
    highest_kernel<<<blocks, 256, 0, arena.stream()>>>(s.v, price, p.cols, &counts_->highest);
    MOTES_CUDA_LAUNCHED();
    unproven_rows_kernel<<<blocks, 256, 0, arena.stream()>>>(core.bound, s.u, p.rows, &counts_->highest,
                                                             list_);
    MOTES_CUDA_LAUNCHED();
    const int unproven = arena.download(counts_, 1)[0].unproven;
    unproven_ += unproven;
    if (unproven == 0) return {};
    reserve(arena, unproven);
    const bool vectors = hungarian::four_at_a_time(p.entries);
    if (unproven > 8 * arena.multiprocessors())
      scan_rows_kernel<kRowsAtOnce>
          <<<(unproven + kRowsAtOnce - 1) / kRowsAtOnce, kDenseBlock, 0, arena.stream()>>>(
              p.entries, vectors, s.u, s.v, list_.row, unproven, found_);
    else
      scan_rows_kernel<1><<<unproven, kDenseBlock, 0, arena.stream()>>>(p.entries, vectors, s.u, s.v,
                                                                        list_.row, unproven, found_);
    MOTES_CUDA_LAUNCHED();
    const Counts counts = arena.download(counts_, 1)[0];
    return {
        static_cast<Offset>(counts.pairs), counts.found, found_.row, found_.length, found_.col, found_.cost};
  }

  detail::Solution solve_whole(Arena& arena, const CanonicalSides& sides, const Problem& p) {
    return hungarian::solve_by_forests(arena, sides, p);
  }

  /// Rows that pricing had to scan, over all rounds.
  std::int64_t scanned() const { return unproven_; }

 private:
  struct Counts {
    Cost highest;
    int unproven, found;
    unsigned long long pairs;
  };

  /// Each column's cheapest rows, [kBands * cols]; its price too, unless that is nullptr.
  Index* reduce_columns(Arena& arena, const Problem& p, bool vectors, const Cost* level, Cost* price) {
    const auto cols = static_cast<std::size_t>(p.cols);
    const int wide = (p.cols + 4 * kDenseBlock - 1) / (4 * kDenseBlock);
    const int splits = std::clamp(24 * arena.multiprocessors() / wide / kBands, 1, 64) * kBands;
    const SplitMinima minima{arena.take<Cost>(static_cast<std::size_t>(splits) * cols),
                             arena.take<Index>(static_cast<std::size_t>(splits) * cols), splits};
    split_columns_kernel<<<dim3(static_cast<unsigned>(wide), static_cast<unsigned>(splits)), kDenseBlock, 0,
                           arena.stream()>>>(p.entries, vectors, level, minima);
    MOTES_CUDA_LAUNCHED();
    Index* band_row = arena.take<Index>(kBands * cols);
    join_splits_kernel<<<static_cast<unsigned>((cols + 255) / 256), 256, 0, arena.stream()>>>(
        minima, p.cols, band_row, price);
    MOTES_CUDA_LAUNCHED();
    return band_row;
  }

  void reserve(Arena& arena, int rows) {
    if (rows > room_) {
      room_ = std::max(rows, 2 * room_);
      const auto count = static_cast<std::size_t>(room_);
      found_ = {arena.take<Index>(count),
                arena.take<int>(count),
                arena.take<Index>(count * kAddedPerRow),
                arena.take<Cost>(count * kAddedPerRow),
                &counts_->found,
                &counts_->pairs};
    }
  }

  int wanted_;
  RowList list_{nullptr, nullptr};
  Counts* counts_ = nullptr;
  Found found_{};
  int room_ = 0;
  std::int64_t unproven_ = 0;
};

template <class T>
detail::Solution solve_dense(Arena& arena, const CanonicalSides& sides,
                             const DeviceCanonical<DenseEntries<T>>& p, const Start& start, int wanted) {
  DensePolicy<T> policy(wanted);
  return solve(arena, sides, p, start, policy);
}

}  // namespace motes::matching::device::core
