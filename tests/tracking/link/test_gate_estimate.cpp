// The estimated gate must exceed the motion and stay below the distance of neighbours.

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/gate_estimate.h>

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

TEST_CASE("the gate covers the motion if particles are far apart") {
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

TEST_CASE("if motion exceeds the spacing the gate stays at the spacing, and the ratio warns") {
  const auto estimate = estimate_gate({2}, walk(2000, 3, 1.0, 2));
  REQUIRE(estimate);
  CHECK(estimate->gate_um <= 1.5 * estimate->spacing_um);
  CHECK(estimate->ratio() > kUntrustworthyRatio);
}

TEST_CASE("the gate covers steps nearly as long as the spacing") {
  std::mt19937_64 rng(8);
  std::normal_distribution<> normal;
  auto frames = walk(2000, 4, 0, 8);
  const double step = 0.9;
  for (std::size_t f = 1; f < frames.size(); ++f)
    for (std::size_t k = 0; k < 2000; ++k) {
      const double x = normal(rng), y = normal(rng), z = normal(rng), r = step / std::hypot(x, y, z);
      frames[f].x_um[k] = frames[f - 1].x_um[k] + r * x;
      frames[f].y_um[k] = frames[f - 1].y_um[k] + r * y;
      frames[f].z_um[k] = frames[f - 1].z_um[k] + r * z;
    }
  const auto estimate = estimate_gate({2}, frames);
  REQUIRE(estimate);
  CHECK(estimate->rule == GateRule::cardinality);
  CHECK(estimate->neighbours_um < step);  // the gate by nearest neighbours, which are all wrong here
  CHECK(estimate->needed_um == Approx(step).epsilon(0.02));
  CHECK(estimate->gate_um > step);
  CHECK(estimate->gate_um < 1.4 * step);
}

TEST_CASE("missed and false detections do not widen the gate: partners are counted") {
  auto frames = walk(3000, 4, 0.15, 9);
  const auto clean = estimate_gate({2}, frames);
  REQUIRE(clean);
  CHECK(clean->partners > 0.97);
  std::mt19937_64 rng(9);
  std::uniform_real_distribution<> side(0, std::cbrt(3000.0)), chance(0, 1);
  for (Detections& d : frames) {
    Detections seen;
    seen.frame = d.frame;
    for (std::size_t k = 0; k < d.size(); ++k) {
      if (chance(rng) < 0.2) continue;
      seen.x_um.push_back(d.x_um[k]), seen.y_um.push_back(d.y_um[k]), seen.z_um.push_back(d.z_um[k]);
    }
    d = seen;
  }
  const auto missed = estimate_gate({2}, frames);
  REQUIRE(missed);
  CHECK(missed->partners == Approx(0.8).margin(0.04));
  CHECK(missed->rule == GateRule::cardinality);
  CHECK(missed->gate_um < 1.3 * clean->gate_um);
  CHECK(missed->needed_by_all_um > 1.5 * missed->needed_um);
  for (Detections& d : frames)
    for (int k = 0; k < 600; ++k)
      d.x_um.push_back(side(rng)), d.y_um.push_back(side(rng)), d.z_um.push_back(side(rng));
  const auto cluttered = estimate_gate({2}, frames);
  REQUIRE(cluttered);
  CHECK(cluttered->partners == Approx(0.8 * 0.8).margin(0.05));
}

TEST_CASE("the curve rises to the needed gate; a larger share never needs a smaller gate") {
  const auto frames = walk(1500, 6, 0.2, 10);
  double before = 0;
  for (const double share : {0.5, 0.9, 0.99, 1.0}) {
    const auto estimate = estimate_gate({2}, frames, share);
    REQUIRE(estimate);
    CHECK(estimate->needed_um >= before);
    before = estimate->needed_um;
    REQUIRE_FALSE(estimate->curves.empty());
    double at_least = 0;
    for (const GateCurve& curve : estimate->curves) {
      CHECK(curve.to == curve.from + 1);
      REQUIRE(curve.cardinality.size() == estimate->gates_um.size());
      CHECK(std::is_sorted(curve.cardinality.begin(), curve.cardinality.end()));
      CHECK(curve.cardinality.back() <= curve.rows);
    }
    for (const double gate : estimate->gates_um) {
      CHECK(estimate->linkable_within(gate) >= at_least);
      at_least = estimate->linkable_within(gate);
    }
    CHECK(estimate->linkable_within(0) == 0);
    CHECK(estimate->linkable_within(1e9) == at_least);
    // Between two gates the curve is interpolated, so it is not exact.
    CHECK(estimate->linkable_within(estimate->needed_um) == Approx(share * estimate->partners).margin(0.05));
  }
  for (const double share : {0.0, -1.0, 1.1, std::nan("")})
    CHECK_THROWS_WITH(estimate_gate({1}, frames, share), Catch::Contains("share"));
}

TEST_CASE("unusual frames have a gate") {
  std::vector<Detections> frames(2);
  for (int k = 0; k < 300; ++k)  // pairs of detections at one place: no spacing
    for (auto& f : frames) f.x_um.push_back(k / 2), f.y_um.push_back(0), f.z_um.push_back(0);
  CHECK_NOTHROW(estimate_gate({2}, frames));
  for (auto& f : frames) f.x_um.push_back(1e12), f.y_um.push_back(-1e12), f.z_um.push_back(0);  // an outlier
  CHECK_NOTHROW(estimate_gate({2}, frames));
  for (auto& f : frames) f.x_um.push_back(std::nan("")), f.y_um.push_back(0), f.z_um.push_back(HUGE_VAL);
  CHECK_NOTHROW(estimate_gate({2}, frames));
  std::vector<Detections> clump = walk(3000, 2, 0.1, 11);  // a dense clump beside the sampled cube
  for (auto& f : clump)
    for (int k = 0; k < 20000; ++k) f.x_um.push_back(7 + 1e-4 * k), f.y_um.push_back(7), f.z_um.push_back(7);
  REQUIRE(estimate_gate({2}, clump));
  CHECK(estimate_gate({1}, clump)->gate_um == estimate_gate({2}, clump)->gate_um);
}

TEST_CASE("few or no particles: a gate if one can be estimated") {
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
  CHECK(estimate_gate({1}, frames)->gate_um == Approx(0.95 * 2));  // and nothing else is near
}

TEST_CASE("if all of few particles may have a partner, the gate is at least that by neighbours") {
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto estimate = estimate_gate({1}, walk(16, 3, 0.12, seed));
    REQUIRE(estimate);
    if (estimate->partners < 1) continue;
    ++all;
    INFO("seed " << seed);
    CHECK(estimate->gate_um >= estimate->neighbours_um);
  }
  CHECK(all > 10);
}

TEST_CASE("the estimate does not depend on the number of threads") {
  const auto frames = walk(500, 40, 0.2, 3);
  CHECK(estimate_gate({1}, frames)->gate_um == estimate_gate({7}, frames)->gate_um);
}
