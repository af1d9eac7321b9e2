// The solver does not change the links.

#include <random>

#include <catch2/catch.hpp>

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

}  // namespace

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
