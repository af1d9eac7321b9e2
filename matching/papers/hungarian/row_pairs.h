#pragma once
/// A row as a list of pairs, for every kind of costs.

#include "matching/assignment/canonical/entries.h"

namespace motes::matching::detail {

/// A row as a list of pairs: how many it has, and the k-th one (cost kInfiniteCost: forbidden).
MOTES_HOST_DEVICE inline Index length_of(const SparseEntries& e, Index i) {
  return static_cast<Index>(e.offsets[i + 1] - e.offsets[i]);
}
template <class Entries>
MOTES_HOST_DEVICE Index length_of(const Entries& e, Index) {
  return e.cols;
}
struct Edge {
  Index col;
  Cost cost;
};
MOTES_HOST_DEVICE inline Edge edge_of(const SparseEntries& e, Index i, Index k) {
  return {e.col_index[e.offsets[i] + k], e.cost[e.offsets[i] + k]};
}
template <class Entries>
MOTES_HOST_DEVICE Edge edge_of(const Entries& e, Index i, Index k) {
  return {k, e.at(i, k)};
}

}  // namespace motes::matching::detail
