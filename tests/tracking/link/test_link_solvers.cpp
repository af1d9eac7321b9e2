// The solver does not change the links.

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/matching/registry.h>
#include <motes/tracking/linker.h>

using namespace motes;

namespace {

/// Points of a lattice, some twice and some missing, so that very many distances are equal.
Detections lattice_points(std::mt19937& rng, std::int32_t frame) {
  Detections out;
  out.frame = frame;
  for (int x = 0; x < 6; ++x)
    for (int y = 0; y < 6; ++y)
      for (int z = 0; z < 2; ++z)
        for (int copies = static_cast<int>(rng() % 4) / 3 + static_cast<int>(rng() % 5 != 0); copies > 0;
             --copies) {
          out.x_um.push_back(x);
          out.y_um.push_back(y);
          out.z_um.push_back(z);
        }
  return out;
}

/// Up to 18 points in a box, some of them of whole coordinates.
Detections few_points(std::mt19937& rng, std::int32_t frame, double box) {
  std::uniform_real_distribution<double> place(0, box);
  Detections out;
  out.frame = frame;
  for (std::size_t left = rng() % 19; left > 0; --left)
    for (std::vector<double>* axis : {&out.x_um, &out.y_um, &out.z_um}) {
      const double x = place(rng);
      axis->push_back(rng() % 4 == 0 ? std::floor(x) : x);
    }
  return out;
}

}  // namespace

TEST_CASE("few particles are linked without a graph as with one") {
  std::mt19937 rng(5);
  std::int64_t alone = 0, crowded = 0, free_ends = 0;
  for (int k = 0; k < 4000; ++k) {
    const double box = 1 + static_cast<double>(rng() % 12);
    const Detections from = few_points(rng, 0, box), to = few_points(rng, 1, box);
    const auto cost = rng() % 2 == 0 ? tracking::LinkCost::squared : tracking::LinkCost::euclidean;
    constexpr double kNoLink[] = {-1, 0, 0.25, 0.4, 256};
    tracking::LinkOptions options{{1.0, cost, kNoLink[rng() % 5]}, "auto"};
    const auto links = tracking::link_pair({1}, from, to, options);
    options.solver = "jv";  // by its name it is given the graph
    const auto reference = tracking::link_pair({1}, from, to, options);
    INFO("pair " << k << ", " << from.size() << " and " << to.size() << " points");
    REQUIRE(links.next == reference.next);
    REQUIRE(links.objective == reference.objective);
    REQUIRE(links.gap == reference.gap);
    REQUIRE(links.status == reference.status);
    REQUIRE(links.solver == reference.solver);
    REQUIRE(links.links == reference.links);
    REQUIRE(links.candidates == reference.candidates);
    REQUIRE(links.components == reference.components);
    REQUIRE(links.largest_component == reference.largest_component);
    alone += links.stage_s.empty();
    crowded += links.stage_s.empty() && links.largest_component > 2;
    free_ends += links.stage_s.empty() && links.links == 0 && links.candidates > 0;
  }
  CHECK(alone > 1000);
  CHECK(crowded > 100);
  CHECK(free_ends > 100);
}

TEST_CASE("a link that costs as much as two free ends is chosen without a graph as with one") {
  int linked = 0;
  for (int k = 1; k <= 60; ++k) {
    Detections from, to;
    from.x_um = from.y_um = from.z_um = to.y_um = to.z_um = {0};
    to.x_um = {k / 64.0};
    tracking::LinkOptions options{{1.0, tracking::LinkCost::squared, -1}, "auto"};
    options.candidates.no_link_cost = tracking::link_pair({1}, from, to, options).objective / 2;
    const auto links = tracking::link_pair({1}, from, to, options);
    options.solver = "jv";
    CHECK(links.next == tracking::link_pair({1}, from, to, options).next);
    linked += static_cast<int>(links.links);
  }
  CHECK(linked > 15);
  CHECK(linked < 60);
}

TEST_CASE("few particles are refused as many are") {
  Detections from, to;
  for (Detections* frame : {&from, &to}) frame->x_um = {0, 9}, frame->y_um = frame->z_um = {0, 0};
  tracking::LinkOptions options{{1.0, tracking::LinkCost::squared, -1}, "auto"};
  CHECK(tracking::link_pair({1}, from, to, options).links == 2);
  options.candidates.max_candidates = 1;
  CHECK_THROWS_AS(tracking::link_pair({1}, from, to, options), ResourceError);
  options.candidates.max_candidates = 0;
  from.x_um[0] = std::nan("");
  CHECK_THROWS_AS(tracking::link_pair({1}, from, to, options), InputError);
}

TEST_CASE("every solver gives the same links if there are many ties") {
  std::mt19937 rng(11);
  for (int k = 0; k < 10; ++k) {
    const Detections from = lattice_points(rng, 0), to = lattice_points(rng, 1);
    for (const auto cost : {tracking::LinkCost::squared, tracking::LinkCost::euclidean}) {
      tracking::LinkOptions options{{1.5, cost, -1}, "jv", true};
      const auto reference = tracking::link_pair({1}, from, to, options);
      for (const auto& info : matching::solvers()) {
        if (info.family() != matching::Family::assignment || !info.backends.contains(Backend::cpu)) continue;
        INFO(info.name << " round " << k);
        options.solver = info.name;
        CHECK(tracking::link_pair({2}, from, to, options).next == reference.next);
      }
    }
  }
}
