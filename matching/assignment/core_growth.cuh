#pragma once
/// A round of growth of core_forest.cuh.

#include "matching/assignment/core_forest_state.cuh"

namespace motes::matching::device::hungarian {

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

}  // namespace motes::matching::device::hungarian
