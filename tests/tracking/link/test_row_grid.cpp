// The rows of points against brute force.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "tracking/candidates/row_grid.h"

using namespace motes;
using tracking::RowGrid;

namespace {

double squared_distance(const Vec3& a, const Vec3& b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

/// In a box of side 7, or on a plane of it; some coincide, and in space two lie far away.
std::vector<Vec3> points_in_box(std::mt19937_64& random, bool plane) {
  std::uniform_real_distribution<double> place(0, 7);
  std::vector<Vec3> points;
  for (int k = 0; k < 900; ++k) points.push_back({place(random), place(random), plane ? 1.0 : place(random)});
  for (std::size_t k = 0; k < 40; ++k) points.push_back(points[k % 5]);
  if (!plane) points.insert(points.end(), {{3, 1e17, -1e17}, {-4e6, 3, 3}});
  return points;
}

std::vector<int> within(const std::vector<Vec3>& points, const Vec3& centre, double radius) {
  std::vector<int> numbers;
  for (std::size_t k = 0; k < points.size(); ++k)
    if (squared_distance(points[k], centre) <= radius * radius) numbers.push_back(static_cast<int>(k));
  return numbers;
}

std::vector<int> sorted(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

TEST_CASE("rows of points find what brute force finds, with a fixed and with a shrinking radius") {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> place(-1, 8);
  const double width = GENERATE(1e-3, 0.05, 0.7, 3.0, 1e9);
  const bool plane = GENERATE(false, true);
  CAPTURE(width, plane);
  const std::vector<Vec3> points = points_in_box(random, plane);
  const RowGrid grid(points, width);
  for (int query = 0; query < 60; ++query) {
    const Vec3 centre =
        query % 4 == 0 ? points[random() % points.size()] : Vec3{place(random), place(random), place(random)};
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec3& point : points) nearest = std::min(nearest, squared_distance(point, centre));
    for (const double radius : {0.0, 0.1, 0.5, 1.0, 2.0, 50.0, 1e20}) {
      CAPTURE(query, radius);
      const std::vector<int> expected = within(points, centre, radius);

      std::vector<int> called;
      grid.for_each_within(centre, radius,
                           [&](std::size_t k, double) { called.push_back(static_cast<int>(k)); });
      CHECK(sorted(called) == expected);

      RowGrid::Found all;
      all.look_at = std::numeric_limits<std::size_t>::max();
      grid.find_within(centre, radius, all, [&](RowGrid::Found&) { return radius; });
      const auto end = all.number.begin() + static_cast<std::ptrdiff_t>(all.count);
      CHECK(sorted({all.number.begin(), end}) == expected);

      // The radius shrinks to the nearest point so far, and what was found is given up.
      RowGrid::Found few;
      double least = radius;
      grid.find_within(centre, radius, few, [&](RowGrid::Found& found) {
        for (std::size_t k = 0; k < found.count; ++k) least = std::min(least, std::sqrt(found.squared[k]));
        found.count = 0;
        return least;
      });
      CHECK(least == std::min(radius, std::sqrt(nearest)));
    }
  }
}
