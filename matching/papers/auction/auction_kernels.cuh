#pragma once
/// The auction on the device: rounds of bidding and assignment (auction.h), all free persons at once
/// (Jacobi), phase after phase without the host.
///
/// A round has three steps with a barrier after each. Bidding: each person in the frontier makes its bid
/// (bidding.cuh) and lowers the object's next_dual to it with an atomic minimum, while all read the
/// dual of the round before: no bid sees another one of its round. Choice: among the persons whose bid is the
/// least, the lowest index is chosen, by an atomic minimum of (newest round, person). Assignment: the chosen
/// one takes the object; the person outbid and those not chosen go to the next frontier. Atomic minima do not
/// depend on order, and only the order of persons within a frontier does on races, which nothing reads: the
/// answer is the same from run to run.
///
/// Many bidders are served by a cooperative grid, whose barriers take some microseconds; the last ones, which
/// take most of the rounds, by one block; a single bidder and the persons that it outbids one after another
/// by one warp, without barriers.

#include <type_traits>

#include <cooperative_groups.h>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/papers/auction/auction_state.h"
#include "matching/papers/auction/bidding.cuh"

namespace motes::matching::device {

using detail::kLowestDual;

inline constexpr int kGridThreads = 256, kBlockThreads = 512;
inline constexpr int kFewBidders = 128;  ///< up to this many, one block is faster than a grid

__device__ inline void push(const Frontier& f, int half, Index person) {
  const auto group = cooperative_groups::coalesced_threads();
  int place = 0;
  if (group.thread_rank() == 0) place = atomicAdd(&f.count[half], static_cast<int>(group.size()));
  f.persons[half][group.shfl(place, 0) + static_cast<int>(group.thread_rank())] = person;
}

/// Stores a person's decision at its index in the round, and its bid at the object. Called by one thread.
template <class Entries>
__device__ void announce(const Market<Entries>& m, int place, Index person, const Offers& offers,
                         Cost epsilon) {
  AuctionControl& control = *m.control;
  const Bid bid = detail::bid_of(offers, m.exit_of(person), epsilon, m.widest);
  m.bid_object[place] = bid.object;
  if (bid.move == Move::bid) {
    m.bid_dual[place] = bid.dual;
    m.bid_cost[place] = bid.cost;
    m.bid_value[place] = bid.value;
    if (bid.dual < kLowestDual) control.stop = 1;  // several threads may write the same value
    if (offers.best > m.ceiling) control.stop = 1, control.infeasible = 1;
    atomicMin(reinterpret_cast<long long*>(&m.next_dual[bid.object]), static_cast<long long>(bid.dual));
  } else if (bid.move == Move::leave) {
    m.value[person] = bid.value;
  } else {
    control.stop = 1, control.infeasible = 1;
  }
}

template <class Entries>
__device__ unsigned long long winner_key(const Market<Entries>&, unsigned long long turn, Index person) {
  return ((0xffffffffULL - turn) << 32) | static_cast<unsigned>(person);
}

template <class Entries>
__device__ void choose(const Market<Entries>& m, int place, Index person, unsigned long long turn) {
  const Index object = m.bid_object[place];
  if (object != -1 && m.bid_dual[place] == m.next_dual[object])
    atomicMin(&m.winner[object], winner_key(m, turn, person));
}

/// The person takes the object from `outbid` (-1: it was free).
template <class Entries>
__device__ void take(const Market<Entries>& m, Index person, Index object, Index outbid, Cost dual, Cost cost,
                     Cost value) {
  if (outbid != -1) m.object_of[outbid] = -1;
  m.person_of[object] = person;
  m.object_of[person] = object;
  m.dual[object] = dual;
  m.value[person] = value;
  m.pair_cost[m.rows_bid ? person : object] = cost;
}

template <class Entries>
__device__ void assign(const Market<Entries>& m, int place, Index person, unsigned long long turn, int next) {
  const Index object = m.bid_object[place];
  if (object == -1) return;  // left
  Index goes_on = person;
  if (m.winner[object] == winner_key(m, turn, person)) {
    goes_on = m.person_of[object];
    take(m, person, object, goes_on, m.bid_dual[place], m.bid_cost[place], m.bid_value[place]);
  }
  if (goes_on != -1) push(m.frontier, next, goes_on);
}

/// A single bidder, then the person it outbids, and so on, by one warp; ends if no person is outbid, a list
/// is too short to decide, or the auction is stopped. Returns the next person, or -1.
template <class Entries>
__device__ Index lone_bidders(const Market<Entries>& m, Index person, Cost epsilon, long long& rounds,
                              long long budget) {
  const int lane = threadIdx.x % 32;
  while (person != -1 && rounds < budget) {
    Offers offers;
    Index owner = -1;
    if constexpr (std::is_same_v<Entries, SparseEntries>) {
      offers = edge_offers(m, person, lane);
      if (offers.object != -1) owner = m.person_of[offers.object];
    } else {
      if (!list_offers(m, person, lane, offers, &owner)) break;
    }
    const Bid bid = detail::bid_of(offers, m.exit_of(person), epsilon, m.widest);
    if (bid.move == Move::stuck || offers.best > m.ceiling ||
        (bid.move == Move::bid && bid.dual < kLowestDual))
      break;  // the next round of the whole block finds the same, and stops
    ++rounds;
    Index outbid = -1;
    if (lane == 0) {
      if (bid.move == Move::leave) {
        m.value[person] = bid.value;
      } else {
        m.next_dual[bid.object] = bid.dual;
        outbid = owner;
        take(m, person, bid.object, owner, bid.dual, bid.cost, bid.value);
      }
    }
    __syncwarp();
    person = __shfl_sync(kAllLanes, outbid, 0);
  }
  return person;
}

/// Stores the counters of a launch of rounds. One thread, after all have read the values that are overwritten
/// here.
template <class Entries>
__device__ __forceinline__ void keep_counts(const Market<Entries>& m, int now, long long rounds,
                                            long long bids, unsigned long long turn) {
  *m.frontier.current = now;
  m.control->rounds += rounds;
  m.control->rounds_left -= rounds;
  m.control->bids += bids;
  m.control->turn = turn;
}

/// Rounds until the frontier holds at most `few` persons, or none, or something stops the auction.
/// kGrid: a cooperative launch of several blocks; else one block.
template <class Entries, int kThreads, bool kGrid>
__global__ void __launch_bounds__(kThreads) bidding_kernel(Market<Entries> m, Cost epsilon, int few) {
  constexpr int kWarps = kThreads / 32;
  __shared__ OffersScratch<kWarps> scratch;
  __shared__ long long lone_rounds;
  const auto barrier = [] {
    if constexpr (kGrid)
      cooperative_groups::this_grid().sync();
    else
      __syncthreads();
  };
  AuctionControl& control = *m.control;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  const int thread = block * kThreads + static_cast<int>(threadIdx.x), threads = blocks * kThreads;
  bool stop = control.stop != 0;
  long long rounds = 0, bids = 0;
  const long long budget = control.rounds_left;
  unsigned long long turn = control.turn;
  int now = *m.frontier.current;
  barrier();
  while (!stop) {
    const int count = m.frontier.count[now];
    if (count <= few) break;
    const Index* persons = m.frontier.persons[now];
    if constexpr (!kGrid) {
      if (count == 1) {  // the same for all threads
        if (warp == 0) {
          long long done = 0;
          const Index left = lone_bidders(m, persons[0], epsilon, done, budget - rounds);
          if (lane == 0) {
            m.frontier.persons[now][0] = left;
            m.frontier.count[now] = left == -1 ? 0 : 1;
            lone_rounds = done;
          }
        }
        __syncthreads();
        rounds += lone_rounds, bids += lone_rounds, turn += static_cast<unsigned long long>(lone_rounds);
        if (m.frontier.count[now] == 0) break;
        persons = m.frontier.persons[now];
      }
    }
    if (rounds >= budget) {
      if (thread == 0) control.stop = 1;
      break;
    }
    if (thread == 0) m.frontier.count[1 - now] = 0;
    for (int first = 0; first + block < count; first += kWarps * blocks) {
      const int place = first + warp * blocks + block;
      const Index person = place < count ? persons[place] : -1;
      const Offers offers = block_offers<kWarps>(m, person, scratch);
      if (person != -1 && lane == 0) announce(m, place, person, offers, epsilon);
    }
    barrier();
    stop = control.stop != 0;     // not written before the last barrier of the round
    if (!kGrid && count <= 32) {  // one warp for the rest: fewer barriers
      if (thread < 32) {
        if (lane < count) choose(m, lane, persons[lane], turn);
        __syncwarp();
        if (lane < count) assign(m, lane, persons[lane], turn, 1 - now);
      }
    } else {
      for (int place = thread; place < count; place += threads) choose(m, place, persons[place], turn);
      barrier();
      for (int place = thread; place < count; place += threads)
        assign(m, place, persons[place], turn, 1 - now);
    }
    barrier();
    now = 1 - now;
    ++rounds, ++turn;
    bids += count;
  }
  if (thread == 0) keep_counts(m, now, rounds, bids, turn);  // a barrier came after the last reads
}

/// Puts every free person into the frontier.
template <class Entries>
__global__ void list_free_persons_kernel(Market<Entries> m) {
  for (Index i = gpu::thread_index(); i < m.persons; i += gpu::thread_total())
    if (m.object_of[i] == -1) push(m.frontier, *m.frontier.current, i);
}

/// Costs of given pairs; forbidden ones are dropped.
template <class Entries>
__global__ void given_pairs_kernel(Market<Entries> m) {
  for (Index i = gpu::thread_index(); i < m.persons; i += gpu::thread_total()) {
    const Index j = m.object_of[i];
    if (j == -1) continue;
    const Cost c = m.entries.at(i, j);
    if (c == kInfiniteCost)
      m.object_of[i] = m.person_of[j] = -1;
    else
      m.pair_cost[i] = c * m.steps;
  }
}

/// Persons' duals become their best offers, and pairs that miss them by more than epsilon are given up.
template <class Entries>
__global__ void __launch_bounds__(kGridThreads) give_up_kernel(Market<Entries> m, Cost epsilon) {
  constexpr int kWarps = kGridThreads / 32;
  __shared__ OffersScratch<kWarps> scratch;
  if (m.control->stop != 0) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, now = *m.frontier.current;
  for (Offset first = 0; first + blockIdx.x < m.persons; first += Offset{kWarps} * gridDim.x) {
    const Offset i = first + static_cast<Offset>(warp) * gridDim.x + blockIdx.x;
    const Index object = i < m.persons ? m.object_of[i] : -1;
    const Index person = object == -1 ? -1 : static_cast<Index>(i);
    const Offers offers = block_offers<kWarps>(m, person, scratch);
    if (person == -1 || lane != 0) continue;
    const Cost best = min(offers.best, m.exit_of(person));
    m.value[person] = best;
    if (m.pair_cost[person] - m.dual[object] - best <= epsilon) continue;
    m.object_of[person] = m.person_of[object] = -1;
    push(m.frontier, now, person);
  }
}

/// Puts the columns that are free below their starting price into the frontier of the reverse direction
/// `columns`.
template <class Entries>
__global__ void stale_kernel(Market<Entries> columns) {
  if (columns.control->stop != 0) return;
  for (Index j = gpu::thread_index(); j < columns.persons; j += gpu::thread_total())
    if (columns.object_of[j] == -1 && columns.value[j] < columns.exit_of(j)) {
      columns.control->last_rise = columns.phase;  // all writers write the same
      push(columns.frontier, *columns.frontier.current, j);
    }
}

/// Lists of the persons given, into their places.
template <class Entries, int kThreads>
__global__ void __launch_bounds__(kThreads)
    lists_kernel(Market<Entries> m, const Index* persons, Index count) {
  __shared__ OffersScratch<kThreads / 32> scratch;
  for (Index k = static_cast<Index>(blockIdx.x); k < count; k += static_cast<Index>(gridDim.x))
    make_list<kThreads / 32>(m, persons[k], scratch, scratch.result[0]);
}

/// Lists of the persons given, one after another.
template <class Entries>
__global__ void gather_lists_kernel(Market<Entries> m, const Index* persons, Index count, Index* object,
                                    Cost* cost, Cost* bound) {
  for (Offset k = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x; k < Offset{count} * kListed;
       k += static_cast<Offset>(gridDim.x) * blockDim.x) {
    const Index person = persons[k / kListed];
    const Offset from = static_cast<Offset>(person) * kListed + k % kListed;
    object[k] = m.list_object[from];
    cost[k] = m.list_cost[from];
    if (k % kListed == 0) bound[k / kListed] = m.list_bound[person];
  }
}

/// Sum of the differences of the two best offers of the first rows, and how many have two.
template <class Entries>
__global__ void __launch_bounds__(kGridThreads)
    gap_kernel(Market<Entries> m, Index sample, long long* sum, int* count) {
  constexpr int kWarps = kGridThreads / 32;
  __shared__ OffersScratch<kWarps> scratch;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int first = 0; first + static_cast<int>(blockIdx.x) < sample;
       first += kWarps * static_cast<int>(gridDim.x)) {
    const int i = first + warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
    const Offers offers = block_offers<kWarps>(m, i < sample ? i : -1, scratch);
    if (i >= sample || lane != 0) continue;
    const Cost gap = detail::gap_of(offers, m.exit_of(i));
    if (gap < 0) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(sum),
              static_cast<unsigned long long>(min(gap, detail::kLargestGap)));
    atomicAdd(count, 1);
  }
}

}  // namespace motes::matching::device
