#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/tracking/linker.h>

#include "app/progress.h"
#include "app/run/check_points.h"
#include "app/run/warnings.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// Walkers far apart, which move `step` um per frame along x.
std::string walkers(int particles, int frames, double step, double scale = 1, int first_frame = 0) {
  std::string text = "particle,frame,x_um,y_um,z_um\n";
  for (int p = 0; p < particles; ++p)
    for (int f = 0; f < frames; ++f)
      text += std::to_string(p) + ',' + std::to_string(first_frame + f) + ',' +
              std::to_string(scale * (p % 5 * 10 + step * f + 0.3 * (p % 3))) + ',' +
              std::to_string(scale * (p / 5 * 10)) + ',' + std::to_string(scale * (p % 7)) + '\n';
  return text;
}

std::string score_of(const TempDir& dir, const std::string& truth, const std::string& tracks) {
  write_file(dir / "truth.csv", truth);
  write_file(dir / "tracks.csv", tracks);
  const Outcome outcome = run_motes({"score", "--truth", (dir / "truth.csv").string(), "--tracks",
                                     (dir / "tracks.csv").string(), "--gate", "0.4"});
  CHECK(outcome.code == 0);
  return outcome.err;
}

/// What `motes track` prints for t.csv with this gate.
std::string track_with(const TempDir& dir, const std::string& gate) {
  const Outcome outcome =
      run_motes({"track", (dir / "t.csv").string(), "-o", (dir / gate).string(), "--gate", gate});
  CHECK(outcome.code == 0);
  return outcome.err;
}

}  // namespace

TEST_CASE("A gate shorter than the typical displacement gives a warning") {
  const TempDir dir;
  write_file(dir / "t.csv", walkers(25, 6, 1));
  CHECK_THAT(track_with(dir, "0.2"), Contains("shorter than the typical displacement of 1 um"));
  CHECK_THAT(track_with(dir, "2"), !Contains("shorter than"));
}

TEST_CASE("Without links no share of wrong links is given") {
  const TempDir dir;
  write_file(dir / "t.csv", walkers(25, 6, 1));
  CHECK_THAT(track_with(dir, "2"), Contains("expected to be wrong"));
  const std::string none = track_with(dir, "0.01");
  CHECK_THAT(none, Contains("0 links") && !Contains("expected to be wrong"));
}

TEST_CASE("Repeated points of a table give a warning") {
  const TempDir dir;
  const std::string once = walkers(24, 4, 1);
  const auto warns = [&](const std::string& text) {
    write_file(dir / "t.csv", text);
    const Outcome outcome =
        run_motes({"track", (dir / "t.csv").string(), "-o", (dir / "out").string(), "--force"});
    CHECK(outcome.code == 0);
    return outcome.err.find("does the input have points twice?") != std::string::npos;
  };
  CHECK_FALSE(warns(once));
  CHECK(warns(once + once.substr(once.find('\n') + 1)));
  CHECK(warns(once + once.substr(once.rfind('\n', once.size() - 2) + 1)));
  CHECK_FALSE(warns(walkers(120, 1, 1) + "0,0,0,0,0\n"));  // one in 121 may be chance
}

TEST_CASE("Frames without detections give a warning") {
  CHECK(app::frame_warnings({{0, 3, {}}, {1, 4, {}}}).empty());
  CHECK(app::frame_warnings({{0, 0, {}}, {1, 0, {}}}).empty());  // another warning covers this
  const auto one = app::frame_warnings({{0, 3, {}}, {7, 0, {}}, {8, 1, {}}});
  REQUIRE(one.size() == 1);
  CHECK_THAT(one[0], Contains("1 of 3 frames has no detections (frame 7)"));
}

TEST_CASE("Frame numbers that rise in steps give a warning that names the setting") {
  const TempDir dir;
  write_file(dir / "t.csv", "frame,x_um,y_um\n0,1,1\n10,1,1\n20,1,1\n");
  const std::vector<std::string> track{"track", (dir / "t.csv").string(), "-o", (dir / "out").string()};
  CHECK_THAT(run_motes(track).err, Contains("rise in steps of 10; set input.frame_step to 10"));
  std::vector<std::string> stepped = track;
  stepped.insert(stepped.end(), {"--force", "--set", "input.frame_step=10"});
  const Outcome outcome = run_motes(stepped);
  CHECK_THAT(outcome.out, Contains("1 track of 3 detections"));
  CHECK_THAT(outcome.err, !Contains("rise in steps"));

  // No step has these numbers as multiples and as neighbours.
  write_file(dir / "t.csv", "frame,x_um,y_um\n5,1,1\n15,1,1\n25,1,1\n");
  stepped = track;
  stepped.push_back("--force");
  CHECK_THAT(run_motes(stepped).err, Contains("so nothing can be linked") && !Contains("rise in steps"));
}

TEST_CASE("A series without any detection names the settings to check") {
  const TempDir dir;
  const std::string stack = (std::filesystem::path(MOTES_SOURCE_DIR) / "sample" / "stack.ome.tif").string();
  const Outcome outcome = run_motes({"track", stack, "-o", (dir / "t").string(), "--threshold", "1e9"});
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, Contains("no frame has detections") && Contains("detection.threshold"));
  const Outcome channel = run_motes({"track", stack, "-o", (dir / "c").string(), "--channel", "3"});
  CHECK(channel.code == 2);
  CHECK_THAT(channel.err, Contains("has 1 channel; leave input.channel out"));
}

TEST_CASE("A single frame gives a warning, and an output folder that is a file an error") {
  const TempDir dir;
  write_file(dir / "t.csv", "frame,x_um,y_um,z_um\n3,0,0,0\n3,5,5,5\n");
  const Outcome one = run_motes({"track", (dir / "t.csv").string(), "-o", (dir / "t").string()});
  CHECK(one.code == 0);
  CHECK_THAT(one.err, Contains("all detections are in frame 3, so there is nothing to link") &&
                          Contains("--axes TYX"));
  const Outcome file = run_motes({"track", (dir / "t.csv").string(), "-o", (dir / "t.csv").string()});
  CHECK(file.code == 4);
  CHECK_THAT(file.err, Contains("t.csv is a file, not a folder; choose another with -o"));
}

TEST_CASE("Mostly single-point tracks give a warning, and can be left out") {
  const TempDir dir;
  std::string text = "frame,x_um,y_um,z_um\n";
  for (int i = 0; i < 40; ++i)
    for (int f = 0; f < 2 + 2 * (i % 4 == 0); ++f)
      text += std::to_string(f == 0 ? 0 : 4 * (i % 4 != 0) + f) + ',' + std::to_string(10 * i) + ",0,0\n";
  write_file(dir / "t.csv", text);
  const std::vector<std::string> command{
      "track", (dir / "t.csv").string(), "-o", (dir / "t").string(), "--gate", "1",
      "--set", "linking.scope=pairs"};
  CHECK_THAT(run_motes(command).err, Contains("tracks are a single point"));
  auto longer = command;
  longer.insert(longer.end(), {"--min-length", "2", "--force"});
  const Outcome outcome = run_motes(longer);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, !Contains("single point"));
  CHECK_THAT(outcome.out, Contains("10 tracks of 40 detections"));
}

TEST_CASE("Scoring says when frames or units look shifted") {
  const TempDir dir;
  const std::string truth = walkers(25, 8, 1);
  CHECK_THAT(score_of(dir, truth, truth), !Contains("warning"));
  CHECK_THAT(score_of(dir, truth, walkers(25, 8, 1, 1, 1)), Contains("counted down by one"));
  CHECK_THAT(score_of(dir, walkers(25, 8, 1, 1, 1), truth), Contains("counted up by one"));
  CHECK_THAT(score_of(dir, truth, walkers(25, 8, 1, 5)), Contains("multiplied by [0.2, 0.2, 0.2]"));
  CHECK_THAT(score_of(dir, truth, walkers(25, 8, 1, 1.001)), !Contains("warning"));
}

TEST_CASE("Short options set their keys, and are refused by name") {
  const TempDir dir;
  write_file(dir / "t.csv", "frame,x,y,z\n0,1,2,3\n1,1,2,3\n");
  const std::string input = (dir / "t.csv").string();
  const Outcome outcome = run_motes({"track", input, "-o", (dir / "t").string(), "--voxel", "0.5,0.2,0.1",
                                     "--dt", "0.25", "--gate", "0.3"});
  REQUIRE(outcome.code == 0);
  const std::string config = file_bytes(dir / "t" / "config.yaml");
  CHECK_THAT(config,
             Contains("voxel_um: [0.5, 0.2, 0.1]") && Contains("dt_s: 0.25") && Contains("gate_um: 0.3"));
  const Outcome refused = run_motes({"track", input, "--gate", "wide"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("--gate") && Contains("linking.gate_um"));
  CHECK_THAT(run_motes({"track", "--help"}).out, Contains("--radius") && Contains("(detection.radius_um)"));
}

TEST_CASE("One frame is counted in the singular, and a progress line fits the terminal") {
  CHECK(app::counted(1, "frames") == "1 frame");
  CHECK(app::counted(0, "frames") == "0 frames");
  CHECK(app::counted(2, "frame pairs") == "2 frame pairs");
  for (const std::size_t columns : {std::size_t{1}, std::size_t{20}, std::size_t{40}, std::size_t{80}}) {
    const std::string line = app::progress_line("detecting", 0.5, "5/10 frames, 3.1/s, 2.0 s left", columns);
    CHECK(line.size() <= columns);
  }
  CHECK(app::progress_line("x", 0.5, "state", 80) == "x [############------------] state");
}

TEST_CASE("points at the place of an earlier one in their frame are counted") {
  std::mt19937_64 rng(3);
  std::vector<Detections> frames(3);
  std::set<std::array<double, 3>> places;
  std::size_t repeats = 0;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    places.clear();
    for (int i = 0; i < 20'000; ++i) {
      const auto draw = [&] { return static_cast<double>(rng() % 50); };
      const std::array<double, 3> place{draw(), draw(), draw()};
      repeats += places.insert(place).second ? 0 : 1;
      frames[f].x_um.push_back(place[0]);
      frames[f].y_um.push_back(place[1]);
      frames[f].z_um.push_back(place[2]);
    }
  }
  CHECK(repeats > 1000);
  CHECK(app::check_points({2}, frames, "points.csv").repeats == repeats);
  CHECK(app::check_points({2}, frames, "points.csv").crowd.empty());
  CHECK(app::check_points({1}, {Detections{}}, "points.csv").repeats == 0);
  std::size_t distinct = 0;
  for (const Detections& frame : app::distinct_points({2}, frames)) distinct += frame.size();
  CHECK(distinct == 3 * 20'000 - repeats);
  frames[2].x_um.resize(20'000 + tracking::kMostCoincident + 1, 99);
  frames[2].y_um.resize(frames[2].x_um.size(), 98);
  frames[2].z_um.resize(frames[2].x_um.size(), -0.0);
  const app::PointCheck check = app::check_points({2}, frames, "points.csv");
  CHECK_THAT(check.crowd, Contains("(99, 98, -0)"));
  CHECK(check.repeats == repeats + tracking::kMostCoincident);
}

TEST_CASE("points that crowd at one place are linked, as a series and pair by pair") {
  const TempDir dir;
  const std::string file = (dir / "crowd.csv").string(), out = (dir / "out").string();
  std::string text = "frame,x_um,y_um,z_um\n";
  for (int frame = 0; frame < 3; ++frame) {
    for (int k = 0; k < 3000; ++k) text += std::to_string(frame) + ",1,2,3\n";
    for (int k = 0; k < 30; ++k) text += fmt::format("{},{},{},9\n", frame, 10 + 3 * k, 0.1 * frame);
  }
  write_file(file, text);
  const auto run = run_motes({"track", file, "-o", out, "--json", "-"});
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("more than 256 points of frame 0 lie at the same place (1, 2, 3)"));
  CHECK(nlohmann::json::parse(run.out)["tracks"]["tracks"] == 3030);
  const auto with = [&](const std::string& setting) {
    return run_motes({"track", file, "-o", out, "--force", "--quiet", "--json", "-", "--set", setting});
  };
  const auto pairs = with("linking.scope=pairs"), series = with("linking.scope=series");
  REQUIRE(pairs.code == 0);
  CHECK(nlohmann::json::parse(pairs.out)["pairs"][0]["solver"] == tracking::kCopiesSolver);
  CHECK(nlohmann::json::parse(pairs.out)["tracks"]["tracks"] == 3030);
  REQUIRE(series.code == 0);
  CHECK(nlohmann::json::parse(series.out)["tracks"]["tracks"] == 3030);
  const auto greedy = with("linking.solver=greedy");
  CHECK(greedy.code == 3);
  CHECK_THAT(greedy.err, Contains("remove the copies, or set linking.solver: auto"));
  CHECK(std::count(greedy.err.begin(), greedy.err.end(), '\n') == 1);
}

TEST_CASE("score warns if the gate is longer than the distance of neighbouring particles") {
  const TempDir dir;
  const std::string file = (dir / "t.csv").string();
  write_file(file, "particle,frame,x_um,y_um,z_um\n0,0,0,0,0\n0,1,0,0,0\n1,0,2,0,0\n1,1,2,0,0\n");
  const auto warned = [&](const std::vector<std::string>& gate) {
    std::vector<std::string> arguments{"score", "--truth", file, "--tracks", file};
    arguments.insert(arguments.end(), gate.begin(), gate.end());
    return run_motes(arguments).err;
  };
  CHECK_THAT(warned({}), Contains("the gate of 5 um is longer than the typical distance") &&
                             Contains("2 um") && Contains("such as 1"));
  CHECK_THAT(warned({"--gate", "1.9"}), !Contains("longer than"));
}
