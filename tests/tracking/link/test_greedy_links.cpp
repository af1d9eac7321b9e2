// Nearest-first links: compared with an independent reference, and their guarantees.

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/linker.h>

#include "tracking/link/pairs/greedy_links.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using matching::Offset;

namespace {

Detections cloud(std::mt19937_64& rng, std::size_t n, double side) {
  std::uniform_real_distribution<> uniform(0, side);
  Detections d;
  for (std::size_t k = 0; k < n; ++k) {
    d.x_um.push_back(uniform(rng));
    d.y_um.push_back(uniform(rng));
    d.z_um.push_back(uniform(rng));
  }
  return d;
}

/// Takes pairs in order of cost if both ends are free and the pair is cheaper than two free ends.
std::vector<Index> nearest_first(const CandidateGraph& candidates) {
  const auto p = candidates.costs.view();
  std::vector<std::tuple<matching::Cost, Index, Index>> pairs;
  for (Index i = 0; i < p.graph.rows; ++i)
    for (Offset e = p.graph.row_offsets[i]; e < p.graph.row_offsets[i + 1]; ++e)
      pairs.emplace_back(p.cost[e], i, p.graph.col_index[e]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<Index> next(p.graph.rows, -1);
  std::set<Index> taken;
  for (const auto& [cost, i, j] : pairs)
    if (next[i] == -1 && cost < p.row_cost(i) + p.col_cost(j) && taken.insert(j).second) next[i] = j;
  return next;
}

LinkOptions greedy_within(double gate, LinkCost cost = LinkCost::squared, double no_link = -1) {
  return {{gate, cost, no_link}, kGreedySolver, true};
}

}  // namespace

TEST_CASE("greedy links are the nearest first, for any number of threads") {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 20; ++round) {
    const Detections from = cloud(rng, 200, 6), to = cloud(rng, 170, 6);
    for (const auto cost : {LinkCost::squared, LinkCost::euclidean})
      for (const double no_link : {-1.0, 0.2, 0.0}) {
        INFO("round " << round << ", no_link_cost " << no_link);
        const LinkOptions options = greedy_within(1.1, cost, no_link);
        const auto links = link_pair({1}, from, to, options);
        CHECK(links.next == nearest_first(build_candidates({1}, from, to, options.candidates)));
        CHECK(link_pair({2}, from, to, options).next == links.next);
      }
  }
}

TEST_CASE("greedy links are reported as a heuristic, and their cost is between the optimum and its bound") {
  std::mt19937_64 rng(6);
  for (int round = 0; round < 10; ++round) {
    const Detections from = cloud(rng, 300, 6), to = cloud(rng, 300, 6);
    const auto greedy = link_pair({1}, from, to, greedy_within(1.5));
    LinkOptions options = greedy_within(1.5);
    options.solver = "jv";
    const auto exact = link_pair({1}, from, to, options);
    CHECK(greedy.solver == "greedy");
    CHECK(greedy.status == matching::Status::heuristic);
    CHECK_FALSE(greedy.verified);
    CHECK(exact.status == matching::Status::optimal);
    CHECK(greedy.objective >= exact.objective * (1 - 1e-9));
    CHECK(greedy.objective - greedy.gap <= exact.objective * (1 + 1e-9));
    const double all_free = 600 * 1.5 * 1.5;
    CHECK(2 * (all_free - greedy.objective) >= (all_free - exact.objective) * (1 - 1e-9));
  }
}

TEST_CASE("greedy links of empty frames, and without a CUDA form") {
  std::mt19937_64 rng(7);
  const Detections some = cloud(rng, 5, 1), none;
  CHECK(link_pair({1}, none, some, greedy_within(1)).links == 0);
  CHECK(link_pair({1}, some, none, greedy_within(1)).next == std::vector<Index>(5, -1));
  Execution on_gpu;
  on_gpu.backend = Backend::cuda;
  CHECK_THROWS_WITH(link_pair(on_gpu, some, some, greedy_within(1)), Catch::Contains("no CUDA form"));
}
