// Frames in which many detections coincide: the same optimum as for single detections, for any number of
// copies.

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/gpu/device.h>
#include <motes/tracking/linker.h>

#include "tests/support/skip.h"
#include "tracking/link/pairs/place_links.h"

using namespace motes;
using namespace motes::tracking;

namespace {

constexpr double kGate = 1.0;

/// `places` in a cube, each with 1 to `copies` detections, shuffled.
Detections crowd(std::mt19937_64& rng, int places, int copies, double side) {
  std::vector<std::array<double, 3>> points;
  for (int place = 0; place < places; ++place) {
    std::uniform_real_distribution<> uniform(0, side);
    const std::array<double, 3> p{uniform(rng), uniform(rng), uniform(rng)};
    points.insert(points.end(), 1 + rng() % static_cast<unsigned>(copies), p);
  }
  std::shuffle(points.begin(), points.end(), rng);
  Detections out;
  for (const auto& [x, y, z] : points) {
    out.x_um.push_back(x);
    out.y_um.push_back(y);
    out.z_um.push_back(z);
  }
  return out;
}

using Place = std::tuple<double, double, double>;
Place place_of(const Detections& d, std::size_t k) { return {d.x_um[k], d.y_um[k], d.z_um[k]}; }

/// The number of links between each pair of places.
std::map<std::pair<Place, Place>, int> links_of(const Detections& from, const Detections& to,
                                                const PairLinks& links) {
  std::map<std::pair<Place, Place>, int> out;
  for (std::size_t k = 0; k < links.next.size(); ++k)
    if (links.next[k] >= 0) ++out[{place_of(from, k), place_of(to, static_cast<std::size_t>(links.next[k]))}];
  return out;
}

PairLinks by_places(const Detections& from, const Detections& to, const LinkOptions& options) {
  const CandidateTerms terms = terms_of(options.candidates);
  return link_places(sort_pair(from, to, terms), from, to, options, terms);
}

/// The cost of the links, from the candidates.
double cost_of(const Detections& from, const Detections& to, const PairLinks& links,
               const LinkOptions& options) {
  const CandidateGraph graph = build_candidates({1}, from, to, options.candidates);
  const auto p = graph.costs.view();
  double cost = 0;
  std::set<matching::Index> used;
  for (matching::Index i = 0; i < p.graph.rows; ++i) {
    const matching::Index j = links.next[at(i)];
    if (j < 0) {
      cost += static_cast<double>(p.row_cost(i));
      continue;
    }
    REQUIRE(used.insert(j).second);
    const auto begin = p.graph.col_index.begin() + p.graph.row_offsets[at(i)];
    const auto end = p.graph.col_index.begin() + p.graph.row_offsets[at(i) + 1];
    const auto edge = std::lower_bound(begin, end, j);
    REQUIRE((edge != end && *edge == j));
    cost += static_cast<double>(p.cost[at(edge - p.graph.col_index.begin())]);
  }
  for (matching::Index j = 0; j < p.graph.cols; ++j)
    if (!used.contains(j)) cost += static_cast<double>(p.col_cost(j));
  return cost * graph.cost_unit;
}

/// One place with `copies` detections, and walkers around it.
std::vector<Detections> frames_with(int copies, int frames) {
  std::mt19937_64 rng(7);
  std::vector<Detections> out;
  for (int f = 0; f < frames; ++f) {
    Detections d = crowd(rng, 300, 1, 8);
    d.frame = f;
    for (auto* axis : {&d.x_um, &d.y_um, &d.z_um})
      axis->insert(axis->begin() + 100, static_cast<std::size_t>(copies), 4);
    out.push_back(d);
  }
  return out;
}

}  // namespace

TEST_CASE("coincident detections are linked at the same cost as one by one") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    LinkOptions options;
    options.candidates = {kGate, seed % 2 == 0 ? LinkCost::squared : LinkCost::euclidean,
                          seed % 3 == 0 ? 0.4 : -1};
    options.verify = true;
    const int copies = seed % 5 == 0 ? 1 : 9;
    const Detections from = crowd(rng, 40, copies, 3), to = crowd(rng, 40, copies, 3);
    const PairLinks expected = link_pair({1}, from, to, options), found = by_places(from, to, options);
    CHECK(expected.solver != kCopiesSolver);
    CHECK(found.solver == kCopiesSolver);
    CHECK(found.verified);
    CHECK(found.candidates == expected.candidates);
    CHECK(found.objective == Approx(expected.objective).epsilon(1e-14));
    CHECK(cost_of(from, to, found, options) == Approx(found.objective).epsilon(1e-12));
    if (copies == 1) CHECK(found.next == expected.next);
  }
}

TEST_CASE("links of coincident detections do not depend on the order of the detections") {
  std::mt19937_64 rng(11);
  LinkOptions options;
  options.candidates.gate = kGate;
  const Detections from = crowd(rng, 50, 40, 3), to = crowd(rng, 50, 40, 3);
  const auto shuffled = [&](const Detections& d) {
    std::vector<std::size_t> order(d.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), rng);
    Detections out = d;
    for (std::size_t k = 0; k < order.size(); ++k) {
      out.x_um[k] = d.x_um[order[k]];
      out.y_um[k] = d.y_um[order[k]];
      out.z_um[k] = d.z_um[order[k]];
    }
    return out;
  };
  const auto expected = links_of(from, to, by_places(from, to, options));
  CHECK(expected.size() > 50);
  for (int again = 0; again < 3; ++again) {
    const Detections a = shuffled(from), b = shuffled(to);
    CHECK(links_of(a, b, by_places(a, b, options)) == expected);
  }
}

TEST_CASE("frames with thousands of coincident detections are linked whole and proven") {
  LinkOptions options;
  options.candidates.gate = kGate;
  options.verify = true;
  for (const int copies : {257, 20'000}) {
    const std::vector<Detections> frames = frames_with(copies, 3);
    const auto links = link_frames({2}, frames, options);
    REQUIRE(links.size() == 2);
    for (const PairLinks& pair : links) {
      CHECK(pair.solver == kCopiesSolver);
      CHECK(pair.verified);
      CHECK(pair.links >= copies);
      CHECK(pair.next.size() == frames[0].size());
    }
  }
  const std::vector<Detections> few = frames_with(static_cast<int>(kMostCoincident), 2);
  CHECK(link_pair({1}, few[0], few[1], options).solver != kCopiesSolver);
  // Only one frame is crowded, and one is empty.
  const std::vector<Detections> many = frames_with(1000, 1);
  Detections none;
  none.frame = 1;
  CHECK(link_pair({1}, many[0], none, options).links == 0);
  CHECK(link_pair({1}, none, many[0], options).links == 0);
  CHECK(link_pair({1}, many[0], few[1], options).solver == kCopiesSolver);
}

TEST_CASE("detections that coincide only on the grid are also linked as copies") {
  LinkOptions options;
  options.candidates.gate = kGate;
  Detections from, to;
  for (Detections* d : {&from, &to}) {
    for (int k = 0; k < 5000; ++k) {
      d->x_um.push_back(1 + 1e-12 * k);
      d->y_um.push_back(2);
      d->z_um.push_back(3);
    }
  }
  const PairLinks links = link_pair({1}, from, to, options);
  CHECK(links.solver == kCopiesSolver);
  CHECK(links.links == 5000);
  CHECK(links.candidates == 25'000'000);
}

TEST_CASE("coincident detections have the same links on a GPU") {
  MOTES_NEED_GPU();
  LinkOptions options;
  options.candidates.gate = kGate;
  options.verify = true;
  for (const int copies : {200, 257, 100'000}) {
    const std::vector<Detections> frames = frames_with(copies, 3);
    Execution cuda{2};
    cuda.backend = Backend::cuda;
    const auto expected = link_frames({2}, frames, options), found = link_frames(cuda, frames, options);
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(found[k].next == expected[k].next);
      CHECK(found[k].solver == (copies > 256 ? std::string(kCopiesSolver) : found[k].solver));
      CHECK(found[k].backend == (copies > 256 ? Backend::cpu : Backend::cuda));
    }
  }
}
