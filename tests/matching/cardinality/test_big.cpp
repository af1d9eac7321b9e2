// Graphs of more than 2^31 edges: every offset is 64 bits wide. Not in the default suite (`test_matching
// "[big]"`, minutes): the lists repeat, so that a few pages stand for all of them, and only a transpose needs
// the memory.

#include <fstream>
#include <numeric>
#include <string>

#include <catch2/catch.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <motes/matching/initialiser.h>
#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "tests/support/skip.h"

using namespace motes;
using namespace motes::matching;

namespace {

/// A range of addresses in which lists 0..length-1 lie one after another, `times` of them; parts of it are
/// put in place by fill(), each a few megabytes that are seen again and again.
class RepeatedLists {
 public:
  explicit RepeatedLists(Offset entries) : bytes_(static_cast<std::size_t>(entries) * sizeof(Index)) {
    void* room = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(room != MAP_FAILED);
    base_ = static_cast<char*>(room);
  }
  ~RepeatedLists() { munmap(base_, bytes_); }
  RepeatedLists(const RepeatedLists&) = delete;
  RepeatedLists& operator=(const RepeatedLists&) = delete;

  /// `times` lists of 0..length-1, a whole number of pages each, after what was filled before.
  void fill(Index length, Index times) {
    constexpr Index kListsAPart = 64;
    std::vector<Index> part(static_cast<std::size_t>(length) * kListsAPart);
    for (std::size_t k = 0; k < part.size(); ++k)
      part[k] = static_cast<Index>(k % static_cast<std::size_t>(length));
    const int file = memfd_create("lists", 0);
    REQUIRE(file >= 0);
    REQUIRE(write(file, part.data(), part.size() * sizeof(Index)) ==
            static_cast<ssize_t>(part.size() * sizeof(Index)));
    for (Index list = 0; list < times; list += kListsAPart) {
      const auto lists = static_cast<std::size_t>(std::min(kListsAPart, times - list));
      const std::size_t bytes = lists * static_cast<std::size_t>(length) * sizeof(Index);
      REQUIRE(mmap(base_ + filled_, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
      filled_ += bytes;
    }
    close(file);
  }
  std::span<const Index> all() const {
    return {reinterpret_cast<const Index*>(base_), bytes_ / sizeof(Index)};
  }

 private:
  std::size_t bytes_, filled_ = 0;
  char* base_ = nullptr;
};

/// 46,080 wide rows with all 47,104 columns, and 2,048 narrow ones, beyond 2^31 edges, with the first 1,024.
/// All columns can be matched, 1,024 narrow rows cannot.
struct BigGraph {
  static constexpr Index kWide = 46080, kNarrow = 2048, kCols = 47104, kNarrowCols = 1024;
  static constexpr Offset kEdges = Offset{kWide} * kCols + Offset{kNarrow} * kNarrowCols;

  BigGraph() : by_row(kEdges), by_col(kEdges) {
    static_assert(Offset{kWide} * kCols > Offset{1} << 31);
    by_row.fill(kCols, kWide);
    by_row.fill(kNarrowCols, kNarrow);
    by_col.fill(kWide + kNarrow, kNarrowCols);
    by_col.fill(kWide, kCols - kNarrowCols);
    for (Index i = 0; i < kWide + kNarrow; ++i)
      row_offsets.push_back(row_offsets.back() + (i < kWide ? kCols : kNarrowCols));
    for (Index j = 0; j < kCols; ++j)
      col_offsets.push_back(col_offsets.back() + (j < kNarrowCols ? kWide + kNarrow : kWide));
  }
  CardinalityProblem problem() const {
    return {{kWide + kNarrow, kCols, row_offsets, by_row.all()}, col_offsets, by_col.all()};
  }

  RepeatedLists by_row, by_col;
  std::vector<Offset> row_offsets{0}, col_offsets{0};
};

enum class From { nothing, wide_rows, all_but_one };

/// wide_rows: wide row i with column i; every narrow row then needs a path of three edges. all_but_one: a
/// maximum matching but for one narrow row, whose path goes through others.
std::vector<Index> start_of(From from) {
  if (from == From::nothing) return {};
  std::vector<Index> start(BigGraph::kWide + BigGraph::kNarrow, -1);
  const Index first = from == From::all_but_one ? BigGraph::kNarrowCols : 0;
  for (Index i = 0; i < BigGraph::kWide; ++i) start[i] = first + i;
  for (Index k = 0; from == From::all_but_one && k + 1 < BigGraph::kNarrowCols; ++k)
    start[BigGraph::kWide + k] = k;
  return start;
}

/// Searches that would go through nearly all edges for every row: minutes, or days.
bool too_slow(std::string_view solver, From from) {
  return (solver == "ss-dfs" && from != From::all_but_one) ||
         (solver == "ms-bfs-graft" && from == From::nothing);
}

double available_gb() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;)
    if (word == "MemAvailable:") {
      double kb = 0;
      in >> kb;
      return kb / 1e6;
    }
  return 0;
}

}  // namespace

TEST_CASE("more than 2^31 edges: every CPU solver finds a maximum matching, and the cover proves it",
          "[.][big]") {
  const BigGraph big;
  const CardinalityProblem problem = big.problem();
  Execution execution;
  execution.threads = 2;
  for (const SolverInfo& info : solvers()) {
    if (info.family() != Family::cardinality || !info.backends.contains(Backend::cpu)) continue;
    DYNAMIC_SECTION(info.name) for (const From from : {From::nothing, From::wide_rows, From::all_but_one}) {
      if (too_slow(info.name, from)) continue;
      INFO(info.name << " from start " << static_cast<int>(from));
      const auto start = start_of(from);
      const auto answer = make_cardinality_solver(info.name)->solve(execution, problem, start).matching;
      CHECK(answer.cardinality == BigGraph::kCols);
      CHECK(verify(problem, answer, koenig_cover(problem, answer), 2).maximum());
    }
  }
}

TEST_CASE("more than 2^31 edges: every initialiser gives a maximal matching", "[.][big]") {
  const BigGraph big;
  const CardinalityProblem problem = big.problem();
  Execution execution;
  execution.threads = 2;
  for (const InitialiserInfo& info : initialisers()) {
    if (info.name == "none") continue;
    DYNAMIC_SECTION(info.name) {
      Matching start;
      start.row_to_col = info.run(execution, problem, 0);
      start.col_to_row.assign(BigGraph::kCols, -1);
      for (Index i = 0; i < problem.graph.rows; ++i) {
        const Index j = start.row_to_col[i];
        if (j == -1) continue;
        start.col_to_row[j] = i;
        ++start.cardinality;
      }
      CHECK(verify(problem, start, {}, 2).matching_valid);
      CHECK(start.cardinality >= BigGraph::kWide);
    }
  }
}

TEST_CASE("more than 2^31 edges: the decomposition", "[.][big]") {
  const BigGraph big;
  Execution execution;
  execution.threads = 2;
  const auto answer =
      make_cardinality_solver("hk")->solve(execution, big.problem(), start_of(From::wide_rows)).matching;
  const DulmageMendelsohn parts = decompose(big.problem(), answer);
  CHECK(std::count(parts.rows.begin(), parts.rows.end(), Part::vertical) == BigGraph::kNarrow);
  CHECK(std::count(parts.cols.begin(), parts.cols.end(), Part::vertical) == BigGraph::kNarrowCols);
  CHECK(std::count(parts.rows.begin(), parts.rows.end(), Part::horizontal) == 0);
}

TEST_CASE("more than 2^31 edges: transpose", "[.][big]") {
  constexpr double kNeededGb = 30;  // the answer and 8 bytes an edge beside it
  if (available_gb() < kNeededGb)
    MOTES_SKIP("transpose of 2^31 edges needs 30 GB of free memory, here are " +
               std::to_string(available_gb()));
  const BigGraph big;
  const Transposed made = transpose(big.problem().graph, 16);
  CHECK(made.col_offsets == big.col_offsets);
  const auto expected = big.by_col.all();
  CHECK(std::equal(made.row_index.begin(), made.row_index.end(), expected.begin(), expected.end()));
}
