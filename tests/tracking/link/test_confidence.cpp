// Confidence: the calibration on known odds, simulated series, and the confidence of series whose links are
// known.

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/confidence.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/confidence/confidence_steps.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;
using testing::share_wrong;
using testing::Walkers;
using testing::walkers_moved;

namespace {

/// Walkers at unit density, with independent steps in each frame.
Walkers walkers(int n, int count, double step, std::uint64_t seed) {
  std::normal_distribution<> normal;
  return walkers_moved(n, count, seed, [&](std::mt19937_64& rng) {
    return [&](Vec3& p) { p.x += step * normal(rng), p.y += step * normal(rng), p.z += step * normal(rng); };
  });
}

}  // namespace

TEST_CASE("calibration finds the share of right links for each odds") {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<> uniform;
  std::normal_distribution<> normal(3, 3);
  std::vector<std::pair<double, bool>> links;
  const auto truth = [](double z) { return 1 / (1 + std::exp(0.5 - 0.6 * z)); };
  for (int k = 0; k < 20'000; ++k) {
    const double z = normal(rng);
    links.emplace_back(z, uniform(rng) < truth(z));
  }
  const Calibration calibration = detail::calibrate(links);
  for (double z = -2; z < 8; z += 0.5) {
    INFO("z " << z);
    CHECK(calibration(z) == Approx(truth(z)).margin(0.03));
  }
  // The calibration rises everywhere and is a probability.
  for (double z = -40; z < 40; z += 0.25) {
    CHECK(calibration(z) <= calibration(z + 0.25));
    CHECK(calibration(z) > 0);
    CHECK(calibration(z) < 1);
  }
  // Without links the odds are not changed.
  CHECK(detail::calibrate({})(0) == 0.5);
}

TEST_CASE("a simulated series is as dense and moves as far as the linked one") {
  const Walkers series = walkers(400, 12, 0.12, 5);
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks links = link_series({}, series.frames, options);
  const auto like = detail::simulate_like(links, detail::link_prediction({}, links), 100'000, 1);
  REQUIRE(like.frames.size() == series.frames.size());
  REQUIRE(like.particle.size() == like.frames.size());
  std::map<std::int64_t, Vec3> last;
  double squares = 0, steps = 0;
  for (std::size_t t = 0; t < like.frames.size(); ++t) {
    const Detections& d = like.frames[t];
    CHECK(like.particle[t].size() == d.size());
    CHECK(static_cast<double>(d.size()) == Approx(400).epsilon(0.15));
    std::map<std::int64_t, Vec3> now;
    for (std::size_t k = 0; k < d.size(); ++k) {
      const Vec3 p{d.x_um[k], d.y_um[k], d.z_um[k]};
      const std::int64_t name = like.particle[t][k];
      if (name < 0) continue;
      if (const auto before = last.find(name); before != last.end()) {
        squares += std::pow(p.x - before->second.x, 2) + std::pow(p.y - before->second.y, 2) +
                   std::pow(p.z - before->second.z, 2);
        steps += 1;
      }
      now[name] = p;
    }
    last = std::move(now);
  }
  CHECK(std::sqrt(squares / steps / 3) == Approx(0.12).epsilon(0.1));
}

TEST_CASE("links of detections that may be false ones around a particle are less sure") {
  Detections d;
  for (const double x : {0.0, 0.2, 5.0, 9.0, 9.5})
    d.x_um.push_back(x), d.y_um.push_back(0), d.z_um.push_back(0);
  SeriesPoints points = pool_points(std::vector{d});
  CHECK(detail::particle_probabilities(points, 1) == std::vector<double>(5, 1));
  points.log_odds = {1, 0, 2, 1, 1};
  // Within 0.36: only the first two.
  const std::vector<double> p = detail::particle_probabilities(points, 0.6);
  const double e = std::exp(1.0);
  CHECK(p[0] == Approx(e / (e + 1 + 0.05)));
  CHECK(p[1] == Approx(1 / (e + 1 + 0.05)));
  CHECK(p[2] == Approx(e * e / (e * e + 0.05)));
  CHECK(p[3] == Approx(e / (e + 0.05)));
  CHECK(detail::among_particles(0.9, 1, 1).right == Approx(0.9));
  CHECK(detail::among_particles(0.9, 0.5, 1).right == Approx(0.45));
  // Both or neither: 3/8 both, 3/8 neither.
  CHECK(detail::among_particles(1, 0.5, 0.5).right == Approx(0.6));
  CHECK(detail::among_particles(1, 0.5, 0.5).either == Approx(0.625));
}

TEST_CASE("a simulated series grows in the same places as the linked one, and has its density") {
  // 400 walkers, of which all but 20 appear one after the other, like the cells of an embryo.
  Walkers series = walkers(400, 16, 0.1, 11);
  for (std::size_t t = 0; t < series.frames.size(); ++t) {
    Detections& d = series.frames[t];
    const double side = std::cbrt(20 + 380.0 * static_cast<double>(t) / 15);
    Detections seen;
    seen.frame = d.frame;
    for (std::size_t k = 0; k < d.size(); ++k) {
      if (std::max({d.x_um[k], d.y_um[k], d.z_um[k]}) > side) continue;
      seen.x_um.push_back(d.x_um[k]), seen.y_um.push_back(d.y_um[k]), seen.z_um.push_back(d.z_um[k]);
    }
    d = seen;
  }
  SeriesOptions options;
  options.model = MotionModel::standing;
  const SeriesLinks links = link_series({}, series.frames, options);
  const auto like = detail::simulate_like(links, detail::link_prediction({}, links), 100'000, 1);
  REQUIRE(like.frames.size() == series.frames.size());
  for (std::size_t t = 0; t < like.frames.size(); ++t) {
    INFO("frame " << t);
    CHECK(static_cast<double>(like.frames[t].size()) ==
          Approx(static_cast<double>(series.frames[t].size())).epsilon(0.15).margin(8));
  }
  CHECK(pool_points(like.frames).spacing_um == Approx(links.points.spacing_um).epsilon(0.1));
}

TEST_CASE("the expected share of wrong links is near the true one") {
  for (const double step : {0.03, 0.17, 0.35}) {
    const Walkers series = walkers(500, 12, step, 7);
    SeriesOptions options;
    options.model = MotionModel::standing;
    const SeriesLinks links = link_series({}, series.frames, options);
    const Confidence confidence = link_confidence({}, links, options);
    const double wrong = share_wrong(series, links);
    INFO("step " << step << ": expected " << confidence.wrong << " +- " << confidence.error
                 << ", by the odds " << confidence.wrong_by_odds << ", wrong " << wrong);
    CHECK(confidence.wrong == Approx(wrong).margin(0.05));
    for (std::size_t i = 0; i < confidence.link.size(); ++i)
      CHECK(std::isnan(confidence.link[i]) == (links.linking.next[i] < 0));
    Execution one;
    one.threads = 1;
    CHECK(link_confidence(one, links, options).wrong == confidence.wrong);
  }
}

TEST_CASE("links are as sure with the candidates of the linking as with those of a search") {
  const Walkers series = walkers(500, 12, 0.25, 9);
  SeriesOptions options;
  options.model = MotionModel::standing;
  SeriesLinks links = link_series({}, series.frames, options);
  REQUIRE(links.likely != nullptr);
  const ConfidenceOptions by_odds{.detections = 0};
  const std::vector<double> given = link_confidence({}, links, options, by_odds).link;
  links.likely.reset();
  const std::vector<double> searched = link_confidence({}, links, options, by_odds).link;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (links.linking.next[i] >= 0) CHECK(given[i] == Approx(searched[i]).margin(0.01));
}

TEST_CASE("cutting unsure links leaves fewer wrong ones") {
  const Walkers series = walkers(500, 12, 0.25, 9);
  SeriesOptions options;
  options.model = MotionModel::standing;
  SeriesLinks links = link_series({}, series.frames, options);
  const Confidence confidence = link_confidence({}, links, options);
  const double before = share_wrong(series, links);
  const std::int64_t all = links.links;
  const std::int64_t cut = cut_unsure_links(confidence, 0.9, links);
  CHECK(cut > 0);
  CHECK(links.links == all - cut);
  CHECK(links.links == links.linking.links());
  CHECK(share_wrong(series, links) < 0.5 * before);
  TrackSet tracks = build_tracks(series.frames, links);
  add_confidence(confidence, links, tracks);
  REQUIRE(tracks.point_properties.size() == 1);
  REQUIRE(tracks.track_properties.size() == 1);
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    double all_right = 1;
    for (auto p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p) {
      const double c = tracks.point_properties[0].values[static_cast<std::size_t>(p)];
      CHECK(std::isnan(c) == (p == tracks.track_offsets[t]));
      if (!std::isnan(c)) CHECK(c >= 0.9);
      if (!std::isnan(c)) all_right *= c;
    }
    CHECK(tracks.track_properties[0].values[t] == all_right);
  }
}

TEST_CASE("a cut link is counted neither among all links nor among those over gaps") {
  SeriesLinks links;
  links.points.slot = {0, 1, 3, 0, 2};
  links.linking.next = {1, 2, -1, 4, -1};
  links.linking.previous = {-1, 0, 1, -1, 3};
  links.links = 3;
  links.gap_links = 2;
  const double none = std::nan("");
  Confidence confidence;
  confidence.link = {0.99, 0.2, none, 0.95, none};
  CHECK(cut_unsure_links(confidence, 0.9, links) == 1);
  CHECK(links.linking.next == std::vector<Index>{1, -1, -1, 4, -1});
  CHECK(links.linking.previous == std::vector<Index>{-1, 0, -1, -1, 3});
  CHECK(links.links == 2);
  CHECK(links.gap_links == 1);
}
