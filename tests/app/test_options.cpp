#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>

#include "app/options/options.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::app;

TEST_CASE("Every option has a unique path, allowed values and a meaning") {
  std::set<std::string> seen;
  for (const Option& option : options()) {
    INFO(option.path);
    CHECK(seen.insert(option.path).second);
    CHECK(option.path.find('.') != std::string::npos);
    CHECK(!option.allowed.empty());
    CHECK(!option.doc.empty());
    CHECK(option.doc.find('|') == std::string::npos);
  }
}

TEST_CASE("Keys with a unit in the name state that unit") {
  for (const Option& option : options()) {
    INFO(option.path);
    if (option.path.ends_with("_um")) CHECK(option.unit == "um");
    if (option.path.ends_with("_um_s")) CHECK(option.unit == "um/s");
    if (option.path.ends_with("dt_s")) CHECK(option.unit == "s");
  }
}

TEST_CASE("Every default is a value its own option accepts") {
  const Config defaults;
  for (const Option& option : options()) {
    Config copy;
    INFO(option.path);
    CHECK_NOTHROW(option.set(copy, option.get(defaults)));
    CHECK(to_text(option.get(copy)) == to_text(option.get(defaults)));
  }
}

TEST_CASE("No option but a list of names accepts a list of words") {
  for (const Option& option : options()) {
    if (option.path == "linking.features") continue;
    Config config;
    INFO(option.path);
    CHECK_THROWS_AS(option.set(config, Value{{"a", "b"}, true}), BadValue);
  }
}

TEST_CASE("docs/configuration.md is what `motes info --options` prints") {
  const auto printed = testing::run_motes({"info", "--options"});
  REQUIRE(printed.code == 0);
  const std::string page =
      testing::file_bytes(std::filesystem::path(MOTES_SOURCE_DIR) / "docs" / "configuration.md");
  const bool in_step = printed.out == page;
  INFO("update it: motes info --options > docs/configuration.md");
  CHECK(in_step);
}

TEST_CASE("The defaults that docs/configuration.md shows as YAML are read, and are the defaults") {
  std::istringstream lines(options_markdown());
  std::string yaml;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    ")) yaml += line.substr(4) + "\n";
  REQUIRE(yaml.starts_with("simulation:\n"));
  Config config;
  load_yaml_text(yaml, "docs/configuration.md", config);
  const Config defaults;
  for (const Option& option : options()) {
    INFO(option.path);
    CHECK(to_text(option.get(config)) == to_text(option.get(defaults)));
    const bool shown = option.path.starts_with("simulation.") || option.path.starts_with("faults.") ||
                       option.path.starts_with("imaging.");
    if (shown)
      CHECK(yaml.find("\n  " + option.path.substr(option.path.find('.') + 1) + ": ") != std::string::npos);
  }
}

TEST_CASE("Every preset in configs/ is read") {
  std::size_t presets = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(MOTES_SOURCE_DIR) / "configs")) {
    Config config;
    INFO(entry.path());
    CHECK_NOTHROW(load_yaml(entry.path(), config));
    CHECK_NOTHROW(check_consistency(config));
    ++presets;
  }
  CHECK(presets >= 3);
}
