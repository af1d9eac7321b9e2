/// Decides whether a graph should be renumbered, and renumbers it.

#include "matching/cardinality/bfs_reordering.h"

#include <algorithm>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching::detail {

ReorderedGraph BfsReordering::graph() const {
  return {static_cast<Index>(row_offsets.size() - 1),
          static_cast<Index>(col_offsets.size() - 1),
          row_offsets.data(),
          col_index.data(),
          col_offsets.data(),
          row_index.data()};
}

Mates BfsReordering::to_new(const Mates& mates, int threads) const {
  constexpr std::size_t kPart = 1 << 14;
  Mates out = no_mates(static_cast<Index>(mates.row_to_col.size()),
                       static_cast<Index>(mates.col_to_row.size()), threads);
  const auto is_matched = [](Index col) { return col != -1; };
  if (std::none_of(mates.row_to_col.begin(), mates.row_to_col.end(), is_matched)) return out;
  for_each_block(threads, mates.row_to_col.size(), kPart, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Index old = mates.row_to_col[at(rows[i])];
      if (old == -1) continue;
      out.row_to_col[i] = new_col[at(old)];
      out.col_to_row[at(out.row_to_col[i])] = static_cast<Index>(i);
    }
  });
  return out;
}

bool scattered(const BipartiteGraphView& graph) {
  constexpr Index kSample = 1024;
  const Index pairs = std::min(kSample, graph.rows - 1);
  Index far = 0, seen = 0;
  for (Index k = 0; k < pairs; ++k) {
    const auto i = static_cast<std::size_t>(Offset{graph.rows - 1} * k / pairs);
    const Offset here = graph.row_offsets[i], next = graph.row_offsets[i + 1];
    if (here == next || next == graph.row_offsets[i + 2]) continue;
    ++seen;
    // Some column of each: the first ones of long sorted lists are near each other anyway.
    const Offset one = here + k % (next - here), two = next + k * 7 % (graph.row_offsets[i + 2] - next);
    // Of two columns drawn at random, fifteen pairs in sixteen are farther apart than this.
    far += std::abs(graph.col_index[static_cast<std::size_t>(one)] -
                    graph.col_index[static_cast<std::size_t>(two)]) > graph.cols / 32;
  }
  return 2 * far > seen;
}

bool may_have_places(const BipartiteGraphView& graph) {
  // The copy of longer lists costs more than their local neighbours save.
  constexpr Offset kMostDegree = 40;
  if (graph.rows == 0 || graph.edges() > kMostDegree * graph.rows) return false;
  constexpr Index kSample = 1024;
  constexpr Offset kHub = 32;  // times the mean degree
  const Index count = std::min(kSample, graph.rows);
  for (Index k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(Offset{graph.rows} * k / count);
    if ((graph.row_offsets[i + 1] - graph.row_offsets[i]) * graph.rows > kHub * (graph.edges() + graph.rows))
      return false;
  }
  return scattered(graph);
}

}  // namespace motes::matching::detail
