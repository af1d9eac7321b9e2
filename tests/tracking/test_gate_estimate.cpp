// The estimated gate must hold the motion and stay below what neighbours are apart.

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "tracking/link/gate_estimate.h"

using namespace motes;
using namespace motes::tracking;

namespace {

std::vector<Detections> walk(std::size_t n, int frames, double sigma, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform(0, std::cbrt(static_cast<double>(n)));
  std::normal_distribution<> normal(0, sigma);
  std::vector<Detections> out(frames);
  for (int f = 0; f < frames; ++f) {
    out[f].frame = f;
    for (std::size_t k = 0; k < n; ++k) {
      out[f].x_um.push_back(f == 0 ? uniform(rng) : out[f - 1].x_um[k] + normal(rng));
      out[f].y_um.push_back(f == 0 ? uniform(rng) : out[f - 1].y_um[k] + normal(rng));
      out[f].z_um.push_back(f == 0 ? uniform(rng) : out[f - 1].z_um[k] + normal(rng));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the gate covers the motion where particles are easy to tell apart") {
  for (const double sigma : {0.01, 0.05, 0.1}) {
    const auto estimate = estimate_gate({2}, walk(2000, 4, sigma, 1));
    REQUIRE(estimate);
    CHECK(estimate->displacement_um == Approx(1.538 * sigma).epsilon(0.1));
    CHECK(estimate->spacing_um == Approx(0.55).epsilon(0.1));
    CHECK(estimate->gate_um > 3.5 * sigma);  // 99 % of displacements are below 3.37 sigma
    CHECK(estimate->gate_um < 0.8);
    CHECK(estimate->ratio() < kUntrustworthyRatio);
  }
}

TEST_CASE("where motion passes the spacing the gate stays at the spacing, and the ratio warns") {
  const auto estimate = estimate_gate({2}, walk(2000, 3, 1.0, 2));
  REQUIRE(estimate);
  CHECK(estimate->gate_um <= 1.5 * estimate->spacing_um);
  CHECK(estimate->ratio() > kUntrustworthyRatio);
}

TEST_CASE("few or no particles: a gate where there is one to be had") {
  CHECK_FALSE(estimate_gate({1}, {}));
  std::vector<Detections> frames(3);
  CHECK_FALSE(estimate_gate({1}, frames));
  for (std::size_t f = 0; f < 3; ++f) frames[f].x_um = {3.0 * f}, frames[f].y_um = frames[f].z_um = {0};
  REQUIRE(estimate_gate({1}, frames));
  CHECK(estimate_gate({1}, frames)->gate_um == Approx(7.5));
  CHECK(estimate_gate({1}, frames)->spacing_um == 0);
  frames[1] = {};
  CHECK_FALSE(estimate_gate({1}, frames));
  for (auto& f : frames) f.x_um = {0, 2}, f.y_um = f.z_um = {0, 0};  // nothing moves
  REQUIRE(estimate_gate({1}, frames));
  CHECK(estimate_gate({1}, frames)->gate_um == Approx(0.2));
}

TEST_CASE("the estimate does not depend on the number of threads") {
  const auto frames = walk(500, 40, 0.2, 3);
  CHECK(estimate_gate({1}, frames)->gate_um == estimate_gate({7}, frames)->gate_um);
}
