// What docs/library/solvers.md lists must be what the registry holds: no row missing, none stale.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>

#include "tests/app/run_motes.h"

using namespace motes;

namespace {

/// The table rows of a page's section, cut after `cells` cells; the head and the line below it left out.
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

}  // namespace

TEST_CASE("docs/library/solvers.md has one row for every solver, and no other") {
  const auto page = std::filesystem::path(MOTES_SOURCE_DIR) / "docs/library/solvers.md";
  std::vector<std::string> expected;
  for (const auto& info : matching::solvers()) {
    std::ostringstream row;
    row << "| `" << info.name << "` | " << matching::to_string(info.family()) << " | "
        << to_string(info.backends) << " | " << to_string(info.costs) << " | " << to_string(info.guarantee);
    expected.push_back(row.str());
  }
  CHECK(table_rows(testing::file_bytes(page), "## All solvers", 5) == expected);
}
