/// Divisions and confidence through the command line: contents of files, effects of options.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/track_files.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// Simulates dividing cells into dir / "sim" and returns the table of detections.
std::string simulated(const TempDir& dir) {
  write_file(dir / "cells.yaml",
             "simulation: {particles: 150, frames: 20, box_um: 5.3, speed_um_s: 0.1, division_s: 30, "
             "division_spread_s: 4, division_distance_um: 0.4, truth: [csv], detections: [csv]}\n");
  const Outcome outcome =
      run_motes({"simulate", (dir / "cells.yaml").string(), "-o", (dir / "sim").string(), "--quiet"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return (dir / "sim" / "detections.csv").string();
}

nlohmann::json track(const std::string& table, const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"track", table, "-o", out, "--quiet", "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

std::int64_t daughters(const TrackSet& tracks) {
  return std::count_if(tracks.parent.begin(), tracks.parent.end(), [](std::int64_t p) { return p >= 0; });
}

}  // namespace

TEST_CASE("divisions are written to every file that can hold them") {
  const TempDir dir;
  const std::string table = simulated(dir);
  const auto report = track(table, (dir / "t").string());
  const auto& events = report["linking"]["series"]["events"];
  INFO(events.dump());
  REQUIRE(events["believed"] == true);
  const auto count = events["divisions"].get<std::int64_t>();
  CHECK(count > 10);
  for (const char* file : {"tracks.h5", "tracks.csv", "tracks.vtp", "tracks.vtkhdf"}) {
    INFO(file);
    CHECK(daughters(io::read_tracks(dir / "t" / file)) == 2 * count);
  }
  const Outcome scored =
      run_motes({"score", "--truth", (dir / "sim" / "truth.csv").string(), "--tracks",
                 (dir / "t" / "tracks.h5").string(), "--gate-link", "0.001", "--quiet", "--json", "-"});
  INFO(scored.err);
  REQUIRE(scored.code == 0);
  CHECK(nlohmann::json::parse(scored.out)["division"]["f1"] > 0.7);

  const auto none = track(table, (dir / "n").string(), {"--set", "linking.events=none"});
  CHECK(none["linking"]["series"]["events"]["divisions"] == 0);
  CHECK(daughters(io::read_tracks(dir / "n" / "tracks.h5")) == 0);
}

TEST_CASE("merges are written to every file that can hold them, and scored") {
  const TempDir dir;
  // Dividing cells in reversed time.
  TrackSet truth = io::read_tracks((simulated(dir), dir / "sim" / "truth.csv"));
  std::string table = "frame,x,y,z\n", mirrored = "particle,frame,x,y,z,merged_into\n";
  for (std::size_t t = 0; t < truth.tracks(); ++t)
    for (auto p = static_cast<std::size_t>(truth.track_offsets[t]);
         p < static_cast<std::size_t>(truth.track_offsets[t + 1]); ++p) {
      const std::string place =
          fmt::format("{},{},{},{}", 19 - truth.frame[p], truth.x_um[p], truth.y_um[p], truth.z_um[p]);
      table += place + "\n";
      mirrored += fmt::format("{},{},{}\n", truth.track_id[t], place, truth.parent[t]);
    }
  write_file(dir / "points.csv", table);
  write_file(dir / "mirrored.csv", mirrored);
  const std::vector<std::string> units{"--voxel", "1", "--dt", "1"};
  auto options = units;
  options.insert(options.end(), {"--set", "linking.events=merges"});
  const auto report = track((dir / "points.csv").string(), (dir / "t").string(), options);
  const auto& merges = report["linking"]["series"]["merges"];
  INFO(merges.dump());
  REQUIRE(merges["believed"] == true);
  const auto count = merges["merges"].get<std::int64_t>();
  CHECK(count > 10);
  CHECK(report["linking"]["series"]["events"]["divisions"] == 0);
  const auto merging = [](const TrackSet& tracks) {
    return std::count_if(tracks.merged_into.begin(), tracks.merged_into.end(),
                         [](std::int64_t id) { return id >= 0; });
  };
  for (const char* file : {"tracks.h5", "tracks.csv", "tracks.vtp", "tracks.vtkhdf"}) {
    INFO(file);
    CHECK(merging(io::read_tracks(dir / "t" / file)) == 2 * count);
  }
  for (const char* file : {"a.geff", "a.trackmate.xml"}) {
    const Outcome converted =
        run_motes({"convert", (dir / "t" / "tracks.h5").string(), (dir / file).string()});
    INFO(converted.err);
    CHECK(merging(io::read_tracks(dir / file)) == 2 * count);
  }
  const Outcome napari =
      run_motes({"convert", (dir / "t" / "tracks.h5").string(), (dir / "a.napari.csv").string()});
  CHECK_THAT(napari.err + napari.out, Contains("merges"));
  const Outcome scored = run_motes({"score", "--truth", (dir / "mirrored.csv").string(), "--tracks",
                                    (dir / "t" / "tracks.h5").string(), "--gate-link", "0.001", "--quiet",
                                    "--json", "-", "--set", "input.voxel_um=1"});
  INFO(scored.err);
  REQUIRE(scored.code == 0);
  const auto scores = nlohmann::json::parse(scored.out);
  CHECK(scores["merge"]["f1"] > 0.7);
  CHECK(scores["division"]["true"] == 0);
  const Outcome pairs = run_motes({"track", (dir / "points.csv").string(), "-o", (dir / "p").string(),
                                   "--set", "linking.scope=pairs", "--set", "linking.events=merges"});
  CHECK(pairs.code == 2);
  CHECK_THAT(pairs.err, Contains("linking.events: linking.scope: pairs finds no divisions or merges"));
}

TEST_CASE("confidence is written, and cuts") {
  const TempDir dir;
  const std::string table = simulated(dir);
  const auto all = track(table, (dir / "a").string());
  const double wrong = all["linking"]["confidence"]["wrong_links"];
  CHECK(wrong >= 0);
  CHECK(wrong < 0.2);
  const TrackSet tracks = io::read_tracks(dir / "a" / "tracks.h5");
  const auto has = [](const std::vector<PropertyColumn>& columns, const std::string& name) {
    return std::any_of(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  };
  CHECK(has(tracks.point_properties, "link_confidence"));
  CHECK(has(tracks.track_properties, "confidence"));
  const auto sure = track(table, (dir / "s").string(), {"--min-confidence", "0.9999"});
  CHECK(sure["linking"]["confidence"]["links_cut"] > 0);
  CHECK(sure["tracks"]["links"] < all["tracks"]["links"]);
  const auto plain = track(table, (dir / "p").string(), {"--set", "linking.confidence=false"});
  CHECK_FALSE(plain["linking"].contains("confidence"));
  CHECK(plain["tracks"]["links"] == all["tracks"]["links"]);
  const Outcome refused = run_motes({"track", table, "-o", (dir / "r").string(), "--min-confidence", "2"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("--min-confidence"));
  const Outcome pairs = run_motes({"track", table, "-o", (dir / "r").string(), "--min-confidence", "0.5",
                                   "--set", "linking.scope=pairs"});
  CHECK(pairs.code == 2);
}
