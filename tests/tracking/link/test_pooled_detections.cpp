#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/linker.h>
#include <motes/tracking/pooled_detections.h>

using namespace motes;
using namespace motes::tracking;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Detections frame_at(std::int32_t number, const std::vector<double>& x) {
  Detections d;
  d.frame = number;
  d.time_s = 0.5 * number;
  d.x_um = x;
  d.y_um.assign(x.size(), 10 * number);
  d.z_um.assign(x.size(), -1);
  return d;
}

/// Four frames, one of them empty, with columns that some of them lack.
std::vector<Detections> mixed_frames() {
  std::vector<Detections> frames{frame_at(3, {1, 2}), frame_at(4, {}), frame_at(6, {3}), frame_at(7, {4, 5})};
  frames[2].quality = {0.5};
  for (Detections& frame : frames) frame.intensity.assign(frame.size(), kNone);
  frames[0].properties = {{"area", {8, 9}}};
  frames[2].properties = {{"kind", {1}}, {"area", {7}}};
  frames[3].properties = {{"kind", {2, 3}}};
  return frames;
}

/// Equal, or both NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace

TEST_CASE("pooled detections have the values of all frames, and NaN where a frame lacks a column") {
  std::vector<Detections> frames = mixed_frames();
  const auto check = [](const PooledDetections& pool) {
    CHECK(pool.frame == std::vector<std::int32_t>{3, 4, 6, 7});
    CHECK(pool.time_s == std::vector<double>{1.5, 2, 3, 3.5});
    CHECK(pool.offsets == std::vector<std::int64_t>{0, 2, 2, 3, 5});
    CHECK(pool.x_um == std::vector<double>{1, 2, 3, 4, 5});
    CHECK(pool.y_um == std::vector<double>{30, 30, 60, 70, 70});
    CHECK(pool.z_um == std::vector<double>(5, -1));
    CHECK(pool.radius_um.empty());
    CHECK(pool.intensity.empty());
    CHECK(same(pool.quality, {kNone, kNone, 0.5, kNone, kNone}));
    REQUIRE(pool.properties.size() == 2);
    CHECK(pool.properties[0].name == "area");
    CHECK(same(pool.properties[0].values, {8, 9, 7, kNone, kNone}));
    CHECK(pool.properties[1].name == "kind");
    CHECK(same(pool.properties[1].values, {kNone, kNone, 1, 2, 3}));
  };
  check(pool_detections(frames));
  CHECK(frames[3].x_um.size() == 2);
  check(pool_detections(std::move(frames)));
  CHECK(frames.capacity() == 0);
  CHECK(pool_detections(std::span<const Detections>()).offsets == std::vector<std::int64_t>{0});
}

TEST_CASE("tracks of pooled detections are those of the frames") {
  const std::vector<Detections> frames = mixed_frames();
  std::vector<PairLinks> links(3);
  links[0].next = {-1, -1};
  links[2].next = {1};
  const TrackSet expected = build_tracks(frames, links);
  const PooledDetections pool = pool_detections(frames);
  const TrackSet found = build_tracks(pool, std::vector<matching::Index>{-1, -1, 1, -1, -1});
  CHECK(found.track_offsets == std::vector<std::int64_t>{0, 1, 2, 4, 5});
  CHECK(found.track_offsets == expected.track_offsets);
  CHECK(found.frame == std::vector<std::int32_t>{3, 3, 6, 7, 7});
  CHECK(found.detection == std::vector<std::int64_t>{0, 1, 0, 1, 0});
  CHECK(found.time_s == expected.time_s);
  CHECK(found.x_um == std::vector<double>{1, 2, 3, 5, 4});
  REQUIRE(found.point_properties.size() == 3);
  CHECK(found.point_properties[0].name == "quality");
  CHECK(same(found.point_properties[2].values, {kNone, kNone, 1, 3, 2}));
  CHECK_THROWS_AS(build_tracks(pool, std::vector<matching::Index>(4, -1)), std::invalid_argument);
  CHECK_THROWS_AS(build_tracks(pool, std::vector<matching::Index>{0, -1, -1, -1, -1}), std::out_of_range);
}

TEST_CASE("links can be taken pair by pair, for any number of threads") {
  std::vector<Detections> frames;
  for (std::int32_t f = 0; f < 200; ++f) frames.push_back(frame_at(f, {0.1 * f, 50 + 0.1 * f}));
  for (Detections& frame : frames) frame.y_um.assign(2, 0);
  const LinkOptions options{{1, LinkCost::squared, -1}, "auto", false};
  const std::vector<PairLinks> expected = link_frames({1}, frames, options);
  for (const int threads : {1, 4}) {
    std::vector<std::vector<matching::Index>> next(frames.size() - 1);
    const std::vector<Execution> one(1, Execution{threads});
    link_frames_on(one, frames, options,
                   [&](std::size_t k, PairLinks links) { next[k] = std::move(links.next); });
    for (std::size_t k = 0; k < next.size(); ++k) CHECK(next[k] == expected[k].next);
  }
}
