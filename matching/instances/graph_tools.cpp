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

BipartiteGraph graph_of_edges(Index rows, Index cols, const std::vector<Edge>& edges, int threads) {
  std::vector<Offset> begin(at(rows) + 1, 0);
  for (const Edge& edge : edges) ++begin[at(edge.row) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> columns(edges.size());
  std::vector<Offset> next(begin.begin(), begin.end() - 1);
  for (const Edge& edge : edges) columns[at(next[at(edge.row)]++)] = edge.col;
  return graph_by_rows(rows, cols, threads, [&](Index i, std::vector<Index>& out) {
    const auto first = columns.begin() + begin[at(i)], last = columns.begin() + begin[at(i) + 1];
    std::sort(first, last);
    out.insert(out.end(), first, std::unique(first, last));
  });
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
