// Every motes command of README.md and sample/README.md runs as it is written, in this order.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>

#include "app/display.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;

namespace {

/// The indented lines of a page that begin with `motes`.
std::vector<std::string> commands_of(const std::filesystem::path& page) {
  std::istringstream lines(file_bytes(page));
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    motes ")) commands.push_back(line.substr(4));
  return commands;
}

/// The words of a command as a shell splits them: blanks, single quotes, and # for the rest of the line.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, begun = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
      begun = true;
    } else if (c == ' ' && !quoted) {
      if (begun) words.push_back(word);
      word.clear();
      begun = false;
    } else if (c == '#' && !quoted && !begun) {
      break;
    } else {
      word += c;
      begun = true;
    }
  }
  if (begun) words.push_back(word);
  return words;
}

bool can_draw() {
  try {
    const app::Display display;
    return true;
  } catch (const ResourceError&) {
    return false;
  }
}

/// The current folder for the time being.
class InFolder {
 public:
  explicit InFolder(const std::filesystem::path& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~InFolder() { std::filesystem::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::filesystem::path before_;
};

void run_commands_of(const std::string& page) {
  const std::filesystem::path source(MOTES_SOURCE_DIR);
  const std::vector<std::string> commands = commands_of(source / page);
  REQUIRE(commands.size() > 3);
  const TempDir dir;
  for (const char* folder : {"sample", "configs"})
    std::filesystem::create_directory_symlink(source / folder, dir / folder);
  const InFolder here(dir.path());
  for (const std::string& command : commands) {
    std::vector<std::string> words = words_of(command);
    words.erase(words.begin());
    if (words.front() == "render" && !can_draw()) continue;
    const Outcome outcome = run_motes(words);
    INFO(command << "\n" << outcome.err);
    CHECK(outcome.code == 0);
  }
}

}  // namespace

TEST_CASE("Every command of README.md runs as it is written") { run_commands_of("README.md"); }

TEST_CASE("Every command of sample/README.md runs as it is written") { run_commands_of("sample/README.md"); }

TEST_CASE("The sample is what its configuration makes") {
  const std::filesystem::path sample = std::filesystem::path(MOTES_SOURCE_DIR) / "sample";
  const TempDir dir;
  REQUIRE(run_motes({"simulate", (sample / "sample.yaml").string(), "-o", (dir / "stack").string()}).code ==
          0);
  REQUIRE(run_motes({"simulate", (sample / "points.yaml").string(), "-o", (dir / "points").string()}).code ==
          0);
  CHECK(file_bytes(dir / "stack" / "truth.csv") == file_bytes(sample / "stack_truth.csv"));
  CHECK(file_bytes(dir / "points" / "truth.csv") == file_bytes(sample / "points_truth.csv"));
  CHECK(file_bytes(dir / "points" / "detections.csv") == file_bytes(sample / "points.csv"));
}
