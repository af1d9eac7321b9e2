/// Components by union-find.

#include "matching/assignment/sparse/components.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include <motes/base/index.h>

namespace motes::matching {
namespace {

/// Root with path halving.
Index find_root(std::vector<Index>& parent, Index i) {
  while (parent[at(i)] != i) {
    parent[at(i)] = parent[at(parent[at(i)])];
    i = parent[at(i)];
  }
  return i;
}

}  // namespace

Components connected_components(const BipartiteGraphView& graph) {
  // Rows are joined through the first row that met a column; the smaller row index is the root, so the
  // root of a component is its first row and the order of components needs no sorting.
  std::vector<Index> parent(at(graph.rows));
  std::iota(parent.begin(), parent.end(), 0);
  std::vector<Index> first_row(at(graph.cols), -1);
  for (Index i = 0; i < graph.rows; ++i) {
    Index mine = i;
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      Index& first = first_row[at(graph.col_index[at(e)])];
      if (first < 0) {
        first = i;
        continue;
      }
      Index other = find_root(parent, first);
      mine = find_root(parent, mine);
      if (other > mine) std::swap(other, mine);
      parent[at(mine)] = other;
      mine = other;
    }
  }

  Components components;
  std::vector<Index> label(at(graph.rows));
  std::vector<Offset> sizes;
  for (Index i = 0; i < graph.rows; ++i) {
    const Index root = find_root(parent, i);
    if (root == i) {
      label[at(i)] = static_cast<Index>(sizes.size());
      sizes.push_back(0);
    } else {
      label[at(i)] = label[at(root)];
    }
    ++sizes[at(label[at(i)])];
  }
  components.offsets.resize(sizes.size() + 1);
  std::partial_sum(sizes.begin(), sizes.end(), components.offsets.begin() + 1);
  components.rows.resize(at(graph.rows));
  std::vector<Offset> next(components.offsets.begin(), components.offsets.end() - 1);
  for (Index i = 0; i < graph.rows; ++i) components.rows[at(next[at(label[at(i)])]++)] = i;
  return components;
}

}  // namespace motes::matching
