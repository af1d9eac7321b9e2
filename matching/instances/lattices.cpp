// Graphs of the plane made of lattices: with holes, and thinned to roads.

#include <cmath>

#include <motes/base/index.h>

#include "matching/instances/graph_families.h"

namespace motes::matching::instances {
namespace {

struct Lattice {
  Index nx, ny;
  std::vector<Index> number;  ///< [ny][nx]: of the site as a vertex, -1 if there is none
  std::vector<Index> site;    ///< of each vertex

  Index at_place(Index x, Index y) const {
    return x < 0 || y < 0 || x >= nx || y >= ny ? -1 : number[at(Offset{y} * nx + x)];
  }
};

Lattice with_holes(Recipe& recipe, int threads, const Part& part) {
  Lattice out;
  out.nx = static_cast<Index>(recipe.whole("nx", std::nullopt, 0, kMostVertices));
  out.ny = static_cast<Index>(recipe.whole("ny", out.nx, 0, kMostVertices));
  const double keep = recipe.number("keep", 0.9, 0, 1);
  const std::uint64_t seed = recipe.seed();
  const double sites = static_cast<double>(out.nx) * out.ny;
  if (sites > kMostVertices) recipe.fail("nx times ny passes 2^31 - 2 sites");
  require_graph_memory(sites, 4 * sites * part.share(), 2 * sizeof(Index));
  const auto count = static_cast<Index>(sites);
  const auto limit = static_cast<std::uint64_t>(std::ldexp(keep, 32));
  out.number.resize(at(count));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < count; ++k)
    out.number[at(k)] = random_block(seed, kSites, static_cast<std::uint32_t>(k), 0)[0] < limit ? 0 : -1;
  for (Index k = 0; k < count; ++k)
    if (out.number[at(k)] == 0) {
      out.number[at(k)] = static_cast<Index>(out.site.size());
      out.site.push_back(k);
    }
  return out;
}

template <class Neighbours>
BipartiteGraph lattice_graph(const Lattice& lattice, int threads, const Part& part,
                             const Neighbours& neighbours) {
  const auto n = static_cast<Index>(lattice.site.size());
  return graph_by_rows(part.of(n), n, threads, [&](Index k, std::vector<Index>& out) {
    const Index x = lattice.site[at(k)] % lattice.nx, y = lattice.site[at(k)] / lattice.nx;
    // Ascending, since sites are numbered line by line.
    neighbours(x, y, [&](Index to_x, Index to_y) {
      if (const Index j = lattice.at_place(to_x, to_y); j != -1) out.push_back(j);
    });
  });
}

}  // namespace

BipartiteGraph grid(Recipe& recipe, int threads, const Part& part) {
  return lattice_graph(with_holes(recipe, threads, part), threads, part,
                       [](Index x, Index y, const auto& join) {
                         join(x, y - 1);
                         join(x - 1, y);
                         join(x + 1, y);
                         join(x, y + 1);
                       });
}

BipartiteGraph hexagonal(Recipe& recipe, int threads, const Part& part) {
  // A honeycomb drawn as a wall of bricks: every other site has its third neighbour above, the rest below.
  return lattice_graph(with_holes(recipe, threads, part), threads, part,
                       [](Index x, Index y, const auto& join) {
                         if ((x + y) % 2 == 1) join(x, y - 1);
                         join(x - 1, y);
                         join(x + 1, y);
                         if ((x + y) % 2 == 0) join(x, y + 1);
                       });
}

// Four of five sides of a square lattice of junctions are roads with 0, 1, 2, ... vertices (half the
// probability each time: one on average); the rest of the n vertices are dead ends. That gives 2.4 neighbours
// on average and, as on maps, mostly vertices of degree two.
BipartiteGraph road(Recipe& recipe, int threads, const Part& part) {
  const auto n = static_cast<Index>(recipe.whole("n", std::nullopt, 0, kMostVertices));
  const std::uint64_t seed = recipe.seed();
  require_graph_memory(n * part.share(), 2.5 * n * part.share(), 3 * sizeof(Edge));
  const Block mine = part.of(n);
  // A junction brings 1.6 vertices of its roads with it; a tenth of all vertices are left for dead ends.
  const auto side = static_cast<Index>(std::sqrt(0.9 * n / 2.6));
  std::vector<Edge> edges;
  std::vector<Index> line_above(at(side), -1);
  Index vertices = 0;
  const auto keep = [&](Index row, Index col) {
    if (row >= mine.first && row - mine.first < mine.count) edges.push_back({row, col});
  };
  const auto join = [&](Index a, Index b) {
    keep(a, b);
    keep(b, a);
  };
  Index junctions_to_come = side * side;
  const auto build = [&](Random& random, Index from, Index to) {
    constexpr double kRoadsOfSides = 0.8;
    if (!(random.uniform() < kRoadsOfSides)) return;
    while (vertices < n - junctions_to_come && (random.bits() & 1) != 0) {
      join(from, vertices);
      from = vertices++;
    }
    join(from, to);
  };
  for (Index y = 0; y < side; ++y) {
    Index left = -1;
    for (Index x = 0; x < side; ++x) {
      Random random(seed, kRoads, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
      const Index here = vertices++;
      --junctions_to_come;
      if (x > 0) build(random, left, here);
      if (y > 0) build(random, line_above[at(x)], here);
      left = line_above[at(x)] = here;
    }
  }
  Random random(seed, kRoads, 0xffffffff, 0xffffffff);
  while (vertices < n) {
    const Index end = vertices++;
    if (end > 0) join(scaled(random.bits(), end), end);
  }
  return graph_of_edges(mine, n, {std::move(edges)}, threads);
}

}  // namespace motes::matching::instances
