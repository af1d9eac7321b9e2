/// Weighted graphs for greedy tests.

#include "tests/support/weighted_graphs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>

#include <motes/matching/matching_weight.h>

namespace motes::testing {

using matching::GraphKind;
using matching::Index;
using matching::Offset;
using matching::WeightedGraph;
using Edges = std::vector<WeightedEdge>;

namespace {

WeightedGraph from_entries(GraphKind kind, Index rows, Index cols, Edges entries) {
  const auto ends = [](const WeightedEdge& e) { return std::pair(std::get<0>(e), std::get<1>(e)); };
  std::stable_sort(entries.begin(), entries.end(), [&](auto& a, auto& b) { return ends(a) < ends(b); });
  entries.erase(
      std::unique(entries.begin(), entries.end(), [&](auto& a, auto& b) { return ends(a) == ends(b); }),
      entries.end());
  WeightedGraph out{kind, {rows, cols, std::vector<Offset>(static_cast<std::size_t>(rows) + 1, 0), {}}, {}};
  std::vector<double> weights;
  for (const auto& [i, j, weight] : entries) {
    ++out.graph.row_offsets[static_cast<std::size_t>(i) + 1];
    out.graph.col_index.push_back(j);
    weights.push_back(weight);
  }
  for (std::size_t i = 1; i < out.graph.row_offsets.size(); ++i)
    out.graph.row_offsets[i] += out.graph.row_offsets[i - 1];
  out.weights = std::move(weights);
  return out;
}

std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

WeightedGraph general_graph(Index vertices, Edges edges) {
  const auto ends = [](const WeightedEdge& e) {
    return std::pair(std::min(std::get<0>(e), std::get<1>(e)), std::max(std::get<0>(e), std::get<1>(e)));
  };
  std::stable_sort(edges.begin(), edges.end(), [&](auto& a, auto& b) { return ends(a) < ends(b); });
  Edges both;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    if (k > 0 && ends(edges[k]) == ends(edges[k - 1])) continue;
    const auto [v, w, weight] = edges[k];
    both.emplace_back(v, w, weight);
    both.emplace_back(w, v, weight);
  }
  return from_entries(GraphKind::general, vertices, vertices, std::move(both));
}

WeightedGraph bipartite_graph(Index rows, Index cols, Edges edges) {
  return from_entries(GraphKind::bipartite, rows, cols, std::move(edges));
}

WeightedGraph with_weights(WeightedGraph graph, std::string_view kind, std::uint64_t seed) {
  const auto each = [&]<class T>(T, const auto& weight_of_bits) {
    std::vector<T> weights;
    for (Index i = 0; i < graph.graph.rows; ++i)
      for (Offset e = graph.graph.row_offsets[i]; e < graph.graph.row_offsets[i + 1]; ++e) {
        const Index j = graph.graph.col_index[e];
        const bool swap = graph.kind == GraphKind::general && j < i;
        const auto a = static_cast<std::uint64_t>(swap ? j : i), b = static_cast<std::uint64_t>(swap ? i : j);
        weights.push_back(weight_of_bits(scrambled(scrambled(a + (seed << 40)) ^ (b << 1))));
      }
    graph.weights = std::move(weights);
  };
  if (kind == "unit")
    graph.weights = std::vector<float>();
  else if (kind == "equal")
    each(0.0f, [](std::uint64_t) { return 2.5f; });
  else if (kind == "few")
    each(0.0f, [](std::uint64_t x) { return static_cast<float>(x % 3); });
  else if (kind == "float")
    each(0.0f, [](std::uint64_t x) { return std::ldexp(static_cast<float>(x >> 40), -24); });
  else if (kind == "double")
    each(0.0, [](std::uint64_t x) { return 1 + std::ldexp(static_cast<double>(x % 997), -40); });
  else if (kind == "small int64")
    each(std::int64_t{0}, [](std::uint64_t x) { return static_cast<std::int64_t>(x % 100); });
  else if (kind == "large int64")
    each(std::int64_t{0},
         [](std::uint64_t x) { return (std::int64_t{1} << 50) + static_cast<std::int64_t>(x % 1009); });
  else if (kind == "zero")
    each(0.0f, [](std::uint64_t x) { return x % 2 == 0 ? 0.0f : -0.0f; });
  else
    throw std::logic_error("no such kind of weights");
  return graph;
}

std::vector<WeightedInstance> weighted_graphs(Index vertices, std::uint64_t seed) {
  std::vector<WeightedInstance> out;
  std::mt19937_64 random(seed * 1000003 + static_cast<std::uint64_t>(vertices));
  const auto add = [&](const std::string& name, WeightedGraph graph) {
    out.push_back(
        {name + " " + std::to_string(vertices) + " seed " + std::to_string(seed), std::move(graph)});
  };
  const auto any = [&](Index below) {
    return static_cast<Index>(random() % static_cast<std::uint64_t>(below));
  };
  const auto weight = [&] { return static_cast<double>(random() % 1000) / 8; };
  const Index n = vertices, rows = n / 3 + n % 3, cols = n - rows;
  add("no edges", general_graph(n, {}));
  add("no pairs", bipartite_graph(rows, cols, {}));
  if (n < 2) return out;
  Edges star, path, falling, cycle, loops, few_rows;
  for (Index v = 1; v < n; ++v) {
    star.emplace_back(0, v, weight());
    path.emplace_back(v - 1, v, v);
    falling.emplace_back(v - 1, v, n - v);
    loops.emplace_back(any(n), any(n), weight());
    if (v % 3 == 0) loops.emplace_back(v, v, 1e6);
  }
  add("star", general_graph(n, star));
  add("rising path", general_graph(n, path));
  add("falling path", general_graph(n, falling));
  add("loops", general_graph(n, loops));
  cycle = path;
  if (n > 2) cycle.emplace_back(n - 1, 0, n / 2);
  add("cycle", general_graph(n, cycle));
  for (const double degree : {1.0, 2.5, 6.0}) {
    Edges general, bipartite;
    for (Index k = 0; k < static_cast<Index>(degree * n / 2) + 1; ++k) {
      const Index v = any(n), w = any(n);
      if (v != w) general.emplace_back(v, w, weight());
      if (rows > 0 && cols > 0) bipartite.emplace_back(any(rows), any(cols), weight());
    }
    add("random " + std::to_string(degree), general_graph(n, general));
    add("random pairs " + std::to_string(degree), bipartite_graph(rows, cols, bipartite));
    // One vertex knows a third of the others, which are few among themselves.
    for (Index v = 1; v < n; v += 3) general.emplace_back(0, v, weight());
    if (cols > 0)
      for (Index i = 0; i < rows; i += 2) bipartite.emplace_back(i, 0, weight());
    add("hub " + std::to_string(degree), general_graph(n, general));
    add("hub pairs " + std::to_string(degree), bipartite_graph(rows, cols, bipartite));
  }
  if (n <= 40) {
    Edges complete, pairs;
    for (Index v = 0; v < n; ++v)
      for (Index w = 0; w < v; ++w) complete.emplace_back(v, w, weight());
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) pairs.emplace_back(i, j, weight());
    add("complete", general_graph(n, complete));
    add("complete pairs", bipartite_graph(rows, cols, pairs));
  }
  return out;
}

double brute_force_weight(const matching::GreedyProblem& problem) {
  if (problem.vertices() > 16) throw std::logic_error("brute force is for at most 16 vertices");
  const bool general = problem.kind == GraphKind::general;
  std::vector<double> best(std::size_t{1} << problem.vertices(), 0);  // of matchings within a set
  for (std::size_t set = 1; set < best.size(); ++set) {
    const Index first = std::countr_zero(set);
    best[set] = best[set & (set - 1)];
    for (Index i = 0; i < problem.graph.rows; ++i)
      for (Offset e = problem.graph.row_offsets[i]; e < problem.graph.row_offsets[i + 1]; ++e) {
        const Index j = problem.graph.col_index[e] + (general ? 0 : problem.graph.rows);
        if (i == j || (i != first && j != first)) continue;
        const std::size_t ends = std::size_t{1} << i | std::size_t{1} << j;
        if ((set & ends) == ends) best[set] = std::max(best[set], best[set & ~ends] + weight_of(problem, e));
      }
  }
  return best.back();
}

}  // namespace motes::testing
