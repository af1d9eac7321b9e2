// What the README lists must be what the registry holds.

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>

#include "tests/app/run_motes.h"

using namespace motes;

TEST_CASE("the README's solver table has a row for every solver") {
  const std::string readme = testing::file_bytes(std::filesystem::path(MOTES_SOURCE_DIR) / "README.md");
  for (const auto& info : matching::solvers()) {
    const std::string row = "| `" + std::string(info.name) + "` | " +
                            std::string(matching::to_string(info.family)) + " | " +
                            std::string(info.backends) + " |";
    CHECK_THAT(readme, Catch::Contains(row));
  }
}
