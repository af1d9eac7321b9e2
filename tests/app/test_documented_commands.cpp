// Runs every motes command of README.md and sample/README.md as it is written, in this order, and those of
// the user guide that do not need a file of the reader.

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>

#include "app/render/display.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;

namespace {

/// The indented lines of a page that begin with `motes`, except those that a backslash continues.
std::vector<std::string> commands_of(const std::filesystem::path& page) {
  std::istringstream lines(file_bytes(page));
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("    motes ") && !line.ends_with('\\')) commands.push_back(line.substr(4));
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

/// During its lifetime, the current folder has the contents of a clone: samples and presets.
class InClone {
 public:
  InClone() : before_(std::filesystem::current_path()) {
    for (const char* folder : {"sample", "configs"})
      std::filesystem::create_directory_symlink(std::filesystem::path(MOTES_SOURCE_DIR) / folder,
                                                dir_ / folder);
    std::filesystem::current_path(dir_.path());
  }
  ~InClone() { std::filesystem::current_path(before_); }
  InClone(const InClone&) = delete;
  InClone& operator=(const InClone&) = delete;

 private:
  TempDir dir_;
  std::filesystem::path before_;
};

/// Whether the command's input does not exist, so it is an example for a file of the reader.
bool needs_own_file(const std::vector<std::string>& words) {
  return !words.at(1).starts_with("-") && !std::filesystem::exists(words.at(1));
}

/// Runs a page's commands in the current folder; returns their number.
std::size_t run_commands_of(const std::string& page, bool skip_own_files = false) {
  std::size_t count = 0;
  for (const std::string& command : commands_of(std::filesystem::path(MOTES_SOURCE_DIR) / page)) {
    std::vector<std::string> words = words_of(command);
    words.erase(words.begin());
    if (skip_own_files && needs_own_file(words)) continue;
    ++count;
    const bool movie = std::find(words.begin(), words.end(), "--movie") != words.end();  // needs ffmpeg
    if (words.front() == "render" && (movie || !can_draw())) continue;
    const Outcome outcome = run_motes(words);
    INFO(page << ": " << command << "\n" << outcome.err);
    CHECK(outcome.code == 0);
  }
  return count;
}

}  // namespace

TEST_CASE("Every command of README.md runs as it is written") {
  const InClone here;
  CHECK(run_commands_of("README.md") > 3);
}

TEST_CASE("Every command of sample/README.md runs as it is written") {
  const InClone here;
  CHECK(run_commands_of("sample/README.md") > 3);
}

TEST_CASE("The user guide's commands on the samples run as they are written") {
  const InClone here;
  CHECK(run_commands_of("docs/user/getting-started.md", true) == 1);
  CHECK(run_commands_of("docs/user/output.md", true) == 7);
  CHECK(run_commands_of("docs/user/motion.md", true) == 1);
  CHECK(run_commands_of("docs/user/choosing-parameters.md", true) == 4);
}

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
