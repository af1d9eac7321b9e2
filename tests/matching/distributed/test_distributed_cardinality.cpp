// Maximum cardinality over several ranks, here threads: the cardinality of brute force and of the solvers on
// one rank, proven by the cover over all ranks, however the graph is distributed.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/matching/distributed_cardinality.h>
#include <motes/matching/graph_instances.h>
#include <motes/matching/registry.h>

#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::DistributedGraph;
using matching::DistributedMatching;
using matching::Index;

namespace {

constexpr int kSizes[] = {1, 2, 3, 5};

std::int64_t cardinality_of(const BipartiteGraph& graph) {
  const auto solver = matching::find_solver("push-relabel")->make_cardinality();
  return solver->solve({1}, {graph.view(), {}, {}}).matching.cardinality;
}

/// The whole matching, proven: the parts of all ranks, one after another.
struct Answer {
  std::vector<Index> row_to_col;
  std::int64_t cardinality = -1, phases = 0, pushes = 0;
};

Answer solve_on(int size, const BipartiteGraph& graph) {
  std::vector<DistributedMatching> parts(static_cast<std::size_t>(size));
  run_as_threads(size, [&](Communicator& ranks) {
    const DistributedGraph mine = matching::distribute(ranks, graph.view());
    DistributedMatching& part = parts[static_cast<std::size_t>(ranks.rank())];
    part = matching::solve_distributed(ranks, mine);
    const auto certificate = matching::verify_distributed(ranks, mine, part);
    if (!certificate.maximum()) throw std::logic_error(certificate.fault);
  });
  Answer out;
  for (const auto& part : parts) {
    out.row_to_col.insert(out.row_to_col.end(), part.row_to_col.begin(), part.row_to_col.end());
    CHECK(part.cardinality == parts[0].cardinality);
  }
  out.cardinality = parts[0].cardinality;
  out.phases = parts[0].stats.phases;
  out.pushes = parts[0].stats.pushes;
  CHECK(std::ssize(out.row_to_col) == graph.rows);
  return out;
}

}  // namespace

TEST_CASE("distributed cardinality: small graphs of every family, against brute force") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto& instance : testing::small_graphs(seed)) {
      const std::int64_t most = testing::brute_force_cardinality(instance.graph.view());
      for (const int size : {1, 2, 3, 5, 13}) {
        INFO(instance.name << " on " << size << " ranks");
        REQUIRE(solve_on(size, instance.graph).cardinality == most);
      }
    }
}

TEST_CASE("distributed cardinality: larger graphs, and every family of generated ones") {
  std::vector<testing::GraphInstance> all = testing::large_graphs(3);
  for (const char* text :
       {"gen:gated?n=3000&degree=6", "gen:gated?n=2000&degree=4&dims=2", "gen:rgg?n=3000&degree=5",
        "gen:delaunay?n=2000", "gen:delaunay?n=1000&dual=1&permute=1", "gen:grid?nx=40&ny=37&keep=.8",
        "gen:hexagonal?nx=50&ny=31", "gen:road?n=4000", "gen:road?n=3000&permute=1",
        "gen:erdos-renyi?rows=2000&cols=1700&degree=2.5", "gen:rmat?scale=10&edges=4", "gen:web?n=3000",
        "gen:uniform?rows=80&cols=90&high=9&density=.05"})
    all.push_back({text, matching::generate_graph({1}, text)});
  for (const auto& instance : all) {
    const std::int64_t most = cardinality_of(instance.graph);
    for (const int size : kSizes) {
      INFO(instance.name << " on " << size << " ranks");
      REQUIRE(solve_on(size, instance.graph).cardinality == most);
    }
  }
}

TEST_CASE("distributed cardinality: the same pairs run after run for a number of ranks") {
  const BipartiteGraph graph = matching::generate_graph({1}, "gen:gated?n=4000&degree=5");
  const std::int64_t most = cardinality_of(graph);
  for (const int size : kSizes) {
    const Answer first = solve_on(size, graph);
    // Or little is left to differ: messages of trees, and of bids.
    if (size > 1) CHECK((first.phases > 1 && first.pushes > 0));
    CHECK(first.cardinality == most);
    for (int again = 0; again < 5; ++again) CHECK(solve_on(size, graph).row_to_col == first.row_to_col);
  }
}

TEST_CASE("distributed cardinality: a rank generates its own rows, the same as a part of the whole") {
  for (const char* text :
       {"gen:gated?n=5001&degree=6", "gen:gated?n=700&degree=4&dims=2&seed=9", "gen:rgg?n=1203&degree=5",
        "gen:delaunay?n=500", "gen:delaunay?n=2", "gen:delaunay?n=400&dual=1", "gen:grid?nx=40&ny=37&keep=.8",
        "gen:hexagonal?nx=30&ny=31", "gen:road?n=4003", "gen:erdos-renyi?rows=2000&cols=1700&degree=2.5",
        "gen:rmat?scale=10&edges=4", "gen:web?n=3000", "gen:rmat?scale=8&permute=1", "gen:road?n=3",
        "gen:uniform?rows=80&cols=90&high=9&density=.05", "gen:points?n=90&sigma=.4&gate=1.5&sparse=1"}) {
    const BipartiteGraph whole = matching::generate_graph({1}, text);
    for (const int size : kSizes) {
      INFO(text << " on " << size << " ranks");
      std::vector<std::string> faults(static_cast<std::size_t>(size));
      run_as_threads(size, [&](Communicator& ranks) {
        const DistributedGraph wanted = matching::distribute(ranks, whole.view());
        const DistributedGraph mine = matching::generate_distributed_graph(ranks, {1}, text);
        if (mine.rows != whole.rows || mine.cols != whole.cols || mine.part.rows != wanted.part.rows ||
            mine.my_rows.first != wanted.my_rows.first || mine.my_cols.first != wanted.my_cols.first ||
            mine.part.row_offsets != wanted.part.row_offsets || mine.part.col_index != wanted.part.col_index)
          faults[static_cast<std::size_t>(ranks.rank())] = "differs";
      });
      CHECK(faults == std::vector<std::string>(static_cast<std::size_t>(size)));
    }
  }
}

TEST_CASE("distributed cardinality: the certificate finds what is wrong, on whichever rank it is") {
  // Every rank has free rows, free columns, and vertices of both sides in the cover.
  const BipartiteGraph graph = matching::generate_graph({1}, "gen:erdos-renyi?rows=60&degree=2");
  using Spoil = void (*)(DistributedMatching&, const DistributedGraph&);
  const std::pair<const char*, Spoil> spoils[] = {
      {"disagree",
       [](DistributedMatching& m, const DistributedGraph&) { m.col_to_row.assign(m.col_to_row.size(), -1); }},
      {"not matched to it",
       [](DistributedMatching& m, const DistributedGraph& g) {
         for (Index& row : m.col_to_row)
           if (row == -1) {
             row = g.my_rows.first;
             return;
           }
       }},
      {"matched to no column", [](DistributedMatching& m, const DistributedGraph&) { m.row_to_col[0] = 60; }},
      {"no edge joins them",
       [](DistributedMatching& m, const DistributedGraph& g) {
         for (Index j = 0; j < g.cols; ++j)
           if (!std::binary_search(g.part.col_index.begin(), g.part.col_index.begin() + g.part.row_offsets[1],
                                   j))
             m.row_to_col[0] = j;
       }},
      {"is not touched",
       [](DistributedMatching& m, const DistributedGraph&) {
         m.row_in_cover.assign(m.row_in_cover.size(), false);
       }},
      {"is not touched",
       [](DistributedMatching& m, const DistributedGraph&) {
         m.col_in_cover.assign(m.col_in_cover.size(), false);
       }},
      {"the cover has", [](DistributedMatching& m,
                           const DistributedGraph&) { m.row_in_cover.assign(m.row_in_cover.size(), true); }},
      {"wrong number", [](DistributedMatching& m, const DistributedGraph&) { m.col_to_row.pop_back(); }},
      {"wrong number",
       [](DistributedMatching& m, const DistributedGraph&) { m.col_in_cover.push_back(true); }},
      {"pairs, not", [](DistributedMatching& m, const DistributedGraph&) { ++m.cardinality; }}};
  for (const int size : {1, 2, 3})
    for (int bad = 0; bad < size; ++bad)
      for (const auto& [words, spoil] : spoils)
        run_as_threads(size, [&, words = words, spoil = spoil](Communicator& ranks) {
          const DistributedGraph mine = matching::distribute(ranks, graph.view());
          DistributedMatching answer = matching::solve_distributed(ranks, mine);
          if (ranks.rank() == bad) spoil(answer, mine);
          const auto certificate = matching::verify_distributed(ranks, mine, answer);
          // All ranks say the same, but for a rank that states another number of pairs.
          if (certificate.maximum() ? ranks.rank() == bad
                                    : certificate.fault.find(words) == std::string::npos)
            throw std::logic_error("'" + certificate.fault + "', not '" + words + "'");
        });
  // One pair fewer on both sides is a matching, but no cover is as small.
  run_as_threads(2, [&](Communicator& ranks) {
    const DistributedGraph mine = matching::distribute(ranks, graph.view());
    DistributedMatching answer = matching::solve_distributed(ranks, mine);
    std::int64_t row = -1;
    if (ranks.rank() == 1)
      for (std::size_t k = 0; k < answer.row_to_col.size(); ++k)
        if (answer.row_to_col[k] != -1) row = mine.my_rows.first + static_cast<Index>(k);
    row = ranks.all_reduce(row, Reduction::max);
    if (ranks.rank() == 1) answer.row_to_col[static_cast<std::size_t>(row - mine.my_rows.first)] = -1;
    for (Index& mate : answer.col_to_row)
      if (mate == row) mate = -1;
    --answer.cardinality;
    const auto certificate = matching::verify_distributed(ranks, mine, answer);
    if (certificate.maximum() || !certificate.matching_valid || !certificate.cover_valid)
      throw std::logic_error("'" + certificate.fault + "'");
  });
}

TEST_CASE("distributed cardinality: what is wrong with one rank's part is said on all") {
  const auto solve = [](auto&& spoil) {
    run_as_threads(3, [&](Communicator& ranks) {
      DistributedGraph mine = matching::generate_distributed_graph(ranks, {1}, "gen:road?n=300");
      if (ranks.rank() == 2) spoil(mine);
      matching::solve_distributed(ranks, mine);
    });
  };
  CHECK_THROWS_WITH(solve([](DistributedGraph& g) { g.part.col_index[0] = 300; }),
                    Catch::Contains("rank 2: "));
  CHECK_THROWS_WITH(solve([](DistributedGraph& g) { ++g.my_rows.count; }), Catch::Contains("rank 2: "));
  CHECK_THROWS_AS(run_as_threads(2,
                                 [](Communicator& ranks) {
                                   matching::generate_distributed_graph(ranks, {1}, "gen:road?n=300&lanes=2");
                                 }),
                  UsageError);
}
