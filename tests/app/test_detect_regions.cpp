// motes detect with masks, crops, label images and a picture of parameters.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/base/gpu/device.h>
#include <motes/io/detections_h5.h>
#include <motes/io/ome_tiff_writer.h>
#include <motes/io/tables.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// Writes frames of 8 x 20 x 30 voxels (voxel 1 um), value(t, z, y, x).
template <class Voxel = std::uint16_t, class Value>
void write_stack(const std::filesystem::path& path, int frames, const Value& value) {
  io::OmeTiffWriter writer(path, {frames, frames > 1 ? 1.0 : 0.0, true});
  for (int t = 0; t < frames; ++t) {
    VolumeFrame frame;
    frame.index = t;
    frame.shape = {8, 20, 30};
    frame.voxel_um = {1, 1, 1};
    std::vector<Voxel> voxels;
    for (int z = 0; z < 8; ++z)
      for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 30; ++x) voxels.push_back(static_cast<Voxel>(value(t, z, y, x)));
    frame.voxels = std::move(voxels);
    writer.write(frame);
  }
  writer.close();
}

/// A cube of 3 voxels around (4, 10, 8), and one around (4, 10, 22); both move by t along y.
int cube(int t, int z, int y, int x) {
  if (std::abs(z - 4) > 1 || std::abs(y - 8 - t) > 1) return 0;
  return std::abs(x - 8) <= 1 ? 5 : std::abs(x - 22) <= 1 ? 9 : 0;
}

struct Pictures {
  TempDir dir;
  std::string image, labels;
  Pictures() : image((dir / "image.ome.tif").string()), labels((dir / "labels.ome.tif").string()) {
    write_stack(image, 3, [](int t, int z, int y, int x) {
      return 100 + 40 * cube(t, z, y, x) + (x * 7 + y * 3 + z) % 5;
    });
    write_stack(labels, 3, cube);
  }
  Outcome detect(std::vector<std::string> more) const {
    std::vector<std::string> all{
        "detect", image, "-o", (dir / "out.csv").string(), "--set", "detection.radius_um=2"};
    all.insert(all.end(), more.begin(), more.end());
    return run_motes(all);
  }
  std::vector<Detections> table() const { return io::read_points_csv(dir / "out.csv", {}).frames; }
};

const std::vector<double>& column(const Detections& found, const std::string& name) {
  for (const PropertyColumn& property : found.properties)
    if (property.name == name) return property.values;
  FAIL("no column " << name);
  return found.x_um;
}

}  // namespace

TEST_CASE("labels become detections, with the input's intensity", "[detect]") {
  const Pictures pictures;
  const Outcome outcome = pictures.detect({"--set", "input.labels=" + pictures.labels});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto frames = pictures.table();
  REQUIRE(frames.size() == 3);
  for (int t = 0; t < 3; ++t) {
    const Detections& found = frames[static_cast<std::size_t>(t)];
    REQUIRE(found.size() == 2);
    CHECK(found.x_um == std::vector<double>{8, 22});
    CHECK(found.y_um == std::vector<double>{8.0 + t, 8.0 + t});
    CHECK(found.intensity[0] == Approx(302).margin(3));
    CHECK(found.intensity[1] == Approx(462).margin(3));
    CHECK(column(found, "label") == std::vector<double>{5, 9});
    CHECK(column(found, "volume_um3") == std::vector<double>{27, 27});
  }
  const Outcome tracked = run_motes(
      {"track", pictures.labels, "-o", (pictures.dir / "t").string(), "--set", "detection.method=labels"});
  INFO(tracked.err);
  CHECK(tracked.code == 0);
  CHECK_THAT(tracked.out, Contains("2 tracks of 6 detections"));
}

TEST_CASE("a mask and a crop leave spots out, and positions remain those in the full frame", "[detect]") {
  const Pictures pictures;
  REQUIRE(pictures.detect({"--set", "detection.max_count=2"}).code == 0);
  REQUIRE(pictures.table()[0].size() == 2);
  const std::string mask = (pictures.dir / "mask.ome.tif").string();
  write_stack(mask, 1, [](int, int, int, int x) { return x > 15 ? 3 : 0; });
  const Outcome masked = pictures.detect({"--set", "detection.max_count=1", "--set", "input.mask=" + mask});
  INFO(masked.err);
  REQUIRE(masked.code == 0);
  REQUIRE(pictures.table()[1].size() == 1);
  CHECK(pictures.table()[1].x_um[0] == Approx(22).margin(.6));
  CHECK(column(pictures.table()[1], "mask_label")[0] == 3);
  const Outcome cropped = pictures.detect({"--set", "detection.max_count=1", "--crop", "16:30,:,1:"});
  INFO(cropped.err);
  REQUIRE(cropped.code == 0);
  CHECK(pictures.table()[2].x_um[0] == Approx(22).margin(.6));
  CHECK(pictures.table()[2].y_um[0] == Approx(10).margin(.6));
  CHECK(pictures.table()[2].z_um[0] == Approx(4).margin(.6));
}

TEST_CASE("voxels that are NaN are not searched, and are counted", "[detect]") {
  const Pictures pictures;
  write_stack<float>(pictures.image, 3, [](int t, int z, int y, int x) {
    const double value = 100 + 40 * cube(t, z, y, x) + (x * 7 + y * 3 + z) % 5;
    return t == 2 || (t == 1 && x > 15) ? std::nan("") : value;
  });
  const Outcome outcome = pictures.detect({"--set", "detection.max_count=2"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto frames = pictures.table();
  CHECK(frames[0].size() == 2);
  CHECK(std::all_of(frames[1].x_um.begin(), frames[1].x_um.end(), [](double x) { return x < 15.5; }));
  CHECK(frames.size() == 2);  // a frame that is NaN throughout has no spots
  CHECK_THAT(outcome.err, Contains("voxels are NaN in 2 of 3 frames (at most 4800, 100 % of a frame); "
                                   "they are not searched"));
}

TEST_CASE("masks, crops and labels that do not fit are refused", "[detect]") {
  const Pictures pictures;
  const std::string two = (pictures.dir / "two.ome.tif").string();
  write_stack(two, 2, cube);
  const auto fails = [&](std::vector<std::string> more, int code, const std::string& why) {
    const Outcome outcome = pictures.detect(std::move(more));
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK(is_one_error_line(outcome.err.substr(outcome.err.find("motes: error"))));
    CHECK_THAT(outcome.err, Contains(why));
  };
  fails({"--set", "input.mask=" + two}, 3, "has 2 frames, the input has 3");
  fails({"--set", "input.mask=/no/such.tif"}, 3, "/no/such.tif");
  fails({"--crop", "0:40,:,:"}, 2, "x 0:40");
  fails({"--crop", "5:2,:,:"}, 2, "is empty");
  fails({"--set", "input.labels=" + pictures.labels, "--set", "input.mask=" + pictures.labels}, 2,
        "input.mask");
  fails({"--set", "detection.largest_radius_um=1"}, 2, "below detection.radius_um");
}

TEST_CASE("a picture of parameters is written", "[detect]") {
  const Pictures pictures;
  const std::string png = (pictures.dir / "p.png").string();
  const Outcome outcome = run_motes(
      {"detect", pictures.image, "--preview-parameters", png, "--json", (pictures.dir / "p.json").string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(std::filesystem::file_size(png) > 1000);
  const auto report = nlohmann::json::parse(file_bytes(pictures.dir / "p.json"));
  CHECK(report["parameters"].size() == 12);
  CHECK(report["parameters"][0]["threshold"].is_null());
  CHECK(run_motes({"detect", pictures.image, "--preview-parameters", "p.jpg"}).code == 2);
}

TEST_CASE("a real segmentation is tracked", "[detect]") {
  MOTES_NEED_DATA(labels, "cho-3d-labels/Fluo-N3DH-CHO_02_ERR_SEG.tif");
  const TempDir dir;
  const Outcome outcome =
      run_motes({"track", labels.string(), "-o", (dir / "t").string(), "--set", "detection.method=labels",
                 "--set", "input.axes=TZ5YX", "--set", "input.voxel_um=[1, 0.202, 0.202]", "--set",
                 "input.dt_s=570", "--json", (dir / "r.json").string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto report = nlohmann::json::parse(file_bytes(dir / "r.json"));
  CHECK(report["frames"].size() == 20);
  for (const auto& frame : report["frames"]) {
    CHECK(frame["detections"].get<int>() >= 8);
    CHECK(frame["detections"].get<int>() <= 11);
  }
}

TEST_CASE("detect on a GPU writes the bytes of the CPU; without a GPU it is refused", "[detect]") {
  const Pictures pictures;
  const std::string mask = (pictures.dir / "mask.ome.tif").string();
  write_stack(mask, 1, [](int, int, int, int x) { return x > 15 ? 3 : 0; });
  for (const std::string& setting : {std::string("detection.refine=fit"), "input.mask=" + mask}) {
    INFO(setting);
    const auto detect_on = [&](const std::string& backend) {
      return pictures.detect({"--set", setting, "--backend", backend, "--json", "-"});
    };
    REQUIRE(detect_on("cpu").code == 0);
    const std::string expected = file_bytes(pictures.dir / "out.csv");
    std::filesystem::remove(pictures.dir / "out.csv");
    const Outcome outcome = detect_on("cuda");
    if (gpu::list_devices().devices.empty()) {
      CHECK(outcome.code == 4);
      CHECK(is_one_error_line(outcome.err));
      CHECK_THAT(outcome.err, Contains("execution.backend: no GPU"));
      CHECK(!std::filesystem::exists(pictures.dir / "out.csv"));
      continue;
    }
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(file_bytes(pictures.dir / "out.csv") == expected);
    CHECK(nlohmann::json::parse(outcome.out)["detection"]["backend"] == "cuda");
  }
}
