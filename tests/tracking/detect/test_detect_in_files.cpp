// Frames with voxels in files give the same bits.

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include <motes/base/system/mapped_file.h>
#include <motes/tracking/crop.h>
#include <motes/tracking/label_detector.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/skip.h"
#include "tests/support/spots.h"

using namespace motes;
using namespace motes::tracking;
using motes::testing::SpotFrameOptions;

namespace {

VolumeFrame in_file(const VolumeFrame& frame, const std::shared_ptr<Scratch>& scratch) {
  VolumeFrame stored = frame;
  visit_voxels(frame.voxels, [&]<class T>(std::span<const T> voxels) {
    ScratchArray<T> copy(scratch, voxels.size());
    std::copy(voxels.begin(), voxels.end(), copy.begin());
    stored.voxels = FileVoxels<T>(std::move(copy));
  });
  return stored;
}

template <class T>
VolumeFrame as(const VolumeFrame& frame) {
  VolumeFrame other = frame;
  visit_voxels(frame.voxels, [&](auto voxels) {
    std::vector<T> values;
    for (const auto v : voxels) values.push_back(static_cast<T>(std::min<int>(static_cast<int>(v), 255)));
    other.voxels = std::move(values);
  });
  return other;
}

/// Equal, where NaN equals NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double left, double right) {
    return left == right || (std::isnan(left) && std::isnan(right));
  });
}

bool same(const Detections& a, const Detections& b) {
  bool alike = same(a.x_um, b.x_um) && same(a.y_um, b.y_um) && same(a.z_um, b.z_um) &&
               same(a.quality, b.quality) && same(a.intensity, b.intensity) &&
               same(a.radius_um, b.radius_um) && a.properties.size() == b.properties.size();
  for (std::size_t c = 0; alike && c < a.properties.size(); ++c)
    alike = same(a.properties[c].values, b.properties[c].values);
  return alike;
}

}  // namespace

TEST_CASE("frames in files give the same spots as frames in memory", "[detect]") {
  const testing::TempDir folder;
  if (system::is_memory(folder.path())) MOTES_SKIP("the folder for temporary files is memory");
  const auto scratch = std::make_shared<Scratch>(folder.path(), 1'000'000);
  SpotFrameOptions scene;
  scene.shape = GENERATE(Shape3{24, 90, 110}, Shape3{1, 260, 310});
  scene.peak = 60;
  const auto spots = testing::random_spots(scene.shape, 40, 5);
  VolumeFrame u16 = testing::poisson_frame(scene.shape, expected_photons(scene, spots), 6);
  DetectionOptions options;
  options.radius_um = {2.5, 2.5, 2.5};
  SECTION("automatic") { options.refine = Refine::automatic; }
  SECTION("fits") { options.refine = Refine::fit; }
  SECTION("best") { options.max_count = 30; }
  SECTION("sizes differ") { options.largest_radius_um = Vec3{5, 5, 5}; }
  SECTION("large spots") { options.radius_um = {9, 9, 9}; }
  SECTION("a hot voxel") {
    auto& voxels = std::get<std::vector<std::uint16_t>>(u16.voxels);
    voxels[voxels.size() / 2 + 17] = 60000;
  }
  for (const VolumeFrame& frame : {u16, as<std::uint8_t>(u16), as<float>(u16)}) {
    const VolumeFrame stored = in_file(frame, scratch);
    const Detections expected = detect_spots(Execution{2}, frame, options);
    for (const int threads : {1, 2}) CHECK(same(detect_spots(Execution{threads}, stored, options), expected));
    CHECK(estimate_radius(Execution{2}, stored, Polarity::bright) ==
          estimate_radius(Execution{2}, frame, Polarity::bright));
    const Region region{10, 100, 5, 85, 0, 0};
    CHECK(same(detect_spots(Execution{2}, crop_frame(stored, region), options),
               detect_spots(Execution{2}, crop_frame(frame, region), options)));
    CHECK(same(detect_labels(stored, &stored), detect_labels(frame, &frame)));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("large crops of frames in files are in files, small ones in memory", "[detect]") {
  const testing::TempDir folder;
  if (system::is_memory(folder.path())) MOTES_SKIP("the folder for temporary files is memory");
  const auto scratch = std::make_shared<Scratch>(folder.path(), 1'000'000);
  VolumeFrame frame;
  frame.shape = {10, 100, 100};
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::vector<std::uint8_t>(100000, 3);
  const VolumeFrame stored = in_file(frame, scratch);
  CHECK(scratch_of(frame) == nullptr);
  CHECK(scratch_of(stored) == scratch);
  CHECK(scratch_of(crop_frame(stored, {0, 100, 0, 100, 0, 9})) == scratch);
  CHECK(scratch_of(crop_frame(stored, {0, 100, 0, 100, 0, 1})) == nullptr);
}
