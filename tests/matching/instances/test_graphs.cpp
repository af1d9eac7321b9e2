// Generated graphs have the documented properties, on any number of threads.

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/matching/cardinality_problem.h>
#include <motes/matching/graph_instances.h>

#include "matching/instances/triangulation.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::generate_graph;
using matching::Index;
using matching::Offset;

namespace {

/// One small text of each family.
const std::vector<std::string> kTexts{"gen:gated?n=3000&degree=8",
                                      "gen:gated?n=3000&degree=4&dims=2",
                                      "gen:rgg?n=5000&degree=13",
                                      "gen:rgg?n=5000&degree=6&dims=3",
                                      "gen:delaunay?n=5000",
                                      "gen:delaunay?n=5000&dual=1",
                                      "gen:grid?nx=90&ny=60&keep=0.8",
                                      "gen:hexagonal?nx=90&ny=61&keep=0.9",
                                      "gen:road?n=9000",
                                      "gen:erdos-renyi?rows=5000&cols=6000&degree=3",
                                      "gen:rmat?scale=12&edges=8",
                                      "gen:web?n=9000"};

double mean_degree(const BipartiteGraph& graph) { return static_cast<double>(graph.edges()) / graph.rows; }

bool is_symmetric(const BipartiteGraph& graph) {
  const auto columns = matching::transpose(graph.view(), 1);
  return graph.rows == graph.cols && columns.col_offsets == graph.row_offsets &&
         columns.row_index == graph.col_index;
}

bool has_loops(const BipartiteGraph& graph) {
  for (Index i = 0; i < graph.rows; ++i)
    for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e)
      if (graph.col_index[e] == i) return true;
  return false;
}

Offset most_neighbours(const BipartiteGraph& graph) {
  Offset most = 0;
  for (Index i = 0; i < graph.rows; ++i)
    most = std::max(most, graph.row_offsets[i + 1] - graph.row_offsets[i]);
  return most;
}

std::uint64_t fingerprint(const BipartiteGraph& graph) {
  std::uint64_t hash = 1469598103934665603ULL;
  const auto add = [&](std::int64_t value) {
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ (static_cast<std::uint64_t>(value >> (8 * byte)) & 255)) * 1099511628211ULL;
  };
  add(graph.rows), add(graph.cols);
  for (const auto k : graph.row_offsets) add(k);
  for (const auto k : graph.col_index) add(k);
  return hash;
}

void refused(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK_THROWS_AS(generate_graph({1}, text), UsageError);
  CHECK_THROWS_WITH(generate_graph({1}, text), Catch::Contains(part));
}

}  // namespace

TEST_CASE("generated graphs are sound, and the same bits for any number of threads") {
  for (const auto& plain : kTexts)
    for (const std::string more : {"", "&permute=1", "&seed=5"}) {
      const std::string text = plain + more;
      INFO(text);
      const auto graph = generate_graph({1}, text);
      CHECK_NOTHROW(matching::check_problem({graph.view(), {}, {}}));
      CHECK(graph.edges() > graph.rows);
      const auto again = generate_graph({3}, text);
      CHECK(again.row_offsets == graph.row_offsets);
      CHECK(again.col_index == graph.col_index);
    }
}

TEST_CASE("undirected families are symmetric, without loops") {
  for (const char* text :
       {"gen:rgg?n=5000&degree=13", "gen:rgg?n=5000&degree=6&dims=3", "gen:delaunay?n=5000",
        "gen:delaunay?n=5000&dual=1", "gen:grid?nx=90&ny=60&keep=0.8", "gen:hexagonal?nx=90&ny=61&keep=0.9",
        "gen:road?n=9000"}) {
    INFO(text);
    const auto graph = generate_graph({2}, text);
    CHECK(is_symmetric(graph));
    CHECK_FALSE(has_loops(graph));
    CHECK_FALSE(is_symmetric(generate_graph({2}, text + std::string("&permute=1"))));
  }
}

TEST_CASE("sizes and degrees are what was asked for") {
  const auto gated = generate_graph({2}, "gen:gated?n=30000&degree=8");
  CHECK(gated.rows == 30000);
  CHECK(gated.cols == 30000);
  CHECK(mean_degree(gated) == Approx(8).epsilon(.02));
  CHECK(mean_degree(generate_graph({2}, "gen:gated?n=30000&degree=4&dims=2")) == Approx(4).epsilon(.02));
  CHECK(mean_degree(generate_graph({2}, "gen:gated?n=300&degree=150")) == Approx(150).epsilon(.05));
  CHECK(mean_degree(generate_graph({2}, "gen:rgg?n=30000&degree=13")) == Approx(13).epsilon(.02));
  CHECK(mean_degree(generate_graph({2}, "gen:rgg?n=30000&degree=6&dims=3")) == Approx(6).epsilon(.02));
  CHECK(mean_degree(generate_graph({2}, "gen:erdos-renyi?rows=30000&cols=9000&degree=2.8")) ==
        Approx(2.8).epsilon(.02));
  CHECK(generate_graph({2}, "gen:erdos-renyi?rows=7&cols=9&degree=9").edges() == 63);
  CHECK(generate_graph({2}, "gen:erdos-renyi?rows=7&cols=9&degree=0").edges() == 0);

  const auto whole_grid = generate_graph({1}, "gen:grid?nx=70&ny=40&keep=1");
  CHECK(whole_grid.rows == 2800);
  CHECK(whole_grid.edges() == 2 * (69 * 40 + 70 * 39));
  const auto holes = generate_graph({1}, "gen:grid?nx=200&ny=200&keep=0.8");
  CHECK(holes.rows == Approx(32000).epsilon(.02));
  CHECK(mean_degree(holes) == Approx(4 * .8).epsilon(.03));
  const auto comb = generate_graph({1}, "gen:hexagonal?nx=100&ny=100&keep=1");
  CHECK(most_neighbours(comb) == 3);
  CHECK(comb.edges() == 2 * (99 * 100 + 99 * 50));
  CHECK(generate_graph({1}, "gen:grid?nx=30&keep=0").rows == 0);

  const auto road = generate_graph({1}, "gen:road?n=50000");
  CHECK(road.rows == 50000);
  CHECK(mean_degree(road) == Approx(2.41).margin(.06));
  for (const Index n : {0, 1, 2, 7, 30})
    CHECK(generate_graph({1}, "gen:road?n=" + std::to_string(n)).rows == n);

  const auto rmat = generate_graph({2}, "gen:rmat?scale=13&edges=8");
  CHECK(rmat.rows == 8192);
  CHECK(rmat.edges() < 8 * 8192);
  CHECK(rmat.edges() > 6 * 8192);
  CHECK(most_neighbours(rmat) > 200);
  CHECK(most_neighbours(generate_graph({2}, "gen:rmat?scale=13&edges=8&a=0.25&b=0.25&c=0.25")) < 40);

  const auto web = generate_graph({2}, "gen:web?n=50000");
  CHECK(mean_degree(web) > 3);
  CHECK(mean_degree(web) < 7);
  const auto in = matching::transpose(web.view(), 1);
  CHECK(most_neighbours({web.cols, web.rows, in.col_offsets, in.row_index}) > 200);
}

TEST_CASE("permuting keeps the graph and moves every part of it") {
  const auto plain = generate_graph({2}, "gen:delaunay?n=3000"),
             permuted = generate_graph({2}, "gen:delaunay?n=3000&permute=1");
  CHECK(plain.edges() == permuted.edges());
  const auto degrees = [](const BipartiteGraph& graph) {
    std::vector<Offset> all;
    for (Index i = 0; i < graph.rows; ++i) all.push_back(graph.row_offsets[i + 1] - graph.row_offsets[i]);
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(degrees(plain) == degrees(permuted));
  CHECK(plain.col_index != permuted.col_index);
}

TEST_CASE("gated graphs hold exactly the pairs within the gate") {
  // Few points, so many that all pairs are tried: the gate is found again from the shortest pair left out.
  for (const char* dims : {"2", "3"}) {
    const std::string text = std::string("gen:gated?n=400&dims=") + dims;
    const auto few = generate_graph({1}, text + "&degree=3"), more = generate_graph({1}, text + "&degree=9");
    std::set<std::pair<Index, Index>> wide;
    for (Index i = 0; i < more.rows; ++i)
      for (Offset e = more.row_offsets[i]; e < more.row_offsets[i + 1]; ++e)
        wide.emplace(i, more.col_index[e]);
    bool nested = true;  // the same points: a larger gate keeps all pairs of a smaller one
    for (Index i = 0; i < few.rows; ++i)
      for (Offset e = few.row_offsets[i]; e < few.row_offsets[i + 1]; ++e)
        nested &= wide.contains({i, few.col_index[e]});
    CHECK(nested);
    CHECK(wide.size() > static_cast<std::size_t>(few.edges()));
  }
}

TEST_CASE("the Delaunay triangulation has empty circles, and every point in it") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  const auto range = GENERATE(6, 30, 1000, (1 << 28) - 1);  // small ranges: many points on lines and circles
  std::mt19937_64 random(seed);
  std::vector<matching::instances::PlanePoint> points;
  std::set<matching::instances::PlanePoint> distinct;
  for (int k = 0; k < 160; ++k) {
    points.push_back({static_cast<std::int64_t>(random() % (range + 1)),
                      static_cast<std::int64_t>(random() % (range + 1))});
    distinct.insert(points.back());
  }
  INFO("seed " << seed << ", coordinates 0.." << range);
  const auto triangles = matching::instances::delaunay_triangles(points);
  __extension__ typedef __int128 Wide;
  std::set<Index> used;
  std::set<std::pair<Index, Index>> sides;
  Wide area = 0;
  bool empty = true, left = true, linked = true;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto& [corner, neighbour] = triangles[t];
    const auto &a = points[corner[0]], &b = points[corner[1]], &c = points[corner[2]];
    const std::int64_t turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    left &= turn > 0;
    area += turn;
    for (std::size_t k = 0; k < 3; ++k) {
      used.insert(corner[k]);
      const Index from = corner[(k + 1) % 3], to = corner[(k + 2) % 3];
      linked &= sides.emplace(from, to).second;
      if (neighbour[k] == -1) continue;
      const auto& other = triangles[neighbour[k]].corner;
      linked &=
          std::count(other.begin(), other.end(), from) + std::count(other.begin(), other.end(), to) == 2;
    }
    for (const auto& p : points) {
      const std::int64_t ax = a[0] - p[0], ay = a[1] - p[1], bx = b[0] - p[0], by = b[1] - p[1],
                         cx = c[0] - p[0], cy = c[1] - p[1];
      empty &= Wide{ax * ax + ay * ay} * (bx * cy - by * cx) + Wide{bx * bx + by * by} * (cx * ay - cy * ax) +
                   Wide{cx * cx + cy * cy} * (ax * by - ay * bx) <=
               0;
    }
  }
  CHECK(left);
  CHECK(empty);
  CHECK(linked);
  CHECK(used.size() == distinct.size());
  // Twice the area of the hull: the walk around the sides that have no other half.
  Wide hull = 0;
  for (const auto& [from, to] : sides)
    if (!sides.contains({to, from}))
      hull += Wide{points[from][0]} * points[to][1] - Wide{points[from][1]} * points[to][0];
  CHECK((hull == area));
  std::size_t outer = 0;
  for (const auto& [from, to] : sides) outer += sides.contains({to, from}) ? 0 : 1;
  CHECK(triangles.size() == 2 * distinct.size() - 2 - outer);  // Euler
}

TEST_CASE("degenerate triangulations") {
  CHECK(matching::instances::delaunay_triangles({}).empty());
  CHECK(matching::instances::delaunay_triangles({{0, 0}, {5, 5}}).empty());
  CHECK(matching::instances::delaunay_triangles({{0, 0}, {0, 0}, {5, 5}, {2, 2}}).empty());
  CHECK(matching::instances::delaunay_triangles({{0, 0}, {2, 2}, {2, 2}, {4, 4}, {9, 0}, {9, 0}}).size() ==
        2);
  for (const Index n : {0, 1, 2, 3})
    CHECK(generate_graph({1}, "gen:delaunay?n=" + std::to_string(n)).edges() == n * (n - 1));
  CHECK(generate_graph({1}, "gen:delaunay?n=2&dual=1").rows == 0);
}

TEST_CASE("assignment instances are graphs too") {
  CHECK(generate_graph({1}, "gen:uniform?rows=5&cols=7&high=9").edges() == 35);
  CHECK(generate_graph({1}, "gen:points?n=50&sigma=0.3&gate=1.2&sparse=1").rows == 50);
}

TEST_CASE("generated graphs are the same on every machine") {
  // Fingerprints of one machine; any other must give them too.
  const std::vector<std::uint64_t> expected{0x6b45ec176cd4a39b, 0xab366c0a2ce57e1c, 0x5e5c55c367273878,
                                            0xb3b8a1eee16217e4, 0x5b0e7a99fa7868d5, 0xecb510fabad14a3d,
                                            0x704bbe012a491419, 0xbea447e6d3a19726, 0x215084a5a5cd4e14,
                                            0x67b7d2741ffb9a7d, 0x6588a73afce8c5f1, 0xf7896466d6a055c4};
  std::vector<std::uint64_t> found;
  for (const auto& text : kTexts) found.push_back(fingerprint(generate_graph({2}, text + "&permute=1")));
  CHECK(found == expected);
}

TEST_CASE("texts of graphs are refused with what is wrong") {
  refused("rgg?n=3", "does not begin with gen:");
  refused("gen:rgb?n=3", "no family of graphs is called 'rgb'; families for assignment: uniform");
  refused("gen:rgg?n=3", "needs degree=");
  refused("gen:rgg?n=30&degree=60", "so few points");
  refused("gen:rgg?n=-3&degree=2", "n=-3 is not a number in");
  refused("gen:rgg?n=3.5&degree=1", "n must be a whole number");
  refused("gen:rgg?n=30&degree=6&dims=4", "dims=4");
  refused("gen:rgg?n=30&degree=6&dim=2",
          "unknown parameter 'dim'; gen:rgg knows degree, dims, n, permute, seed");
  refused("gen:rgg?n=30&n=30", "'n' is given twice");
  refused("gen:grid?nx=4&keep=1.5", "keep=1.5");
  refused("gen:grid?nx=100000&ny=100000", "passes 2^31");
  refused("gen:rmat?scale=31", "scale=31");
  refused("gen:rmat?scale=3&a=0.9&b=0.2", "more than 1");
  refused("gen:web?n=5&permute=2", "permute=2");
  refused("gen:erdos-renyi?rows=3&degree=4", "degree=4");
  CHECK_THROWS_AS(generate_graph({1}, "gen:rgg?n=2000000000&degree=100000"), ResourceError);
}
