#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "app/options/options.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// Whether the shell is installed and accepts the script.
bool parses(const std::string& shell, const std::filesystem::path& script) {
  const std::string command = shell + " -n " + script.string();
  return std::system(command.c_str()) == 0;
}

}  // namespace

TEST_CASE("help explains commands, keys and sections") {
  CHECK(run_motes({"help"}).out == run_motes({"--help"}).out);
  CHECK(run_motes({"help", "track"}).out == run_motes({"track", "--help"}).out);
  CHECK_THAT(run_motes({"help", "track"}).out, Contains("\n\nParameters:") && !Contains("\n\n\n"));
  const std::string key = run_motes({"help", "linking.gate_um"}).out;
  CHECK_THAT(key,
             Contains("linking.gate_um = auto") && Contains("Longest displacement") && Contains("unit: um"));
  const std::string section = run_motes({"help", "linking"}).out;
  CHECK_THAT(section, Contains("linking.gate_um") && Contains("linking.verify") && !Contains("detection."));
  const std::string part = run_motes({"help", "min-length"}).out;
  CHECK_THAT(part, Contains("linking.min_length = ") && !Contains("linking.max_gap"));
  const Outcome unknown = run_motes({"help", "trak"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("did you mean 'track'"));
  CHECK_THAT(run_motes({"help", "banana"}).err,
             !Contains("did you mean") && Contains("motes info --options"));
}

TEST_CASE("help heads its lists with words of motes, and shows no types of the parser") {
  CHECK_THAT(run_motes({"--help"}).out, Contains("Commands:") && !Contains("Subcommand"));
  for (const char* name : {"track", "convert", "cluster", "match", "render"}) {
    INFO(name);
    CHECK_THAT(run_motes({name, "--help"}).out,
               Contains("Arguments:") && !Contains("TEXT") && !Contains("POSITIVE"));
  }
}

TEST_CASE("the manual page and the completions name every command, and the page every key") {
  const std::string man = run_motes({"help", "--man"}).out;
  for (const std::string& path : app::option_paths()) CHECK_THAT(man, Contains("\\fB" + path + "\\fR"));
  const TempDir dir;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    INFO(shell);
    const std::string script = run_motes({"help", "--completion", shell}).out;
    for (const char* name :
         {"track", "detect", "simulate", "score", "analyse", "match", "convert", "render", "info", "help"})
      CHECK_THAT(script, Contains(name));
    CHECK_THAT(script, Contains("min-length"));
    write_file(dir / shell, script);
  }
  CHECK(parses("bash", dir / "bash"));
  CHECK(run_motes({"help", "--completion", "tcsh"}).code == 2);
}

TEST_CASE("bash completes commands, options and keys") {
  const TempDir dir;
  const std::string script = run_motes({"help", "--completion", "bash"}).out;
  const auto completes = [&](const std::string& words, int at) {
    write_file(dir / "c.sh", script + "\nCOMP_WORDS=(" + words + ") COMP_CWORD=" + std::to_string(at) +
                                 "\ncompopt() { :; }\n_motes\nprintf '%s\\n' \"${COMPREPLY[@]}\" > " +
                                 (dir / "out").string() + "\n");
    CHECK(std::system(("bash " + (dir / "c.sh").string()).c_str()) == 0);
    return file_bytes(dir / "out");
  };
  CHECK(completes("motes tr", 1) == "track\n");
  CHECK(completes("motes track --ga", 2) == "--gate\n");
  CHECK(completes("motes detect --ga", 2) == "\n");
  CHECK_THAT(completes("motes track --set linking.ga", 3), Contains("linking.gate_um="));
}
