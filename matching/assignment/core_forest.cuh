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
  int contacts[2];                         ///< by phase
  Cost highest[2];                         ///< by phase: greatest nearest end of a tree that has one
  long long phase, round;                  ///< to begin with
  unsigned long long clock;                ///< when that began
};

/// A row to scan, with the column that it owns (-1: a root).
struct Visit {
  Index row, col;
};

/// A pair from a row of one tree to a column of another, cheap enough to matter.
struct Contact {
  Cost offer, beyond;  ///< the offer, and by how much it passes the column's distance
  Index from, to;      ///< roots
};

struct CoreForest {
  DeviceCanonical<SparseEntries> p;
  Cost* u;            ///< [rows]
  Index* row_to_col;  ///< [rows]
  Column* column;     ///< [cols]
  Index* left;        ///< [rows] rows that the chains left
  int* left_count;
  Index* roots[2];     ///< [rows]
  Visit* frontier[2];  ///< [rows + cols]
  Index* touched[2];   ///< [cols] columns with a label
  Contact* contact;    ///< [cols] more than these are found anew in each pass
  Cost* nearest;       ///< [rows] of a root: distance of its nearest end
  Cost* rise;          ///< [rows] of a root; perfect: 1 if it has augmented
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

/// One round: makes the offers of all rows in the frontier.
template <int kLanes>
__device__ void grow_round(const CoreForest& f, long long round, int count, Index* touched,
                           int* touched_count) {
  constexpr int kRowsPerWarp = kWarp / kLanes, kPairs = 2;  // pairs a lane has under way
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
      Index col[kPairs], stamp[kPairs];
      Cost cost[kPairs];
      Place place[kPairs];
      Label label[kPairs], offer[kPairs];
      Words found[kPairs];
      bool good[kPairs], fresh[kPairs], push[kPairs];
      Visit reached[kPairs];
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
        good[d] = fresh[d] = push[d] = false;
        if (col[d] == -1) continue;
        offer[d] = {base + cost[d] - place[d].price, at.root, at.row};
        good[d] = offer[d].distance < limit && offer[d].distance < label[d].distance;
        if (!good[d]) continue;
        found[d] = exchange(&f.column[col[d]].label, words_of(label[d]), words_of(offer[d]));
        // Who comes first in this round lists the row, whoever's label stays.
        if (place[d].owner != -1)
          stamp[d] = atomicExch(&f.column[col[d]].place.extra, static_cast<Index>(round));
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
        reached[d] = {place[d].owner, col[d]};
        if (won && place[d].owner == -1) atomic_min(f.nearest + at.root, offer[d].distance);
      }
      append(touched, touched_count, fresh, col);
      append(next, next_count, push, reached);
    }
  }
}

/// The rows of the forest: first the roots, then the owners of labelled columns (-1: a free column).
struct Members {
  const Index *roots, *touched;
  int root_count, touched_count;

  __device__ int count() const { return root_count + touched_count; }
  __device__ Visit at(const CoreForest& f, int k) const {
    if (k < root_count) return {roots[k], -1};
    const Index col = touched[k - root_count];
    return {load(&f.column[col].place).owner, col};
  }
};

/// Lists the pairs between trees that may ask for lower rises.
template <int kLanes>
__device__ void find_contacts(const CoreForest& f, const Members& members, int* count) {
  constexpr int kRowsPerWarp = kWarp / kLanes;
  const int lane = threadIdx.x % kLanes, warps = thread_total() / kWarp;
  for (int first = thread_index() / kWarp * kRowsPerWarp; first < members.count();
       first += warps * kRowsPerWarp) {
    const int k = first + threadIdx.x % kWarp / kLanes;
    const Standing at = standing(f, k < members.count() ? members.at(f, k) : Visit{-1, -1});
    const Cost rise = at.row == -1 ? 0 : f.rise[at.root];
    const Cost base = at.row == -1 ? 0 : at.distance - f.u[at.row];
    const Offset end = at.distance < rise ? at.end : at.begin;
    for (Offset e = at.begin + lane; __any_sync(kAll, e < end); e += kLanes) {
      bool wanted[1] = {false};
      Contact contact[1];
      if (e < end) {
        const Column* column = f.column + f.p.entries.col_index[e];
        const Label label = load(&column->label);
        const Cost offer = base + f.p.entries.cost[e] - load(&column->place).price;
        contact[0] = {offer, offer - label.distance, at.root, label.root};
        wanted[0] = offer < rise && label.root != at.root && label.root != -1;
      }
      append(f.contact, count, wanted, contact, f.p.cols);
    }
  }
}

/// One pass of lowering the rises over the contacts listed.
__device__ inline void lower_by_contacts(const CoreForest& f, int count, int* lowered) {
  for (int k = thread_index(); k < count; k += thread_total()) {
    const Contact c = f.contact[k];
    const Cost rise = __ldcg(f.rise + c.from);
    if (c.offer >= rise) continue;
    const Cost wanted = max(c.offer, __ldcg(f.rise + c.to) + c.beyond);
    if (wanted >= rise) continue;
    atomic_min(f.rise + c.from, wanted);
    *lowered = 1;  // all write the same
  }
}

/// The same, finding the contacts on the way: there are too many of them to be listed.
template <int kLanes>
__device__ void lower_rises(const CoreForest& f, const Members& members, int* lowered) {
  const int lane = threadIdx.x % kLanes, groups = thread_total() / kLanes;
  const unsigned mask =
      kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
  for (int k = thread_index() / kLanes; k < members.count(); k += groups) {
    const Standing at = standing(f, members.at(f, k));
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
__device__ inline void settle(const CoreForest& f, const Members& members, Cost highest) {
  for (int k = thread_index(); k < members.count(); k += thread_total()) {
    const Visit visit = members.at(f, k);
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

/// Clears the labels; or, where the problem is perfect, those of the trees that have augmented: all trees
/// have risen alike, so that in the others a row or column within the rise is now reached along tight pairs,
/// and what lies beyond is nearer by as much. These are visited first in the next phase.
__device__ inline void clear_labels(const CoreForest& f, const Members& members, Cost highest, Visit* visits,
                                    Index* touched, int* touched_count) {
  const int count = members.touched_count, lane = threadIdx.x % kWarp;
  for (int first = thread_index() - lane; first < count; first += thread_total()) {
    const int k = first + lane;
    bool keep = false;
    Index col = -1, owner = -1;
    if (k < count) {
      col = members.touched[k];
      Column* column = f.column + col;
      const Label label = column->label;
      keep = f.p.perfect && f.rise[label.root] == 0;
      if (keep) {
        const Cost distance = max(Cost{0}, label.distance - highest);
        owner = column->place.owner;
        column->label.distance = distance;
        if (owner == -1) atomic_min(f.nearest + label.root, distance);
      } else {
        column->label = {detail::kFar, -1, -1};
      }
    }
    const unsigned who = __ballot_sync(kAll, keep);
    if (who == 0) continue;
    int base = 0;
    if (lane == 0) base = atomicAdd(touched_count, __popc(who));
    base = __shfl_sync(kAll, base, 0) + __popc(who & ((1U << lane) - 1));
    if (!keep) continue;
    touched[base] = col;
    visits[base] = {owner, col};
  }
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
    if (best == f.p.exit_of(row)) continue;
    f.roots[0][atomicAdd(f.counters->roots, 1)] = row;
    f.nearest[row] = detail::kFar;
    f.end[row] = detail::kNoRank;
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
    const int root_count = n.roots[now], kept = n.touched[now];
    if (root_count == 0) break;
    for (int k = thread_index(); k < root_count; k += thread_total())
      f.frontier[round % 2][k] = {f.roots[now][k], -1};
    if (first) {
      n.frontier[round % 3] = root_count + kept;
      n.frontier[(round + 1) % 3] = 0;
    }
    const long long first_round = round;
    long long scanned = 0;
    team.sync();
    for (int count = root_count + kept; count > 0; count = n.frontier[round % 3]) {
      scanned += count;
      if (first) n.frontier[(round + 2) % 3] = 0;
      grow_round<kLanes>(f, round, count, f.touched[now], n.touched + now);
      team.sync();
      ++round;
    }
    const Members members{f.roots[now], f.touched[now], root_count, n.touched[now]};
    charge(kGrow);
    if (f.p.perfect) {
      for (int k = thread_index(); k < root_count; k += thread_total())
        if (const Cost nearest = f.nearest[members.roots[k]]; nearest < detail::kFar)
          atomicMax(reinterpret_cast<long long*>(n.highest + now), static_cast<long long>(nearest));
    } else {
      for (int k = thread_index(); k < root_count; k += thread_total())
        f.rise[members.roots[k]] = f.nearest[members.roots[k]];
    }
    team.sync();
    if (f.p.perfect && n.highest[now] < 0) {
      if (first) f.report->impossible = 1;
      break;
    }
    if (!f.p.perfect) {
      find_contacts<kLanes>(f, members, n.contacts + now);
      team.sync();
    }
    const int contacts = n.contacts[now];
    for (bool again = contacts > 0; again;) {
      if (first) {
        n.lowered[(pass + 1) % 3] = 0;
        ++f.report->lowerings;
      }
      if (contacts <= f.p.cols)
        lower_by_contacts(f, contacts, n.lowered + pass % 3);
      else
        lower_rises<kLanes>(f, members, n.lowered + pass % 3);
      team.sync();
      again = n.lowered[pass % 3] != 0;
      ++pass;
    }
    charge(kRise);
    const Cost highest = n.highest[now];
    settle(f, members, highest);
    if (first) {
      n.roots[later] = n.touched[later] = n.augmented[later] = n.contacts[later] = 0;
      n.highest[later] = -1;
      f.report->labelled += members.touched_count;
      f.report->scanned += scanned;
      f.report->rounds += round - first_round;
      ++f.report->phases;
    }
    team.sync();
    charge(kSettle);
    for (int k = static_cast<int>(blockIdx.x + gridDim.x * threadIdx.x); k < root_count;
         k += thread_total()) {
      const Index root = members.roots[k];
      const bool done = augment(f, root, &refused);
      if (f.p.perfect) f.rise[root] = done ? 1 : 0;
      if (done) {
        atomicAdd(n.augmented + now, 1);
        continue;
      }
      f.roots[later][atomicAdd(n.roots + later, 1)] = root;
      f.nearest[root] = detail::kFar;
      f.end[root] = detail::kNoRank;
    }
    team.sync();
    clear_labels(f, members, highest, f.frontier[round % 2] + n.roots[later], f.touched[later],
                 n.touched + later);
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
    if (f.p.perfect) team.sync();  // all that stays labelled is listed
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
