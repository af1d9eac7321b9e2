/// Parts of a series, detected separately and merged, give the bytes of one run.

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;

namespace {

/// Detects the part `frames` of the series with the plan.
std::string detect_part(const std::filesystem::path& dir, const std::string& frames,
                        const std::vector<std::string>& more = {}) {
  std::string name = "part" + frames;
  for (char& c : name) c = c == ':' ? '_' : c;
  const std::string file = (dir / (name + ".h5")).string();
  std::vector<std::string> arguments{"detect", (dir / "plan.yaml").string(), "--frames", frames, "-o", file,
                                     "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return file;
}

struct Planned {
  TempDir folder;
  std::filesystem::path dir = folder.path();
  std::string simulated = simulate_small(dir, true).string();
  std::string input = simulated + "/frames";
  Planned() {
    const Outcome outcome = run_motes({"plan", input, "-o", (dir / "plan.yaml").string()});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
  }
};

}  // namespace

TEST_CASE("Merged parts give the bytes of one run, in any order of parts") {
  const Planned planned;
  const auto& dir = planned.dir;
  const std::string one = detect_part(dir, "0:1"), two = detect_part(dir, "1:4"),
                    rest = detect_part(dir, "4:6");
  const Outcome merged = run_motes(
      {"merge", rest, one, two, "--config", (dir / "plan.yaml").string(), "-o", (dir / "merged").string()});
  INFO(merged.err);
  REQUIRE(merged.code == 0);
  const Outcome whole = run_motes(
      {"track", (dir / "plan.yaml").string(), "--set", "input.frames=0:6", "-o", (dir / "whole").string()});
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  for (const char* file : {"tracks.h5", "tracks.csv", "tracks.vtp", "tracks.vtkhdf", "frames.pvd"})
    CHECK(file_bytes(dir / "merged" / file) == file_bytes(dir / "whole" / file));
}

TEST_CASE("Without a plan, parts agree on the radius of the complete series") {
  const Planned planned;
  const auto& dir = planned.dir;
  std::vector<std::string> parts;
  for (const char* frames : {"0:3", "3:"}) {
    parts.push_back((dir / ("unplanned" + std::to_string(parts.size()) + ".h5")).string());
    REQUIRE(run_motes({"detect", planned.input, "--frames", frames, "-o", parts.back()}).code == 0);
  }
  REQUIRE(run_motes({"merge", parts[0], parts[1], "-o", (dir / "merged").string()}).code == 0);
  REQUIRE(run_motes({"track", planned.input, "-o", (dir / "whole").string()}).code == 0);
  CHECK(file_bytes(dir / "merged" / "tracks.h5") == file_bytes(dir / "whole" / "tracks.h5"));
}

TEST_CASE("Folders of track are parts too") {
  const Planned planned;
  const auto& dir = planned.dir;
  const std::string one = detect_part(dir, "0:2");
  REQUIRE(run_motes({"track", (dir / "plan.yaml").string(), "--frames", "2:6", "-o", (dir / "rest").string()})
              .code == 0);
  REQUIRE(run_motes({"merge", one, (dir / "rest").string(), "-o", (dir / "merged").string()}).code == 0);
  REQUIRE(
      run_motes({"track", (dir / "plan.yaml").string(), "--frames", "0:6", "-o", (dir / "whole").string()})
          .code == 0);
  CHECK(file_bytes(dir / "merged" / "tracks.h5") == file_bytes(dir / "whole" / "tracks.h5"));
}

TEST_CASE("merge overwrites the results of another run only when asked to") {
  const Planned planned;
  const auto& dir = planned.dir;
  const std::string one = detect_part(dir, "0:3"), two = detect_part(dir, "3:6");
  const std::string results = (dir / "results").string();
  std::vector<std::string> merge{"merge", one, two, "-o", results};
  REQUIRE(run_motes(merge).code == 0);
  CHECK(run_motes(merge).code == 0);  // the same run again
  const std::string before = file_bytes(dir / "results" / "tracks.h5");
  merge.insert(merge.end(), {"--set", "linking.min_length=4"});
  const Outcome refused = run_motes(merge);
  CHECK(refused.code == 2);
  CHECK(is_one_error_line(refused.err));
  CHECK(refused.err.find("linking.min_length was auto and is 4") != std::string::npos);
  CHECK(file_bytes(dir / "results" / "tracks.h5") == before);
  merge.emplace_back("--force");
  CHECK(run_motes(merge).code == 0);
  CHECK(file_bytes(dir / "results" / "tracks.h5") != before);
}

TEST_CASE("merge refuses parts that do not fit together, and writes nothing") {
  const Planned planned;
  const auto& dir = planned.dir;
  const std::string one = detect_part(dir, "0:2"), two = detect_part(dir, "2:4"),
                    three = detect_part(dir, "4:6");
  const auto refuses = [&](const std::vector<std::string>& parts, int code, const std::string& word) {
    std::vector<std::string> arguments{"merge"};
    arguments.insert(arguments.end(), parts.begin(), parts.end());
    arguments.insert(arguments.end(), {"-o", (dir / "merged").string()});
    const Outcome outcome = run_motes(arguments);
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK(is_one_error_line(outcome.err));
    CHECK(outcome.err.find(word) != std::string::npos);
    CHECK(!std::filesystem::exists(dir / "merged"));
  };
  refuses({one, three}, 2, "frames 2:4 are in no part");
  refuses({one, two, two}, 2, "frames 2:4 are in");
  refuses({one, detect_part(dir, "1:4")}, 2, "frames 1:2 are in");
  refuses({one, detect_part(dir, "3:6")}, 2, "frames 2:3 are in no part");
  refuses({one, detect_part(dir, "2:6", {"--set", "detection.max_count=5"})}, 2, "max_count: 5");
  refuses({one, (dir / "missing.h5").string()}, 3, "missing.h5");
  refuses({one, planned.simulated + "/truth.csv"}, 3, "truth.csv");
  refuses({}, 2, "merge needs");
  const std::string plan = (dir / "plan.yaml").string();
  refuses({one, two, "--config", plan, "--set", "detection.max_count=5"}, 2, "max_count: 5");
}

TEST_CASE("A range of frames selects a part, and an empty one is an error") {
  const Planned planned;
  const auto file = planned.dir / "out.csv";
  for (const char* bad : {"5", "3:3", "4:2", "-1:2", "a:b", ":"}) {
    const Outcome outcome = run_motes({"detect", planned.input, "--frames", bad, "-o", file.string()});
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("--frames") != std::string::npos);
  }
  const Outcome outside = run_motes({"detect", planned.input, "--frames", "6:9", "-o", file.string()});
  CHECK(outside.code == 2);
  CHECK(outside.err.find("frames 0 to 5") != std::string::npos);
  const Outcome beyond = run_motes({"detect", planned.input, "--frames", "4:9", "-o", file.string()});
  CHECK(beyond.code == 0);
  CHECK(beyond.err.find("input.frames is 4:9, but the last frame is 5") != std::string::npos);
  REQUIRE(run_motes({"detect", planned.input, "--frames", "2:4", "-o", file.string()}).code == 0);
  CHECK(file_bytes(file).find("\n2,") != std::string::npos);
  CHECK(file_bytes(file).find("\n4,") == std::string::npos);
}

TEST_CASE("cluster writes scripts whose parts cover the series once") {
  const Planned planned;
  const auto dir = planned.dir / "job";
  for (const char* system : {"slurm", "snakemake"}) {
    const Outcome outcome = run_motes({"cluster", system, planned.input, "--tasks", "4", "-o", dir.string()});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const std::string text =
        file_bytes(dir / (std::string(system) == "slurm" ? "detect.slurm" : "Snakefile"));
    std::size_t at = 0;
    for (const char* frames : {"0:1", "1:3", "3:4", "4:"}) {
      at = text.find(frames, at);
      CHECK(at != std::string::npos);
    }
  }
  const Outcome one = run_motes({"cluster", "slurm", planned.input, "--tasks", "1", "-o", dir.string()});
  CHECK(one.out.find("1 part of 6 frames") != std::string::npos);
  CHECK(run_motes({"cluster", "pbs", planned.input, "-o", dir.string()}).code == 2);
}

TEST_CASE("cluster splits the requested frames, and no part is empty") {
  const Planned planned;
  const auto dir = planned.dir / "job";
  const auto frames_of = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"cluster", "slurm", planned.input, "--tasks", "4", "-o", dir.string()};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Outcome outcome = run_motes(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const std::string text = file_bytes(dir / "detect.slurm");
    const std::size_t at = text.find("frames=(");
    return text.substr(at + 8, text.find(')', at) - at - 8);
  };
  CHECK(frames_of({"input.frame_step=2"}) == "0:2 2:4 4:");
  CHECK(frames_of({"input.frames=1:5"}) == "1:2 2:3 3:4 4:5");
  CHECK(frames_of({"input.frames=2:", "input.frame_step=3"}) == "2:");
}

TEST_CASE("A plan keeps the requested frames") {
  const Planned planned;
  const auto& dir = planned.dir;
  const std::string plan = (dir / "plan.yaml").string();
  REQUIRE(
      run_motes({"plan", planned.input, "--channel", "0", "--set", "input.frames=1:5", "-o", plan}).code ==
      0);
  const std::string one = detect_part(dir, "1:3"), two = detect_part(dir, "3:5");
  const Outcome merged = run_motes({"merge", one, two, "--config", plan, "-o", (dir / "merged").string()});
  INFO(merged.err);
  REQUIRE(merged.code == 0);
  CHECK(merged.err.find("left out") == std::string::npos);
  REQUIRE(run_motes({"track", plan, "-o", (dir / "whole").string()}).code == 0);
  CHECK(file_bytes(dir / "merged" / "tracks.h5") == file_bytes(dir / "whole" / "tracks.h5"));
}

TEST_CASE("merge warns of frames that come before the first part or after the last") {
  const Planned planned;
  const auto& dir = planned.dir;
  const auto merge = [&](const std::string& part, const std::string& frames) {
    const Outcome outcome = run_motes({"merge", part, "--config", (dir / "plan.yaml").string(), "--set",
                                       "input.frames=" + frames, "-o", (dir / "merged").string(), "--force"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.err;
  };
  const std::string part = detect_part(dir, "2:4");
  CHECK(merge(part, "all").find("frames 0:2 are in no part") != std::string::npos);
  CHECK(merge(part, "all").find("frames 4:6 are in no part") != std::string::npos);  // as the input says
  CHECK(merge(detect_part(dir, "2:6"), "2:").find("in no part") == std::string::npos);
  CHECK(merge(part, "2:6").find("frames 4:6 are in no part") != std::string::npos);
  CHECK(merge(part, "2:4").find("in no part") == std::string::npos);
  CHECK(merge(part, "2:4").find("1 part of ") != std::string::npos);
}
