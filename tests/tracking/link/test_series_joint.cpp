// Belief propagation, compared with the sum over all linkings if the candidates form a tree, for which it is
// exact.

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/series_joint.h>
#include <motes/tracking/series_links.h>

using namespace motes;
using namespace motes::tracking;

namespace {

std::vector<Detections> frames_of(const std::vector<std::vector<Vec3>>& places) {
  std::vector<Detections> out(places.size());
  for (std::size_t t = 0; t < places.size(); ++t)
    for (const Vec3& p : places[t]) {
      out[t].x_um.push_back(p.x);
      out[t].y_um.push_back(p.y);
      out[t].z_um.push_back(p.z);
    }
  return out;
}

/// Odds of every candidate from the weights of all linkings.
std::vector<double> exact_odds(const SeriesPoints& points, const SeriesModel& model,
                               const SeriesCandidates& candidates) {
  const std::size_t links = candidates.to.size();
  const int last = points.frames() - 1;
  std::vector<double> with(links, 0), without(links, 0);
  for (std::size_t set = 0; set < (std::size_t{1} << links); ++set) {
    std::vector<int> in(points.size(), 0), out(points.size(), 0);
    double weight = 1;
    for (std::size_t e = 0; e < links; ++e) {
      if ((set >> e & 1) == 0) continue;
      const auto i = candidates.from[e], j = candidates.to[e];
      ++out[i], ++in[j];
      weight *= std::exp(-model.link_cost(points.slot[i], points.slot[j] - points.slot[i],
                                          length_of(residual(points, {}, i, j)))) /
                points.density[points.slot[j]];
    }
    for (std::size_t n = 0; n < points.size(); ++n) {
      if (in[n] > 1 || out[n] > 1) weight = 0;
      const double density = points.density[points.slot[n]];
      const double birth = std::exp(-model.birth_cost(density, points.slot[n])) / density;
      const double end = std::exp(-model.end_cost(last - points.slot[n]));
      if (in[n] == 0 && out[n] == 0) weight *= model.clutter + birth * end;
      if (in[n] == 0 && out[n] == 1) weight *= birth;
      if (in[n] == 1 && out[n] == 0) weight *= end;
    }
    for (std::size_t e = 0; e < links; ++e) ((set >> e & 1) != 0 ? with : without)[e] += weight;
  }
  std::vector<double> odds;
  for (std::size_t e = 0; e < links; ++e) odds.push_back(with[e] / without[e]);
  return odds;
}

}  // namespace

TEST_CASE("belief propagation is exact if the candidate links form a tree") {
  const std::vector<std::vector<std::vector<Vec3>>> cases{
      {{{0, 0, 0}}, {{0.3, 0, 0}, {0, 0.5, 0}}},
      {{{0, 0, 0}}, {{0.3, 0, 0}}, {{0.5, 0.1, 0}, {0.2, 0.4, 0.1}}},
      {{{0, 0, 0}, {0.7, 0, 0.1}}, {{0.3, 0, 0}}, {{0.5, 0.1, 0}, {0.2, 0.4, 0.1}}, {}},
  };
  for (const auto& places : cases) {
    const auto frames = frames_of(places);
    const SeriesPoints points = pool_points(frames);
    SeriesModel model = first_model(points, {}, 1);
    model.end = 0.2, model.birth = 0.1, model.clutter = 0.3;
    model.scale.assign(places.size(), 0.4);
    const SeriesCandidates candidates = series_candidates({1}, points, {}, model, 1);
    REQUIRE(candidates.size() >= 2);
    VelocityModel nothing;
    nothing.by_lag.resize(1);
    JointBeliefs one, two;
    propagate_beliefs({1}, points, {}, model, nothing, candidates, 8, one);
    propagate_beliefs({2}, points, {}, model, nothing, candidates, 8, two);
    CHECK(one.from_source == two.from_source);
    // The same with a weight of 1 for each pair of links.
    VelocityModel any_turn = nothing;
    any_turn.form = PersistenceForm::turning;
    any_turn.by_lag[0][0][0].known = true;
    JointBeliefs three;
    propagate_beliefs({1}, points, {}, model, any_turn, candidates, 8, three);
    CHECK(one.from_source == three.from_source);
    CHECK(one.from_target == three.from_target);
    const auto exact = exact_odds(points, model, candidates);
    for (std::size_t e = 0; e < exact.size(); ++e) CHECK(one.odds(e) == Approx(exact[e]).epsilon(1e-6));
  }
}

TEST_CASE("pruning keeps the best links of each detection, and those of the linking") {
  SeriesCandidates candidates{{0, 3, 4}, {1, 2, 3, 3}, {0, 0, 0, 1}};
  SeriesLinking linking = SeriesLinking::none(4);
  const std::vector<double> costs{1, 2, 9, 50};
  CHECK(prune_candidates(candidates, costs, linking, 3, 9).to == std::vector<matching::Index>{1, 2, 3});
  CHECK(prune_candidates(candidates, costs, linking, 30, 1).to == std::vector<matching::Index>{1, 3});
  linking.next[0] = 3;
  CHECK(prune_candidates(candidates, costs, linking, 3, 1).to == std::vector<matching::Index>{1, 3, 3});
}

TEST_CASE("messages are kept for links that are still candidates") {
  const SeriesCandidates before{{0, 3, 4}, {1, 2, 3, 3}, {0, 0, 0, 1}};
  const SeriesCandidates now{{0, 2, 4}, {3, 1, 2, 3}, {0, 0, 1, 1}};
  const JointBeliefs beliefs{{2, 3, 4, 5}, {6, 7, 8, 9}};
  const JointBeliefs on = beliefs_of(now, before, beliefs);
  CHECK(on.from_source == std::vector<double>{4, 2, 1, 5});
  CHECK(on.from_target == std::vector<double>{8, 6, 1, 9});
}

TEST_CASE("MeetingGains has the same bits as velocity_gain") {
  std::mt19937_64 rng(4);
  std::normal_distribution<> normal;
  const auto vec = [&](double s) { return Vec3{s * normal(rng), s * normal(rng), s * normal(rng)}; };
  SeriesModel model;
  model.elapsed = {0.9, 0.1};
  model.growth = {1, 1.7};
  VelocityModel velocity;
  velocity.by_lag.resize(2);
  for (std::size_t lag = 0; lag < 2; ++lag) {
    std::vector<double> lengths;
    for (int k = 0; k < 500; ++k) lengths.push_back(length_of(vec(1)));
    model.shape.emplace_back(lengths, 3, 4);
    for (std::size_t kind = 0; kind < 2; ++kind) {
      Persistence& p = velocity.by_lag[lag][0][kind];
      p.known = lag == 0 || kind == 0;
      p.beta = 0.3 + 0.2 * static_cast<double>(lag + kind);
      p.scale = 0.6 + 0.1 * static_cast<double>(kind);
      for (double& length : lengths) length *= 0.8;
      p.shape = RadialDensity(lengths, 3, 4);
      p.turning = TurningDensity({1, 2, 5, 20}, 3);
      // Another distribution, so that an exchange of the two lengths is noticed.
      std::vector<double> beside = lengths;
      for (double& length : beside) length = length > 1 ? 3 + length : 1 / (2 + length);
      p.speed = SpeedDensity(lengths, beside);
    }
  }
  for (const PersistenceForm form : {PersistenceForm::residual, PersistenceForm::turning}) {
    velocity.form = form;
    const MeetingGains gains(velocity, model);
    for (int k = 0; k < 2000; ++k) {
      const Vec3 d = k == 0 ? Vec3{} : vec(2), v = k == 1 ? Vec3{} : vec(1.5);
      const int lag = 1 + k % 2;
      const auto kind = static_cast<std::size_t>(k / 2 % 2);
      CHECK(gains(gains.leaving(lag, d), gains.arriving(kind, v)) ==
            velocity_gain(velocity, model, lag, 0, kind, d, v));
    }
  }
}
