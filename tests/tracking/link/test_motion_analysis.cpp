// Motion analysis, compared with the definitions on small tracks, and on motion with known values.

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/motion_analysis.h>

using namespace motes;
using namespace motes::tracking;

namespace {

using Rng = std::mt19937_64;

void add_point(TrackSet& tracks, std::int32_t frame, const Vec3& at) {
  tracks.frame.push_back(frame);
  tracks.detection.push_back(-1);
  tracks.time_s.push_back(frame * tracks.dt_s.value_or(1));
  tracks.x_um.push_back(at.x), tracks.y_um.push_back(at.y), tracks.z_um.push_back(at.z);
}

void end_track(TrackSet& tracks) {
  tracks.track_offsets.push_back(static_cast<std::int64_t>(tracks.frame.size()));
  tracks.track_id.push_back(static_cast<std::int64_t>(tracks.track_id.size()));
}

/// Diffusing particles with localisation errors; a detection is missed with a probability.
TrackSet diffusing(Rng& rng, int particles, int frames, double diffusion, double dt, double error,
                   double missed, bool flat = false, const Vec3& drift = {}) {
  TrackSet tracks;
  tracks.dt_s = dt;
  std::normal_distribution<double> step(0, std::sqrt(2 * diffusion * dt)), blur(0, error);
  for (int p = 0; p < particles; ++p) {
    Vec3 at{};
    for (int f = 0; f < frames; ++f) {
      at = {at.x + step(rng) + drift.x, at.y + step(rng) + drift.y, flat ? 0 : at.z + step(rng) + drift.z};
      if (missed > 0 && std::uniform_real_distribution<>()(rng) < missed) continue;
      add_point(tracks, f, {at.x + blur(rng), at.y + blur(rng), flat ? 0 : at.z + blur(rng)});
    }
    end_track(tracks);
  }
  return tracks;
}

struct Plain {
  double square = 0, fourth = 0, product = 0, first = 0;
  std::int64_t pairs = 0, both = 0;
};

/// The values of a lag from every pair of points of every track.
Plain by_definition(const TrackSet& tracks, std::int32_t lag, std::int32_t step) {
  Plain out;
  const auto at = [&](std::int64_t i) {
    const auto k = static_cast<std::size_t>(i);
    return Vec3{tracks.x_um[k], tracks.y_um[k], tracks.z_um[k]};
  };
  const auto minus = [](const Vec3& a, const Vec3& b) { return Vec3{a.x - b.x, a.y - b.y, a.z - b.z}; };
  const auto dot = [](const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; };
  const auto frame = [&](std::int64_t i) { return tracks.frame[static_cast<std::size_t>(i)]; };
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto begin = tracks.track_offsets[t], end = tracks.track_offsets[t + 1];
    for (auto i = begin; i < end; ++i)
      for (auto j = i + 1; j < end; ++j) {
        if (frame(j) - frame(i) != lag) continue;
        const Vec3 d = minus(at(j), at(i));
        out.square += dot(d, d), out.fourth += dot(d, d) * dot(d, d), ++out.pairs;
        if (j + 1 >= end || frame(i + 1) - frame(i) != step || frame(j + 1) - frame(j) != step) continue;
        out.product += dot(minus(at(i + 1), at(i)), minus(at(j + 1), at(j)));
        out.first += dot(minus(at(i + 1), at(i)), minus(at(i + 1), at(i)));
        ++out.both;
      }
  }
  return out;
}

}  // namespace

TEST_CASE("figures of each lag are those of all pairs of points") {
  Rng rng(GENERATE(1, 2, 3));
  const bool flat = GENERATE(false, true);
  const TrackSet tracks = diffusing(rng, 7, 40, 0.3, 0.5, 0.1, 0.2, flat);
  AnalysisOptions options;
  options.max_lag = 25;
  const MotionFigures motion = analyse_motion({2}, tracks, options);
  CHECK(motion.dims == (flat ? 2 : 3));
  CHECK(motion.step == 1);
  REQUIRE(motion.lags.size() == 25);
  for (const LagFigures& lag : motion.lags) {
    const Plain plain = by_definition(tracks, lag.lag, 1);
    const double n = static_cast<double>(plain.pairs), msd = plain.square / n, d = motion.dims;
    CHECK(lag.pairs == plain.pairs);
    CHECK(lag.msd == Approx(msd));
    CHECK(lag.non_gaussian == Approx(d * plain.fourth / n / ((d + 2) * msd * msd) - 1));
    if (plain.both > 0) CHECK(lag.step_correlation == Approx(plain.product / plain.first));
  }
  const MotionFigures again = analyse_motion({1}, tracks, options);
  for (std::size_t k = 0; k < motion.lags.size(); ++k) CHECK(again.lags[k].msd == motion.lags[k].msd);
}

TEST_CASE("diffusion, localisation error and exponent are found, and their errors hold") {
  const bool flat = GENERATE(false, true);
  double off = 0, off2 = 0;
  constexpr int kSeries = 60;
  for (unsigned seed = 1; seed <= kSeries; ++seed) {
    Rng rng(seed);
    const MotionFigures motion = analyse_motion({2}, diffusing(rng, 40, 60, 0.05, 0.1, 0.04, 0.1, flat), {});
    const double pull = (motion.diffusion - 0.05) / motion.diffusion_error;
    off += pull, off2 += pull * pull;
    CHECK(motion.diffusion == Approx(0.05).epsilon(0.25));
    CHECK(motion.localisation == Approx(0.04).epsilon(0.35));
    const LagFigures& first = motion.lags.front();
    const double dims = flat ? 2 : 3, expected = 2 * dims * (0.05 * 0.1 + 0.04 * 0.04);
    CHECK(std::abs(first.msd - expected) < 5 * first.msd_error);
    CHECK(std::abs(first.non_gaussian) < 0.2);
    CHECK(motion.exponent < 1.1);
  }
  CHECK(std::abs(off / kSeries) < 0.6);
  CHECK(std::sqrt(off2 / kSeries) == Approx(1).margin(0.35));
}

TEST_CASE("a straight run, its drift, and the motion without it") {
  TrackSet tracks;
  for (int p = 0; p < 3; ++p) {
    for (int f = 0; f < 20; ++f) add_point(tracks, 2 * f + p, {0.5 * f, 0.25 * f + p, 1});
    end_track(tracks);
  }
  const MotionFigures run = analyse_motion({1}, tracks, {});
  CHECK(run.dims == 2);
  CHECK(run.step == 2);
  CHECK(run.interval == 2);  // in frames, since the interval is unknown
  CHECK(run.exponent == Approx(2));
  CHECK(run.lags.front().lag == 2);
  CHECK(run.lags.front().step_correlation == Approx(1));
  CHECK(run.drift.x == Approx(0.5));
  CHECK(run.drift.y == Approx(0.25));
  REQUIRE(run.tracks.size() == 3);
  CHECK(run.tracks[0].straightness == Approx(1));
  CHECK(run.tracks[0].duration == 38);
  CHECK(run.tracks[0].speed == Approx(19 * std::hypot(0.5, 0.25) / 38));

  Rng rng(4);
  AnalysisOptions still;
  still.remove_drift = true;
  const TrackSet carried = diffusing(rng, 200, 50, 0.02, 0.1, 0.01, 0, false, {0.3, -0.2, 0.1});
  CHECK(analyse_motion({2}, carried, {}).lags.front().step_correlation > 0.8);
  const MotionFigures left = analyse_motion({2}, carried, still);
  CHECK(left.diffusion == Approx(0.02).epsilon(0.1));
  CHECK(left.drift.x == Approx(0.3).margin(0.01));
}

TEST_CASE("very short tracks have no values, and cause no errors") {
  TrackSet tracks;
  CHECK(analyse_motion({1}, tracks, {}).lags.empty());
  add_point(tracks, 3, {1, 2, 3});
  end_track(tracks);
  AnalysisOptions all;
  all.min_length = 1;
  const MotionFigures one = analyse_motion({1}, tracks, all);
  CHECK(one.lags.empty());
  CHECK(one.drifts.empty());
  REQUIRE(one.tracks.size() == 1);
  CHECK(std::isnan(one.tracks[0].speed));
  CHECK(std::isnan(one.diffusion));
  CHECK(std::isnan(one.exponent));
  add_point(tracks, 5, {1, 2, 3});
  tracks.track_offsets.back() = 2;
  const MotionFigures resting = analyse_motion({1}, tracks, {});
  CHECK(resting.lags.size() == 1);
  CHECK(resting.lags[0].msd == 0);
  CHECK(std::isnan(resting.lags[0].non_gaussian));
  all.max_lag = -1;
  CHECK_THROWS_AS(analyse_motion({1}, tracks, all), UsageError);
  CHECK(analyse_motion({1}, tracks, {0, 3, false}).tracks.empty());
}
