#pragma once
/// One direction of the auction on the device: its data, and the two least offers of a person.
///
/// A warp serves a person. On sparse graphs its lanes share the person's edges. On full matrices and points
/// they hold a short list of 64 objects: while duals of objects fall, no other object offers less than the
/// list's bound. A person whose second best offer passes the bound has its whole row read again, by all warps
/// of the block, so that a lone bidder does not wait for one warp to walk a long row.

#include <cooperative_groups.h>

#include "matching/assignment/canonical/canonical_form.cuh"
#include "matching/papers/auction/bid_rule.h"

namespace motes::matching::device {

using detail::Bid;
using detail::kNoOffer;
using detail::Move;
using detail::Offers;

inline constexpr unsigned kAllLanes = 0xffffffffU;
inline constexpr int kPerLane = 2;             ///< objects of a short list that a lane holds
inline constexpr int kListed = 32 * kPerLane;  ///< objects on a short list

/// The persons who bid in this round: two halves, one read while the other is filled.
struct Frontier {
  Index* persons[2];  ///< [persons] each
  int* count;         ///< [2]
  int* current;       ///< which half is read next
};

/// State of all kernels of a solve, in device memory.
struct AuctionControl {
  int stop;         ///< the auction has stopped: infeasible, out of range, or out of rounds
  int infeasible;   ///< a person cannot be placed
  int last_rise;    ///< last phase in which columns bid, so that duals of columns may have risen
  int count[2][2];  ///< of the two frontiers
  int current[2];
  long long rounds, rounds_left, bids;
  unsigned long long turn;  ///< rounds of both directions, for the keys of winners
};

/// Trivially copyable. Duals, values and pair costs are in auction steps.
template <class Entries>
struct Market {
  Entries entries;  ///< persons are its rows
  Index persons = 0, objects = 0;
  Cost steps = 1, widest = 2;
  Cost ceiling = kNoOffer;     ///< a best offer above this proves that there is no feasible assignment
  const Cost* exit = nullptr;  ///< [persons] in cost steps, or nullptr: no exits
  Cost* value = nullptr;       ///< [persons]
  Cost* dual = nullptr;        ///< [objects]
  Cost* next_dual = nullptr;   ///< [objects] least bid of the round; equals dual between rounds
  unsigned long long* winner = nullptr;  ///< [objects] (newest round, lowest person among its least bids)
  Index *object_of = nullptr, *person_of = nullptr;
  Cost* pair_cost = nullptr;  ///< by row
  bool rows_bid = true;       ///< persons are rows
  Frontier frontier;
  AuctionControl* control = nullptr;
  // The bids of the round, by index in the frontier.
  Index* bid_object = nullptr;
  Cost *bid_dual = nullptr, *bid_cost = nullptr, *bid_value = nullptr;
  // Short lists; none for sparse graphs.
  Index* list_object = nullptr;  ///< [kListed * persons] -1: empty place
  Cost* list_cost = nullptr;     ///< [kListed * persons]
  Cost* list_bound = nullptr;    ///< [persons]
  int* list_made = nullptr;      ///< [persons] phase
  int phase = 0;                 ///< from 1

  __device__ Cost exit_of(Index i) const {
    const Cost e = exit == nullptr ? kInfiniteCost : exit[i];
    return e == kInfiniteCost ? e : e * steps;
  }
  /// Lists of columns are valid in one phase only, since duals of rows rise between phases.
  __device__ bool list_holds(Index i) const {
    return rows_bid ? list_made[i] > control->last_rise : list_made[i] == phase;
  }
};

/// The least of 64-bit values over a full warp.
__device__ inline Cost warp_min(Cost x) {
#if __CUDA_ARCH__ >= 800
  const int high = static_cast<int>(x >> 32);
  const unsigned low = static_cast<unsigned>(x);
  const int least = __reduce_min_sync(kAllLanes, high);
  const unsigned rest = __reduce_min_sync(kAllLanes, high == least ? low : 0xffffffffU);
  return static_cast<Cost>((static_cast<unsigned long long>(static_cast<unsigned>(least)) << 32) | rest);
#else
  for (int step = 16; step > 0; step /= 2) x = min(x, __shfl_xor_sync(kAllLanes, x, step));
  return x;
#endif
}

__device__ inline int warp_min(int x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kAllLanes, x);
#else
  for (int step = 16; step > 0; step /= 2) x = min(x, __shfl_xor_sync(kAllLanes, x, step));
  return x;
#endif
}

/// Combines all lanes' offers; every lane gets the result.
__device__ inline Offers merge_lanes(const Offers& mine) {
  Offers all;
  all.best = warp_min(mine.best);
  const bool candidate = mine.best == all.best && mine.object != -1;
  all.object = warp_min(candidate ? mine.object : INT32_MAX);
  if (all.object == INT32_MAX) {
    all.object = -1;
    return all;
  }
  const bool winner = candidate && mine.object == all.object;
  all.second = warp_min(winner ? mine.second : mine.best);
  all.cost = __shfl_sync(kAllLanes, mine.cost, __ffs(static_cast<int>(__ballot_sync(kAllLanes, winner))) - 1);
  return all;
}

/// The index of lane `lane`'s k-th object in a person's list.
__device__ inline Offset list_place(Index person, int k, int lane) {
  return (static_cast<Offset>(person) * kPerLane + k) * 32 + lane;
}

/// An unsorted short list that is being made.
struct LaneList {
  Cost offer[kPerLane], cost[kPerLane];
  Index object[kPerLane];
  Cost worst = kNoOffer;     ///< of the list's offers, the same in all lanes
  Cost limit = kNoOffer;     ///< offers from here on are never kept; the same in all lanes
  Cost rejected = kNoOffer;  ///< least offer that this lane has rejected

  __device__ LaneList() {
    for (int k = 0; k < kPerLane; ++k) offer[k] = kNoOffer, cost[k] = 0, object[k] = -1;
  }
  __device__ Cost own_worst() const {
    Cost own = offer[0];
#pragma unroll
    for (int k = 1; k < kPerLane; ++k) own = max(own, offer[k]);
    return own;
  }
  /// Each lane offers one object (-1: none).
  __device__ void add(Cost new_offer, Cost new_cost, Index new_object) {
    const int lane = threadIdx.x % 32;
    const bool wanted = new_object != -1 && new_offer < min(worst, limit);
    if (new_object != -1 && !wanted) rejected = min(rejected, new_offer);
    for (unsigned left = __ballot_sync(kAllLanes, wanted); left != 0;) {
      const int from = __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      const Cost o = __shfl_sync(kAllLanes, new_offer, from), c = __shfl_sync(kAllLanes, new_cost, from);
      const Index j = __shfl_sync(kAllLanes, new_object, from);
      if (o >= worst) {  // the list has improved meanwhile; the same in all lanes
        rejected = min(rejected, o);
        continue;
      }
      const Cost own = own_worst();
      const int place = __ffs(static_cast<int>(__ballot_sync(kAllLanes, own == worst))) - 1;
      bool replace = lane == place;
      if (replace) rejected = min(rejected, own);
#pragma unroll
      for (int k = 0; k < kPerLane; ++k) {
        if (!replace || offer[k] != own) continue;
        offer[k] = o, cost[k] = c, object[k] = j;
        replace = false;
      }
      worst = -warp_min(-own_worst());
    }
  }
};

/// Offers without initial values, since shared memory cannot have any.
struct StoredOffers {
  Cost best, second, cost;
  Index object;
  __device__ void operator=(const Offers& o) {
    best = o.best, second = o.second, cost = o.cost, object = o.object;
  }
  __device__ operator Offers() const { return {best, second, cost, object}; }
};

/// Shared memory of a block of `kWarps` warps that serves persons.
template <int kWarps>
struct OffersScratch {
  StoredOffers result[kWarps];
  bool stale[kWarps];  ///< that warp's person has no list that suffices; its index is in result
  Cost offer[kWarps][kListed], cost[kWarps][kListed];
  Index object[kWarps][kListed];
  Cost rejected[kWarps];
};

template <class Entries>
__device__ Offers edge_offers(const Market<Entries>& m, Index person, int lane) {
  Offers mine;
  m.entries.for_each(person, lane, 32, [&](Index j, Cost c) {
    const Cost cost = c * m.steps;
    mine.add(j, cost, cost - m.dual[j]);
  });
  return merge_lanes(mine);
}

/// Whether the list suffices; then `offers` is the result, in all lanes, and `owner` the holder of its
/// object.
template <class Entries>
__device__ bool list_offers(const Market<Entries>& m, Index person, int lane, Offers& offers,
                            Index* owner = nullptr) {
  // All loads first: the time of a lone bidder is their latency.
  const bool holds = m.list_holds(person);
  const Cost bound = m.list_bound[person];
  Index object[kPerLane], holder[kPerLane];
  Cost cost[kPerLane];
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    object[k] = m.list_object[list_place(person, k, lane)];
    cost[k] = m.list_cost[list_place(person, k, lane)];
  }
  if (!holds) return false;
  Offers mine;
#pragma unroll
  for (int k = 0; k < kPerLane; ++k) {
    holder[k] = -1;
    if (object[k] == -1) continue;
    if (owner != nullptr) holder[k] = m.person_of[object[k]];
    mine.add(object[k], cost[k], cost[k] - m.dual[object[k]]);
  }
  offers = merge_lanes(mine);
  if (owner != nullptr && offers.object != -1) {
    Index held = -1;
    bool found = false;
#pragma unroll
    for (int k = 0; k < kPerLane; ++k)
      if (object[k] == offers.object) found = true, held = holder[k];
    *owner = __shfl_sync(kAllLanes, held, __ffs(static_cast<int>(__ballot_sync(kAllLanes, found))) - 1);
  }
  const Cost exit = m.exit_of(person);
  return min(offers.second, exit) <= bound;
}

/// Reads the person's whole row, makes its list again and leaves its offers in `result`. By all threads of
/// the block; ends with a barrier.
template <int kWarps, class Entries>
__device__ void make_list(const Market<Entries>& m, Index person, OffersScratch<kWarps>& scratch,
                          StoredOffers& result) {
  constexpr int kAhead = 8;  // loads in flight
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  LaneList list;
  // No more than the old list's objects can be better than the worst of them now, whatever duals did since.
  if (m.list_made[person] != 0) {
    Cost worst = -kNoOffer;
    for (int k = 0; k < kPerLane; ++k) {
      const Index old = m.list_object[list_place(person, k, lane)];
      worst = max(worst, old == -1 ? kNoOffer : m.list_cost[list_place(person, k, lane)] - m.dual[old]);
    }
    list.limit = min(kNoOffer, -warp_min(-worst) + 1);
  }
  for (Offset first = 0; first < m.objects; first += Offset{kAhead} * kWarps * 32) {
    Cost cost[kAhead], dual[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const Offset j = first + (k * kWarps + warp) * 32 + lane;
      cost[k] = kInfiniteCost, dual[k] = 0;
      if (j >= m.objects) continue;
      cost[k] = m.entries.at(person, static_cast<Index>(j));
      dual[k] = m.dual[j];
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const Offset j = first + (k * kWarps + warp) * 32 + lane;
      const bool there = cost[k] != kInfiniteCost;
      const Cost scaled = there ? cost[k] * m.steps : 0;
      list.add(there ? scaled - dual[k] : kNoOffer, scaled, there ? static_cast<Index>(j) : -1);
    }
  }
  for (int k = 0; k < kPerLane; ++k) {
    scratch.offer[warp][k * 32 + lane] = list.offer[k];
    scratch.cost[warp][k * 32 + lane] = list.cost[k];
    scratch.object[warp][k * 32 + lane] = list.object[k];
  }
  const Cost rejected = warp_min(list.rejected);
  if (lane == 0) scratch.rejected[warp] = rejected;
  __syncthreads();
  if (warp == 0) {
    for (int other = 1; other < kWarps; ++other) {
      for (int k = lane; k < kListed; k += 32)
        list.add(scratch.offer[other][k], scratch.cost[other][k], scratch.object[other][k]);
      list.rejected = min(list.rejected, scratch.rejected[other]);
    }
    const Cost bound = warp_min(list.rejected);
    Offers mine;
    for (int k = 0; k < kPerLane; ++k) {
      m.list_object[list_place(person, k, lane)] = list.object[k];
      m.list_cost[list_place(person, k, lane)] = list.cost[k];
      if (list.object[k] != -1) mine.add(list.object[k], list.cost[k], list.offer[k]);
    }
    const Offers all = merge_lanes(mine);
    if (lane == 0) {
      m.list_bound[person] = bound;
      m.list_made[person] = m.phase;
      result = all;
    }
  }
  __syncthreads();
}

/// The offers of each warp's person (-1: none), in all its lanes. By all threads of the block.
template <int kWarps, class Entries>
__device__ Offers block_offers(const Market<Entries>& m, Index person, OffersScratch<kWarps>& scratch) {
  const int lane = threadIdx.x % 32;
  Offers offers;
  if constexpr (std::is_same_v<Entries, SparseEntries>) {
    if (person != -1) offers = edge_offers(m, person, lane);
    return offers;
  } else {
    const int warp = threadIdx.x / 32;
    const bool stale = person != -1 && !list_offers(m, person, lane, offers);
    if (lane == 0) {
      scratch.stale[warp] = stale;
      if (stale) scratch.result[warp].object = person;
    }
    if (__syncthreads_or(stale) == 0) return offers;
    for (int other = 0; other < kWarps; ++other) {
      if (!scratch.stale[other]) continue;  // the same for all threads
      const Index theirs = scratch.result[other].object;
      __syncthreads();  // all have read it
      make_list<kWarps>(m, theirs, scratch, scratch.result[other]);
    }
    if (stale) offers = static_cast<Offers>(scratch.result[warp]);
    __syncthreads();  // before any thread reuses the scratch
    return offers;
  }
}

}  // namespace motes::matching::device
