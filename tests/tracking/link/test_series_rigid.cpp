// Samples that rotate: fits of rigid motions, their search without links, predictions, and series linked with
// them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tracking/link/confidence/confidence_steps.h"
#include "tracking/link/motion/rigid.h"
#include "tracking/link/series/options.h"
#include "tracking/motion/near_cells.h"
#include "tracking/motion/rigid_pair.h"
#include "tracking/motion/triangle_rotation.h"

using namespace motes;
using namespace motes::tracking;
using matching::Index;

namespace {

Vec3 normal_vector(std::mt19937_64& rng, int dims, double deviation) {
  std::normal_distribution<> normal(0, deviation);
  Vec3 out;
  out.x = normal(rng), out.y = normal(rng);
  if (dims == 3) out.z = normal(rng);
  return out;
}

/// A rotation by `angle` about `axis` (Rodrigues) through `centre`, then a shift.
RigidMotion motion_about(Vec3 axis, double angle, const Vec3& centre, const Vec3& shift = {}) {
  const double n = length_of(axis), c = std::cos(angle), s = std::sin(angle);
  axis = {axis.x / n, axis.y / n, axis.z / n};
  const double x = axis.x, y = axis.y, z = axis.z, d = 1 - c;
  RigidMotion out;
  out.rotation = {c + x * x * d,     x * y * d - z * s, x * z * d + y * s, y * x * d + z * s, c + y * y * d,
                  y * z * d - x * s, z * x * d - y * s, z * y * d + x * s, c + z * z * d};
  const Vec3 turned = out.turned(centre);
  out.shift = {centre.x - turned.x + shift.x, centre.y - turned.y + shift.y, centre.z - turned.z + shift.z};
  return out;
}

Vec3 axis_in(std::mt19937_64& rng, int dims) { return dims == 2 ? Vec3{0, 0, 1} : normal_vector(rng, 3, 1); }

/// `n` points at unit density around the origin.
std::vector<Vec3> sample_of(std::mt19937_64& rng, int n, int dims) {
  const double side = std::pow(n, 1.0 / dims);
  std::uniform_real_distribution<> place(-side / 2, side / 2);
  std::vector<Vec3> out;
  for (int k = 0; k < n; ++k) {
    const double x = place(rng), y = place(rng);
    out.push_back({x, y, dims == 3 ? place(rng) : 0});
  }
  return out;
}

struct Rotating {
  std::vector<Detections> frames;
  std::vector<Index> next;  ///< [pooled detections] the true links over one frame
  std::vector<RigidMotion> motions;
};

/// A sample that moves by motion(t, rng) after frame t. `noise`: of positions along each axis; `missed`:
/// share of missed detections, and of added false ones.
template <class Motion>
Rotating rotating(int n, int count, int dims, std::uint64_t seed, double noise, double missed,
                  const Motion& motion) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform;
  std::vector<Vec3> sample = sample_of(rng, n, dims);
  Rotating out;
  std::vector<Index> last(sample.size(), -1);
  for (int t = 0; t < count; ++t) {
    Detections d;
    d.frame = t;
    const auto add = [&](const Vec3& p) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      out.next.push_back(-1);
    };
    for (std::size_t k = 0; k < sample.size(); ++k) {
      const Index before = std::exchange(last[k], -1);
      if (uniform(rng) < missed) continue;
      last[k] = static_cast<Index>(out.next.size());
      if (before >= 0) out.next[static_cast<std::size_t>(before)] = last[k];
      const Vec3 off = normal_vector(rng, dims, noise);
      add({sample[k].x + off.x, sample[k].y + off.y, sample[k].z + off.z});
    }
    const auto anywhere = sample_of(rng, n, dims);
    for (const Vec3& p : anywhere)
      if (uniform(rng) < missed) add(p);
    out.frames.push_back(std::move(d));
    out.motions.push_back(motion(t, rng));
    for (Vec3& p : sample) p = out.motions.back().of(p);
  }
  return out;
}

/// Share of the true links that were found.
double share_found(const Rotating& series, const SeriesLinking& linking) {
  double found = 0, all = 0;
  for (std::size_t i = 0; i < series.next.size(); ++i)
    if (series.next[i] >= 0) all += 1, found += linking.next[i] == series.next[i];
  return found / all;
}

/// The largest distance between the images of a point under two motions.
double farthest(const RigidMotion& a, const RigidMotion& b, std::span<const Vec3> points) {
  double most = 0;
  for (const Vec3& p : points) most = std::max(most, length_of(a.of(p) - b.of(p)));
  return most;
}

}  // namespace

TEST_CASE("no motion near the fitted one brings points closer") {
  const int dims = GENERATE(2, 3), n = GENERATE(3, 4, 30);
  std::mt19937_64 rng(static_cast<std::uint64_t>(7 * n + dims));
  const Vec3 far{1000, -500, dims == 3 ? 200.0 : 0};
  std::vector<Vec3> from = sample_of(rng, n, dims), to;
  const RigidMotion truth = motion_about(axis_in(rng, dims), 2.5, {1, 2, 0}, {0.3, 0.1, 0});
  RigidSums sums(far);
  std::vector<double> weight;
  for (Vec3& p : from) {
    p = {p.x + far.x, p.y + far.y, p.z + far.z};
    const Vec3 off = normal_vector(rng, dims, 0.1), q = truth.of(p);
    to.push_back({q.x + off.x, q.y + off.y, q.z + off.z});
    weight.push_back(std::uniform_real_distribution<>(0.5, 2)(rng));
    sums.add(p, to.back(), weight.back());
  }
  /// `then`: a second motion after the first.
  const auto cost = [&](const RigidMotion& motion, const RigidMotion& then) {
    double sum = 0;
    for (std::size_t k = 0; k < from.size(); ++k) {
      const Vec3 off = to[k] - then.of(motion.of(from[k]));
      sum += weight[k] * dot(off, off);
    }
    return sum;
  };
  const int flat = dims == 2 ? 2 : -1;
  const RigidMotion fitted = fit_rigid(sums, flat);
  const double least = cost(fitted, {});
  for (int trial = 0; trial < 300; ++trial) {
    const Vec3 middle = sums.mean_to(), shift = normal_vector(rng, dims, 0.02);
    const RigidMotion turn =
        motion_about(axis_in(rng, dims), trial % 2 == 0 ? 0.01 * trial : 0.1, middle, shift);
    CHECK(cost(fitted, turn) >= least);
  }
  const auto& r = fitted.rotation;
  CHECK(r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
            // No reflection.
            r[2] * (r[3] * r[7] - r[4] * r[6]) ==
        Approx(1));
  if (dims == 2) {
    CHECK(fitted.rotation[8] == 1);
    CHECK(fitted.rotation[2] == 0);
  }
  // A prior that outweighs all pairs; a pair that is added and subtracted has no effect.
  const RigidMotion known = motion_about({0, 0, 1}, 0.2, {});
  CHECK(farthest(fit_rigid(sums, flat, {known, 1e9, 1e9}), known, from) < 1e-3);
  RigidSums one(far), fewer(far);
  one.add(from[0], to[0], weight[0]);
  for (std::size_t k = 1; k < from.size(); ++k) fewer.add(from[k], to[k], weight[k]);
  sums -= one;
  if (n > 4) CHECK(farthest(fit_rigid(sums, flat), fit_rigid(fewer, flat), from) < 1e-6);
}

TEST_CASE("a triangle's rotation in closed form is that of least squares") {
  std::mt19937_64 rng(11);
  int flat = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Vec3 far = trial % 2 == 0 ? Vec3{} : Vec3{300, -200, 100};
    const RigidMotion truth = motion_about(axis_in(rng, 3), 0.002 * trial, {1, 2, 0}, {0.3, 0.1, 0});
    std::array<Vec3, 3> from, to;
    RigidSums sums(far);
    for (std::size_t k = 0; k < 3; ++k) {
      from[k] = far + normal_vector(rng, 3, 1);
      to[k] = truth.of(from[k]) + normal_vector(rng, 3, trial % 3 == 0 ? 0.3 : 0);
      sums.add(from[k], to[k], 1);
    }
    const auto found = triangle_rotation(from, to);
    flat += !found;
    const std::array<Vec3, 2> beside{far + Vec3{3, 1, 0}, far + Vec3{0, -2, 3}};
    if (found) CHECK(farthest(*found, fit_rigid(sums, -1), beside) < 1e-9);
  }
  CHECK(flat < 100);
  const std::array<Vec3, 3> line{Vec3{0, 0, 0}, Vec3{1, 2, 3}, Vec3{2, 4, 6}}, point{};
  CHECK_FALSE(triangle_rotation(line, line));
  CHECK_FALSE(triangle_rotation(point, point));
}

TEST_CASE("cells know the nearest point within their radius") {
  const int dims = GENERATE(2, 3), n = GENERATE(1, 30, 400);
  const double radius = GENERATE(0.1, 0.3, 1.0);
  std::mt19937_64 rng(static_cast<std::uint64_t>(n));
  std::vector<Vec3> points;
  for (int k = 0; k < n; ++k) points.push_back(Vec3{-3, 5, 0} + normal_vector(rng, dims, 1));
  const NearCells cells(points, radius);
  REQUIRE(cells.known());
  for (int trial = 0; trial < 3000; ++trial) {
    const Vec3 near = points[rng() % points.size()];
    const Vec3 place = near + normal_vector(rng, 3, trial % 2 == 0 ? radius : radius * radius);
    double least = squared_length(points.front() - place);
    for (const Vec3& p : points) least = std::min(least, squared_length(p - place));
    const NearCells::Found found = cells.nearest(place);
    CHECK(found.squared == cells.squared(place));
    if (least <= radius * radius) {
      CHECK(found.squared == least);
      CHECK(squared_length(found.at - place) == least);
    } else {
      CHECK(found.squared > radius * radius);
    }
  }
  CHECK_FALSE(NearCells(points, 1e-7).known());
  CHECK_FALSE(NearCells({}, 1).known());
  CHECK_FALSE(NearCells(points, 0).known());
}

TEST_CASE("the rotation from one frame to the next is found without links") {
  const int dims = GENERATE(2, 3), n = GENERATE(10, 40, 2000), seed = GENERATE(1, 2, 3);
  const double angle = GENERATE(0.15, 0.5), off = n > 1000 ? 0 : 1;
  std::mt19937_64 rng(static_cast<std::uint64_t>(seed));
  const Vec3 centre = normal_vector(rng, dims, off), axis = axis_in(rng, dims);
  const auto series =
      rotating(n, 2, dims, static_cast<std::uint64_t>(seed), 0.02, 0.05, [&](int, std::mt19937_64&) {
        return motion_about(axis, angle, centre, {0.2, 0.1, 0});
      });
  const SeriesPoints points = pool_points(series.frames);
  const RigidPairSearch search(points.frame(0), points.frame(1), points.density[1], points.spacing_um, dims,
                               flat_axis(points.at, dims));
  const auto found = search.free();
  REQUIRE_FALSE(found.empty());
  CHECK(farthest(search.refined(found.front().motion, 2), series.motions[0], points.frame(0)) < 0.3);
}

TEST_CASE("bounds rule out no hypothesis that exact agreement would keep") {
  // With noise of 2 spacings, hypotheses that barely agree are kept.
  const auto [noise, seeds] =
      GENERATE(table<double, int>({{0.02, 1}, {0.1, 1}, {0.2, 1}, {0.4, 1}, {2, 20}}));
  const int n = GENERATE(12, 40, 300), seed = GENERATE_COPY(range(0, seeds));
  std::mt19937_64 rng(static_cast<std::uint64_t>(n + 1000 * seed));
  const auto from = sample_of(rng, n, 3);
  const RigidMotion truth = motion_about(axis_in(rng, 3), 0.3, {1, 2, 0}, {0.2, 0.1, 0});
  std::vector<Vec3> to;
  for (const Vec3& p : from) to.push_back(truth.of(p) + normal_vector(rng, 3, noise));
  const RigidPairSearch search(from, to, 1, 1, 3, -1);
  const auto quick = search.free(), exact = search.free(NearCells({}, 1));
  REQUIRE(search.cells().known());
  REQUIRE(quick.size() == exact.size());
  for (std::size_t k = 0; k < quick.size(); ++k) {
    CHECK(quick[k].motion.rotation == exact[k].motion.rotation);
    CHECK(quick[k].gain == exact[k].gain);
  }
}

TEST_CASE("points much closer than the spacing do not make hypotheses of rotations") {
  const double scale = GENERATE(0.001, 0.3);
  std::mt19937_64 rng(1);
  std::vector<Vec3> points = sample_of(rng, 300, 3);
  for (Vec3& p : points) p = scale * p;
  CHECK(RigidPairSearch(points, points, 1, 1, 3, -1).free().empty());
}

TEST_CASE("between unrelated frames hardly any motion is more likely than chance") {
  const int dims = GENERATE(2, 3);
  double likelier = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 rng(seed);
    const auto from = sample_of(rng, 8, dims), to = sample_of(rng, 8, dims);
    double most = 0;
    for (const RigidHypothesis& one : RigidPairSearch(from, to, 1, 1, dims, dims == 2 ? 2 : -1).free())
      most = std::max(most, *std::max_element(one.gain.begin(), one.gain.end()));
    likelier += most;
  }
  CHECK(likelier / 60 < 0.5);
}

TEST_CASE("motions of a series are found, and none if nothing rotates") {
  const int dims = GENERATE(2, 3), seed = GENERATE(1, 2, 3);
  const double rate = GENERATE(0.0, 0.4);
  std::mt19937_64 axes(static_cast<std::uint64_t>(seed));
  const Vec3 axis = axis_in(axes, dims);
  const auto series =
      rotating(8, 20, dims, static_cast<std::uint64_t>(seed), 0.03, 0.1, [&](int, std::mt19937_64& rng) {
        return motion_about(axis, rate, {0.5, 0, 0}, normal_vector(rng, dims, 0.2));
      });
  const SeriesPoints points = pool_points(series.frames);
  const auto motions = likely_motions({}, points);
  CHECK(motions.empty() == (rate == 0));
  std::size_t right = 0;
  for (std::size_t t = 0; t + 1 < motions.size(); ++t)
    right += farthest(motions[t], series.motions[t], points.frame(static_cast<std::int32_t>(t))) < 0.3;
  if (!motions.empty()) CHECK(right >= 17);
  CHECK(likely_motions({2}, points).size() == motions.size());
}

TEST_CASE("a rotation whose links are known is not searched again") {
  const int dims = GENERATE(2, 3), frames = GENERATE(20, 50);
  std::mt19937_64 axes(7);
  const Vec3 axis = axis_in(axes, dims);
  const auto series = rotating(30, frames, dims, 3, 0.03, 0.1,
                               [&](int, std::mt19937_64&) { return motion_about(axis, 0.4, {}); });
  const SeriesPoints points = pool_points(series.frames);
  SeriesLinking known = SeriesLinking::none(points.size());
  const auto all = static_cast<std::size_t>(points.frames());
  CHECK(likely_motions({}, points, &known).size() == all);
  known.next = series.next;
  CHECK(likely_motions({}, points, &known).empty());
  // Every tenth detection has no link.
  for (std::size_t i = 0; i < known.next.size(); i += 10) known.next[i] = -1;
  CHECK(likely_motions({}, points, &known).size() == all);
}

TEST_CASE("a detection's own link is not used for its predicted rotation") {
  const int dims = GENERATE(2, 3), count = GENERATE(2, 3, 12);
  const auto truth = [&](int, std::mt19937_64&) { return motion_about({0, 0, 1}, 0.5, {}, {0.1, 0, 0}); };
  auto series = rotating(9, count, dims, 5, 0.001, 0, truth);
  series.frames[1].x_um[0] += 0.4;  // one moves elsewhere
  const SeriesPoints points = pool_points(series.frames);
  SeriesLinking linking = SeriesLinking::none(points.size());
  linking.next = series.next;
  std::vector<RigidMotion> motions(points.at.size() / 9, series.motions[0]);
  double price = 0;
  const Prediction prediction = predict_by_rigid({}, points, linking, 2, motions, &price);
  for (std::size_t k = 0; k < 9; ++k) {
    const Vec3 place = series.motions[0].of(points.at[k]);
    CHECK(length_of(prediction.by_lag[0][k] - (place - points.at[k])) < (k == 0 ? 0.02 : 0.15));
  }
  CHECK(price >= Approx(dims * std::log(9)));  // one motion for all frames
  CHECK(price < dims * count * std::log(9));   // and hardly any motions of single frames
}

TEST_CASE("errors of predictions are those of the noise and of the fit to other links") {
  const int dims = GENERATE(2, 3), count = 2;
  const double noise = 0.05;
  double squares = 0, values = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto series = rotating(10, count, dims, seed, noise, 0, [&](int, std::mt19937_64&) {
      return motion_about({0, 0, 1}, 0.5, {});
    });
    const SeriesPoints points = pool_points(series.frames);
    SeriesLinking linking = SeriesLinking::none(points.size());
    linking.next = series.next;
    auto motions = series.motions;
    const Prediction prediction = predict_by_rigid({1}, points, linking, 1, motions);
    for (Index i = 0; i < 10; ++i) {
      const Vec3 off = residual(points, prediction, i, linking.next[static_cast<std::size_t>(i)]);
      squares += dot(off, off), values += dims;
    }
  }
  // The noise of two positions; it would be less if the own link were used.
  CHECK(squares / values > 1.05 * 2 * noise * noise);
  CHECK(squares / values < 1.8 * 2 * noise * noise);
}

TEST_CASE("a steady rotation is estimated from all frames, a different one from its frame") {
  const int dims = GENERATE(2, 3);
  const auto series = rotating(12, 20, dims, 3, 0.05, 0, [&](int t, std::mt19937_64&) {
    return motion_about({0, 0, 1}, t == 10 ? -0.9 : 0.3, {});
  });
  const SeriesPoints points = pool_points(series.frames);
  SeriesLinking linking = SeriesLinking::none(points.size());
  linking.next = series.next;
  auto motions = series.motions;
  predict_by_rigid({}, points, linking, 1, motions);
  double steady = 0;
  for (std::size_t t = 0; t + 1 < 20; ++t) {
    const double off = length_of(rotation_between(motions[t], series.motions[t]));
    if (t == 10)
      CHECK(off < 0.2);
    else
      steady += off;
  }
  // From one frame the error is 0.05 sqrt(2 / sum of squared distances), about 0.02 (three axes: 0.04).
  CHECK(steady / 18 < (dims == 2 ? 0.018 : 0.035));
}

TEST_CASE("a few particles that rotate farther than their spacing are linked with the rotation") {
  const int dims = GENERATE(2, 3), n = GENERATE(8, 20), seed = GENERATE(1, 2);
  const double rate = GENERATE(0.8, 1.5);
  std::mt19937_64 axes(static_cast<std::uint64_t>(seed));
  const Vec3 axis = axis_in(axes, dims);
  const auto series =
      rotating(n, 20, dims, static_cast<std::uint64_t>(seed), 0.02, 0.07, [&](int, std::mt19937_64&) {
        return motion_about(axis, rate, {0.4, 0.2, 0});
      });
  const SeriesLinks links = link_series({1}, series.frames, {});
  CHECK(links.rotation);
  CHECK(share_found(series, links.linking) > 0.97);
  CHECK(detail::changed_links({1}, links, {}, 1) < 0.1);
  CHECK_FALSE(detail::link_series({1}, series.frames, {}, {.rotation = true}, {}).evidence.rotation);
}

TEST_CASE("particles that do not share the rotation of most are linked, too") {
  const double angle = 0.15;
  const std::size_t n = 40;
  const int count = 15;
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2, 3, 4)));
  std::vector<Vec3> at = sample_of(rng, static_cast<int>(n), 2);
  const RigidMotion most = motion_about({0, 0, 1}, angle, {}),
                    others = motion_about({0, 0, 1}, angle, {4, 2, 0});
  Rotating series;
  for (int t = 0; t < count; ++t) {
    Detections d;
    d.frame = t;
    for (std::size_t k = 0; k < n; ++k) {
      const Vec3 off = normal_vector(rng, 2, 0.02);
      d.x_um.push_back(at[k].x + off.x), d.y_um.push_back(at[k].y + off.y), d.z_um.push_back(0);
      series.next.push_back(t + 1 < count ? static_cast<Index>((static_cast<std::size_t>(t) + 1) * n + k)
                                          : -1);
      at[k] = (k % 4 == 0 ? others : most).of(at[k]);
    }
    series.frames.push_back(std::move(d));
  }
  const SeriesLinks links = link_series({1}, series.frames, {});
  CHECK(share_found(series, links.linking) > 0.97);
}

TEST_CASE("many particles that rotate farther than their spacing are linked by their neighbours' motion") {
  const bool by_part = GENERATE(false, true);  // the model is chosen on all, or on a part in the middle
  const auto series = by_part ? rotating(5200, 4, 3, 1, 0.02, 0.02,
                                         [](int, std::mt19937_64&) {
                                           return motion_about({1, 2, 3}, 0.3, {3, 0, 0});
                                         })
                              : rotating(5200, 4, 2, 1, 0.02, 0.02, [](int, std::mt19937_64&) {
                                  return motion_about({0, 0, 1}, 0.15, {3, 0, 0});
                                });
  SeriesOptions options;
  if (by_part) options.most_to_choose = 12'000;
  const SeriesLinks links = link_series({2}, series.frames, options);
  CHECK(links.rotation);
  CHECK_FALSE(links.drift);
  CHECK(share_found(series, links.linking) > 0.97);
}

TEST_CASE("particles that move independently, or drift, have no common rotation") {
  const int dims = GENERATE(2, 3), seed = GENERATE(1, 2, 3), n = GENERATE(4, 8, 20);
  std::mt19937_64 rng(static_cast<std::uint64_t>(seed));
  std::vector<Vec3> sample = sample_of(rng, n, dims);
  std::vector<Detections> frames;
  const double drift = GENERATE(0.0, 0.5);
  for (int t = 0; t < 25; ++t) {
    Detections d;
    d.frame = t;
    const Vec3 shift = normal_vector(rng, dims, drift);
    for (Vec3& p : sample) {
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
      const Vec3 own = normal_vector(rng, dims, 0.15);
      p = {p.x + shift.x + own.x, p.y + shift.y + own.y, p.z + shift.z + own.z};
    }
    frames.push_back(std::move(d));
  }
  CHECK_FALSE(link_series({1}, frames, {}).rotation);
}
