// motes detect where spots of two sizes fit a picture: the warning names both.

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/io/ome_tiff_writer.h>
#include <motes/io/tables.h>

#include "tests/app/run_motes.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

constexpr double kCell = 16;  // radius, voxels
constexpr int kSpots = 10;    // in each of nine cells

/// Writes a plane of 160 x 160 voxels (1 um) with nine cells of this brightness and spots of this peak in
/// them.
void write_cells(const std::filesystem::path& path, double brightness, double peak) {
  const Shape3 shape{1, 160, 160};
  std::vector<double> light(static_cast<std::size_t>(shape.voxels()), 10.0);
  for (const double cy : {32, 80, 128})
    for (const double cx : {32, 80, 128})
      each_voxel(shape, [&](std::size_t i, double, double y, double x) {
        light[i] += std::hypot(y - cy, x - cx) < kCell ? brightness : 0;
        for (int k = 0; k < kSpots; ++k) {
          const double r = 0.85 * kCell * std::sqrt((k + 0.5) / kSpots), turn = 2.4 * k;
          const double d = std::hypot(y - cy - r * std::sin(turn), x - cx - r * std::cos(turn)) / 1.5;
          light[i] += peak * std::exp(-0.5 * d * d);
        }
      });
  Random random(1);
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = {1, 1, 1};
  std::vector<std::uint16_t> voxels;
  for (const double mean : light) voxels.push_back(static_cast<std::uint16_t>(random.poisson(mean)));
  frame.voxels = std::move(voxels);
  io::OmeTiffWriter writer(path, {1, 0, true});
  writer.write(frame);
  writer.close();
}

struct Found {
  std::string err;
  double count = 0;
};

Found detect(const TempDir& dir, const std::vector<std::string>& more) {
  std::vector<std::string> all{"detect", (dir / "cells.ome.tif").string(), "-o", (dir / "out.csv").string()};
  all.insert(all.end(), more.begin(), more.end());
  const Outcome outcome = run_motes(all);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return {outcome.err, static_cast<double>(io::read_points_csv(dir / "out.csv", {}).frames.at(0).size())};
}

/// What `pattern` matches in `text`, and its groups.
std::smatch groups_of(const std::string& text, const std::string& pattern) {
  std::smatch match;
  std::regex_search(text, match, std::regex(pattern));
  INFO(text);
  REQUIRE_FALSE(match.empty());
  return match;
}

}  // namespace

TEST_CASE("a warning names both sizes of spots, and how to set the other", "[detect]") {
  struct Case {
    double brightness, peak;
    std::string taken;
  };
  const auto [brightness, peak, taken] = GENERATE(Case{90, 250, "small"}, Case{200, 80, "wide"});
  const TempDir dir;
  write_cells(dir / "cells.ome.tif", brightness, peak);
  const Found first = detect(dir, {});
  INFO(first.err);
  const auto told = groups_of(
      first.err,
      "warning: spots of two sizes fit frame 0, many small ones in each wide one: radius ([0-9.]+) um "
      "\\(([0-9]+) found\\) and radius ([0-9.]+) um \\(([0-9]+) found\\); the (small|wide) ones are "
      "taken; for the others set detection.radius_um \\(--radius ([0-9.]+),([0-9.]+),([0-9.]+)\\)");
  CHECK(told[5] == taken);
  CHECK(told[1] == groups_of(first.err, "spot radius \\[([0-9.]+), ")[1]);
  CHECK((taken == "wide") == (std::stod(told[1]) > 0.5 * kCell));
  CHECK(std::stod(told[2]) == Approx(first.count).epsilon(0.1));
  CHECK((told[3] == told[7] && told[3] == told[8]));

  const Found second = detect(dir, {"--radius", told[6].str() + ',' + told[7].str() + ',' + told[8].str()});
  INFO(second.err);
  CHECK_THAT(second.err, !Contains("two sizes"));
  CHECK((taken == "wide") == (std::stod(told[3]) < 0.5 * kCell));
  CHECK(std::stod(told[4]) == Approx(second.count).epsilon(0.1));
}
