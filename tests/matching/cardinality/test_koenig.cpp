// The certificate of maximum cardinality: right answers pass, each single fault is seen.

#include <algorithm>

#include <catch2/catch.hpp>

#include <motes/matching/koenig.h>

#include "tests/support/graphs.h"

using namespace motes;
using matching::BipartiteGraph;
using matching::CardinalityProblem;
using matching::Index;
using matching::Matching;
using matching::Offset;
using matching::Part;

namespace {

/// Row by row, a path by depth-first search (Kuhn 1955): a solver that shares nothing with the library's.
Matching solved(const BipartiteGraph& graph) {
  Matching answer;
  answer.row_to_col.assign(graph.rows, -1);
  answer.col_to_row.assign(graph.cols, -1);
  std::vector<Index> seen_by(graph.cols, -1), from(graph.cols, -1), stack;
  for (Index root = 0; root < graph.rows; ++root) {
    stack.assign(1, root);
    Index end = -1;
    while (!stack.empty() && end == -1) {
      const Index i = stack.back();
      stack.pop_back();
      for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1] && end == -1; ++e) {
        const Index j = graph.col_index[e];
        if (seen_by[j] == root) continue;
        seen_by[j] = root;
        from[j] = i;
        if (answer.col_to_row[j] == -1)
          end = j;
        else
          stack.push_back(answer.col_to_row[j]);
      }
    }
    answer.cardinality += end != -1 ? 1 : 0;
    while (end != -1) {
      const Index i = from[end], next = answer.row_to_col[i];
      answer.col_to_row[end] = i;
      answer.row_to_col[i] = end;
      end = next;
    }
  }
  answer.status = matching::Status::optimal;
  return answer;
}

CardinalityProblem problem_of(const BipartiteGraph& graph) { return {graph.view(), {}, {}}; }

std::vector<testing::GraphInstance> graphs(std::uint64_t seed) {
  auto all = testing::small_graphs(seed);
  for (auto& one : testing::large_graphs(seed)) all.push_back(std::move(one));
  return all;
}

}  // namespace

TEST_CASE("a maximum matching's Koenig cover proves it") {
  const auto seed = GENERATE(1u, 2u, 3u);
  for (const auto& [name, graph] : graphs(seed)) {
    INFO(name);
    const Matching answer = solved(graph);
    if (graph.cols <= 12) CHECK(answer.cardinality == testing::brute_force_cardinality(graph.view()));
    const auto cover = matching::koenig_cover(problem_of(graph), answer);
    CHECK(cover.size() == answer.cardinality);
    CHECK(std::is_sorted(cover.rows.begin(), cover.rows.end()));
    CHECK(std::is_sorted(cover.cols.begin(), cover.cols.end()));
    for (const int threads : {1, 3}) {
      const auto certificate = matching::verify(problem_of(graph), answer, cover, threads);
      CHECK(certificate.maximum());
      CHECK(certificate.fault.empty());
    }
  }
}

TEST_CASE("a matching that is not maximum has a cover that is valid and too large") {
  for (const auto& [name, graph] : graphs(5)) {
    INFO(name);
    Matching answer = solved(graph);
    if (answer.cardinality == 0) continue;
    const auto row = static_cast<Index>(
        std::find_if(answer.row_to_col.begin(), answer.row_to_col.end(), [](Index j) { return j != -1; }) -
        answer.row_to_col.begin());
    answer.col_to_row[answer.row_to_col[row]] = -1;
    answer.row_to_col[row] = -1;
    --answer.cardinality;
    const auto cover = matching::koenig_cover(problem_of(graph), answer);
    const auto certificate = matching::verify(problem_of(graph), answer, cover);
    CHECK(certificate.matching_valid);
    CHECK(certificate.cover_valid);
    CHECK_FALSE(certificate.same_size);
    CHECK_THAT(certificate.fault, Catch::Contains("vertices, the matching"));
    CHECK_THROWS_WITH(matching::decompose(problem_of(graph), answer), Catch::Contains("not maximum"));
  }
}

TEST_CASE("each wrong matching and each wrong cover is seen") {
  const auto graph = testing::random_graph(11, 400, 380, 2.5);
  const auto problem = problem_of(graph);
  const Matching right = solved(graph);
  const auto cover = matching::koenig_cover(problem, right);
  REQUIRE(matching::verify(problem, right, cover).maximum());
  REQUIRE(!cover.rows.empty());
  REQUIRE(!cover.cols.empty());
  const auto rejected = [&](const Matching& answer, const matching::VertexCover& proof, bool matching_valid,
                            bool cover_valid, const std::string& part) {
    for (const int threads : {1, 2}) {
      const auto certificate = matching::verify(problem, answer, proof, threads);
      CHECK_FALSE(certificate.maximum());
      CHECK(certificate.matching_valid == matching_valid);
      CHECK(certificate.cover_valid == cover_valid);
      CHECK_THAT(certificate.fault, Catch::Contains(part));
    }
  };
  const auto with = [&](auto&& change) {
    Matching wrong = right;
    change(wrong);
    return wrong;
  };
  const auto covering = [&](auto&& change) {
    auto wrong = cover;
    change(wrong);
    return wrong;
  };
  Index row = 0, free_row = 0;
  while (right.row_to_col[row] == -1) ++row;
  while (right.row_to_col[free_row] != -1) ++free_row;
  const Index col = right.row_to_col[row];

  rejected(with([&](auto& m) { m.row_to_col[row] = m.col_to_row[col] = -1; }), cover, false, true,
           "pairs, not");
  rejected(with([&](auto& m) { m.row_to_col[row] = m.col_to_row[col] = -1, --m.cardinality; }), cover, true,
           true, "vertices, the matching");
  rejected(with([&](auto& m) { m.row_to_col[row] = -1; }), cover, false, true, "disagree");
  rejected(with([&](auto& m) { m.col_to_row[col] = -1; }), cover, false, true, "disagree");
  rejected(with([&](auto& m) { m.row_to_col[free_row] = col; }), cover, false, true, "disagree");
  rejected(with([&](auto& m) { m.row_to_col[row] = graph.cols; }), cover, false, true, "no column");
  rejected(with([&](auto& m) { m.row_to_col[free_row] = -2; }), cover, false, true, "no column");
  rejected(with([&](auto& m) { m.col_to_row[col] = graph.rows; }), cover, false, true, "disagree");
  rejected(with([&](auto& m) { m.row_to_col.pop_back(); }), cover, false, true, "wrong number");
  rejected(with([&](auto& m) { ++m.cardinality; }), cover, false, true, "pairs, not");
  // A pair that is not an edge: the free row takes a column to which it is not adjacent.
  Index stranger = 0;
  const auto begin = graph.col_index.begin() + graph.row_offsets[free_row],
             end = graph.col_index.begin() + graph.row_offsets[free_row + 1];
  while (right.col_to_row[stranger] == -1 || std::find(begin, end, stranger) != end) ++stranger;
  rejected(with([&](auto& m) {
             m.row_to_col[m.col_to_row[stranger]] = -1;
             m.col_to_row[stranger] = free_row;
             m.row_to_col[free_row] = stranger;
           }),
           cover, false, true, "no edge joins them");

  rejected(right, covering([](auto& c) { c.rows.pop_back(); }), true, false, "is not touched");
  rejected(right, covering([](auto& c) { c.cols.erase(c.cols.begin()); }), true, false, "is not touched");
  rejected(right, covering([](auto& c) { c.cols.push_back(c.cols.back()); }), true, false, "counted twice");
  rejected(right, covering([](auto& c) { c.rows.push_back(400); }), true, false, "no row 400");
  rejected(right, covering([](auto& c) { c.cols.push_back(-1); }), true, false, "no column -1");
  Index spare = 0;
  while (std::find(cover.rows.begin(), cover.rows.end(), spare) != cover.rows.end()) ++spare;
  rejected(right, covering([&](auto& c) { c.rows.push_back(spare); }), true, true, "vertices, the matching");
  rejected(right, {}, true, false, "is not touched");

  Matching broken = right;
  broken.row_to_col[row] = -1;
  CHECK_THROWS_AS(matching::koenig_cover(problem, broken), std::invalid_argument);
  broken.row_to_col.pop_back();
  CHECK_THROWS_AS(matching::decompose(problem, broken), std::invalid_argument);
}

TEST_CASE("the Dulmage-Mendelsohn parts have their defining properties, and do not depend on the matching") {
  for (const auto& [name, graph] : graphs(7)) {
    INFO(name);
    const Matching answer = solved(graph);
    const auto parts = matching::decompose(problem_of(graph), answer);
    const auto columns = matching::transpose(graph.view(), 1);
    const auto same = matching::decompose({graph.view(), columns.col_offsets, columns.row_index}, answer);
    CHECK(same.rows == parts.rows);
    CHECK(same.cols == parts.cols);
    bool pairs_fit = true, free_fit = true, edges_fit = true;
    for (Index i = 0; i < graph.rows; ++i) {
      const Index j = answer.row_to_col[i];
      if (j == -1) free_fit &= parts.rows[i] == Part::vertical;
      if (j != -1) pairs_fit &= parts.rows[i] == parts.cols[j];
      // Block triangular: a vertical row meets vertical columns alone, a square row none that are horizontal.
      for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e) {
        const Part of_col = parts.cols[graph.col_index[e]];
        if (parts.rows[i] == Part::vertical) edges_fit &= of_col == Part::vertical;
        if (parts.rows[i] == Part::square) edges_fit &= of_col != Part::horizontal;
      }
    }
    for (Index j = 0; j < graph.cols; ++j)
      if (answer.col_to_row[j] == -1) free_fit &= parts.cols[j] == Part::horizontal;
    CHECK(pairs_fit);
    CHECK(free_fit);
    CHECK(edges_fit);

    // Another maximum matching: that of the graph with its vertices in the opposite order.
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < graph.rows; ++i)
      for (Offset e = graph.row_offsets[i]; e < graph.row_offsets[i + 1]; ++e)
        edges.emplace_back(graph.rows - 1 - i, graph.cols - 1 - graph.col_index[e]);
    const auto reversed = testing::from_edges(graph.rows, graph.cols, std::move(edges));
    auto other = matching::decompose(problem_of(reversed), solved(reversed));
    std::reverse(other.rows.begin(), other.rows.end());
    std::reverse(other.cols.begin(), other.cols.end());
    CHECK(other.rows == parts.rows);
    CHECK(other.cols == parts.cols);
  }
}
