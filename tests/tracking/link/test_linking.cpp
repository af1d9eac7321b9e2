// Candidates, linking and tracks, on simulated points small enough to check pair by pair.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>
#include <motes/tracking/linker.h>

using namespace motes;
using namespace motes::tracking;
using matching::Cost;
using matching::Index;

namespace {

Detections points(std::mt19937_64& rng, std::size_t n, double side, double origin = 0) {
  std::uniform_real_distribution<> uniform(origin, origin + side);
  Detections d;
  for (std::size_t k = 0; k < n; ++k) {
    d.x_um.push_back(uniform(rng));
    d.y_um.push_back(uniform(rng));
    d.z_um.push_back(uniform(rng));
  }
  return d;
}

Detections displaced(std::mt19937_64& rng, const Detections& from, double sigma) {
  std::normal_distribution<> normal(0, sigma);
  Detections d = from;
  d.frame = from.frame + 1;
  for (auto* axis : {&d.x_um, &d.y_um, &d.z_um})
    for (double& value : *axis) value += normal(rng);
  return d;
}

Detections permuted(const Detections& d, const std::vector<std::size_t>& order) {
  Detections out;
  out.frame = d.frame;
  for (const std::size_t k : order) {
    out.x_um.push_back(d.x_um[k]);
    out.y_um.push_back(d.y_um[k]);
    out.z_um.push_back(d.z_um[k]);
  }
  return out;
}

double distance(const Detections& a, std::size_t i, const Detections& b, std::size_t j) {
  return std::hypot(a.x_um[i] - b.x_um[j], a.y_um[i] - b.y_um[j], a.z_um[i] - b.z_um[j]);
}

}  // namespace

TEST_CASE("candidates are exactly the pairs within the gate, priced by their distance") {
  std::mt19937_64 rng(1);
  for (const LinkCost kind : {LinkCost::squared, LinkCost::euclidean}) {
    for (const double origin : {0.0, -7.5, 1e6}) {
      for (const double gate : {0.4, 1.3, 30.0}) {
        const Detections a = points(rng, 150, 10, origin), b = points(rng, 130, 10, origin);
        const CandidateGraph g = build_candidates({1}, a, b, {gate, kind, -1});
        const auto p = g.costs.view();
        CHECK_NOTHROW(matching::check_problem(p));
        std::size_t edge = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
          for (std::size_t j = 0; j < b.size(); ++j) {
            const double d = distance(a, i, b, j);
            if (std::abs(d - gate) < 1e-4 * gate) continue;
            const bool listed = edge < p.cost.size() &&
                                static_cast<std::size_t>(p.graph.row_offsets[i + 1]) > edge &&
                                p.graph.col_index[edge] == static_cast<Index>(j);
            REQUIRE(listed == (d < gate));
            if (!listed) continue;
            const double expected = kind == LinkCost::squared ? d * d : d;
            CHECK(static_cast<double>(p.cost[edge]) * g.cost_unit ==
                  Approx(expected).margin(1e-5 * gate * std::max(gate, 1.0)));
            ++edge;
          }
        }
        CHECK(edge == p.cost.size());
        const double free = kind == LinkCost::squared ? gate * gate : gate;
        CHECK(static_cast<double>(p.unmatched_row_cost[0]) * g.cost_unit == Approx(free));
      }
    }
  }
}

TEST_CASE("a pair exactly one gate apart is a candidate, one beyond it is not") {
  const auto edges = [](double distance) {
    Detections a, b;
    for (Detections* d : {&a, &b}) d->x_um = {3}, d->y_um = {0}, d->z_um = {0};
    b.y_um[0] = distance;
    return build_candidates({1}, a, b, {2.5, LinkCost::squared, -1}).costs.graph.edges();
  };
  CHECK(edges(2.5) == 1);
  CHECK(edges(2.5 * (1 - 1e-5)) == 1);
  CHECK(edges(2.5 * (1 + 1e-5)) == 0);
}

TEST_CASE("with outliers and crowds at one place no candidates are lost or repeated") {
  std::mt19937_64 rng(2);
  Detections a = points(rng, 300, 0.5), b = points(rng, 300, 0.5);
  for (const double far : {1e8, -1e8, 3e7}) {
    for (auto* d : {&a, &b}) d->x_um.push_back(far), d->y_um.push_back(-far), d->z_um.push_back(0);
  }
  const auto g = build_candidates({2}, a, b, {1.0, LinkCost::squared, -1});
  CHECK_NOTHROW(matching::check_problem(g.costs.view()));
  CHECK(g.costs.graph.edges() == 300 * 300 + 3);
}

TEST_CASE("Links are those of the candidates in the order of the detections, also if points coincide") {
  std::mt19937_64 rng(9);
  Detections a = points(rng, 2000, 9), b = displaced(rng, a, 0.2);
  for (auto* d : {&a, &b})
    for (std::size_t k = 0; k < 600; ++k)
      d->x_um[2 * k] = d->x_um[k], d->y_um[2 * k] = d->y_um[k], d->z_um[2 * k] = d->z_um[k];
  LinkOptions options;
  options.candidates.gate = Gate(0.8);
  const CandidateGraph graph = build_candidates({1}, a, b, options.candidates);
  const auto solver = matching::find_solver("jv")->make();
  const auto expected = solver->solve_for_partners({1}, graph.costs.view());
  for (const bool verify : {false, true}) {
    options.verify = verify;
    const PairLinks links = link_pair({2, Backend::cpu}, a, b, options);
    CHECK(links.next == expected.row_to_col);
    CHECK(links.objective == expected.objective * graph.cost_unit);
  }
}

TEST_CASE("candidates do not depend on the number of threads") {
  std::mt19937_64 rng(3);
  const Detections a = points(rng, 5000, 17), b = displaced(rng, a, 0.3);
  const auto one = build_candidates({1}, a, b, {1.2, LinkCost::squared, -1});
  for (const int threads : {2, 5}) {
    const auto many = build_candidates({threads}, a, b, {1.2, LinkCost::squared, -1});
    CHECK(many.costs.graph.row_offsets == one.costs.graph.row_offsets);
    CHECK(many.costs.graph.col_index == one.costs.graph.col_index);
    CHECK(many.costs.cost == one.costs.cost);
  }
}

TEST_CASE("bad positions, gates and no-link costs are rejected by name") {
  Detections a;
  a.frame = 7;
  a.x_um = {1, std::numeric_limits<double>::quiet_NaN()};
  a.y_um = a.z_um = {0, 0};
  CHECK_THROWS_WITH(build_candidates({1}, a, a, {1, LinkCost::squared, -1}),
                    Catch::Contains("frame 7, detection 1"));
  a.x_um[1] = 1e300;
  CHECK_THROWS_AS(build_candidates({1}, a, a, {1, LinkCost::squared, -1}), InputError);
  a.x_um[1] = 2;
  CHECK_THROWS_WITH(build_candidates({1}, a, a, {0, LinkCost::squared, -1}),
                    Catch::Contains("linking.gate_um"));
  for (const double gate : {1e-300, 1e300})
    CHECK_THROWS_WITH(build_candidates({1}, a, a, {gate, LinkCost::squared, -1}),
                      Catch::Contains("linking.gate_um"));
  CHECK_THROWS_WITH(build_candidates({1}, a, a, {1, LinkCost::squared, 300}),
                    Catch::Contains("linking.no_link_cost"));
  CHECK_NOTHROW(build_candidates({1}, a, a, {1, LinkCost::squared, 256}));
}

TEST_CASE("too many candidates give an error that names the gate, from any thread") {
  std::mt19937_64 rng(8);
  const Detections a = points(rng, 3000, 1), b = points(rng, 3000, 1);
  for (const int threads : {1, 4}) {
    CHECK_THROWS_WITH(build_candidates({threads}, a, b, {5, LinkCost::squared, -1, 1'000'000}),
                      Catch::Contains("linking.gate_um"));
    CHECK_THROWS_AS(build_candidates({threads}, a, b, {5, LinkCost::squared, -1, 1'000'000}), ResourceError);
    CHECK(build_candidates({threads}, a, b, {5, LinkCost::squared, -1, 9'000'000}).costs.graph.edges() ==
          9'000'000);
  }
}

TEST_CASE("links are certified, and recover small displacements") {
  std::mt19937_64 rng(4);
  for (const LinkCost kind : {LinkCost::squared, LinkCost::euclidean}) {
    const Detections a = points(rng, 3000, std::cbrt(3000.0)), b = displaced(rng, a, 0.05);
    const auto links = link_pair({2}, a, b, {{0.4, kind, -1}, "auto", true});
    CHECK(links.verified);
    CHECK(links.gap == 0);
    std::size_t right = 0;
    for (std::size_t i = 0; i < a.size(); ++i) right += links.next[i] == static_cast<Index>(i);
    CHECK(right > 2980);
  }
}

TEST_CASE("dense, percolating candidates are solved and certified") {
  std::mt19937_64 rng(5);
  const Detections a = points(rng, 4000, std::cbrt(4000.0)), b = displaced(rng, a, 0.6);
  const auto links = link_pair({2}, a, b, {{1.5, LinkCost::squared, -1}, "jv", true});
  CHECK(links.verified);
  CHECK(links.largest_component > 3000);
}

TEST_CASE("links do not depend on the order of the detections, even if distances are equal") {
  std::mt19937_64 rng(6);
  Detections a, b;  // a pixel grid: every inner point has six equidistant candidates
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 8; ++y)
      for (int z = 0; z < 8; ++z) {
        a.x_um.push_back(x), a.y_um.push_back(y), a.z_um.push_back(z);
        b.x_um.push_back(x + 0.5), b.y_um.push_back(y + 0.5), b.z_um.push_back(z);
      }
  const LinkOptions options{{1.0, LinkCost::squared, -1}, "jv", true};
  const auto plain = link_pair({1}, a, b, options);
  std::vector<std::size_t> order(a.size());
  std::iota(order.begin(), order.end(), 0);
  for (int trial = 0; trial < 5; ++trial) {
    std::vector<std::size_t> rows = order, cols = order;
    std::shuffle(rows.begin(), rows.end(), rng);
    std::shuffle(cols.begin(), cols.end(), rng);
    const auto shuffled = link_pair({1}, permuted(a, rows), permuted(b, cols), options);
    std::size_t same = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Index mine = shuffled.next[k], theirs = plain.next[rows[k]];
      same += (mine < 0 && theirs < 0) || (mine >= 0 && static_cast<Index>(cols[mine]) == theirs);
    }
    CHECK(shuffled.objective == Approx(plain.objective).epsilon(1e-12));
    CHECK(same == rows.size());
  }
}

TEST_CASE("linking all frames equals linking pair by pair, for any number of threads") {
  std::mt19937_64 rng(7);
  std::vector<Detections> frames{points(rng, 400, 8)};
  for (int f = 1; f < 6; ++f) frames.push_back(displaced(rng, frames.back(), 0.3));
  const LinkOptions options{{0.9, LinkCost::squared, -1}, "auto", false};
  for (const int threads : {1, 2, 16}) {
    std::size_t last = 0;
    const auto all = link_frames({threads}, frames, options, [&](std::size_t n) { last = n; });
    REQUIRE(all.size() == 5);
    CHECK(last == 5);
    for (std::size_t k = 0; k < all.size(); ++k)
      CHECK(all[k].next == link_pair({1}, frames[k], frames[k + 1], options).next);
  }
  CHECK(link_frames({2}, {}, options).empty());
  CHECK_THROWS_AS(link_frames({2}, frames, options, [](std::size_t) { throw Interrupted("stop"); }),
                  Interrupted);
  CHECK_THROWS_WITH(link_frames({2}, frames, {{0.9, LinkCost::squared, -1}, "nonsense", false}),
                    Catch::Contains("nonsense"));
}

TEST_CASE("of a long series, only the first pairs keep their seconds by name") {
  std::mt19937_64 rng(8);
  const std::vector<Detections> frames(1003, points(rng, 30, 8));
  const auto links = link_frames({2}, frames, {{0.9, LinkCost::squared, -1}, "auto", false});
  REQUIRE(links.size() == 1002);
  CHECK_FALSE(links[999].stage_s.empty());
  CHECK(links[1000].stage_s.empty());
  CHECK(links[1001].links == 30);
}

TEST_CASE("tracks follow the links; empty frames end them") {
  std::vector<Detections> frames(4);
  auto fill = [](Detections& d, int frame, std::vector<double> x) {
    d.frame = frame;
    d.time_s = 0.5 * frame;
    d.y_um = d.z_um = std::vector<double>(x.size(), 0);
    d.quality = x;
    d.x_um = std::move(x);
  };
  fill(frames[0], 10, {0, 5});
  fill(frames[1], 11, {5.1, 0.1, 9});
  fill(frames[2], 12, {});
  fill(frames[3], 13, {0.2});
  frames[1].properties.push_back({"area", {1, 2, 3}});
  const auto links = link_frames({1}, frames, {{1, LinkCost::squared, -1}, "auto", true});
  const TrackSet t = build_tracks(frames, links);
  CHECK(t.track_offsets == std::vector<std::int64_t>{0, 2, 4, 5, 6});
  CHECK(t.frame == std::vector<std::int32_t>{10, 11, 10, 11, 11, 13});
  CHECK(t.detection == std::vector<std::int64_t>{0, 1, 1, 0, 2, 0});
  CHECK(t.time_s[1] == 5.5);
  CHECK(t.x_um == std::vector<double>{0, 0.1, 5, 5.1, 9, 0.2});
  REQUIRE(t.point_properties.size() == 2);
  CHECK(t.point_properties[0].name == "quality");
  CHECK(t.point_properties[1].name == "area");
  CHECK(std::isnan(t.point_properties[1].values[0]));
  CHECK(t.point_properties[1].values[1] == 2);
  frames[0].properties = {{"kind", {8, 9}}, {"area", {4, 5}}};
  const TrackSet mixed = build_tracks(frames, links);
  REQUIRE(mixed.point_properties.size() == 3);
  CHECK(mixed.point_properties[1].name == "kind");
  CHECK(std::isnan(mixed.point_properties[1].values[1]));
  CHECK(mixed.point_properties[2].values[0] == 4);
  CHECK(mixed.point_properties[2].values[1] == 2);
  CHECK(build_tracks({}, {}).tracks() == 0);
  CHECK(build_tracks(std::span(frames).first(1), {}).tracks() == 2);
  CHECK_THROWS_AS(build_tracks(frames, {}), std::invalid_argument);
  std::vector<PairLinks> astray = links;
  astray[0].next[0] = static_cast<matching::Index>(frames[1].size());
  CHECK_THROWS_AS(build_tracks(frames, astray), std::out_of_range);
}
