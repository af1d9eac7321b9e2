// The camera keys of motes detect, track and plan.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/io/tables.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// 24 bright particles in 6 frames by a camera of 2.5 grey levels per photon, offset 90.
struct Series {
  TempDir dir;
  std::string image;
  Series() {
    image = (simulate_small(
                 dir.path(), true,
                 {"imaging.gain=2.5", "imaging.offset=90", "imaging.read_noise=3", "imaging.background=20"}) /
             "frames")
                .string();
  }
  Outcome run(const std::string& command, const std::string& output,
              const std::vector<std::string>& settings) const {
    std::vector<std::string> all{command, image, "-o", (dir / output).string(), "--force"};
    if (command != "track") all.pop_back();
    for (const std::string& setting : settings) {
      all.emplace_back("--set");
      all.push_back(setting);
    }
    if (command == "detect") {
      all.emplace_back("--json");
      all.push_back((dir / "report.json").string());
    }
    return run_motes(all);
  }
  nlohmann::json camera() const {
    return nlohmann::json::parse(file_bytes(dir / "report.json"))["detection"].value("camera",
                                                                                     nlohmann::json());
  }
  double median_photons() const {
    std::vector<double> photons;
    for (const Detections& frame : io::read_points_csv(dir / "out.csv", {}).frames)
      for (const PropertyColumn& column : frame.properties)
        if (column.name == "photons")
          photons.insert(photons.end(), column.values.begin(), column.values.end());
    std::sort(photons.begin(), photons.end());
    return photons.empty() ? 0 : photons[photons.size() / 2];
  }
};

}  // namespace

TEST_CASE("a camera's gain is used, or estimated, and recorded", "[detect]") {
  const Series series;
  REQUIRE(series.run("detect", "out.csv", {}).code == 0);
  CHECK(series.camera().is_null());
  CHECK(series.median_photons() == 0);

  const Outcome given = series.run("detect", "out.csv", {"detection.camera_gain=2.5"});
  INFO(given.err);
  REQUIRE(given.code == 0);
  CHECK(series.camera()["gain"] == 2.5);
  CHECK(series.camera()["offset"].is_null());
  CHECK(series.camera()["source"] == "detection.camera_gain");
  const double photons = series.median_photons();
  CHECK(photons > 0);

  const Outcome told = series.run("detect", "out.csv", {"detection.camera_gain=auto"});
  INFO(told.err);
  REQUIRE(told.code == 0);
  CHECK_THAT(told.err, Contains("grey levels per photon"));
  CHECK(series.camera()["gain"].get<double>() == Approx(2.5).epsilon(.15));
  CHECK_THAT(series.camera()["source"].get<std::string>(), Contains("estimated on"));
  CHECK(series.median_photons() == Approx(photons).epsilon(.15));
}

TEST_CASE("results state the camera that was used, and a plan has the estimated one", "[detect]") {
  const Series series;
  REQUIRE(series.run("track", "tracks", {"detection.camera_gain=2.5", "detection.camera_offset=90"}).code ==
          0);
  CHECK_THAT(
      file_bytes(series.dir / "tracks" / "config.yaml"),
      Contains("camera_gain: 2.5") &&
          Contains("# camera: 2.5 grey levels per photon, offset 90, read noise from each frame's noise"));
  REQUIRE(series.run("plan", "plan.yaml", {"detection.camera_gain=auto"}).code == 0);
  CHECK_THAT(file_bytes(series.dir / "plan.yaml"),
             Contains("camera_gain: 2.") || Contains("camera_gain: 3."));
}

TEST_CASE("an offset without a gain is refused", "[detect]") {
  const Series series;
  const Outcome outcome = series.run("detect", "out.csv", {"detection.read_noise=2"});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Contains("detection.camera_gain"));
}
