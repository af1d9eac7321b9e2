// Large series, linked in blocks of space and time.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

#include "tests/tracking/link/walkers.h"
#include "tracking/link/large/blocks.h"

using namespace motes;
using namespace motes::tracking;
using motes::testing::keen_walkers;
using motes::testing::share_wrong;
using motes::testing::Walkers;

namespace {

SeriesPoints standing_points(int n, int frames, bool flat, std::uint64_t seed) {
  Walkers series =
      motes::testing::walkers_moved(n, frames, seed, [](std::mt19937_64&) { return [](Vec3&) {}; });
  for (Detections& d : series.frames)
    if (flat) std::fill(d.z_um.begin(), d.z_um.end(), 1);
  return pool_points(series.frames);
}

/// The indices of the points inside each range.
std::vector<std::vector<std::size_t>> members(const SeriesPoints& points,
                                              const std::vector<BlockRange>& ranges) {
  std::vector<std::vector<std::size_t>> out(ranges.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t r = 0; r < ranges.size(); ++r)
      if (ranges[r].contains(points.at[i], points.slot[i])) out[r].push_back(i);
  return out;
}

SeriesLinks linked(const Walkers& series, std::int64_t most_in_block, std::int64_t most_to_choose,
                   MotionModel model = MotionModel::automatic, int threads = 2) {
  SeriesOptions options;
  options.model = model;
  options.most_to_choose = most_to_choose;
  options.most_in_block = most_in_block;
  options.verify = true;
  return link_series({threads}, series.frames, options);
}

}  // namespace

TEST_CASE("every detection is in one block, and no block has too many") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SeriesPoints points = standing_points(700, 6, seed == 3, seed);
    const std::vector<BlockRange> ranges = block_ranges(points, 600, {0.8, 1});
    std::size_t all = 0;
    std::vector<int> seen(points.size(), 0);
    for (const auto& one : members(points, ranges)) {
      CHECK(one.size() <= 600);
      CHECK(!one.empty());
      all += one.size();
      for (const std::size_t i : one) ++seen[i];
    }
    CHECK(ranges.size() == 8);
    CHECK(all == points.size());
    CHECK(std::count(seen.begin(), seen.end(), 1) == std::ssize(seen));
    for (const BlockRange& r : ranges)
      if (seed == 3) CHECK((std::isinf(r.low.z) && std::isinf(r.high.z)));
  }
}

TEST_CASE("a series is halved along the axis with the smallest share of margins") {
  // Ten particles in 1000 frames are divided only in time, and not at all if margins are as wide as the
  // series.
  const SeriesPoints points = standing_points(10, 1000, false, 5);
  const std::vector<BlockRange> ranges = block_ranges(points, 3000, {1, 8});
  REQUIRE(ranges.size() == 4);
  for (const BlockRange& r : ranges) {
    CHECK(std::isinf(r.low.x));
    CHECK(r.last - r.first == 250);
  }
  CHECK(block_ranges(points, 3000, {1, 300}).size() == 1);
  // Detections at one place cannot be divided in space.
  SeriesPoints one = points;
  for (Vec3& p : one.at) p = {1, 1, 1};
  CHECK(block_ranges(one, 3000, {0, 300}).size() == 1);
}

TEST_CASE("a block has its core and its margin, from its first frame on") {
  const SeriesPoints points = standing_points(400, 12, false, 7);
  const BlockMargin margin{1.5, 2};
  for (const BlockRange& range : block_ranges(points, 700, margin)) {
    const SeriesBlock block = take_block(points, range, margin);
    const std::int32_t first = std::max(0, range.first - 2), last = std::min(12, range.last + 2);
    CHECK(block.first_frame == first);
    CHECK(block.points.frames() == last - first);
    CHECK(std::ssize(block.points.density) == last - first);
    const auto near = [&](double x, double low, double high) { return x >= low - 1.5 && x < high + 1.5; };
    std::vector<matching::Index> expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3& p = points.at[i];
      if (points.slot[i] >= first && points.slot[i] < last && near(p.x, range.low.x, range.high.x) &&
          near(p.y, range.low.y, range.high.y) && near(p.z, range.low.z, range.high.z))
        expected.push_back(static_cast<matching::Index>(i));
    }
    REQUIRE(block.whole == expected);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const auto i = static_cast<std::size_t>(expected[k]);
      CHECK(block.points.at[k] == points.at[i]);
      CHECK(block.points.slot[k] == points.slot[i] - first);
      CHECK((block.core[k] != 0) == range.contains(points.at[i], points.slot[i]));
      const auto t = static_cast<std::size_t>(block.points.slot[k]);
      CHECK((block.points.offset[t] <= static_cast<matching::Index>(k) &&
             static_cast<matching::Index>(k) < block.points.offset[t + 1]));
    }
  }
}

TEST_CASE("if two blocks differ that of the later detection decides, and no detection has two links") {
  // Detections 0, 1 in the core of one block, 2, 3 in that of another; 0 and 3 want 2, 1 wants 3.
  const auto block = [](std::vector<char> core) {
    SeriesBlock out;
    out.whole = {0, 1, 2, 3};
    out.core = std::move(core);
    return out;
  };
  BlockLinks links(4);
  links.add(block({1, 1, 0, 0}), {{2, 3, -1, -1}, {-1, -1, 0, 1}});
  links.add(block({0, 0, 1, 1}), {{-1, 2, -1, -1}, {-1, -1, 1, -1}});
  std::int64_t conflicting = 0;
  const SeriesLinking out = links.linking(conflicting);
  // The second block has 1 -> 2, but 1 is in the core of the first, which has 1 -> 3. So 2 and 3 are free for
  // 0 and 1.
  CHECK(out.next == std::vector<matching::Index>{2, 3, -1, -1});
  CHECK(out.previous == std::vector<matching::Index>{-1, -1, 0, 1});
  CHECK(conflicting == 2);

  // 0 (first block) and 1 (second) both link to 3: the link of the second block is used.
  BlockLinks both(4);
  both.add(block({1, 0, 0, 0}), {{3, -1, -1, -1}, {-1, -1, -1, 0}});
  both.add(block({0, 1, 1, 1}), {{-1, 3, -1, -1}, {-1, -1, -1, 1}});
  CHECK(both.linking(conflicting).next == std::vector<matching::Index>{-1, 3, -1, -1});
  CHECK(conflicting == 1);
}

TEST_CASE("the model of some frames has their scales, and the median for other frames") {
  SeriesModel model;
  model.scale = {1, 2, 3, 4, 5};
  CHECK(model_of_frames(model, 1, 3).scale == std::vector<double>{2, 3, 4});
  CHECK(model_of_frames(model, 3, 4).scale == std::vector<double>{4, 5, 3, 3});
  CHECK(model_of_frames(model, -2, 4).scale == std::vector<double>{3, 3, 1, 2});
}

TEST_CASE("a series in blocks is linked as well as in one") {
  const auto check = [](const Walkers& series, MotionModel expected, std::int64_t in_block,
                        std::int64_t to_choose, double most_wrong) {
    const SeriesLinks whole = linked(series, 1'000'000'000, to_choose),
                      blocks = linked(series, in_block, to_choose);
    INFO(static_cast<int>(expected) << ": wrong " << share_wrong(series, whole) << " and "
                                    << share_wrong(series, blocks) << ", links " << whole.links << " and "
                                    << blocks.links << ", " << blocks.blocks << " blocks, "
                                    << blocks.conflicting << " conflicting");
    CHECK(blocks.chosen == expected);
    CHECK(whole.blocks == 1);
    CHECK(blocks.blocks > 1);
    CHECK(share_wrong(series, blocks) < share_wrong(series, whole) + most_wrong);
    CHECK(static_cast<double>(blocks.links) > 0.99 * static_cast<double>(whole.links));
    CHECK(blocks.conflicting < blocks.links / 100);
    CHECK(blocks.model.end < whole.model.end + 0.01);
    for (std::size_t t = 0; t < whole.model.scale.size(); ++t)
      CHECK(blocks.model.scale[t] == Approx(whole.model.scale[t]).epsilon(0.3));
  };
  check(keen_walkers(6000, 8, 0.6, 0.2, 1), MotionModel::joint, 30'000, 12'000, 0.003);
  // Many frames of few particles: blocks of time, and the model from frames in the middle.
  check(keen_walkers(40, 600, 0.6, 0.2, 2), MotionModel::joint, 9'000, 9'000, 0.003);
  const Walkers body = motes::testing::walkers_moved(6000, 8, 3, [](std::mt19937_64& rng) {
    return [&rng](Vec3& p) {
      std::normal_distribution<> shake(0, 0.03);
      const double x = p.x - 9, y = p.y - 9, turn = 0.12;
      p.x = 9 + x * std::cos(turn) - y * std::sin(turn) + shake(rng);
      p.y = 9 + x * std::sin(turn) + y * std::cos(turn) + shake(rng);
      p.z += shake(rng);
    };
  });
  check(body, MotionModel::field, 30'000, 12'000, 0.003);
}

TEST_CASE("blocks give the same links for any thread count and with any model asked for") {
  const Walkers series = keen_walkers(5000, 6, 0.5, 0.2, 7);
  const SeriesLinks one = linked(series, 16'000, 9'000, MotionModel::automatic, 1);
  CHECK(one.blocks > 1);
  const SeriesLinks side_by_side = linked(series, 16'000, 9'000, MotionModel::automatic, 5);
  CHECK(side_by_side.linking.next == one.linking.next);
  CHECK(side_by_side.objective == one.objective);
  CHECK(side_by_side.model.scale == one.model.scale);
  for (const MotionModel model : {MotionModel::velocity, MotionModel::field}) {
    const SeriesLinks links = linked(series, 16'000, 9'000, model);
    INFO(static_cast<int>(model) << ": wrong " << share_wrong(series, links));
    // The motion of neighbours does not exist here, so these links are wrong and long, and so are margins.
    CHECK(links.chosen == model);
    if (model != MotionModel::field) CHECK(links.blocks > 1);
    CHECK(share_wrong(series, links) < (model == MotionModel::field ? 0.5 : 0.03));
  }
}
