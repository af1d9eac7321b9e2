/// Small, large and structured graphs for cardinality tests, and brute force.

#include "tests/support/graphs.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace motes::testing {

using matching::BipartiteGraph;
using matching::Index;
using Edges = std::vector<std::pair<Index, Index>>;

BipartiteGraph from_edges(Index rows, Index cols, Edges edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  BipartiteGraph graph{rows, cols, std::vector<matching::Offset>(rows + 1, 0), {}};
  for (const auto& [i, j] : edges) {
    ++graph.row_offsets[i + 1];
    graph.col_index.push_back(j);
  }
  for (Index i = 0; i < rows; ++i) graph.row_offsets[i + 1] += graph.row_offsets[i];
  return graph;
}

BipartiteGraph random_graph(std::uint64_t seed, Index rows, Index cols, double degree) {
  std::mt19937_64 random(seed);
  Edges edges;
  const auto count = cols == 0 ? 0 : static_cast<std::int64_t>(std::llround(degree * rows));
  for (std::int64_t k = 0; k < count; ++k)
    edges.emplace_back(static_cast<Index>(random() % rows), static_cast<Index>(random() % cols));
  return from_edges(rows, cols, std::move(edges));
}

BipartiteGraph chain_graph(Index rows, bool last_column) {
  Edges edges;
  for (Index i = 0; i < rows; ++i) {
    if (i > 0) edges.emplace_back(i, i - 1);
    if (i + 1 < rows || last_column) edges.emplace_back(i, i);
  }
  return from_edges(rows, last_column ? rows : std::max(rows - 1, 0), std::move(edges));
}

std::vector<GraphInstance> small_graphs(std::uint64_t seed) {
  std::vector<GraphInstance> out;
  const auto add = [&](std::string name, BipartiteGraph graph) {
    out.push_back({std::move(name) + " seed " + std::to_string(seed), std::move(graph)});
  };
  add("nothing", from_edges(0, 0, {}));
  add("no columns", from_edges(3, 0, {}));
  add("no rows", from_edges(0, 4, {}));
  add("no edges", from_edges(3, 4, {}));
  add("one edge", from_edges(1, 1, {{0, 0}}));
  add("row star", from_edges(1, 6, {{0, 0}, {0, 2}, {0, 5}}));
  add("column star", from_edges(6, 1, {{0, 0}, {2, 0}, {5, 0}}));
  Edges complete;
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 8; ++j) complete.emplace_back(i, j);
  add("complete 5x8", from_edges(5, 8, complete));
  add("chain 9", chain_graph(9, true));
  add("chain 9, one column less", chain_graph(9, false));
  // Greedy picks the first column; only the other one leaves room for the next row.
  add("trap", from_edges(4, 4, {{0, 0}, {0, 1}, {1, 0}, {2, 2}, {2, 3}, {3, 2}}));
  std::mt19937_64 random(seed);
  for (const double degree : {0.5, 1.0, 1.5, 2.0, 3.0, 5.0})
    for (int k = 0; k < 4; ++k) {
      const auto rows = static_cast<Index>(1 + random() % 12), cols = static_cast<Index>(1 + random() % 12);
      add("random " + std::to_string(rows) + "x" + std::to_string(cols) + " degree " + std::to_string(degree),
          random_graph(random(), rows, cols, degree));
    }
  return out;
}

namespace {

/// Two sets of points of the unit-spacing square; pairs within the gate.
BipartiteGraph gated_points(std::uint64_t seed, Index n, double degree) {
  std::mt19937_64 random(seed);
  const double side = std::sqrt(static_cast<double>(n)), gate2 = degree / 3.14159265358979;
  std::uniform_real_distribution<double> place(0, side);
  std::vector<std::array<double, 2>> a(n), b(n);
  for (auto* points : {&a, &b})
    for (auto& p : *points) p = {place(random), place(random)};
  Edges edges;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (const double dx = a[i][0] - b[j][0], dy = a[i][1] - b[j][1]; dx * dx + dy * dy <= gate2)
        edges.emplace_back(i, j);
  return from_edges(n, n, std::move(edges));
}

}  // namespace

std::vector<GraphInstance> large_graphs(std::uint64_t seed) {
  std::vector<GraphInstance> out;
  const auto add = [&](std::string name, BipartiteGraph graph) {
    out.push_back({std::move(name) + " seed " + std::to_string(seed), std::move(graph)});
  };
  add("random 5000x5000 degree 2.8", random_graph(seed, 5000, 5000, 2.8));
  add("random 3000x3000 degree 8", random_graph(seed + 1, 3000, 3000, 8));
  add("random 2000x6000 degree 3", random_graph(seed + 2, 2000, 6000, 3));
  add("random 6000x2000 degree 1", random_graph(seed + 3, 6000, 2000, 1));
  add("chain 20000", chain_graph(20000, true));
  add("chain 20000, one column less", chain_graph(20000, false));
  add("gated points 2000 degree 4", gated_points(seed + 4, 2000, 4));
  add("gated points 2000 degree 8", gated_points(seed + 5, 2000, 8));
  std::mt19937_64 random(seed + 6);
  Edges hub, blocks;
  for (Index i = 0; i < 4000; ++i) hub.emplace_back(i, 0), hub.emplace_back(i, 1 + random() % 3000);
  for (Index j = 0; j < 3001; ++j) hub.emplace_back(0, j);
  add("hub 4000x3001", from_edges(4000, 3001, std::move(hub)));
  for (Index block = 0; block < 600; ++block)
    for (int k = 0; k < 9; ++k)
      blocks.emplace_back(block * 5 + static_cast<Index>(random() % 5),
                          block * 5 + static_cast<Index>(random() % 5));
  add("600 components of 5x5", from_edges(3000, 3000, std::move(blocks)));
  return out;
}

std::int64_t brute_force_cardinality(const matching::BipartiteGraphView& graph) {
  if (graph.cols > 16) throw std::logic_error("brute force is for at most 16 columns");
  std::vector<std::int64_t> best(std::size_t{1} << graph.cols, 0);  // over the columns still to be had
  for (Index i = 0; i < graph.rows; ++i) {
    auto next = best;
    for (std::size_t left = 0; left < best.size(); ++left)
      for (auto e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e)
        if (const std::size_t bit = std::size_t{1} << graph.col_index[e]; (left & bit) != 0)
          next[left] = std::max(next[left], 1 + best[left ^ bit]);
    best = std::move(next);
  }
  return best.back();
}

}  // namespace motes::testing
