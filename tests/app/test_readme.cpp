// docs/library/solvers.md must list exactly the solvers of the registry.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>

#include "tests/app/run_motes.h"

using namespace motes;

namespace {

/// The table rows of a page's section, cut after `cells` cells, without the head and the line below it.
std::vector<std::string> table_rows(const std::string& page, const std::string& heading, int cells) {
  std::istringstream lines(page);
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = line == heading;
    if (!inside || !line.starts_with("| `")) continue;
    std::size_t end = 0;
    for (int cell = 0; cell < cells && end != std::string::npos; ++cell) end = line.find(" | ", end + 1);
    rows.push_back(line.substr(0, end));
  }
  return rows;
}

/// The rows of the registry for a family: name and back ends.
std::vector<std::string> registered_rows(matching::Family family) {
  std::vector<std::string> rows;
  for (const auto& info : matching::solvers()) {
    if (info.family() == family)
      rows.push_back("| `" + std::string(info.name) + "` | " + std::string(to_string(info.backends)));
  }
  return rows;
}

}  // namespace

TEST_CASE("docs/library/solvers.md has one row for every solver, and no other") {
  const auto path = std::filesystem::path(MOTES_SOURCE_DIR) / "docs/library/solvers.md";
  const std::string page = testing::file_bytes(path);
  CHECK(table_rows(page, "## Assignment", 2) == registered_rows(matching::Family::assignment));
  CHECK(table_rows(page, "## Cardinality", 2) == registered_rows(matching::Family::cardinality));
  CHECK(table_rows(page, "## Greedy", 2) == registered_rows(matching::Family::greedy));
}

TEST_CASE("costs and guarantees are as docs/library/solvers.md states them for each family") {
  for (const auto& info : matching::solvers()) {
    INFO(info.name);
    const bool assigns = info.family() == matching::Family::assignment;
    CHECK(to_string(info.costs) == (assigns ? "sparse, dense, geometric" : "graph"));
    const bool half = info.name == "greedy-suitor" || info.name == "greedy-sorted";
    const bool greedy = info.family() == matching::Family::greedy;
    CHECK(to_string(info.guarantee) == (half ? "half of the best weight" : greedy ? "maximal" : "exact"));
  }
}
