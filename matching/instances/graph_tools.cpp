/// Builds sorted adjacency lists in parallel, and renumbers graphs.

#include "matching/instances/graph_tools.h"

#include <cstdio>
#include <numeric>

#include <motes/base/index.h>
#include <motes/base/memory.h>

namespace motes::matching::instances {

void require_graph_memory(double rows, double edges, double bytes_an_edge) {
  char size[64];
  std::snprintf(size, sizeof size, "a graph of %.3g rows and %.3g edges", rows, edges);
  require_memory(rows * 2 * sizeof(Offset) + edges * (sizeof(Index) + bytes_an_edge), size);
}

BipartiteGraph graph_of_edges(const Block& rows, Index cols, const std::vector<std::vector<Edge>>& edges,
                              int threads) {
  const auto local = [&](const Edge& edge) { return at(edge.row - rows.first); };
  std::vector<Offset> begin(at(rows.count) + 1, 0);
  for (const auto& list : edges)
    for (const Edge& edge : list) ++begin[local(edge) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> columns(at(begin.back()));
  std::vector<Offset> next(begin.begin(), begin.end() - 1);
  for (const auto& list : edges)
    for (const Edge& edge : list) columns[at(next[local(edge)]++)] = edge.col;
  return graph_by_rows(rows, cols, threads, [&](Index i, std::vector<Index>& out) {
    const std::size_t k = at(i - rows.first);
    const auto first = columns.begin() + begin[k], last = columns.begin() + begin[k + 1];
    std::sort(first, last);
    out.insert(out.end(), first, std::unique(first, last));
  });
}

BipartiteGraph cut_rows(BipartiteGraph&& graph, const Block& rows) {
  if (rows.count == graph.rows) return std::move(graph);
  const auto first = graph.row_offsets.begin() + rows.first;
  BipartiteGraph out{rows.count, graph.cols, {first, first + rows.count + 1}, {}};
  out.col_index.assign(graph.col_index.begin() + out.row_offsets.front(),
                       graph.col_index.begin() + out.row_offsets.back());
  for (const Offset before = out.row_offsets.front(); Offset & offset : out.row_offsets) offset -= before;
  return out;
}

BipartiteGraph renumbered(const BipartiteGraph& graph, const std::vector<Index>& rows_from,
                          const std::vector<Index>& cols_to, int threads) {
  return graph_by_rows(graph.rows, graph.cols, threads, [&](Index k, std::vector<Index>& out) {
    const Index i = rows_from.empty() ? k : rows_from[at(k)];
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Index j = graph.col_index[at(e)];
      out.push_back(cols_to.empty() ? j : cols_to[at(j)]);
    }
    if (!cols_to.empty()) std::sort(out.begin() + first, out.end());
  });
}

std::vector<Index> random_order(Index count, std::uint64_t seed, RandomStream stream) {
  std::vector<Index> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, stream, 0, 0);
  for (Index left = count; left > 1; --left)
    std::swap(order[at(left - 1)],
              order[static_cast<std::size_t>(random.uniform() * static_cast<double>(left))]);
  return order;
}

}  // namespace motes::matching::instances
