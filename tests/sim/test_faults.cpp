#include <atomic>
#include <cmath>
#include <set>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/faults.h>
#include <motes/sim/stoppable.h>

#include "tests/sim/motion_statistics.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

MotionOptions small() {
  MotionOptions options;
  options.particles = 500;
  options.frames = 40;
  options.box_um = {20, 20, 10};
  options.dt_s = 0.5;
  return options;
}

std::size_t detections_of(const Observation& observation) {
  std::size_t total = 0;
  for (const Detections& frame : observation.frames) total += frame.size();
  return total;
}

/// Which frames each track is seen in.
std::vector<std::vector<bool>> seen(const Observation& observation, std::size_t tracks) {
  std::vector<std::vector<bool>> all(tracks, std::vector<bool>(observation.frames.size(), false));
  for (std::size_t k = 0; k < observation.frames.size(); ++k)
    for (const Origin& origin : observation.origins[k])
      if (origin.track >= 0) all[static_cast<std::size_t>(origin.track)][k] = true;
  return all;
}

void check_refused(const std::string& key, const FaultOptions& faults) {
  CAPTURE(key);
  CHECK_THROWS_AS(check_options(faults), UsageError);
  CHECK_THROWS_WITH(check_options(faults), Catch::StartsWith(key + ": "));
}

}  // namespace

TEST_CASE("without faults every true position is detected, in an order that tells nothing") {
  const MotionOptions motion = small();
  TrackSet truth = simulate_motion({}, motion);
  const Observation observation = observe({}, truth, motion, {});
  REQUIRE(observation.frames.size() == 40);
  double in_place = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    const Detections& frame = observation.frames[k];
    CHECK(frame.frame == static_cast<std::int32_t>(k));
    CHECK(frame.time_s == static_cast<double>(k) * 0.5);
    REQUIRE(frame.size() == 500);
    REQUIRE(observation.origins[k].size() == 500);
    for (std::size_t i = 0; i < 500; ++i) {
      const Origin& origin = observation.origins[k][i];
      CHECK(origin.detection == static_cast<std::int64_t>(i));
      in_place += origin.detection == origin.track;
      const std::size_t point = static_cast<std::size_t>(origin.track) * 40 + k;
      CHECK(Vec3{frame.x_um[i], frame.y_um[i], frame.z_um[i]} == position(truth, point));
    }
  }
  CHECK(in_place < 40 * 8);  // one a frame is expected
  note_detections(observation, truth);
  for (std::size_t p = 0; p < truth.points(); ++p) {
    const auto& frame = observation.frames[static_cast<std::size_t>(truth.frame[p])];
    REQUIRE(truth.detection[p] >= 0);
    CHECK(frame.x_um[static_cast<std::size_t>(truth.detection[p])] == truth.x_um[p]);
  }
}

TEST_CASE("noise has the standard deviations asked for, and none changes the rest") {
  const MotionOptions motion = small();
  const TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.noise_um = {0.1, 0.2, 0.4};
  const Observation noisy = observe({}, truth, motion, faults);
  Vec3 sum, sum2;
  double count = 0;
  for (std::size_t k = 0; k < 40; ++k)
    for (const Origin& origin : noisy.origins[k]) {
      const auto i = static_cast<std::size_t>(origin.detection);
      const Detections& frame = noisy.frames[k];
      const Vec3 error = Vec3{frame.x_um[i], frame.y_um[i], frame.z_um[i]} -
                         position(truth, static_cast<std::size_t>(origin.track) * 40 + k);
      sum = {sum.x + error.x, sum.y + error.y, sum.z + error.z};
      sum2 = {sum2.x + error.x * error.x, sum2.y + error.y * error.y, sum2.z + error.z * error.z};
      ++count;
    }
  CHECK(count == 20000);
  const double relative = 5 * std::sqrt(0.5 / count);
  CHECK(std::sqrt(sum2.x / count) == Approx(0.1).epsilon(relative));
  CHECK(std::sqrt(sum2.y / count) == Approx(0.2).epsilon(relative));
  CHECK(std::sqrt(sum2.z / count) == Approx(0.4).epsilon(relative));
  CHECK(std::abs(sum.x / count) < 5 * 0.1 / std::sqrt(count));
  CHECK(std::abs(sum.z / count) < 5 * 0.4 / std::sqrt(count));
}

TEST_CASE("misses are independent and as frequent as asked") {
  const MotionOptions motion = small();
  TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.miss = 0.3;
  const Observation observation = observe({}, truth, motion, faults);
  const double found = static_cast<double>(detections_of(observation));
  CHECK(std::abs(found - 14000) < 4 * std::sqrt(20000 * 0.21));
  const auto visible = seen(observation, 500);
  double both = 0;
  for (const auto& frames : visible)
    for (std::size_t k = 0; k + 1 < 40; ++k) both += frames[k] && frames[k + 1];
  CHECK(both / (500 * 39) == Approx(0.49).epsilon(0.03));
  note_detections(observation, truth);
  double missing = 0;
  for (const std::int64_t detection : truth.detection) missing += detection < 0;
  CHECK(missing + found == 20000);
  faults.miss = 1;
  CHECK(detections_of(observe({}, truth, motion, faults)) == 0);
}

TEST_CASE("blinking particles are seen and dark for exponential times") {
  MotionOptions motion = small();
  motion.particles = 3000;
  const TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.blink_on_s = 3;
  faults.blink_off_s = 1;
  const auto visible = seen(observe({}, truth, motion, faults), 3000);
  double on = 0, stays = 0, pairs = 0;
  for (const auto& frames : visible)
    for (std::size_t k = 0; k < 40; ++k) {
      on += frames[k];
      if (k == 0 || !frames[k - 1]) continue;
      ++pairs;
      stays += frames[k];
    }
  CHECK(on / (3000 * 40) == Approx(0.75).epsilon(0.02));
  const double rate = 1.0 / 3 + 1;
  CHECK(stays / pairs == Approx(0.75 + 0.25 * std::exp(-rate * 0.5)).epsilon(0.01));
}

TEST_CASE("false detections are Poisson, uniform, and belong to no particle") {
  MotionOptions motion = small();
  motion.particles = 3;
  motion.frames = 400;
  const TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.false_per_frame = 12;
  const Observation observation = observe({}, truth, motion, faults);
  std::vector<double> x;
  double sum = 0, sum2 = 0;
  for (std::size_t k = 0; k < 400; ++k) {
    double count = 0;
    for (const Origin& origin : observation.origins[k]) {
      if (origin.track >= 0) continue;
      ++count;
      x.push_back(observation.frames[k].x_um[static_cast<std::size_t>(origin.detection)]);
    }
    sum += count;
    sum2 += count * count;
    CHECK(observation.frames[k].size() == static_cast<std::size_t>(count) + 3);
  }
  const double mean = sum / 400;
  CHECK(std::abs(mean - 12) < 4 * std::sqrt(12.0 / 400));
  CHECK(sum2 / 400 - mean * mean == Approx(12).epsilon(0.3));
  CHECK(std::abs(uniform_misfit(x, 20)) < 4.5);
}

TEST_CASE("spots nearer than the resolution are one, and no two detections are as near without a third") {
  MotionOptions motion = small();
  motion.frames = 6;
  motion.box_um = {6, 6, 6};
  TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.merge_um = 0.5;
  faults.merge_into = GENERATE(MergeInto::mean, MergeInto::brighter);
  faults.miss = 0.1;
  const Observation observation = observe({}, truth, motion, faults);
  for (std::size_t k = 0; k < 6; ++k) {
    const Detections& frame = observation.frames[k];
    std::vector<std::vector<std::size_t>> members(frame.size());
    for (const Origin& origin : observation.origins[k])
      members[static_cast<std::size_t>(origin.detection)].push_back(static_cast<std::size_t>(origin.track));
    std::set<std::size_t> all;
    std::vector<std::size_t> group(500, frame.size());
    for (std::size_t d = 0; d < frame.size(); ++d) {
      REQUIRE(!members[d].empty());
      Vec3 sum;
      bool at_one = false;
      for (const std::size_t track : members[d]) {
        CHECK(all.insert(track).second);
        group[track] = d;
        const Vec3 p = position(truth, track * 6 + k);
        sum = {sum.x + p.x, sum.y + p.y, sum.z + p.z};
        at_one = at_one || p == Vec3{frame.x_um[d], frame.y_um[d], frame.z_um[d]};
      }
      const double n = static_cast<double>(members[d].size());
      if (faults.merge_into == MergeInto::brighter || n == 1) CHECK(at_one);
      if (faults.merge_into == MergeInto::mean) CHECK(frame.x_um[d] == Approx(sum.x / n));
    }
    for (const std::size_t a : all)  // brute force: near pairs are in one group
      for (const std::size_t b : all)
        if (squared_length(position(truth, a * 6 + k) - position(truth, b * 6 + k)) < 0.25)
          CHECK(group[a] == group[b]);
    CHECK(frame.size() < all.size());
  }
  note_detections(observation, truth);
  for (std::size_t k = 0; k < 6; ++k)
    for (const Origin& origin : observation.origins[k])
      CHECK(truth.detection[static_cast<std::size_t>(origin.track) * 6 + k] == origin.detection);
}

TEST_CASE("detections are the same bits for any thread count") {
  const MotionOptions motion = small();
  const TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.noise_um = {0.1, 0.1, 0.2};
  faults.miss = 0.1;
  faults.blink_on_s = 4;
  faults.blink_off_s = 1;
  faults.false_per_frame = 20;
  faults.merge_um = 0.8;
  const Observation one = observe({1}, truth, motion, faults), three = observe({3}, truth, motion, faults);
  for (std::size_t k = 0; k < one.frames.size(); ++k) {
    CHECK(one.frames[k].x_um == three.frames[k].x_um);
    CHECK(one.frames[k].z_um == three.frames[k].z_um);
    REQUIRE(one.origins[k].size() == three.origins[k].size());
    for (std::size_t i = 0; i < one.origins[k].size(); ++i) {
      CHECK(one.origins[k][i].track == three.origins[k][i].track);
      CHECK(one.origins[k][i].detection == three.origins[k][i].detection);
    }
  }
}

TEST_CASE("fault options that make no sense are refused by their key") {
  const auto with = [](auto change) {
    FaultOptions options;
    change(options);
    return options;
  };
  check_refused("faults.noise_um", with([](auto& o) { o.noise_um.y = -1; }));
  check_refused("faults.miss", with([](auto& o) { o.miss = 1.5; }));
  check_refused("faults.miss", with([](auto& o) { o.miss = std::nan(""); }));
  check_refused("faults.blink_on_s", with([](auto& o) { o.blink_off_s = 1; }));
  check_refused("faults.blink_off_s", with([](auto& o) { o.blink_on_s = 1; }));
  check_refused("faults.false_per_frame", with([](auto& o) { o.false_per_frame = -3; }));
  check_refused("faults.merge_um", with([](auto& o) { o.merge_um = -0.1; }));
}

TEST_CASE("observing ends where it is asked to, and being asked changes nothing") {
  MotionOptions motion;
  motion.frames = 6;
  const TrackSet truth = simulate_motion({}, motion);
  FaultOptions faults;
  faults.noise_um = {0.1, 0.1, 0.1};
  faults.false_per_frame = 5;
  std::atomic<int> asked{0};
  const Observation whole = observe({2}, truth, motion, faults, [&] { return ++asked < 0; });
  CHECK(asked == 6);
  const Observation plain = observe({2}, truth, motion, faults);
  for (std::size_t k = 0; k < 6; ++k) CHECK(whole.frames[k].x_um == plain.frames[k].x_um);
  asked = 0;
  CHECK_THROWS_AS(observe({2}, truth, motion, faults, [&] { return ++asked > 2; }), Interrupted);
}
