// Scales of displacements in series of which the times between frames differ.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"

using namespace motes;
using namespace motes::tracking;

namespace {

/// `n` particles at unit density that diffuse in a plane, by even and odd steps (along each axis) in turn.
/// Detection k of every frame is particle k.
std::vector<Detections> in_turn(int n, double even, double odd, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> place(0, std::sqrt(n));
  std::normal_distribution<> normal;
  std::vector<Vec3> at(static_cast<std::size_t>(n));
  for (Vec3& p : at) p.x = place(rng), p.y = place(rng);
  std::vector<Detections> out(20);
  for (std::size_t t = 0; t < out.size(); ++t) {
    out[t].frame = static_cast<std::int32_t>(t);
    const double step = t % 2 == 0 ? even : odd;
    for (Vec3& p : at) testing::add(out[t], p), p.x += step * normal(rng), p.y += step * normal(rng);
  }
  return out;
}

SeriesLinks linked(const std::vector<Detections>& frames) {
  SeriesOptions options;
  options.model = MotionModel::standing;
  return link_series({}, frames, options);
}

/// The largest ratio of the scales of successive frames, but for the last ones, which have no links.
double largest_ratio(const std::vector<double>& scale) {
  double most = 1;
  for (std::size_t t = 0; t + 3 < scale.size(); ++t)
    most = std::max({most, scale[t] / scale[t + 1], scale[t + 1] / scale[t]});
  return most;
}

}  // namespace

TEST_CASE("each frame has its own scale if the times between frames differ") {
  const int n = GENERATE(40, 300);
  const auto frames = in_turn(n, 0.07, 0.28, 1);
  const SeriesLinks links = linked(frames);
  for (std::size_t t = 2; t < 17; ++t) {
    const double ratio = links.model.scale[t] / links.model.scale[t + 1];
    CHECK((t % 2 == 0 ? 1 / ratio : ratio) == Approx(4).epsilon(n < 100 ? 0.5 : 0.25));
  }
}

TEST_CASE("frames have a common scale if they differ by chance only") {
  const int n = GENERATE(10, 40, 300);
  CHECK(largest_ratio(linked(in_turn(n, 0.15, 0.15, 1)).model.scale) < 1.3);
}
