#pragma once
/// The kernels that select the first core of a matrix; see dense_kernels.cuh.

#include "matching/assignment/core/dense_rows.cuh"

namespace motes::matching::device::core {

/// The rows' pairs before they become a CSR: `stride` slots each.
struct PairSlots {
  int stride;   ///< the largest number of pairs of a row
  int wanted;   ///< the intended number
  int* length;  ///< [rows]
  Index* col;
  Cost* cost;
  Cost* bound;  ///< [rows]
};

/// limit[i] = the rank-th least key of a sample of row i, kAllKeys if it has fewer allowed pairs; a
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
      Load4<DenseEntries<T>> four[kMinima];
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
      found = search::warp_min(mine);
      if (found == detail::kFar) break;
      const unsigned holders = __ballot_sync(search::kAll, mine == found);
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
__global__ void __launch_bounds__(kColumnBlock)
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
    Load4<DenseEntries<T>> four[kRowsAtOnce];
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

/// Splits to bands: band_row [bands * cols]; price (may be nullptr) gets the least of all, `none` where a
/// column has no allowed pair.
[[maybe_unused]] static __global__ void join_splits_kernel(SplitMinima in, int bands, Index cols,
                                                           Index* band_row, Cost* price, Cost none) {
  const Index j = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= cols) return;
  Cost least = kInfiniteCost;
  for (int b = 0; b < bands; ++b) {
    Cost best = kInfiniteCost;
    Index row = -1;
    for (int s = b * in.splits / bands; s < (b + 1) * in.splits / bands; ++s) {
      const Cost value = in.value[Offset{s} * cols + j];
      if (value < best) best = value, row = in.row[Offset{s} * cols + j];
    }
    band_row[Offset{b} * cols + j] = row;
    least = min(least, best);
  }
  if (price != nullptr) price[j] = least == kInfiniteCost ? none : least;
}

/// 0 where a column has no allowed pair on any rank.
[[maybe_unused]] static __global__ void no_pair_kernel(Cost* price, Index cols) {
  for (Index j = search::thread_index(); j < cols; j += search::thread_total())
    if (price[j] == kInfiniteCost) price[j] = 0;
}

/// Writes `count` pairs of a list in shared memory to row i's slots, by rising column; a warp.
__device__ inline void store_row(const PairSlots& slots, Index i, const Index* col, const Cost* cost,
                                 int count, Cost bound) {
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
    select_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* price, const Cost* limit, PairSlots slots,
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
    Load4<DenseEntries<T>> four[kRowsAtOnce];
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

/// Selects the rows of a list, or all, exactly, one block a row: the limit is found by successive histograms,
/// and ties are cut from a start that depends on the row, so that rows do not all compete for the same
/// columns.
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

  __device__ ExactRow(const DenseEntries<T>& e, bool vectors, const Cost* price, const PairSlots& slots,
                      Index row, Shared& shared)
      : e_(e), vectors_(vectors), price_(price), slots_(slots), row_(row), s_(shared) {}

  __device__ void select() {
    const int tid = static_cast<int>(threadIdx.x), warp = tid / kLanes, lane = tid % kLanes;
    Cost low = detail::kFar, high = -detail::kFar;
    int allowed = 0;
    for_each([&](Index, Cost key, Cost) { low = min(low, key), high = max(high, key), ++allowed; });
    low = search::warp_min(low);
    high = -search::warp_min(-high);
    allowed = __reduce_add_sync(search::kAll, allowed);
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
      const Load4<DenseEntries<T>> four(e_, vectors_, row_, first);
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
        const int other = __shfl_up_sync(search::kAll, up_to, step);
        if (lane >= step) up_to += other;
      }
      const unsigned enough = __ballot_sync(search::kAll, below + up_to >= slots_.wanted);
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
      const unsigned hits = __ballot_sync(search::kAll, tied);
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
  const PairSlots& slots_;
  Index row_;
  Shared& s_;
};

template <class T>
__global__ void __launch_bounds__(kDenseBlock)
    exact_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* price, PairSlots slots, RowList list) {
  __shared__ typename ExactRow<T>::Shared shared;
  const Index count = list.count == nullptr ? e.rows : *list.count;
  for (Index k = static_cast<Index>(blockIdx.x); k < count; k += static_cast<Index>(gridDim.x))
    ExactRow<T>(e, vectors, price, slots, list.count == nullptr ? k : list.row[k], shared).select();
}

/// Counts the rows that chose each column.
[[maybe_unused]] static __global__ void count_choices_kernel(PairSlots slots, Index rows, int* chosen) {
  for (Index i = search::thread_index() / kLanes; i < rows; i += search::thread_total() / kLanes)
    for (int k = static_cast<int>(threadIdx.x) % kLanes; k < slots.length[i]; k += kLanes)
      atomicAdd(chosen + slots.col[Offset{i} * slots.stride + k], 1);
}
/// Counts the columns chosen by fewer than kFewChoices rows.
[[maybe_unused]] static __global__ void count_poor_kernel(const int* chosen, Index cols, int* poor) {
  int mine = 0;
  for (Index j = search::thread_index(); j < cols; j += search::thread_total())
    mine += chosen[j] < kFewChoices;
  mine = __reduce_add_sync(search::kAll, mine);
  if (threadIdx.x % kLanes == 0 && mine > 0) atomicAdd(poor, mine);
}

/// Additional pairs of the columns: the cheapest of each band, and the caller's pairs. `place`: position
/// among the row's extras, -1: dropped.
struct Extras {
  int bands;
  const Index* band_row;  ///< [bands * cols], or nullptr
  const Index* mate;      ///< [cols] the caller's pairs, or nullptr
  int* count;             ///< [rows]
  int* place;             ///< [(bands + 1) * cols]

  __device__ Index row(int b, Index j, Index cols) const {
    if (b == bands) return mate == nullptr ? -1 : mate[j];
    return band_row == nullptr ? -1 : band_row[Offset{b} * cols + j];
  }
};
template <class T>
__global__ void place_extras_kernel(DenseEntries<T> e, const Cost* price, PairSlots slots, Extras extras) {
  const int b = static_cast<int>(blockIdx.y);
  for (Index j = search::thread_index(); j < e.cols; j += search::thread_total()) {
    const Index i = extras.row(b, j, e.cols);
    bool fresh = i != -1;
    if (fresh && b == extras.bands)
      for (int other = 0; other < extras.bands; ++other) fresh = fresh && extras.row(other, j, e.cols) != i;
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
[[maybe_unused]] static __global__ void first_lengths_kernel(PairSlots slots, const int* extras, Index rows,
                                                             Offset* length) {
  for (Index i = search::thread_index(); i <= rows; i += search::thread_total())
    length[i] = i == 0 ? 0 : slots.length[i - 1] + min(kMostExtras, extras[i - 1]);
}
/// A warp a row: slots to CSR.
[[maybe_unused]] static __global__ void gather_slots_kernel(PairSlots slots, Index rows,
                                                            const Offset* offsets, Index* col, Cost* cost) {
  for (Index i = search::thread_index() / kLanes; i < rows; i += search::thread_total() / kLanes)
    for (int k = static_cast<int>(threadIdx.x) % kLanes; k < slots.length[i]; k += kLanes) {
      col[offsets[i] + k] = slots.col[Offset{i} * slots.stride + k];
      cost[offsets[i] + k] = slots.cost[Offset{i} * slots.stride + k];
    }
}
template <class T>
__global__ void scatter_extras_kernel(DenseEntries<T> e, PairSlots slots, Extras extras,
                                      const Offset* offsets, Index* col, Cost* cost) {
  const int b = static_cast<int>(blockIdx.y);
  for (Index j = search::thread_index(); j < e.cols; j += search::thread_total()) {
    const int place = extras.place[Offset{b} * e.cols + j];
    if (place == -1) continue;
    const Index i = extras.row(b, j, e.cols);
    const Offset to = offsets[i] + slots.length[i] + place;
    col[to] = j;
    cost[to] = e.at(i, j);
  }
}

}  // namespace motes::matching::device::core
