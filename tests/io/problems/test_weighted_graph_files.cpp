// Weighted graphs in MatrixMarket files, for greedy matching.

#include <fstream>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/io/problem_files.h>
#include <motes/matching/matching_weight.h>

#include "tests/support/skip.h"
#include "tests/support/weighted_graphs.h"

using namespace motes;
using Catch::Contains;
using matching::GraphKind;
using matching::Index;
using matching::Offset;

namespace {

std::filesystem::path write(const testing::TempDir& dir, const std::string& text) {
  std::ofstream(dir / "w.mtx") << text;
  return dir / "w.mtx";
}

}  // namespace

TEST_CASE("a symmetric file is a general graph, a general one bipartite, a pattern has no weights") {
  const testing::TempDir dir;
  const auto general = io::read_weighted_graph(
      write(dir, "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 3 9\n3 2 .1\n"));
  CHECK(general.kind == GraphKind::general);
  CHECK(general.graph.row_offsets == std::vector<Offset>{0, 1, 3, 5});
  CHECK(general.graph.col_index == std::vector<Index>{1, 0, 2, 1, 2});
  CHECK(std::get<std::vector<double>>(general.weights) == std::vector<double>{0.5, 0.5, 0.1, 0.1, 9});
  const auto pairs = io::read_weighted_graph(
      write(dir, "%%MatrixMarket matrix coordinate integer general\n2 3 2\n2 3 4\n1 2 0\n"));
  CHECK(pairs.kind == GraphKind::bipartite);
  CHECK(pairs.graph.cols == 3);
  CHECK(std::get<std::vector<std::int64_t>>(pairs.weights) == std::vector<std::int64_t>{0, 4});
  const auto pattern =
      io::read_weighted_graph(write(dir, "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"));
  CHECK(std::get<std::vector<float>>(pattern.weights).empty());
  const auto array =
      io::read_weighted_graph(write(dir, "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n"));
  CHECK(array.kind == GraphKind::bipartite);
  CHECK(array.graph.edges() == 4);
  CHECK(std::get<std::vector<std::int64_t>>(array.weights) == std::vector<std::int64_t>{1, 3, 2, 4});
}

TEST_CASE("weights that greedy matching does not allow are rejected with the line") {
  const testing::TempDir dir;
  const auto refused = [&](const std::string& text, const std::string& part) {
    const auto path = write(dir, text);
    CHECK_THROWS_AS(io::read_weighted_graph(path), InputError);
    CHECK_THROWS_WITH(io::read_weighted_graph(path), Contains(part));
  };
  const std::string real = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 ";
  refused(real + "-1\n", ":3: a weight is negative, infinite or NaN");
  refused(real + "nan\n", ":3: a weight is negative, infinite or NaN");
  refused(real + "inf\n", ":3: a weight is negative, infinite or NaN");
  refused(real + "x\n", ":3: a number expected");
  refused("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 -4\n", ":3: a weight is negative");
  refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n",
          "was given in line 3 already");
  refused("%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 1 1 0\n", "complex");
  refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n2 1 1\n", "must be square");
}

TEST_CASE("weighted graphs are read as they were written") {
  const testing::TempDir dir;
  for (const auto& instance : testing::weighted_graphs(30, 1)) {
    if (instance.name.starts_with("loops")) continue;  // loops are not written
    const auto graph = testing::with_weights(instance.graph, "double", 2);
    INFO(instance.name);
    io::write_weighted_graph(dir / "out.mtx", graph.view());
    const auto again = io::read_weighted_graph(dir / "out.mtx");
    CHECK(again.kind == graph.kind);
    CHECK(again.graph.row_offsets == graph.graph.row_offsets);
    REQUIRE(again.graph.col_index == graph.graph.col_index);
    for (Offset e = 0; e < graph.graph.edges(); ++e)
      REQUIRE(weight_of(again.view(), e) == weight_of(graph.view(), e));
  }
}
