// Nearest neighbours of all points, compared with sorting all distances.

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tracking/motion/all_nearest.h"

using namespace motes;
using namespace motes::tracking;

namespace {

void check_nearest(const std::vector<Vec3>& points, std::size_t count) {
  const AllNearest found = all_nearest(points, count);
  REQUIRE(found.count == std::min(count, points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<std::pair<double, std::int32_t>> all;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double dx = points[k].x - points[i].x, dy = points[k].y - points[i].y,
                   dz = points[k].z - points[i].z;
      all.emplace_back((dx * dx + dy * dy) + dz * dz, static_cast<std::int32_t>(k));
    }
    std::sort(all.begin(), all.end());
    REQUIRE(found.farthest[i] == all[found.count - 1].first);
    for (std::size_t n = 0; n < found.count; ++n) REQUIRE(found.index[i * found.count + n] == all[n].second);
  }
}

}  // namespace

TEST_CASE("nearest neighbours are found if all points of a leaf coincide") {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<> uniform(0, 10);
  const auto draw = [&] { return Vec3{uniform(rng), uniform(rng), uniform(rng)}; };
  for (const auto& [places, copies, singles] :
       {std::tuple{1, 100, 0}, {1, 40, 300}, {3, 64, 200}, {20, 32, 0}, {5, 17, 100}, {0, 0, 300}}) {
    CAPTURE(places, copies, singles);
    std::vector<Vec3> points;
    for (int place = 0; place < places; ++place)
      points.insert(points.end(), static_cast<std::size_t>(copies), draw());
    for (int k = 0; k < singles; ++k) points.push_back(draw());
    std::shuffle(points.begin(), points.end(), rng);
    check_nearest(points, 16);
    check_nearest(points, 2);
  }
}
