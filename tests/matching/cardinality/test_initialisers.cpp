// Initialisers: matchings, maximal ones, on one thread and several.

#include <catch2/catch.hpp>

#include <motes/matching/initialiser.h>
#include <motes/matching/koenig.h>

#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::Index;
using matching::Offset;

namespace {

/// Fills the other side in; the certificate's first part then says whether it is a matching.
matching::Matching as_answer(const BipartiteGraph& graph, const std::vector<Index>& row_to_col) {
  matching::Matching answer;
  answer.row_to_col = row_to_col;
  answer.col_to_row.assign(graph.cols, -1);
  for (Index i = 0; i < graph.rows; ++i)
    if (row_to_col[i] != -1) {
      if (row_to_col[i] < 0 || row_to_col[i] >= graph.cols) throw std::logic_error("no such column");
      answer.col_to_row[row_to_col[i]] = i;
      ++answer.cardinality;
    }
  return answer;
}

bool is_maximal(const BipartiteGraph& graph, const matching::Matching& answer) {
  for (Index i = 0; i < graph.rows; ++i)
    for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e)
      if (answer.row_to_col[i] == -1 && answer.col_to_row[graph.col_index[e]] == -1) return false;
  return true;
}

std::vector<testing::GraphInstance> graphs(std::uint64_t seed) {
  auto all = testing::small_graphs(seed);
  for (auto& one : testing::large_graphs(seed)) all.push_back(std::move(one));
  return all;
}

std::vector<Index> start(const char* name, const BipartiteGraph& graph, int threads = 1,
                         std::uint64_t seed = 0) {
  return matching::find_initialiser(name)->run({threads}, {graph.view(), {}, {}}, seed);
}

std::int64_t pairs_of(const std::vector<Index>& row_to_col) {
  return static_cast<std::int64_t>(row_to_col.size()) -
         std::count(row_to_col.begin(), row_to_col.end(), Index{-1});
}

}  // namespace

TEST_CASE("every initialiser gives a matching, and a maximal one unless it is none") {
  const auto seed = GENERATE(1u, 2u);
  for (const auto& [name, graph] : graphs(seed)) {
    const auto columns = matching::transpose(graph.view(), 1);
    for (const auto& info : matching::initialisers())
      for (const int threads : {1, 2, 5})
        for (const std::uint64_t drawn : {0, 9}) {
          INFO(info.name << " on " << name << ", threads " << threads << ", seed " << drawn);
          const auto answer = as_answer(graph, info.run({threads}, {graph.view(), {}, {}}, drawn));
          const auto certificate = matching::verify({graph.view(), {}, {}}, answer, {});
          CHECK(certificate.matching_valid);
          CHECK((info.name == "none" ? answer.cardinality == 0 : is_maximal(graph, answer)));
          if (threads > 1) continue;
          CHECK(info.run({1}, {graph.view(), columns.col_offsets, columns.row_index}, drawn) ==
                answer.row_to_col);
        }
  }
}

TEST_CASE("degree-one rules find the most pairs of a forest") {
  std::vector<std::pair<Index, Index>> tree;  // columns hang on earlier rows, rows on earlier columns
  for (Index k = 1; k < 3000; ++k) {
    tree.emplace_back(static_cast<Index>(k * 7919LL % k), k);
    tree.emplace_back(k, static_cast<Index>(k * 104729LL % k));
  }
  tree.emplace_back(0, 0);
  const auto forest = testing::from_edges(3000, 3000, tree);
  std::vector<testing::GraphInstance> all{{"forest", forest},
                                          {"chain", testing::chain_graph(5000, true)},
                                          {"open chain", testing::chain_graph(5000, false)}};
  for (const auto& [name, graph] : all)
    for (const char* rule : {"karp-sipser", "min-degree"})
      for (const std::uint64_t seed : {0, 5}) {
        INFO(rule << " on " << name << ", seed " << seed);
        const auto answer = as_answer(graph, start(rule, graph, 1, seed));
        const matching::CardinalityProblem problem{graph.view(), {}, {}};
        CHECK(matching::verify(problem, answer, matching::koenig_cover(problem, answer)).maximum());
      }
}

TEST_CASE("initialisers are in the order of what they find on gated points") {
  std::int64_t cheap = 0, karp_sipser = 0, threaded = 0, min_degree = 0;
  for (const auto& [name, graph] : testing::large_graphs(31)) {
    if (name.find("gated") == std::string::npos) continue;
    cheap += pairs_of(start("cheap", graph));
    karp_sipser += pairs_of(start("karp-sipser", graph));
    threaded += pairs_of(start("karp-sipser", graph, 2));
    min_degree += pairs_of(start("min-degree", graph));
  }
  CHECK(cheap < karp_sipser);
  CHECK(karp_sipser < min_degree);
  // Threads may cost a pair here and there, where two vertices look at once.
  CHECK(threaded > cheap);
}

TEST_CASE("initialisers are found by name and refuse graphs on a device") {
  CHECK(matching::find_initialiser("karp-sipser")->name == "karp-sipser");
  CHECK(matching::find_initialiser("karp") == nullptr);
  const auto graph = testing::from_edges(1, 1, {{0, 0}});
  for (const auto& info : matching::initialisers())
    if (info.name != "none")
      CHECK_THROWS_AS(info.run({1}, {graph.view(), {}, {}, matching::Space::device}, 0),
                      std::invalid_argument);
}
