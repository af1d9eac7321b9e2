#pragma once
/// Augmenting row reduction (Jonker & Volgenant 1987) as chains that run in parallel without barriers.
///
/// A few lanes take a free row, find its best and its second best offer (c_ij - v_j; the exit is one too),
/// lower the price of the best column by the difference, and continue with the row that they have
/// displaced, until they take a free column, the exit is best, or the budget of bids is spent. A bid that
/// would not lower the price of a taken column is not made: the row is left to the searches.
///
/// The method relies on races. Prices only fall, so a price read earlier is at most too high, and an offer
/// computed from it at most too low. A column's place is exchanged only if price and owner are still those
/// that were read. Then its offer is exact, the others are no better than they seemed, and the second best
/// is a lower bound of the row's other offers, now and later. So u_i + v_j <= c_ij everywhere at any time,
/// with equality for the pair. Which rows get which columns depends on timing. Owners are stored in the
/// places only (row_to_col is filled afterwards), so no two arrays can disagree.

#include "matching/assignment/sparse/column_state.cuh"

namespace motes::matching::device::search {

constexpr Cost kDeepest = Cost{1} << 60;  ///< bids below minus this are left to the searches
/// With an epsilon: prices that others may start from stay above minus this.
constexpr Cost kDeepestAuction = Cost{1} << 56;
constexpr int kLook = 16;  ///< bids between checks of how many chains continue

struct Chains {
  DeviceCanonical<SparseEntries> p;
  const Index* row_to_col;  ///< [rows] before the chains: rows that have a column start none
  Column* column;           ///< [cols]
  Index* left;  ///< [rows] rows left over; with an epsilon: those whose budget was spent. nullptr: not needed
  int* left_count;
  unsigned long long *bids, *began;
  const Cost* epsilon = nullptr;  ///< nullptr: none
  int budget = 0;
  const Index* starts = nullptr;     ///< rows to start from; nullptr: all that have no column
  const int* start_count = nullptr;  ///< of `starts`
  /// Chains stop, whatever their budget, once at most `few` of those that began from `starts` are running.
  int* finished = nullptr;  ///< nullptr: they do not
  int few = 0;
};

__device__ inline unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

/// The best offer of some pairs of a row, and the least of the others.
struct Offers {
  Cost best = kInfiniteCost, second = kInfiniteCost;
  Place place{};  ///< of the best one's column
  Index col = -1, position = -1;

  /// Of two equal offers, that of a free column is better, else the first.
  __device__ bool before(const Offers& other) const {
    if (best != other.best) return best < other.best;
    const bool taken = place.owner != -1, other_taken = other.place.owner != -1;
    return taken != other_taken ? other_taken : position < other.position;
  }
  __device__ void take(const Offers& other) {
    const Cost least = min(second, other.second);
    const bool mine = before(other);
    const Cost loser = mine ? other.best : best;
    if (!mine) *this = other;
    second = min(least, loser);
  }
};

/// Over the `kLanes` lanes that share a row; all get the result.
template <int kLanes>
__device__ Offers best_of(Offers mine, unsigned mask) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    Offers other;
    other.best = __shfl_xor_sync(mask, mine.best, step);
    other.second = __shfl_xor_sync(mask, mine.second, step);
    other.place.price = __shfl_xor_sync(mask, mine.place.price, step);
    other.place.owner = __shfl_xor_sync(mask, mine.place.owner, step);
    other.place.extra = __shfl_xor_sync(mask, mine.place.extra, step);
    other.col = __shfl_xor_sync(mask, mine.col, step);
    other.position = __shfl_xor_sync(mask, mine.position, step);
    mine.take(other);
  }
  return mine;
}

template <int kLanes>
__global__ void __launch_bounds__(kThreads) chains_kernel(Chains f) {
  const int lane = threadIdx.x % kLanes, groups = thread_total() / kLanes;
  const unsigned mask =
      kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
  unsigned long long bids = 0;
  if (thread_index() == 0 && *f.began == 0) *f.began = nanoseconds();
  const Cost epsilon = f.epsilon == nullptr ? 0 : *f.epsilon;
  if (f.epsilon != nullptr && epsilon == 0) return;
  const Cost deepest = epsilon == 0 ? -kDeepest : -kDeepestAuction;
  const Index starts = f.starts == nullptr ? f.p.rows : *f.start_count;
  if (f.finished != nullptr && starts <= f.few) return;
  for (Index start = thread_index() / kLanes; start < starts; start += groups) {
    Index row = f.starts == nullptr ? start : f.starts[start];
    if (f.starts == nullptr && f.row_to_col[row] != -1) continue;
    for (int bid = 0;; ++bid) {
      const Offset begin = f.p.entries.offsets[row], end = f.p.entries.offsets[row + 1];
      Offers offers;
      for (Offset e = begin + lane; e < end; e += kLanes) {
        Offers next;
        next.col = f.p.entries.col_index[e];
        next.place = load(&f.column[next.col].place);
        next.best = f.p.entries.cost[e] - next.place.price;
        next.position = static_cast<Index>(e - begin);
        offers.take(next);
      }
      offers = best_of<kLanes>(offers, mask);
      const Cost exit = f.p.exit_of(row);
      if (exit <= offers.best && exit != kInfiniteCost) break;  // it leaves
      offers.second = min(offers.second, exit);
      if (offers.second == kInfiniteCost) offers.second = offers.best;  // a single pair bounds no price
      const Index displaced = offers.place.owner;
      const Cost fall = offers.second - offers.best + epsilon, price = offers.place.price - fall;
      if (offers.col == -1 || bid >= f.budget || price < deepest || (displaced != -1 && fall == 0)) {
        if (lane == 0 && f.left != nullptr && (epsilon == 0 || bid >= f.budget))
          f.left[atomicAdd(f.left_count, 1)] = row;
        break;
      }
      int won = 0;
      if (lane == 0) {
        const Place wanted{price, row, offers.position};
        const Words seen = words_of(offers.place);
        won = same(exchange(&f.column[offers.col].place, seen, words_of(wanted)), seen);
        if (f.finished != nullptr && bid % kLook == kLook - 1 && starts - __ldcg(f.finished) <= f.few)
          won |= 2;
        ++bids;
      }
      won = __shfl_sync(mask, won, 0, kLanes);
      if ((won & 2) != 0) break;
      if (won == 0) continue;
      if (displaced == -1) break;
      row = displaced;
    }
    if (lane == 0 && f.finished != nullptr) atomicAdd(f.finished, 1);
  }
  for (int step = kWarp / 2; step > 0; step /= 2) bids += __shfl_xor_sync(kAll, bids, step);
  if (threadIdx.x % kWarp == 0 && bids > 0) atomicAdd(f.bids, bids);
}

}  // namespace motes::matching::device::search
