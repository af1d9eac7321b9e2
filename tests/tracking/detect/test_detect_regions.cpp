/// Parts of frames: crops, masks, and labels as detections.

#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/crop.h>
#include <motes/tracking/label_detector.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"

namespace {

using namespace motes;
using namespace motes::tracking;
using Catch::Matchers::Contains;
using motes::testing::Spot;

const Execution kTwo{2};

struct Scene {
  std::vector<Spot> spots;
  VolumeFrame frame;
};

Scene four_spots() {
  motes::testing::SpotFrameOptions options;
  options.shape = {12, 60, 80};
  Scene scene;
  scene.spots = {{5, 15, 15}, {6, 15, 60}, {5, 45, 20}, {6, 45, 62}};
  scene.frame = motes::testing::poisson_frame(options.shape, expected_photons(options, scene.spots), 3);
  scene.frame.voxel_um = {0.5, 0.5, 2};
  return scene;
}

DetectionOptions options_of() {
  DetectionOptions options;
  options.radius_um = {1, 1, 3.5};
  options.threshold = 15;
  return options;
}

VolumeFrame labels_of(const Shape3& shape, std::vector<std::uint16_t> values) {
  VolumeFrame frame;
  frame.index = 4;
  frame.time_s = 2;
  frame.shape = shape;
  frame.voxel_um = {0.5, 1, 2};
  frame.voxels = std::move(values);
  return frame;
}

}  // namespace

TEST_CASE("regions are parsed, with open ends, and errors are named", "[detect]") {
  CHECK(parse_region("1:5,2:6,3:7") == Region{1, 5, 2, 6, 3, 7});
  CHECK(parse_region(":,10:,:4") == Region{0, 0, 10, 0, 0, 4});
  CHECK(parse_region("0:4,0:4") == Region{0, 4, 0, 4, 0, 0});
  CHECK(region_within({0, 0, 10, 0, 0, 4}, {8, 20, 30}) == Region{0, 30, 10, 20, 0, 4});
  for (const char* bad : {"", "1:2", "1:2,3:4,5:6,7:8", "5:2,0:1", "a:2,0:1", "1,2", "-1:4,0:2", "3:3,0:1"})
    CHECK_THROWS_AS(parse_region(bad), UsageError);
  CHECK_THROWS_WITH(region_within({0, 31, 0, 0, 0, 0}, {8, 20, 30}), Contains("x 0:31") && Contains("0:30"));
  CHECK_THROWS_WITH(region_within({0, 0, 25, 0, 0, 0}, {8, 20, 30}), Contains("y 25:20"));
  CHECK_THROWS_AS(region_within({0, 31, 0, 0, 0, 0}, {8, 20, 30}), UsageError);  // not the data's fault
}

TEST_CASE("spots of a crop have their positions in the whole frame", "[detect]") {
  const Scene scene = four_spots();
  const Region region = region_within({40, 0, 0, 30, 2, 0}, scene.frame.shape);
  const VolumeFrame part = crop_frame(scene.frame, region);
  CHECK(part.shape == Shape3{10, 30, 40});
  Detections found = detect_spots(kTwo, part, options_of());
  shift_by_region(found, region, part.voxel_um);
  REQUIRE(found.size() == 1);
  CHECK(found.x_um[0] == Approx(30).margin(.3));
  CHECK(found.y_um[0] == Approx(7.5).margin(.3));
  CHECK(found.z_um[0] == Approx(12).margin(1));
}

TEST_CASE("no spots are found where a mask is 0", "[detect]") {
  const Scene scene = four_spots();
  const Shape3& s = scene.frame.shape;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(s.voxels()));
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % static_cast<std::size_t>(s.nx) < 40 ? 7 : 0;
  DetectionOptions options = options_of();
  REQUIRE(detect_spots(kTwo, scene.frame, options).size() == 4);
  options.mask = mask;
  const Detections found = detect_spots(kTwo, scene.frame, options);
  REQUIRE(found.size() == 2);
  for (const double x : found.x_um) CHECK(x < 20);
  options.threshold.reset();
  for (const double x : detect_spots(kTwo, scene.frame, options).x_um) CHECK(x < 20);
  mask.pop_back();
  options.mask = mask;
  CHECK_THROWS_WITH(detect_spots(kTwo, scene.frame, options), Contains("mask has 57599 voxels"));
}

TEST_CASE("each label is a detection", "[detect]") {
  // Label 7: four voxels in two planes, apart from each other; label 2: one voxel.
  const Shape3 shape{2, 3, 4};
  const VolumeFrame labels =
      labels_of(shape, {0, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Detections found = detect_labels(labels);
  REQUIRE(found.size() == 2);
  CHECK(found.frame == 4);
  CHECK(found.time_s == 2);
  CHECK(found.x_um == std::vector<double>{1.5, 0.75});
  CHECK(found.y_um == std::vector<double>{2, 0});
  CHECK(found.z_um == std::vector<double>{0, 1});
  CHECK(found.radius_um[1] == Approx(std::cbrt(3 * 4.0 / (4 * 3.14159265))));
  CHECK(std::isnan(found.intensity[0]));
  REQUIRE(found.properties.size() == 3);
  CHECK(found.properties[0].name == "label");
  CHECK(found.properties[0].values == std::vector<double>{2, 7});
  CHECK(found.properties[1].name == "volume_um3");
  CHECK(found.properties[1].values == std::vector<double>{1, 4});
  CHECK(found.properties[2].values == std::vector<double>{1, 4});

  VolumeFrame image = labels;
  std::vector<float> light(24);
  for (std::size_t i = 0; i < light.size(); ++i) light[i] = static_cast<float>(i);
  image.voxels = light;
  const Detections bright = detect_labels(labels, &image);
  CHECK(bright.intensity == std::vector<double>{11, (1 + 2 + 13 + 14) / 4.0});
  REQUIRE(bright.properties.size() == 4);
  CHECK(bright.properties[3].values == std::vector<double>{11, 30});
}

TEST_CASE("labels of a plane have areas; voxels that are not labels are named", "[detect]") {
  VolumeFrame labels = labels_of({1, 2, 2}, {3, 3, 0, 0});
  const Detections found = detect_labels(labels);
  REQUIRE(found.size() == 1);
  CHECK(found.properties[1].name == "area_um2");
  CHECK(found.properties[1].values[0] == 1);
  labels.voxels = std::vector<float>{0, 0, 1.5F, 0};
  CHECK_THROWS_WITH(detect_labels(labels), Contains("frame 4: voxel (z, y, x) = (0, 1, 0) is 1.5"));
  labels.voxels = std::vector<float>{0, -1, 0, 0};
  CHECK_THROWS_AS(detect_labels(labels), InputError);
  labels.voxels = std::vector<float>{0, 1, 2, 0};
  CHECK(detect_labels(labels).size() == 2);
  VolumeFrame image = labels;
  image.shape = {1, 1, 4};
  CHECK_THROWS_WITH(detect_labels(labels, &image), Contains("(1, 2, 2)") && Contains("(1, 1, 4)"));
}
