// Matching problems in files: contents, and messages for bad files.

#include <cmath>
#include <fstream>

#include <catch2/catch.hpp>
#include <zlib.h>

#include <motes/base/errors.h>
#include <motes/io/problem_files.h>

#include "io/hdf5/h5.h"
#include "tests/support/skip.h"

using namespace motes;
using Catch::Contains;

namespace {

std::filesystem::path write(const testing::TempDir& dir, const std::string& name, const std::string& text) {
  std::ofstream(dir / name) << text;
  return dir / name;
}

void refused(const std::filesystem::path& path, const std::string& part) {
  CHECK_THROWS_AS(io::read_problem(path), InputError);
  CHECK_THROWS_WITH(io::read_problem(path), Contains(part) && Contains(path.filename().string()));
}

const std::string kCoordinates =
    "%%MatrixMarket matrix coordinate integer general\n% a comment\n2 3 3\n2 3 -7\n1 1 5\n1 3 2\n";

void check_coordinates(const io::ProblemFile& file) {
  const auto& sparse = std::get<matching::SparseCosts>(file.costs);
  CHECK(sparse.graph.rows == 2);
  CHECK(sparse.graph.cols == 3);
  CHECK(sparse.graph.row_offsets == std::vector<matching::Offset>{0, 2, 3});
  CHECK(sparse.graph.col_index == std::vector<matching::Index>{0, 2, 2});
  CHECK(sparse.cost == std::vector<matching::Cost>{5, 2, -7});
  CHECK(sparse.fraction_bits == 0);
}

}  // namespace

TEST_CASE("MatrixMarket coordinates come in any order, plain or gzip") {
  const testing::TempDir dir;
  check_coordinates(io::read_problem(write(dir, "a.mtx", kCoordinates)));
  const std::string packed = (dir / "a.mtx.gz").string();
  gzFile gz = gzopen(packed.c_str(), "wb");
  gzwrite(gz, kCoordinates.data(), static_cast<unsigned>(kCoordinates.size()));
  gzclose(gz);
  check_coordinates(io::read_problem(packed));
}

TEST_CASE("MatrixMarket arrays run down the columns") {
  const testing::TempDir dir;
  const auto whole =
      io::read_problem(write(dir, "i.mtx", "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n"));
  const auto& dense = std::get<matching::DenseCosts>(whole.costs);
  CHECK(std::get<std::vector<std::int64_t>>(dense.entries) == std::vector<std::int64_t>{1, 3, 2, 4});
  const auto real =
      io::read_problem(write(dir, "r.mtx", "%%MatrixMarket matrix array real general\n1 2\n0.25\ninf\n"));
  const auto& r = std::get<matching::DenseCosts>(real.costs);
  CHECK(std::get<std::vector<double>>(r.entries)[0] == 0.25);
  CHECK(std::isinf(std::get<std::vector<double>>(r.entries)[1]));
  CHECK(r.fraction_bits > 20);
}

TEST_CASE("MatrixMarket symmetric files have both triangles, pattern files only structure") {
  const testing::TempDir dir;
  const auto file = io::read_problem(
      write(dir, "s.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"));
  CHECK(file.symmetric);
  const auto& sparse = std::get<matching::SparseCosts>(file.costs);
  CHECK(sparse.graph.col_index == std::vector<matching::Index>{1, 0, 2});
  CHECK(sparse.cost == std::vector<matching::Cost>{0, 0, 0});
}

TEST_CASE("damaged MatrixMarket files are refused with the line") {
  const testing::TempDir dir;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = kCoordinates;
    text.replace(text.find(from), from.size(), to);
    return write(dir, "bad.mtx", text);
  };
  refused(with("2 3 3\n", "2 3 4\n"), "after 3 of 4 entries");
  refused(with("2 3 3\n", "2 3 2\n"), "more entries than the 2");
  refused(with("1 1 5", "1 4 5"), ":5: column 4 lies outside 1..3");
  refused(with("1 1 5", "0 1 5"), ":5: row 0 lies outside 1..2");
  refused(with("1 1 5", "1 1 x"), ":5: a whole number expected, not 'x'");
  refused(with("1 1 5", "1 1 2.5"), ":5: a whole number expected, not '2.5'");
  refused(with("1 1 5", "1 1 5 6"), "one field too many");
  refused(with("1 1 5", "1 3 5"), ":6: entry (1, 3) was given in line 5 already");
  refused(with("integer", "complex"), "field 'complex'");
  refused(with("coordinate", "elemental"), "neither array nor coordinate");
  refused(with("general", "hermitian"), "neither general nor symmetric");
  refused(with("2 3 3\n", "99999999999 3 3\n"), "2^31");
  refused(write(dir, "nan.mtx", "%%MatrixMarket matrix array real general\n1 1\nnan\n"), ":3: a cost is NaN");
  refused(write(dir, "big.mtx", "%%MatrixMarket matrix array real general\n100000 100000\n1\n"),
          "cannot hold");
  refused(write(dir, "text.txt", "hello\n"), "not a matching problem");
  std::string gzip = "\x1f\x8b\x08 this is not a gzip";
  refused(write(dir, "damaged.gz", gzip), "damaged.gz");
}

TEST_CASE("HDF5 problems are CSR arrays or a matrix") {
  const testing::TempDir dir;
  const auto path = dir / "csr.h5";
  const auto csr = [&](std::vector<std::int32_t> columns, std::vector<double> cost) {
    io::detail::h5::Writer file(path, path.string());
    file.dataset("row_offsets", std::vector<std::int64_t>{0, 2, 3});
    file.dataset("col_index", columns);
    file.dataset("cost", cost);
    file.dataset("unmatched_row_cost", std::vector<double>{1, INFINITY});
    file.attribute("cols", 3);
    file.close();
  };
  csr({0, 2, 1}, {0.5, 2, -1});
  const auto file = io::read_problem(path);
  const auto& sparse = std::get<matching::SparseCosts>(file.costs);
  CHECK(sparse.graph.cols == 3);
  CHECK(std::ldexp(static_cast<double>(sparse.cost[0]), -sparse.fraction_bits) == 0.5);
  CHECK(std::ldexp(static_cast<double>(sparse.unmatched_row_cost[0]), -sparse.fraction_bits) == 1);
  CHECK(sparse.unmatched_row_cost[1] == matching::kInfiniteCost);
  csr({2, 0, 1}, {1, 2, 3});
  refused(path, "unsorted");
  csr({0, 0, 1}, {1, 2, 3});
  refused(path, "repeat column 0");
  csr({0, 5, 1}, {1, 2, 3});
  refused(path, "outside");
  csr({0, 1, 1}, {1, NAN, 3});
  refused(path, "cost[1]");
  csr({0, 1, 1}, {1, 2});
  refused(path, "cost has 2");
}

TEST_CASE("graphs are read from the structure, whatever the values") {
  const testing::TempDir dir;
  const auto graph = io::read_graph(write(dir, "a.mtx", kCoordinates));
  CHECK(graph.rows == 2);
  CHECK(graph.cols == 3);
  CHECK(graph.row_offsets == std::vector<matching::Offset>{0, 2, 3});
  CHECK(graph.col_index == std::vector<matching::Index>{0, 2, 2});
  const auto coordinates = [&](const std::string& kind, const std::string& entries) {
    return io::read_graph(
        write(dir, "b.mtx", "%%MatrixMarket matrix coordinate " + kind + "\n3 3 2\n" + entries));
  };
  const std::vector<matching::Index> both{1, 0, 2};
  CHECK(coordinates("pattern symmetric", "2 1\n3 3\n").col_index == both);
  CHECK(coordinates("real skew-symmetric", "2 1 nan\n3 3 0\n").col_index == both);
  CHECK(coordinates("complex hermitian", "2 1 1 -1\n3 3 0 0\n").col_index == both);
  CHECK(coordinates("complex general", "2 1 1 -1\n1 3 0 0\n").col_index ==
        std::vector<matching::Index>{2, 0});
  CHECK(io::read_graph(write(dir, "r.mtx", "%%MatrixMarket matrix array real general\n1 2\n0\ninf\n"))
            .edges() == 1);
}

TEST_CASE("damaged graph files are refused with the line") {
  const testing::TempDir dir;
  const auto with = [&](const std::string& from, const std::string& to, const std::string& part) {
    std::string text = kCoordinates;
    text.replace(text.find(from), from.size(), to);
    const auto path = write(dir, "bad.mtx", text);
    CHECK_THROWS_AS(io::read_graph(path), InputError);
    CHECK_THROWS_WITH(io::read_graph(path), Contains(part) && Contains("bad.mtx"));
  };
  with("2 3 3\n", "2 3 4\n", "after 3 of 4 entries");
  with("2 3 3\n", "2 3 2\n", "more entries than the 2");
  with("2 3 3\n", "2 3 999999\n", "cannot hold");
  with("1 1 5", "1 4 5", ":5: column 4 lies outside 1..3");
  with("1 1 5", "0 1 5", ":5: row 0 lies outside 1..2");
  with("1 1 5", "1 1 x", ":5: a number expected, not 'x'");
  with("1 1 5", "1 1", ":5: a number expected");
  with("1 1 5", "1 1 5 6", ":5: '6' is one field too many");
  with("1 1 5", "1 3 5", ":6: entry (1, 3) was given in line 5 already");
  with("integer", "quaternion", "field 'quaternion'");
}

TEST_CASE("HDF5 graphs need no costs") {
  const testing::TempDir dir;
  const auto path = dir / "csr.h5";
  const auto csr = [&](std::vector<std::int64_t> offsets, std::vector<std::int32_t> columns) {
    io::detail::h5::Writer file(path, path.string());
    file.dataset("row_offsets", offsets);
    file.dataset("col_index", columns);
    file.attribute("cols", 3);
    file.close();
  };
  csr({0, 2, 3}, {0, 2, 1});
  const auto graph = io::read_graph(path);
  CHECK(graph.rows == 2);
  CHECK(graph.cols == 3);
  CHECK(graph.col_index == std::vector<matching::Index>{0, 2, 1});
  const auto bad = [&](const std::string& part) {
    CHECK_THROWS_AS(io::read_graph(path), InputError);
    CHECK_THROWS_WITH(io::read_graph(path), Contains(part) && Contains("csr.h5"));
  };
  csr({0, 2, 3}, {2, 0, 1});
  bad("unsorted");
  csr({0, 2, 3}, {0, 5, 1});
  bad("outside");
  csr({0, 3, 2}, {0, 2, 1});
  bad("row_offsets");
  csr({0, 2, 4}, {0, 2, 1});
  bad("row_offsets must run");
}
