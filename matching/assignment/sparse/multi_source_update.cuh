#pragma once
/// The steps after the growth in a phase of multi_source_search.cuh: rises, duals, augmentation, and
/// resetting of labels.

#include <motes/base/index.h>

#include "matching/assignment/sparse/multi_source_state.cuh"

namespace motes::matching::device::search {

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

/// Lists the pairs between trees that may require lower rises.
template <int kLanes>
__device__ void find_contacts(const CoreForest& f, const Members& members, int* count) {
  constexpr int kRowsPerWarp = kWarp / kLanes;
  const int lane = threadIdx.x % kLanes, warps = thread_total() / kWarp;
  for (int first = thread_index() / kWarp * kRowsPerWarp; first < members.count();
       first += warps * kRowsPerWarp) {
    const int k = first + threadIdx.x % kWarp / kLanes;
    const Reach reach = reach_of(f, k < members.count() ? members.at(f, k) : Visit{-1, -1});
    const Standing at = standing(f, reach.visit);
    const Cost rise = at.row == -1 ? 0 : f.rise[at.root];
    const Cost base = at.row == -1 ? 0 : at.distance - f.u[at.row];
    const Offset end = reach.begin + (at.distance < rise ? reach.pairs : 0);
    for (Offset e = reach.begin + lane; __any_sync(kAll, e < end); e += kLanes) {
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

/// The same if there are too many contacts to list: finds them again.
template <int kLanes>
__device__ void lower_rises(const CoreForest& f, const Members& members, int* lowered) {
  const int lane = threadIdx.x % kLanes, groups = thread_total() / kLanes;
  const unsigned mask =
      kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
  for (int k = thread_index() / kLanes; k < members.count(); k += groups) {
    const Reach reach = reach_of(f, members.at(f, k));
    const Standing at = standing(f, reach.visit);
    if (at.row == -1) continue;
    const Cost rise = __ldcg(f.rise + at.root);
    if (at.distance >= rise) continue;
    const Cost base = at.distance - f.u[at.row];
    Cost wanted = rise;
    for (Offset e = reach.begin + lane, end = reach.begin + reach.pairs; e < end; e += kLanes) {
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

/// Whether the path back from a column stays in the root's tree.
__device__ inline bool leads_to(const CoreForest& f, Index col, Index root) {
  for (;;) {
    const Label label = f.column[col].label;
    if (label.root != root) return false;
    if (label.row == root) return true;
    col = f.row_to_col[label.row];
  }
}

/// Flips the path to the root's end; false if it has none that stays in the tree.
__device__ inline bool augment(const CoreForest& f, Index root) {
  const unsigned end = f.end[root];
  if (end == detail::kNoRank) return false;
  const auto cols = static_cast<unsigned>(f.p.cols);
  Index col = static_cast<Index>(end);
  if (end >= cols) {
    const auto leaving = static_cast<Index>(end - cols);
    if (leaving == root) return true;
    col = f.row_to_col[leaving];
    if (!leads_to(f, col, root)) return false;
    f.row_to_col[leaving] = -1;
  } else if (!f.p.perfect && !leads_to(f, col, root)) {
    return false;
  }
  while (col != -1) {
    const Index row = f.column[col].label.row, held = row == root ? -1 : f.row_to_col[row];
    f.column[col].place.owner = row;
    f.row_to_col[row] = col;
    col = held;
  }
  return true;
}

/// Clears the labels; for a perfect problem only those of trees that have augmented. All trees have risen by
/// the same amount, so in the other trees a row or column within the rise is now reached along tight pairs,
/// and everything beyond is nearer by that amount. These are visited first in the next phase. Labels at the
/// limit or beyond are incomplete, and are cleared.
__device__ inline void clear_labels(const CoreForest& f, const Members& members, Cost highest, Cost limit,
                                    Reach* visits, Index* touched, int* touched_count) {
  const int count = members.touched_count, lane = threadIdx.x % kWarp;
  for (int first = thread_index() - lane; first < count; first += thread_total()) {
    const int k = first + lane;
    bool keep = false;
    Index col = -1, owner = -1;
    if (k < count) {
      col = members.touched[k];
      Column* column = f.column + col;
      const Label label = column->label;
      keep = f.p.perfect && label.distance < limit && f.rise[label.root] == 0;
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
    visits[base] = reach_of(f, {owner, col});
  }
}

}  // namespace motes::matching::device::search
