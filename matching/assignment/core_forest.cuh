#pragma once
/// Shortest augmenting paths from all free rows at once, as phases of one persistent cooperative kernel.
///
/// A phase grows a tree from every free row. Distances are those of the slacks c_ij - u_i - v_j; a column
/// belongs to the tree that is nearest. Labels are corrected, not settled in order: a round scans every row
/// whose column's label improved in the round before, whatever its distance, until none does. That scans a
/// row several times, and needs a few dozen rounds where Dijkstra's order needs thousands.
///
/// Every tree T then has D_T, the distance of its nearest end (a free column; the exit of a row), and rises
/// by some r_T: its rows' duals grow by r_T - distance, its columns' prices fall by the same, where that is
/// positive. Tight pairs of the matching stay tight. A pair from a row of tree A to a column of tree B, whose
/// offer o is not below that column's distance d, keeps a slack of at least 0 if
///     r_A <= max(o, r_B + o - d).
///
/// Not perfect: free columns keep their price and no row's dual passes its exit, so that r_T <= D_T. The
/// greatest such r is found by lowering r_T = D_T until the pairs between trees are content. Trees that kept
/// r_T = D_T augment along a path of tight pairs to their nearest end; one whose D_T is least always does. As
/// nothing beyond D_T matters to T, offers at or beyond the nearest end known so far are not made. What such
/// pruning leaves behind is a label through a row that has since gone to another tree N, farther than D_N;
/// no path within r_T ends there but through ties, and the walk back, which checks that it stays in its tree,
/// finds those: that tree waits for the next phase.
///
/// Perfect: all columns end matched, prices of free ones may fall too, and so all trees may rise alike, by
/// the greatest D_T known: every tree with an end augments. Labels are then not pruned.
///
/// So phases take few roots' time: with r the same in all trees only those up to the first end in the way
/// could augment, and on gated problems every region would wait for every other.
///
/// Races: labels fall by exchange of 16 bytes at once, lists fill in any order, and the nearest ends and
/// rises are minima. Distances do not depend on timing, but the tree that has a column, where distances tie,
/// does.

#include "matching/assignment/row_chains.cuh"

namespace motes::matching::device::hungarian {

constexpr int kForestBlock = 512;       ///< threads
constexpr int kForestPhases = 4096;     ///< of which the gains are reported
constexpr Cost kShift = Cost{1} << 40;  ///< rises from here on are taken back from all duals alike

/// The parts of a search that are timed.
enum ForestStage { kChains, kGrow, kRise, kSettle, kAugment, kForestStages };

struct ForestReport {
  long long phases, rounds, lowerings, augmentations, scanned, labelled, refused, roots;
  int stuck, impossible;
  long long matched;         ///< pairs before the searches
  unsigned long long bids;   ///< of the chains
  unsigned long long began;  ///< when the chains began
  unsigned long long nanoseconds[kForestStages];
};

struct ForestCounters {
  int frontier[3];                         ///< by round
  int lowered[3];                          ///< by pass over the rises
  int touched[2], roots[2], augmented[2];  ///< by phase
  Cost highest[2];                         ///< by phase: greatest nearest end of a tree that has one
  long long phase, round;                  ///< to begin with
  unsigned long long clock;                ///< when that began
};

/// A row to scan, with the column that it owns (-1: a root).
struct Visit {
  Index row, col;
};

struct CoreForest {
  DeviceCanonical<SparseEntries> p;
  Cost* u;            ///< [rows]
  Index* row_to_col;  ///< [rows]
  Column* column;     ///< [cols]
  Index* left;        ///< [rows] rows that the chains left
  int* left_count;
  Index* roots[2];     ///< [rows]
  Visit* frontier[2];  ///< [rows]
  Index* touched;      ///< [cols] columns with a label
  Cost* nearest;       ///< [rows] of a root: distance of its nearest end
  Cost* rise;          ///< [rows] of a root
  unsigned* end;       ///< [rows] of a root: the end's column, or cols + the row that leaves; kNoRank: none
  ForestCounters* counters;
  int* gained;  ///< [kForestPhases]
  ForestReport* report;
};

/// Where a row stands in the forest, and its pairs: `kLanes` lanes have one row.
struct Standing {
  Index row = -1, root = -1;
  Cost distance = 0;
  Offset begin = 0, end = 0;
};
__device__ inline Standing standing(const CoreForest& f, const Visit& visit) {
  Standing at;
  at.row = at.root = visit.row;
  if (visit.row == -1) return at;
  if (visit.col != -1) {
    const Label label = load(&f.column[visit.col].label);
    at.distance = label.distance;
    at.root = label.root;
  }
  at.begin = f.p.entries.offsets[visit.row];
  at.end = f.p.entries.offsets[visit.row + 1];
  return at;
}
__device__ inline Cost exit_distance(const CoreForest& f, const Standing& at, Cost u) {
  const Cost exit = f.p.exit_of(at.row);
  return exit == kInfiniteCost ? detail::kFar : min(detail::kFar, at.distance + (exit - u));
}

/// Pairs a lane has under way.
constexpr int kPairs = 4;

/// One round: makes the offers of all rows in the frontier.
template <int kLanes>
__device__ void grow_round(const CoreForest& f, long long round, int count, int* touched) {
  constexpr int kRowsPerWarp = kWarp / kLanes;
  const int lane = threadIdx.x % kLanes, warps = thread_total() / kWarp;
  int* next_count = f.counters->frontier + (round + 1) % 3;
  const Visit* now = f.frontier[round % 2];
  Visit* next = f.frontier[(round + 1) % 2];
  for (int first = thread_index() / kWarp * kRowsPerWarp; first < count; first += warps * kRowsPerWarp) {
    const int k = first + threadIdx.x % kWarp / kLanes;
    Standing at = standing(f, k < count ? now[k] : Visit{-1, -1});
    Cost base = 0, limit = detail::kFar;
    if (at.row != -1) {
      const Cost u = f.u[at.row];
      base = at.distance - u;
      if (!f.p.perfect) {
        limit = __ldcg(f.nearest + at.root);
        const Cost exit = exit_distance(f, at, u);
        if (exit < limit && lane == 0) atomic_min(f.nearest + at.root, exit);
        limit = min(limit, exit);
      }
    }
    const Offset end = at.distance < limit ? at.end : at.begin;
    for (Offset e = at.begin + lane; __any_sync(kAll, e < end); e += kPairs * kLanes) {
      Index col[kPairs];
      Cost cost[kPairs];
      Place place[kPairs];
      Label label[kPairs];
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        const Offset pair = e + d * kLanes;
        col[d] = pair < end ? f.p.entries.col_index[pair] : -1;
        cost[d] = pair < end ? f.p.entries.cost[pair] : 0;
      }
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        if (col[d] == -1) continue;
        place[d] = load(&f.column[col[d]].place);
        label[d] = load(&f.column[col[d]].label);
      }
#pragma unroll
      for (int d = 0; d < kPairs; ++d) {
        bool push = false, fresh = false;
        Visit reached{-1, col[d]};
        if (col[d] != -1) {
          Column* column = f.column + col[d];
          const Label offer{base + cost[d] - place[d].price, at.root, at.row};
          if (offer.distance < limit && offer.distance < label[d].distance) {
            reached.row = place[d].owner;
            // Who comes first in this round lists the row, whoever's label stays.
            if (reached.row != -1)
              push = atomicExch(&column->place.extra, static_cast<Index>(round)) != static_cast<Index>(round);
            bool won = false;
            while (!won && offer.distance < label[d].distance) {
              fresh = label[d].distance == detail::kFar;
              won = replace(&column->label, label[d], offer);
            }
            fresh = fresh && won;
            if (won && reached.row == -1) atomic_min(f.nearest + at.root, offer.distance);
          }
        }
        append(f.touched, touched, fresh, col[d]);
        append(next, next_count, push, reached);
      }
    }
  }
}

/// The k-th row of the forest: first the roots, then the owners of labelled columns.
__device__ inline Visit member(const CoreForest& f, const Index* roots, int root_count, int k) {
  if (k < root_count) return {roots[k], -1};
  const Index col = f.touched[k - root_count];
  return {load(&f.column[col].place).owner, col};
}

/// One pass of lowering the rises where pairs between trees ask for it.
template <int kLanes>
__device__ void lower_rises(const CoreForest& f, const Index* roots, int root_count, int touched,
                            int* lowered) {
  const int lane = threadIdx.x % kLanes, groups = thread_total() / kLanes;
  const unsigned mask =
      kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
  for (int k = thread_index() / kLanes; k < root_count + touched; k += groups) {
    const Standing at = standing(f, member(f, roots, root_count, k));
    if (at.row == -1) continue;
    const Cost rise = __ldcg(f.rise + at.root);
    if (at.distance >= rise) continue;
    const Cost base = at.distance - f.u[at.row];
    Cost wanted = rise;
    for (Offset e = at.begin + lane; e < at.end; e += kLanes) {
      const Column* column = f.column + f.p.entries.col_index[e];
      const Cost offer = base + f.p.entries.cost[e] - load(&column->place).price;
      if (offer >= wanted) continue;
      const Label label = load(&column->label);
      if (label.root == at.root) continue;
      const Cost theirs = label.root == -1 ? 0 : __ldcg(f.rise + label.root) + (offer - label.distance);
      wanted = min(wanted, max(offer, theirs));
    }
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2)
      wanted = min(wanted, __shfl_xor_sync(mask, wanted, step));
    if (wanted < rise && lane == 0) {
      atomic_min(f.rise + at.root, wanted);
      *lowered = 1;  // all write the same
    }
  }
}

/// Moves the duals, and finds for each tree that may augment the end that comes first.
__device__ inline void settle(const CoreForest& f, const Index* roots, int root_count, int touched,
                              Cost highest) {
  for (int k = thread_index(); k < root_count + touched; k += thread_total()) {
    const Visit visit = member(f, roots, root_count, k);
    Standing at;
    at.row = at.root = visit.row;
    if (visit.col != -1) {
      const Label label = load(&f.column[visit.col].label);
      at.distance = label.distance;
      at.root = label.root;
    }
    const Cost rise = f.p.perfect ? highest : f.rise[at.root];
    const Cost nearest = f.nearest[at.root];
    const bool augments = nearest == rise || (f.p.perfect && nearest < rise);
    if (at.row == -1) {
      if (augments && at.distance == nearest) atomicMin(f.end + at.root, static_cast<unsigned>(visit.col));
    } else if (augments && !f.p.perfect && exit_distance(f, at, f.u[at.row]) == nearest) {
      atomicMin(f.end + at.root, static_cast<unsigned>(f.p.cols) + static_cast<unsigned>(at.row));
    }
    if (at.distance >= rise) continue;
    if (visit.col != -1) f.column[visit.col].place.price -= rise - at.distance;
    if (at.row != -1) f.u[at.row] += rise - at.distance;
  }
}

/// Is the path back from a column all in the root's tree?
__device__ inline bool leads_to(const CoreForest& f, Index col, Index root) {
  for (;;) {
    const Label label = f.column[col].label;
    if (label.root != root) return false;
    if (label.row == root) return true;
    col = f.row_to_col[label.row];
  }
}

/// Flips the path to the root's end; false if it has none.
__device__ inline bool augment(const CoreForest& f, Index root, long long* refused) {
  const unsigned end = f.end[root];
  if (end == detail::kNoRank) return false;
  const auto cols = static_cast<unsigned>(f.p.cols);
  Index col = static_cast<Index>(end);
  if (end >= cols) {
    const auto leaving = static_cast<Index>(end - cols);
    if (leaving == root) return true;
    col = f.row_to_col[leaving];
    if (!leads_to(f, col, root)) return ++*refused, false;
    f.row_to_col[leaving] = -1;
  } else if (!f.p.perfect && !leads_to(f, col, root)) {
    return ++*refused, false;
  }
  while (col != -1) {
    const Index row = f.column[col].label.row, held = row == root ? -1 : f.row_to_col[row];
    f.column[col].place.owner = row;
    f.row_to_col[row] = col;
    col = held;
  }
  return true;
}

/// u_i of the rows that the chains left; those with something better than their exit become roots.
template <int kLanes>
__global__ void __launch_bounds__(kThreads) plant_kernel(CoreForest f) {
  if (thread_index() == 0) {
    f.counters->highest[0] = f.counters->highest[1] = -1;
    f.counters->round = 1;
    f.counters->clock = f.report->began;
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
    if (best != f.p.exit_of(row)) f.roots[0][atomicAdd(f.counters->roots, 1)] = row;
  }
}

/// The blocks of a whole grid, or of one cluster, whose barrier is several times faster.
struct GridTeam {
  cooperative_groups::grid_group all = cooperative_groups::this_grid();
  __device__ void sync() const { all.sync(); }
};
struct ClusterTeam {
  __device__ void sync() const {
#if __CUDA_ARCH__ >= 900
    __threadfence();
    cooperative_groups::this_cluster().sync();
#endif
  }
};

/// Phases until no root is left, or until frontiers of less than `enough` rows in the mean (or of `too_many`)
/// say that the other team would be faster.
template <int kLanes, class Team>
__global__ void __launch_bounds__(kForestBlock, 1)
    core_forest_kernel(CoreForest f, int enough, int too_many) {
  const Team team;
  const bool first = thread_index() == 0;
  ForestCounters& n = *f.counters;
  if (f.report->impossible != 0) return;
  unsigned long long clock = n.clock;
  const auto charge = [&](ForestStage stage) {
    if (!first) return;
    const unsigned long long now = nanoseconds();
    f.report->nanoseconds[stage] += now - clock;
    clock = now;
  };
  long long round = n.round, refused = 0, pass = 0, phase = n.phase;
  if (phase == 0) {
    charge(kChains);
    if (first) f.report->roots = n.roots[0];
  }
  team.sync();  // everybody has read
  for (;; ++phase) {
    const int now = static_cast<int>(phase % 2), later = 1 - now;
    const Index* roots = f.roots[now];
    const int root_count = n.roots[now];
    if (root_count == 0) break;
    for (int k = thread_index(); k < root_count; k += thread_total()) {
      const Index root = roots[k];
      f.frontier[round % 2][k] = {root, -1};
      f.nearest[root] = detail::kFar;
      f.end[root] = detail::kNoRank;
    }
    if (first) {
      n.frontier[round % 3] = root_count;
      n.frontier[(round + 1) % 3] = 0;
    }
    const long long first_round = round;
    long long scanned = 0;
    team.sync();
    for (int count = root_count; count > 0; count = n.frontier[round % 3]) {
      scanned += count;
      if (first) {
        n.frontier[(round + 2) % 3] = 0;
      }
      grow_round<kLanes>(f, round, count, n.touched + now);
      team.sync();
      ++round;
    }
    const int touched = n.touched[now];
    charge(kGrow);
    if (f.p.perfect) {
      for (int k = thread_index(); k < root_count; k += thread_total())
        if (const Cost nearest = f.nearest[roots[k]]; nearest < detail::kFar)
          atomicMax(reinterpret_cast<long long*>(n.highest + now), static_cast<long long>(nearest));
    } else {
      for (int k = thread_index(); k < root_count; k += thread_total())
        f.rise[roots[k]] = f.nearest[roots[k]];
    }
    team.sync();
    if (f.p.perfect && n.highest[now] < 0) {
      if (first) f.report->impossible = 1;
      break;
    }
    for (bool again = !f.p.perfect; again;) {
      if (first) {
        n.lowered[(pass + 1) % 3] = 0;
        ++f.report->lowerings;
      }
      lower_rises<kLanes>(f, roots, root_count, touched, n.lowered + pass % 3);
      team.sync();
      again = n.lowered[pass % 3] != 0;
      ++pass;
    }
    charge(kRise);
    const Cost highest = n.highest[now];
    settle(f, roots, root_count, touched, highest);
    if (first) {
      n.roots[later] = n.touched[later] = n.augmented[later] = 0;
      n.highest[later] = -1;
      f.report->labelled += touched;
      f.report->scanned += scanned;
      f.report->rounds += round - first_round;
      ++f.report->phases;
    }
    team.sync();
    charge(kSettle);
    for (int k = static_cast<int>(blockIdx.x + gridDim.x * threadIdx.x); k < root_count;
         k += thread_total()) {
      const Index root = roots[k];
      if (augment(f, root, &refused))
        atomicAdd(n.augmented + now, 1);
      else
        f.roots[later][atomicAdd(n.roots + later, 1)] = root;
    }
    team.sync();
    for (int k = thread_index(); k < touched; k += thread_total())
      f.column[f.touched[k]].label = {detail::kFar, -1, -1};
    if (f.p.perfect && highest >= kShift) {
      for (Index j = thread_index(); j < f.p.cols; j += thread_total()) f.column[j].place.price += highest;
      for (Index i = thread_index(); i < f.p.rows; i += thread_total()) f.u[i] -= highest;
    }
    const int augmented = n.augmented[now];
    if (first) {
      f.report->augmentations += augmented;
      f.gained[min(phase, static_cast<long long>(kForestPhases - 1))] += augmented;
    }
    if (augmented == 0) {
      if (first) f.report->stuck = 1;
      break;
    }
    charge(kAugment);
    const long long mean = scanned / (round - first_round);
    if (mean < enough || mean >= too_many) {
      ++phase;
      break;
    }
  }
  if (first) {
    n.lowered[0] = n.lowered[1] = n.lowered[2] = 0;
    n.round = round;
    n.phase = phase;
    n.clock = nanoseconds();
  }
  if (refused > 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&f.report->refused),
              static_cast<unsigned long long>(refused));
}

}  // namespace motes::matching::device::hungarian
