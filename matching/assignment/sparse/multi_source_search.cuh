#pragma once
/// Shortest augmenting paths from all free rows at once, as phases of one persistent cooperative kernel.
///
/// A phase grows a tree from every free row. Edge lengths are the slacks c_ij - u_i - v_j; a column belongs
/// to the nearest tree. Labels are corrected instead of being settled in order: a round scans every row
/// whose column's label improved in the round before, whatever its distance, until no label improves. This
/// scans a row several times, but needs a few dozen rounds where Dijkstra's order would need thousands.
///
/// Let D_T be the distance from the root of tree T to its nearest end (a free column, or the exit of a
/// row). The tree rises by some r_T: the duals of its rows grow by r_T - distance, and the prices of its
/// columns fall by the same, if this is positive. Matched pairs stay tight. A pair from a row of tree A to
/// a column of tree B, whose offer o is not below that column's distance d, keeps a slack of at least 0 if
///     r_A <= max(o, r_B + o - d).
///
/// Problems that are not perfect: free columns keep their price and no row's dual exceeds its exit, so r_T
/// <= D_T. The greatest such r is found by starting from r_T = D_T and lowering it until all pairs between
/// trees satisfy the condition. Trees that kept r_T = D_T augment along a path of tight pairs to their
/// nearest end; one with the least D_T always does. As nothing beyond D_T matters to T, offers at or beyond
/// the nearest end found so far are not made. This pruning can leave a label whose path goes through a row
/// that has since moved to another tree N, farther than D_N. No path within r_T ends there except through
/// ties. The walk back checks that it stays in its tree and so detects these cases; that tree waits for the
/// next phase.
///
/// Perfect problems: all columns end matched and the prices of free columns may fall too, so all trees may
/// rise by the same D, and every tree with an end up to D augments. D is the distance up to which a given
/// share of the trees have ends: these are known long before the last trees have crossed the graph. Offers
/// at or beyond the least such distance found so far need not be made; labels below it are not affected.
///
/// So phases need not wait for the farthest roots. With the same r in all trees of a problem that is not
/// perfect, only those up to the first end in the way could augment, and on gated problems every region
/// would wait for every other.
///
/// A budget of rounds and of scanned rows may stop the search within a phase. The labels of that phase are
/// then ignored, and the state is that before the phase.
///
/// Races: labels fall by atomic exchange of 16 bytes, lists are filled in any order, and nearest ends and
/// rises are minima. Distances do not depend on timing; where distances tie, the tree that owns a column
/// does.

#include "matching/assignment/sparse/multi_source_growth.cuh"
#include "matching/assignment/sparse/multi_source_update.cuh"

namespace motes::matching::device::search {

/// u_i of the rows that the chains left; those with something better than their exit become roots.
template <int kLanes>
__global__ void __launch_bounds__(kThreads) plant_kernel(CoreForest f) {
  if (thread_index() == 0) {
    f.counters->highest[0] = f.counters->highest[1] = -1;
    f.counters->limit[0] = f.counters->limit[1] = detail::kFar;
  }
  const int count = *f.left_count;
  const int lane = threadIdx.x % kLanes, groups = thread_total() / kLanes;
  const unsigned mask =
      kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
  for (int k = thread_index() / kLanes; k < count; k += groups) {
    const Index row = f.left[k];
    Cost best = f.p.exit_of(row);
    const Offset end = f.p.entries.offsets[row + 1];
    for (Offset e = f.p.entries.offsets[row] + lane; e < end; e += kLanes)
      best = min(best, f.p.entries.cost[e] - f.column[f.p.entries.col_index[e]].place.price);
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) best = min(best, __shfl_xor_sync(mask, best, step));
    if (lane != 0) continue;
    f.u[row] = best;
    if (best == kInfiniteCost) f.report->impossible = 1;  // all write the same
    if (best == f.p.exit_of(row)) continue;
    f.roots[0][atomicAdd(f.counters->roots, 1)] = row;
    f.nearest[row] = detail::kFar;
    f.end[row] = detail::kNoRank;
  }
}

/// The roots join the `kept` labelled rows in the frontier.
__device__ __forceinline__ void plant_roots(const CoreForest& f, const Index* roots, int root_count, int kept,
                                            long long round) {
  for (int k = thread_index(); k < root_count; k += thread_total())
    f.frontier[round % 2][k] = reach_of(f, {roots[k], -1});
  if (thread_index() != 0) return;
  f.counters->frontier[round % 3] = root_count + kept;
  f.counters->frontier[(round + 1) % 3] = 0;
}

/// Rounds until no label improves, the first with `count` rows. False if the budget ran out: no dual has
/// moved and no pair changed since the phase began. It is the same for all threads, since they read the same
/// values between the same barriers.
template <int kLanes>
__device__ __forceinline__ bool grow_trees(const cooperative_groups::grid_group& team, const CoreForest& f,
                                           int now, int root_count, int count, Found& near, Spread& spread,
                                           long long& round, long long& scanned) {
  ForestCounters& n = *f.counters;
  const auto too_slow = [&] {
    return (f.most_rounds > 0 && round > f.most_rounds) || (f.most_scanned > 0 && scanned > f.most_scanned);
  };
  for (; count > 0 && !too_slow(); count = n.frontier[round % 3]) {
    scanned += count;
    if (thread_index() == 0) n.frontier[(round + 2) % 3] = 0;
    if (f.p.perfect && blockIdx.x == gridDim.x - 1)  // small frontiers leave it idle
      lower_limit(f, f.roots[now], root_count, n.limit + now, spread);
    grow_round<kLanes>(f, round, count, n.limit + now, f.touched[now], n.touched + now, near);
    team.sync();
    ++round;
  }
  return !too_slow();
}

/// The rises to begin with: of a perfect problem one for all trees, the greatest nearest end below the limit.
__device__ __forceinline__ void begin_rises(const CoreForest& f, const Members& members, Cost limit,
                                            Cost* highest) {
  for (int k = thread_index(); k < members.root_count; k += thread_total()) {
    const Index root = members.roots[k];
    const Cost nearest = f.nearest[root];
    if (!f.p.perfect)
      f.rise[root] = nearest;
    else if (nearest < limit)
      atomicMax(reinterpret_cast<long long*>(highest), static_cast<long long>(nearest));
  }
}

/// Lowers the rises in passes, counted by `pass`, until all pairs between trees satisfy the condition.
template <int kLanes>
__device__ __forceinline__ void lower_all_rises(const cooperative_groups::grid_group& team,
                                                const CoreForest& f, const Members& members, int contacts,
                                                long long& pass) {
  int* const lowered = f.counters->lowered;
  for (bool again = contacts > 0; again;) {
    if (thread_index() == 0) lowered[(pass + 1) % 3] = 0;
    if (contacts <= f.p.cols)
      lower_by_contacts(f, contacts, lowered + pass % 3);
    else
      lower_rises<kLanes>(f, members, lowered + pass % 3);
    team.sync();
    again = lowered[pass % 3] != 0;
    ++pass;
  }
}

/// Clears the counters of the next phase.
__device__ __forceinline__ void clear_counters(ForestCounters& n, int later) {
  n.roots[later] = n.touched[later] = n.augmented[later] = n.contacts[later] = 0;
  n.highest[later] = -1;
  n.limit[later] = detail::kFar;
}

/// Trees that may augment do; the roots of the others are those of the next phase.
__device__ __forceinline__ void augment_trees(const CoreForest& f, const Members& members, int* augmented,
                                              Index* roots_left, int* left_count) {
  for (int k = static_cast<int>(blockIdx.x + gridDim.x * threadIdx.x); k < members.root_count;
       k += thread_total()) {
    const Index root = members.roots[k];
    const bool done = augment(f, root);
    if (f.p.perfect) f.rise[root] = done ? 1 : 0;
    if (done) {
      atomicAdd(augmented, 1);
      continue;
    }
    roots_left[atomicAdd(left_count, 1)] = root;
    f.nearest[root] = detail::kFar;
    f.end[root] = detail::kNoRank;
  }
}

/// Undoes a large rise of all duals, so that they stay in range.
__device__ __forceinline__ void shift_duals(const CoreForest& f, Cost by) {
  for (Index j = thread_index(); j < f.p.cols; j += thread_total()) f.column[j].place.price += by;
  for (Index i = thread_index(); i < f.p.rows; i += thread_total()) f.u[i] -= by;
}

/// Phases until no root is left.
template <int kLanes>
__global__ void __launch_bounds__(kForestBlock, 1) core_forest_kernel(CoreForest f) {
  __shared__ Found near;
  __shared__ Spread spread;
  if (threadIdx.x == 0) near.visits = near.touches = 0;
  const auto team = cooperative_groups::this_grid();
  const bool first = thread_index() == 0;
  ForestCounters& n = *f.counters;
  if (f.report->impossible != 0) return;
  unsigned long long clock = f.report->began;
  const auto charge = [&](ForestStage stage) {
    if (!first) return;
    const unsigned long long now = nanoseconds();
    f.report->nanoseconds[stage] += now - clock;
    clock = now;
  };
  long long round = 1, pass = 0, scanned = 0;
  charge(kChains);
  for (int phase = 0;; ++phase) {
    const int now = phase % 2, later = 1 - now;
    const int root_count = n.roots[now], kept = n.touched[now];
    if (root_count == 0) break;
    plant_roots(f, f.roots[now], root_count, kept, round);
    const long long first_round = round;
    team.sync();
    if (!grow_trees<kLanes>(team, f, now, root_count, root_count + kept, near, spread, round, scanned)) {
      if (first) f.report->slow = 1;
      break;
    }
    const Members members{f.roots[now], f.touched[now], root_count, n.touched[now]};
    const Cost limit = __ldcg(n.limit + now);
    charge(kGrow);
    begin_rises(f, members, limit, n.highest + now);
    team.sync();
    if (f.p.perfect && n.highest[now] < 0) {
      if (first) f.report->impossible = 1;
      break;
    }
    if (!f.p.perfect) {
      find_contacts<kLanes>(f, members, n.contacts + now);
      team.sync();
    }
    lower_all_rises<kLanes>(team, f, members, n.contacts[now], pass);
    charge(kRise);
    const Cost highest = n.highest[now];
    settle(f, members, highest);
    if (first) {
      clear_counters(n, later);
      f.report->rounds += round - first_round;
      ++f.report->phases;
    }
    team.sync();
    charge(kSettle);
    augment_trees(f, members, n.augmented + now, f.roots[later], n.roots + later);
    team.sync();
    clear_labels(f, members, highest, limit, f.frontier[round % 2] + n.roots[later], f.touched[later],
                 n.touched + later);
    if (f.p.perfect && highest >= kShift) shift_duals(f, highest);
    const int augmented = n.augmented[now];
    if (first) {
      f.report->augmentations += augmented;
      f.gained[min(phase, kForestPhases - 1)] += augmented;
    }
    if (augmented == 0) {
      if (first) f.report->stuck = 1;
      break;
    }
    if (f.p.perfect) team.sync();  // all that stays labelled is listed
    charge(kAugment);
  }
}

}  // namespace motes::matching::device::search
