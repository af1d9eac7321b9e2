#pragma once
/// One round of growth in multi_source_search.cuh.

#include "matching/assignment/sparse/multi_source_state.cuh"

namespace motes::matching::device::search {

/// The findings of a block in a round, before they are appended to the grid's lists: a thousand warps would
/// contend for the counters of these.
struct Found {
  static constexpr int kRoom = 1024;  ///< more goes to the lists at once
  Reach visit[kRoom];
  Index touched[kRoom];
  int visits, touches;              ///< also counted beyond the room
  int visits_place, touched_place;  ///< in the lists of all
};

/// As append, to a list in shared memory, and to the grid's list once that is full.
template <int kEach, class T>
__device__ void append_near(T* near, int* near_count, T* list, int* count, bool (&wanted)[kEach],
                            const T (&value)[kEach]) {
  int place[kEach];
  const int end = take_places(near_count, wanted, place);
  if (end == 0) return;
#pragma unroll
  for (int d = 0; d < kEach; ++d)
    if (wanted[d] && place[d] < Found::kRoom) {
      near[place[d]] = value[d];
      wanted[d] = false;
    }
  if (end > Found::kRoom) append(list, count, wanted, value);
}

/// Appends what the block has found to the grid's lists; the whole block must call it.
__device__ inline void hand_over(Found& found, Reach* next, int* next_count, Index* touched,
                                 int* touched_count) {
  __syncthreads();
  const int visits = min(found.visits, Found::kRoom), touches = min(found.touches, Found::kRoom);
  if (visits == 0 && touches == 0) return;
  if (threadIdx.x == 0 && visits > 0) found.visits_place = atomicAdd(next_count, visits);
  if (threadIdx.x == kWarp && touches > 0) found.touched_place = atomicAdd(touched_count, touches);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < visits; k += kForestBlock)
    next[found.visits_place + k] = found.visit[k];
  for (int k = static_cast<int>(threadIdx.x); k < touches; k += kForestBlock)
    touched[found.touched_place + k] = found.touched[k];
  __syncthreads();
  if (threadIdx.x == 0) found.visits = found.touches = 0;
}

/// Counts of the roots' nearest ends, in buckets of a sixteenth of a power of two.
struct Spread {
  static constexpr int kBuckets = 1024, kSampled = 4096;
  int count[kBuckets];

  static __device__ int bucket_of(Cost distance) {
    if (distance < 16) return static_cast<int>(distance);
    const int shift = 59 - __clzll(distance);
    return 16 * shift + static_cast<int>(distance >> shift);
  }
  /// The least distance that is beyond it.
  static __device__ Cost end_of(int bucket) {
    if (bucket < 16) return bucket + 1;
    const int shift = bucket / 16 - 1;
    return static_cast<Cost>(bucket % 16 + 17) << shift;
  }
};

/// Perfect problems: lowers the limit to where a share of the trees have their ends; of many trees a sample
/// is used. The whole block must call it, and no other block may.
__device__ inline void lower_limit(const CoreForest& f, const Index* roots, int root_count, Cost* limit,
                                   Spread& spread) {
  for (int k = static_cast<int>(threadIdx.x); k < Spread::kBuckets; k += kForestBlock) spread.count[k] = 0;
  __syncthreads();
  const int step = (root_count + Spread::kSampled - 1) / Spread::kSampled;
  const int sampled = (root_count + step - 1) / step;
  for (int k = static_cast<int>(threadIdx.x); k < sampled; k += kForestBlock)
    if (const Cost nearest = __ldcg(f.nearest + roots[k * step]); nearest < detail::kFar)
      atomicAdd(spread.count + Spread::bucket_of(nearest), 1);
  __syncthreads();
  if (threadIdx.x >= kWarp) return;
  constexpr int kEach = Spread::kBuckets / kWarp;
  const int lane = static_cast<int>(threadIdx.x);
  int mine = 0;
  for (int k = 0; k < kEach; ++k) mine += spread.count[kEach * lane + (k + lane) % kEach];
  int before = mine;
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const int other = __shfl_up_sync(kAll, before, distance);
    if (lane >= distance) before += other;
  }
  before -= mine;
  const int wanted = max(1, static_cast<int>(ceilf(f.share * static_cast<float>(sampled))));
  if (before >= wanted || before + mine < wanted) return;
  int bucket = kEach * lane;
  for (; before + spread.count[bucket] < wanted; ++bucket) before += spread.count[bucket];
  if (const Cost end = Spread::end_of(bucket); end < __ldcg(limit)) __stcg(limit, end);
}

/// The distance from which on a row's offers need not be made. Lane 0 also notes the row's exit as an end of
/// its tree. `u`: the row's dual.
__device__ __forceinline__ Cost limit_of_row(const CoreForest& f, const Standing& at, Cost u,
                                             const Cost* phase_limit, int lane) {
  if (f.p.perfect) return __ldcg(phase_limit);
  const Cost limit = __ldcg(f.nearest + at.root), exit = exit_distance(f, at, u);
  if (exit < limit && lane == 0) atomic_min(f.nearest + at.root, exit);
  return min(limit, exit);
}

/// One round: makes the offers of all rows in the frontier. A round is a few dependent memory accesses, so
/// loads are issued early: a row's first pairs with its label, and the position of the next row's pairs while
/// offers are made.
template <int kLanes>
__device__ void grow_round(const CoreForest& f, long long round, int count, const Cost* phase_limit,
                           Index* touched, int* touched_count, Found& near) {
  constexpr int kRowsPerWarp = kWarp / kLanes, kPairs = 2;  // pairs a lane has under way
  const int lane = threadIdx.x % kLanes, warps = thread_total() / kWarp;
  int* next_count = f.counters->frontier + (round + 1) % 3;
  const Reach* now = f.frontier[round % 2];
  Reach* next = f.frontier[(round + 1) % 2];
  for (int first = thread_index() / kWarp * kRowsPerWarp; first < count; first += warps * kRowsPerWarp) {
    const int k = first + threadIdx.x % kWarp / kLanes;
    const Reach reach = k < count ? now[k] : Reach{{-1, -1}, 0, 0};
    const Offset end = reach.begin + reach.pairs;
    Index col[kPairs];
    Cost cost[kPairs];
    const auto fetch = [&](Offset e, bool wanted) {
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        const Offset pair = e + d * kLanes;
        col[d] = wanted && pair < end ? f.p.entries.col_index[pair] : -1;
        cost[d] = wanted && pair < end ? f.p.entries.cost[pair] : 0;
      }
    };
    Offset e = reach.begin + lane;
    fetch(e, true);
    const Standing at = standing(f, reach.visit);
    Cost base = 0, limit = detail::kFar;
    if (at.row != -1) {
      const Cost u = f.u[at.row];
      base = at.distance - u;
      limit = limit_of_row(f, at, u, phase_limit, lane);
    }
    const bool open = at.distance < limit;
    for (; __any_sync(kAll, open && e < end); fetch(e += kPairs * kLanes, open)) {
      Index stamp[kPairs];
      Place place[kPairs];
      Label label[kPairs], offer[kPairs];
      Words found[kPairs];
      bool good[kPairs], fresh[kPairs], push[kPairs];
      Reach reached[kPairs];
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        if (col[d] == -1) continue;
        place[d] = load(&f.column[col[d]].place);
        label[d] = load(&f.column[col[d]].label);
      }
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        good[d] = fresh[d] = push[d] = false;
        if (col[d] == -1 || !open) continue;
        offer[d] = {base + cost[d] - place[d].price, at.root, at.row};
        good[d] = offer[d].distance < limit && offer[d].distance < label[d].distance;
        if (!good[d]) continue;
        found[d] = exchange(&f.column[col[d]].label, words_of(label[d]), words_of(offer[d]));
        // The first thread of this round lists the row, whichever label stays.
        if (place[d].owner != -1)
          stamp[d] = atomicExch(&f.column[col[d]].place.extra, static_cast<Index>(round));
        reached[d] = reach_of(f, {place[d].owner, col[d]});
      }
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        if (!good[d]) continue;
        bool won = same(found[d], words_of(label[d]));
        while (!won) {
          label[d] = value_of<Label>(found[d]);
          if (offer[d].distance >= label[d].distance) break;
          found[d] = exchange(&f.column[col[d]].label, words_of(label[d]), words_of(offer[d]));
          won = same(found[d], words_of(label[d]));
        }
        fresh[d] = won && label[d].distance == detail::kFar;
        push[d] = place[d].owner != -1 && stamp[d] != static_cast<Index>(round);
        if (won && place[d].owner == -1) atomic_min(f.nearest + at.root, offer[d].distance);
      }
      append_near(near.touched, &near.touches, touched, touched_count, fresh, col);
      append_near(near.visit, &near.visits, next, next_count, push, reached);
    }
  }
  hand_over(near, next, next_count, touched, touched_count);
}

}  // namespace motes::matching::device::search
