// The main job on real samples, from the command line to the scores.

#include <cmath>
#include <filesystem>
#include <map>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/io/track_files.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;

namespace {

void run_well(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
}

double distance(const TrackSet& a, std::size_t i, const TrackSet& b, std::size_t j) {
  return std::hypot(a.x_um[i] - b.x_um[j], a.y_um[i] - b.y_um[j], a.z_um[i] - b.z_um[j]);
}

/// The index of the track of point p.
std::size_t track_of(const TrackSet& tracks, std::size_t p) {
  std::size_t t = 0;
  while (static_cast<std::size_t>(tracks.track_offsets[t + 1]) <= p) ++t;
  return t;
}

}  // namespace

TEST_CASE("C. elegans nuclei are linked as the curators did, at the gate that the data propose") {
  MOTES_NEED_DATA(truth, "wormguides-dispim/truth.csv");
  const TempDir dir;
  for (const auto& [step, least] : std::map<int, double>{{1, 0.999}, {2, 0.998}, {5, 0.967}, {10, 0.73}}) {
    const std::string tracks = (dir / ("k" + std::to_string(step))).string(),
                      json = (dir / "score.json").string();
    run_well({"track", truth.string(), "-o", tracks, "--quiet", "--set", "input.voxel_um=1", "--set",
              "input.frame_step=" + std::to_string(step), "--set", "linking.verify=true"});
    run_well({"score", "--truth", truth.string(), "--tracks", tracks + "/tracks.h5", "--frame-step",
              std::to_string(step), "--json", json, "--quiet"});
    const auto link = nlohmann::json::parse(file_bytes(json))["link"];
    INFO("every frame " << step << ": " << link.dump());
    CHECK(link["f1"].get<double>() >= least);
  }
}

TEST_CASE("two marked nuclei of a real light-sheet crop are followed through all frames") {
  MOTES_NEED_DATA(volumes, "tgmm-mini/tgmm_mini_27_31.h5");
  MOTES_NEED_DATA(marks, "tgmm-mini/marked_nuclei.csv");
  const TempDir dir;
  run_well({"track", volumes.string(), "-o", (dir / "t").string(), "--quiet", "--set",
            "input.voxel_um=[5,1,1]", "--set", "input.dt_s=1", "--set", "detection.radius_um=[15,8,8]"});
  const TrackSet found = io::read_tracks(dir / "t/tracks.h5"), marked = io::read_tracks(marks);
  REQUIRE(marked.tracks() == 2);
  for (std::size_t nucleus = 0; nucleus < 2; ++nucleus) {
    std::vector<std::size_t> owners;
    for (auto m = marked.track_offsets[nucleus]; m < marked.track_offsets[nucleus + 1]; ++m) {
      std::size_t nearest = found.points();
      for (std::size_t p = 0; p < found.points(); ++p) {
        if (found.frame[p] != marked.frame[m]) continue;
        if (nearest == found.points() || distance(marked, m, found, p) < distance(marked, m, found, nearest))
          nearest = p;
      }
      REQUIRE(nearest < found.points());
      CHECK(distance(marked, m, found, nearest) < 8);  // half the length of a nucleus
      owners.push_back(track_of(found, nearest));
    }
    CHECK(owners == std::vector<std::size_t>(5, owners[0]));
  }
}

TEST_CASE("one cube that jumps far each frame is one track, at the places that MOSAIC gives") {
  MOTES_NEED_DATA(volumes, "formats/misc/Regions_size_5_5_100_100.tif");
  MOTES_NEED_DATA(expected, "formats/misc/Traj_Regions_size_5_5_100_100.tif.csv");
  const TempDir dir;
  run_well({"track", volumes.string(), "-o", (dir / "t").string(), "--quiet", "--set", "input.voxel_um=1",
            "--set", "input.dt_s=1"});
  const TrackSet found = io::read_tracks(dir / "t/tracks.csv");
  io::TableOptions pixels;
  pixels.voxel_um = Vec3{1, 1, 1};
  const auto places = io::read_points_csv(expected, pixels).frames;
  REQUIRE(found.tracks() == 1);
  REQUIRE(found.points() == places.size());
  for (std::size_t p = 0; p < found.points();
       ++p) {  // its pixel corners are at whole numbers, our pixel centres are
    CHECK(found.x_um[p] == Approx(places[p].x_um[0] - 0.5).margin(0.01));
    CHECK(found.y_um[p] == Approx(places[p].y_um[0] - 0.5).margin(0.01));
    CHECK(found.z_um[p] == Approx(places[p].z_um[0] - 0.5).margin(0.01));
  }
}
