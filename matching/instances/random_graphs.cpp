// Graphs without a geometry: Erdos-Renyi, recursive matrices, a web of hosts.

#include <cmath>

#include <motes/base/exact_math.h>
#include <motes/base/index.h>

#include "matching/instances/graph_families.h"

namespace motes::matching::instances {

// The gaps between the edges of a row are geometric: each is drawn from one logarithm (Batagelj & Brandes
// 2005).
BipartiteGraph erdos_renyi(Recipe& recipe, int threads, const Part& part) {
  const auto rows = static_cast<Index>(recipe.whole("rows", std::nullopt, 0, kMostVertices));
  const auto cols = static_cast<Index>(recipe.whole("cols", rows, 0, kMostVertices));
  const double degree = recipe.number("degree", std::nullopt, 0, cols);
  const std::uint64_t seed = recipe.seed();
  require_graph_memory(rows * part.share(), degree * rows * part.share(), sizeof(Index));
  const double probability = cols == 0 ? 0 : degree / cols;
  const double log_absent = exact_log(1 - probability);  // -infinity: every pair is an edge
  return graph_by_rows(part.of(rows), cols, threads, [&](Index i, std::vector<Index>& out) {
    if (probability == 0) return;
    Random random(seed, kEdges, static_cast<std::uint32_t>(i), 0);
    for (double j = -1;;) {
      j += 1 + std::floor(exact_log(1 - random.uniform()) / log_absent);
      if (!(j < cols)) return;
      out.push_back(static_cast<Index>(j));
    }
  });
}

// Chakrabarti, Zhan & Faloutsos 2004: each edge chooses one of four quarters of the matrix, and so on within
// it.
BipartiteGraph rmat(Recipe& recipe, int threads, const Part& part) {
  const auto scale = static_cast<int>(recipe.whole("scale", std::nullopt, 0, 30));
  const auto draws = recipe.whole("edges", 16, 0, 1e6);
  const double a = recipe.number("a", 0.57, 0, 1), b = recipe.number("b", 0.19, 0, 1),
               c = recipe.number("c", 0.19, 0, 1);
  const std::uint64_t seed = recipe.seed();
  if (a + b + c > 1) recipe.fail("a + b + c is more than 1");
  const Index n = Index{1} << scale;
  const double edges_of_part = static_cast<double>(draws) * n * part.share();
  require_graph_memory(n * part.share(), edges_of_part, 2 * sizeof(Edge) + 2 * sizeof(Index));
  // Two levels from each 32-bit word, probabilities in steps of 2^-16.
  const auto limit = [](double share) { return static_cast<std::uint32_t>(std::ldexp(share, 16) + 0.5); };
  const std::uint32_t to_a = limit(a), to_b = limit(a + b), to_c = limit(a + b + c);
  const Block mine = part.of(n);
  // Each draw also determines its row, so every rank makes all draws and keeps those of its rows.
  constexpr Index kRowsAList = 1 << 16;
  std::vector<std::vector<Edge>> edges(at(n / kRowsAList + 1));
  parallel_for(threads, std::ssize(edges), [&](std::int64_t list) {
    const auto begin = static_cast<Index>(list * kRowsAList);
    const Index end = begin + std::min(kRowsAList, n - begin);
    if (part.ranks == 1) edges[at(list)].reserve(at(draws * (end - begin)));
    for (Index i = begin; i < end; ++i)
      for (Offset k = 0; k < draws; ++k) {
        Random random(seed, kEdges, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k));
        std::uint32_t row = 0, col = 0, word = 0;
        for (int level = 0; level < scale; ++level) {
          word = level % 2 == 0 ? random.bits() : word >> 16;
          const std::uint32_t drawn = word & 0xffff;
          // Sums of comparisons instead of branches, which would be mispredicted.
          const std::uint32_t past_a = drawn >= to_a, past_b = drawn >= to_b, past_c = drawn >= to_c;
          row = row * 2 + past_b;
          col = col * 2 + (past_a ^ past_b ^ past_c);
        }
        const auto kept = static_cast<Index>(row);
        if (kept >= mine.first && kept - mine.first < mine.count)
          edges[at(list)].push_back({kept, static_cast<Index>(col)});
      }
  });
  return graph_of_edges(mine, n, edges, threads);
}

// Pages are numbered host by host. Sizes of hosts fall as 1/s, out-degrees as 1/d^2; both are drawn by
// inversion.
BipartiteGraph web(Recipe& recipe, int threads, const Part& part) {
  const auto n = static_cast<Index>(recipe.whole("n", std::nullopt, 0, kMostVertices));
  const std::uint64_t seed = recipe.seed();
  require_graph_memory(n, 6.0 * n * part.share(), 2 * sizeof(Index));
  constexpr double kSmallestHost = 4, kFewestLinks = 3, kMostLinks = 1000, kDangling = 0.15, kAtHome = 0.75;
  const double largest_host = std::max(kSmallestHost, n / 50.0);
  std::vector<Index> host_of(at(n)), first_page;
  Random hosts(seed, kHosts, 0, 0);
  for (Index page = 0; page < n;) {
    const double size = std::floor(std::min(kSmallestHost / (1 - hosts.uniform()), largest_host));
    const auto end = static_cast<Index>(std::min<double>(n, page + size));
    const auto host = static_cast<Index>(first_page.size());
    first_page.push_back(page);
    while (page < end) host_of[at(page++)] = host;
  }
  first_page.push_back(n);
  return graph_by_rows(part.of(n), n, threads, [&](Index page, std::vector<Index>& out) {
    Random random(seed, kLinks, static_cast<std::uint32_t>(page), 0);
    if (random.uniform() < kDangling) return;
    const double links = std::min(kFewestLinks / std::sqrt(1 - random.uniform()), kMostLinks);
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (int k = 1; k <= links; ++k) {
      const bool at_home = random.uniform() < kAtHome;
      const Index host = host_of[at(at_home ? page : scaled(random.bits(), n))];
      const double u = random.uniform(), size = first_page[at(host) + 1] - first_page[at(host)];
      out.push_back(first_page[at(host)] + static_cast<Index>(size * (u * u * u)));
    }
    std::sort(out.begin() + first, out.end());
    out.erase(std::unique(out.begin() + first, out.end()), out.end());
  });
}

}  // namespace motes::matching::instances
