/// The auction on the device: rounds of bidding and assignment (auction.h), everybody who is free at once
/// (Jacobi), phase after phase without the host.
///
/// A round has three steps with a barrier after each. Bidding: each person in the frontier makes its bid
/// (auction_market.cuh) and lowers the object's next_dual to it with an atomic minimum, while all read the
/// dual of the round before: no bid sees another one of its round. Choice: among the persons whose bid is the
/// least, the lowest index is chosen, by an atomic minimum of (newest round, person). Assignment: the chosen
/// one takes the object, whom it outbids and who was not chosen go to the next frontier. Atomic minima do not
/// depend on order, and only the order of persons within a frontier does on races, which nothing reads: the
/// answer is the same from run to run.
///
/// Many bidders have a cooperative grid, with its barriers of some microseconds; the last ones, who take most
/// of the rounds, one block; a lone bidder and those it outbids in turn one warp, without any barrier.

#include <cooperative_groups.h>

#include <algorithm>
#include <chrono>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "matching/assignment/auction_device.h"
#include "matching/assignment/auction_market.cuh"

namespace motes::matching {
namespace device {
namespace {

using detail::AuctionOptions;
using detail::AuctionResult;
using detail::AuctionScale;
using detail::kLowestDual;

constexpr int kGridThreads = 256, kBlockThreads = 512;
constexpr int kFewBidders = 128;  ///< one block serves so many faster than a grid

__device__ void push(const Frontier& f, int half, Index person) {
  const auto group = cooperative_groups::coalesced_threads();
  int place = 0;
  if (group.thread_rank() == 0) place = atomicAdd(&f.count[half], static_cast<int>(group.size()));
  f.persons[half][group.shfl(place, 0) + static_cast<int>(group.thread_rank())] = person;
}

/// Writes what a person decided into its place of the round, and its bid to the object. One thread.
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

/// The person takes the object from `outbid`, if anybody.
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

/// A lone bidder, then whom it outbids, and so on, by one warp; ends where nobody is outbid, a list does not
/// answer, or something stops the auction. Returns the person to go on with, or -1.
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
      break;  // the whole block's round says so again, and stops
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

/// Rounds until the frontier holds at most `few` persons, or nobody, or something stops the auction.
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
    stop = control.stop != 0;     // nobody writes it before the last barrier of the round
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
  // All have read what is written now: a barrier came after.
  if (thread == 0) {
    *m.frontier.current = now;
    control.rounds += rounds;
    control.rounds_left -= rounds;
    control.bids += bids;
    control.turn = turn;
  }
}

/// Every person who is free, into the frontier.
template <class Entries>
__global__ void everybody_kernel(Market<Entries> m) {
  for (Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x); i < m.persons;
       i += static_cast<Index>(gridDim.x * blockDim.x))
    if (m.object_of[i] == -1) push(m.frontier, *m.frontier.current, i);
}

/// Costs of given pairs; forbidden ones are dropped.
template <class Entries>
__global__ void given_pairs_kernel(Market<Entries> m) {
  for (Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x); i < m.persons;
       i += static_cast<Index>(gridDim.x * blockDim.x)) {
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

/// Columns that are free below their starting price, into the frontier of the reverse direction `columns`.
template <class Entries>
__global__ void stale_kernel(Market<Entries> columns) {
  if (columns.control->stop != 0) return;
  for (Index j = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x); j < columns.persons;
       j += static_cast<Index>(gridDim.x * blockDim.x))
    if (columns.object_of[j] == -1 && columns.value[j] < columns.exit_of(j)) {
      columns.control->last_rise = columns.phase;  // all who write it write the same
      push(columns.frontier, *columns.frontier.current, j);
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

template <class Entries>
unsigned blocks_for(Arena& arena, const Market<Entries>& m) {
  const Offset wanted = (static_cast<Offset>(m.persons) + kGridThreads - 1) / kGridThreads;
  return static_cast<unsigned>(std::clamp<Offset>(wanted, 1, 8 * arena.multiprocessors()));
}

/// As many blocks as can be there at once, for the cooperative launch.
template <class Entries>
unsigned resident_blocks(Arena& arena) {
  int each = 0;
  MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, bidding_kernel<Entries, kGridThreads, true>,
                                                           kGridThreads, 0));
  return static_cast<unsigned>(std::max(1, each) * arena.multiprocessors());
}

template <class Entries>
void bid(Arena& arena, const Market<Entries>& m, Cost epsilon, unsigned grid) {
  if (m.persons > kFewBidders) {
    // No more warps than persons: idle blocks only slow the barriers.
    constexpr Index kWarps = kGridThreads / 32;
    const unsigned wanted = static_cast<unsigned>((m.persons + kWarps - 1) / kWarps);
    Market<Entries> market = m;
    int few = kFewBidders;
    void* arguments[] = {&market, &epsilon, &few};
    MOTES_CUDA(cudaLaunchCooperativeKernel(
        reinterpret_cast<const void*>(&bidding_kernel<Entries, kGridThreads, true>), std::min(grid, wanted),
        kGridThreads, arguments, 0, arena.stream()));
  }
  bidding_kernel<Entries, kBlockThreads, false><<<1, kBlockThreads, 0, arena.stream()>>>(m, epsilon, 0);
  MOTES_CUDA_LAUNCHED();
}

/// The columns' entries as rows, in device memory.
template <class T>
DenseEntries<T> columns_of(Arena&, const DenseEntries<T>& e) {
  return detail::exchanged(e);
}
GeometricEntries columns_of(Arena&, const GeometricEntries& e) { return detail::exchanged(e); }

__global__ void count_columns_kernel(SparseEntries e, Offset edges, Offset* count) {
  for (Offset k = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x; k < edges;
       k += static_cast<Offset>(gridDim.x) * blockDim.x)
    atomicAdd(reinterpret_cast<unsigned long long*>(&count[e.col_index[k] + 1]), 1ULL);
}
__global__ void fill_columns_kernel(SparseEntries e, Offset* next, Index* row, Cost* cost) {
  for (Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x); i < e.rows;
       i += static_cast<Index>(gridDim.x * blockDim.x))
    for (Offset k = e.offsets[i]; k < e.offsets[i + 1]; ++k) {
      const auto place =
          static_cast<Offset>(atomicAdd(reinterpret_cast<unsigned long long*>(&next[e.col_index[k]]), 1ULL));
      row[place] = i;
      cost[place] = e.cost[k];
    }
}

/// Rows lie in no order within a column: offers are compared with ties to the lowest row, never searched.
SparseEntries columns_of(Arena& arena, const SparseEntries& e) {
  const auto cols = static_cast<std::size_t>(e.cols);
  Offset edges = 0;
  MOTES_CUDA(
      cudaMemcpyAsync(&edges, e.offsets + e.rows, sizeof edges, cudaMemcpyDeviceToHost, arena.stream()));
  arena.synchronize();
  Offset* offsets = arena.take_filled<Offset>(cols + 1, 0);
  Offset* next = arena.take<Offset>(cols + 1);
  Index* row = arena.take<Index>(static_cast<std::size_t>(edges));
  Cost* cost = arena.take<Cost>(static_cast<std::size_t>(edges));
  const int blocks = 8 * arena.multiprocessors();
  count_columns_kernel<<<blocks, 256, 0, arena.stream()>>>(e, edges, offsets);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, offsets, next, e.cols + 1, arena.stream()));
  void* scratch = arena.take<char>(bytes);
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(scratch, bytes, offsets, next, e.cols + 1, arena.stream()));
  MOTES_CUDA(
      cudaMemcpyAsync(offsets, next, (cols + 1) * sizeof(Offset), cudaMemcpyDeviceToDevice, arena.stream()));
  fill_columns_kernel<<<blocks, 256, 0, arena.stream()>>>(e, next, row, cost);
  MOTES_CUDA_LAUNCHED();
  return {e.cols, e.rows, offsets, row, cost};
}

/// Room for the rounds of a direction, and for its short lists.
template <class Entries>
void make_room(Arena& arena, Market<Entries>& m, int frontier) {
  const auto persons = static_cast<std::size_t>(m.persons), objects = static_cast<std::size_t>(m.objects);
  m.next_dual = arena.take<Cost>(objects);
  m.winner = arena.take_filled<unsigned long long>(objects, 0xff);
  m.frontier = {{arena.take<Index>(persons), arena.take<Index>(persons)},
                m.control->count[frontier],
                &m.control->current[frontier]};
  m.bid_object = arena.take<Index>(persons);
  m.bid_dual = arena.take<Cost>(persons);
  m.bid_cost = arena.take<Cost>(persons);
  m.bid_value = arena.take<Cost>(persons);
  if constexpr (!std::is_same_v<Entries, SparseEntries>) {
    // Filled, for they are read before it is known whether they hold anything.
    m.list_object = arena.take_filled<Index>(persons * kListed, 0xff);
    m.list_cost = arena.take_filled<Cost>(persons * kListed, 0);
    m.list_bound = arena.take_filled<Cost>(persons, 0);
    m.list_made = arena.take_filled<int>(persons, 0);
  }
}

template <class Entries>
void synchronise_next_duals(Arena& arena, const Market<Entries>& m) {
  MOTES_CUDA(cudaMemcpyAsync(m.next_dual, m.dual, static_cast<std::size_t>(m.objects) * sizeof(Cost),
                             cudaMemcpyDeviceToDevice, arena.stream()));
}

template <class Entries>
Cost typical_gap(Arena& arena, const Market<Entries>& m) {
  const Index sample = std::min<Index>(m.persons, detail::kGapSample);
  long long* sum = arena.take_filled<long long>(1, 0);
  int* count = arena.take_filled<int>(1, 0);
  gap_kernel<<<4 * arena.multiprocessors(), kGridThreads, 0, arena.stream()>>>(m, sample, sum, count);
  MOTES_CUDA_LAUNCHED();
  const int found = arena.download(count, 1)[0];
  return found == 0 ? 0 : arena.download(sum, 1)[0] / found;
}

template <class Entries>
AuctionResult run_auction(Arena& arena, const CanonicalSides& sides, const DeviceCanonical<Entries>& problem,
                          const AuctionScale& scale, const AuctionOptions& options,
                          const detail::AuctionStart& start, std::vector<Cost>& pair_cost) {
  const auto rows = static_cast<std::size_t>(problem.rows), cols = static_cast<std::size_t>(problem.cols);
  auto* control = arena.take_filled<AuctionControl>(1, 0);
  const long long budget = detail::round_budget(sides);
  MOTES_CUDA(
      cudaMemcpyAsync(&control->rounds_left, &budget, sizeof budget, cudaMemcpyHostToDevice, arena.stream()));
  Market<Entries> m;
  m.entries = problem.entries;
  m.persons = problem.rows, m.objects = problem.cols;
  m.steps = scale.steps, m.widest = scale.widest;
  m.exit = problem.row_exit;
  m.value = arena.take_filled<Cost>(rows, 0);
  m.dual = arena.upload(std::span<const Cost>(start.v));
  m.object_of = arena.upload(std::span<const Index>(start.row_to_col));
  m.person_of = arena.upload(std::span<const Index>(start.col_to_row));
  m.pair_cost = arena.take_filled<Cost>(rows, 0);
  m.control = control;
  m.phase = 1;
  make_room(arena, m, 0);
  const unsigned grid = resident_blocks<Entries>(arena), blocks = blocks_for(arena, m);
  if (start.warm) {
    given_pairs_kernel<<<blocks, kGridThreads, 0, arena.stream()>>>(m);
    MOTES_CUDA_LAUNCHED();
  }
  Cost gap = 0;
  if (options.scaled) gap = typical_gap(arena, m);
  everybody_kernel<<<blocks, kGridThreads, 0, arena.stream()>>>(m);
  MOTES_CUDA_LAUNCHED();
  Market<Entries> columns;  // made when first needed
  const bool reverse = !problem.perfect && options.reverse;
  const std::vector<Cost> epsilons = detail::auction_epsilons(options, gap);
  m.ceiling = detail::feasible_ceiling(sides, scale, start, epsilons.front());
  for (const Cost epsilon : epsilons) {
    if (start.warm || m.phase > 1) {
      give_up_kernel<<<std::min(grid, 8 * blocks), kGridThreads, 0, arena.stream()>>>(m, epsilon);
      MOTES_CUDA_LAUNCHED();
    }
    synchronise_next_duals(arena, m);
    bid(arena, m, epsilon, grid);
    m.ceiling = kNoOffer;
    // A cold first phase leaves free columns at their starting prices.
    if (reverse && (start.warm || m.phase > 1)) {
      if (columns.control == nullptr) {
        columns.entries = columns_of(arena, problem.entries);
        columns.persons = m.objects, columns.objects = m.persons;
        columns.steps = m.steps, columns.widest = m.widest;
        columns.exit = problem.start;
        columns.value = m.dual, columns.dual = m.value;
        columns.object_of = m.person_of, columns.person_of = m.object_of;
        columns.pair_cost = m.pair_cost;
        columns.rows_bid = false;
        columns.control = control;
        make_room(arena, columns, 1);
      }
      columns.phase = m.phase;
      stale_kernel<<<blocks_for(arena, columns), kGridThreads, 0, arena.stream()>>>(columns);
      MOTES_CUDA_LAUNCHED();
      synchronise_next_duals(arena, columns);
      bid(arena, columns, epsilon, grid);
    }
    ++m.phase;
  }
  const AuctionControl end = arena.download(control, 1)[0];
  AuctionResult out;
  out.infeasible = end.infeasible != 0;
  out.unfinished = end.stop != 0 && !out.infeasible;
  out.reversed = end.last_rise == m.phase - 1;
  out.row_to_col = arena.download(m.object_of, rows);
  out.v = arena.download(m.dual, cols);
  if (out.reversed) {
    out.u = arena.download(m.value, rows);
    pair_cost = arena.download(m.pair_cost, rows);
    for (Cost& c : pair_cost) c /= scale.steps;
  }
  out.stats.initial_assignments = start.pairs;
  out.stats.phases = m.phase - 1;
  out.stats.rounds = end.rounds;
  out.stats.augmentations = end.bids;
  return out;
}

}  // namespace
}  // namespace device

namespace detail {

Matching auction_on_device(const Execution& execution, const CostsView& problem, const Start& start,
                           const AuctionOptions& options, AuctionLeftover& leftover) {
  // Sparse problems whose sides must be exchanged reach the lambda already transposed.
  const device::HostUnmatched unmatched = device::host_unmatched(problem);
  const bool exchanged = make_sides(device::with_unmatched(problem, unmatched), 0).exchanged;
  return device::solve_canonical_on_device(
      execution, problem, [&](device::Arena& arena, const CanonicalSides& sides, const auto& canonical) {
        const auto begin = std::chrono::steady_clock::now();
        const AuctionScale scale = auction_scale(sides);
        std::vector<Cost> pair_cost;
        AuctionResult result = device::run_auction(arena, sides, canonical, scale, options,
                                                   auction_start(sides, scale, start, exchanged), pair_cost);
        Solution solution = solution_of(sides, scale, std::move(result), pair_cost, exchanged, leftover);
        solution.stats.seconds["auction"] = seconds_since(begin);
        return solution;
      });
}

Matching with_host_copy(const CostsView& problem, const std::function<Matching(const CostsView&)>& f) {
  const device::HostUnmatched unmatched = device::host_unmatched(problem);
  const CostsView readable = device::with_unmatched(problem, unmatched);
  const auto copy = [](auto* to, const auto* from, std::size_t count) {
    if (count > 0) MOTES_CUDA(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost));
  };
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) {
    const SparseCosts host = copy_to_host(*sparse);
    return f(host.view());
  }
  if (auto points = std::get_if<GeometricCostsView>(&readable)) {
    GeometricCostsView view = *points;
    std::vector<std::vector<double>> kept;
    for (PointsView* side : {&view.row_points, &view.col_points})
      for (std::span<const double>* axis : {&side->x, &side->y, &side->z}) {
        kept.emplace_back(axis->size());
        copy(kept.back().data(), axis->data(), axis->size());
        *axis = kept.back();
      }
    view.space = Space::host;
    return f(view);
  }
  DenseCostsView view = std::get<DenseCostsView>(readable);
  return std::visit(
      [&](const auto* data) {
        std::vector<std::decay_t<decltype(*data)>> host(static_cast<std::size_t>(view.rows) *
                                                        static_cast<std::size_t>(view.cols));
        const std::size_t width = static_cast<std::size_t>(view.cols) * sizeof *data;
        if (!host.empty())
          MOTES_CUDA(cudaMemcpy2D(host.data(), width, data,
                                  static_cast<std::size_t>(view.row_stride) * sizeof *data, width,
                                  static_cast<std::size_t>(view.rows), cudaMemcpyDeviceToHost));
        view.data = host.data();
        view.row_stride = view.cols;
        view.space = Space::host;
        return f(view);
      },
      view.data);
}

}  // namespace detail
}  // namespace motes::matching
