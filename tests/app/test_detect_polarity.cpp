// motes detect without a polarity: dark spots are found where a picture shows only those.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/io/ome_tiff_writer.h>

#include "tests/app/run_motes.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kSide = 160;  // voxels
constexpr int kSpots = 36;

/// A plane of kSide x kSide voxels (1 um): a Poisson draw of `light`.
void write(const std::filesystem::path& path, const Field& light) {
  Random random(2);
  VolumeFrame frame;
  frame.shape = {1, kSide, kSide};
  frame.voxel_um = {1, 1, 1};
  std::vector<std::uint16_t> voxels;
  for (const double mean : light) voxels.push_back(static_cast<std::uint16_t>(random.poisson(mean)));
  frame.voxels = std::move(voxels);
  io::OmeTiffWriter writer(path, {1, 0, true});
  writer.write(frame);
  writer.close();
}

/// kSpots spots of this peak; negative: dark.
void write_spots(const std::filesystem::path& path, double peak) {
  Field light(static_cast<std::size_t>(kSide * kSide), 600.0);
  each_voxel({1, kSide, kSide}, [&](std::size_t i, double, double y, double x) {
    for (int k = 0; k < kSpots; ++k) {
      const double d = std::hypot(y - 18.3 - 24.7 * (k / 6), x - 17.6 - 25.1 * (k % 6)) / 1.5;
      light[i] += peak * std::exp(-0.5 * d * d);
    }
  });
  write(path, light);
}

/// Gaps of many shapes: the troughs of a sum of random waves.
void write_gaps(const std::filesystem::path& path, std::uint64_t seed) {
  constexpr int kWaves = 60;
  Random random(seed);
  std::vector<std::array<double, 3>> waves;
  for (int k = 0; k < kWaves; ++k)
    waves.push_back({0.22 * random.normal(), 0.22 * random.normal(), 6.28 * random.uniform()});
  Field light(static_cast<std::size_t>(kSide * kSide), 600.0);
  each_voxel({1, kSide, kSide}, [&](std::size_t i, double, double y, double x) {
    double sum = 0;
    for (const auto& [ky, kx, phase] : waves) sum += std::cos(ky * y + kx * x + phase);
    light[i] -= 150 * std::pow(std::max(0.0, sum / std::sqrt(kWaves / 2.0)), 1.5);
  });
  write(path, light);
}

struct Found {
  std::string err;
  std::size_t count = 0;
};

Found detect(const std::filesystem::path& picture, const TempDir& dir, std::vector<std::string> more = {}) {
  std::vector<std::string> all{"detect", picture.string(), "-o", (dir / "out.csv").string()};
  all.insert(all.end(), more.begin(), more.end());
  const Outcome outcome = run_motes(all);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const std::string table = file_bytes(dir / "out.csv");
  const auto rows = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
  REQUIRE(rows > 0);
  return {outcome.err, rows - 1};
}

}  // namespace

TEST_CASE("dark spots are found without a setting if there are no bright ones", "[detect]") {
  const TempDir dir;
  const auto picture = dir / "dark.ome.tif";
  write_spots(picture, -300);
  const std::string told =
      "polarity: dark (frame 0 shows 36 dark spots and 0 bright ones; detection.polarity=bright finds those)";

  const Found found = detect(picture, dir);
  CHECK(found.count == kSpots);
  CHECK_THAT(found.err, Contains(told) && Contains("(estimated on frame 0; dark spots)"));

  const Found given = detect(picture, dir, {"--radius", "2.1"});
  CHECK(given.count == kSpots);
  CHECK_THAT(given.err, Contains(told) && Contains("(detection.radius_um; dark spots)"));

  const Found bright = detect(picture, dir, {"--set", "detection.polarity=bright"});
  CHECK(bright.count == 0);
  CHECK_THAT(bright.err, Contains("frame 0 shows 36 dark spots: set detection.polarity=dark to find those"));

  const Outcome plan = run_motes({"plan", picture.string(), "-o", (dir / "plan.yaml").string()});
  CHECK(plan.code == 0);
  CHECK_THAT(file_bytes(dir / "plan.yaml"), Contains("polarity: dark"));
}

TEST_CASE("bright spots stay bright, and gaps in a texture are not dark spots", "[detect]") {
  const TempDir dir;
  const auto picture = dir / "picture.ome.tif";
  write_spots(picture, 300);
  const Found found = detect(picture, dir);
  CHECK(found.count == kSpots);
  CHECK_THAT(found.err, !Contains("polarity"));

  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    write_gaps(picture, seed);
    CHECK_THAT(detect(picture, dir).err, !Contains("polarity: dark"));
  }
}
