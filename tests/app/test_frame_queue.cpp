// Frames that are read and searched in parallel come in order, once each, and end at one that fails.

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <sstream>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>

#include "app/run/frame_queue.h"

using namespace motes;
using namespace motes::app;

namespace {

constexpr Shape3 kShape{6, 24, 32};

/// Frame t has t + 1 spots, and is numbered t.
VolumeFrame picture_of(std::int32_t t) {
  VolumeFrame frame;
  frame.index = t;
  frame.shape = kShape;
  frame.voxel_um = {1, 1, 1};
  std::vector<std::uint16_t> voxels(static_cast<std::size_t>(kShape.voxels()));
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<std::uint16_t>(100 + i * 7919 % 5);
  for (std::int32_t s = 0; s <= t % 3; ++s)
    for (std::int64_t z = 2; z < 5; ++z)
      for (std::int64_t y = 9 + t % 5; y < 12 + t % 5; ++y)
        for (std::int64_t x = 5 + 9 * s; x < 8 + 9 * s; ++x)
          voxels[static_cast<std::size_t>((z * kShape.ny + y) * kShape.nx + x)] =
              static_cast<std::uint16_t>(z == 3 && y == 10 + t % 5 && x == 6 + 9 * s ? 900 : 300);
  frame.voxels = std::move(voxels);
  return frame;
}

struct Counters {
  std::atomic<int> shared = 0;  ///< whether two threads were in one reader at once
  std::atomic<int> reads = 0, over = 0;
  std::chrono::milliseconds slow{0};     ///< time of a read
  std::atomic<std::int64_t> inside = 0;  ///< nanoseconds in all reads
};

/// Threads share the reader unless it can be opened again; then each must have its own.
class Pictures final : public io::FrameSource {
 public:
  Pictures(Counters& counters, std::int32_t frames, std::int32_t broken, bool opens_again)
      : counters_(counters), broken_(broken), opens_again_(opens_again) {
    info_.path = "pictures";
    info_.frames = frames;
    info_.shape = kShape;
    info_.type = io::VoxelType::u16;
    info_.voxel_um = Vec3{1, 1, 1};
  }
  const io::SeriesInfo& info() const override { return info_; }
  VolumeFrame read(std::int32_t t) override {
    if (in_use_.exchange(true)) counters_.shared = 1;
    ++counters_.reads;
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(counters_.slow);
    counters_.inside += (std::chrono::steady_clock::now() - start).count();
    VolumeFrame frame = picture_of(t);
    in_use_ = false;
    if (t == broken_) throw InputError("pictures: frame " + std::to_string(t) + " is broken");
    return frame;
  }
  VolumeFrame read_over(std::int32_t t, VolumeFrame earlier) override {
    if (const auto* voxels = std::get_if<std::vector<std::uint16_t>>(&earlier.voxels))
      if (!voxels->empty()) ++counters_.over;
    return read(t);
  }
  std::unique_ptr<io::FrameSource> again() const override {
    if (!opens_again_) return nullptr;
    return std::make_unique<Pictures>(counters_, info_.frames, broken_, true);
  }

 private:
  Counters& counters_;
  std::int32_t broken_;
  bool opens_again_;
  io::SeriesInfo info_;
  std::atomic<bool> in_use_ = false;
};

struct Series {
  Counters counters;
  Pictures source;
  Config config;
  std::ostringstream out, err;
  Console console{out, err, false};
  std::unique_ptr<FrameFinder> finder;
  std::vector<std::int32_t> frames;

  Series(std::int32_t count, std::int32_t broken, bool opens_again)
      : source(counters, count, broken, opens_again), frames(static_cast<std::size_t>(count)) {
    config.input.path = "pictures";
    config.detection.radius_um = Vec3{1.7, 1.7, 1.7};
    config.detection.polarity = tracking::Polarity::bright;  // else the first frame is read once more
    config.execution.backend = Backend::cpu;
    finder = std::make_unique<FrameFinder>(Execution{2, Backend::cpu}, config, source, console);
    std::iota(frames.begin(), frames.end(), 0);
  }
};

const std::vector<Execution> kThree(3, Execution{1, Backend::cpu});

}  // namespace

TEST_CASE("frames searched in parallel come in order, and equal those searched one by one", "[detect]") {
  const bool opens_again = GENERATE(false, true);
  constexpr std::int32_t kFrames = 40;
  Series series(kFrames, -1, opens_again);
  FrameQueue queue(*series.finder, kThree, kShape, series.frames, true);
  Series alone(kFrames, -1, false);
  for (std::int32_t t = 0; t < kFrames; ++t) {
    SeenFrame seen = queue.next();
    INFO("frame " << t);
    tracking::DetectionReport report;
    const Detections expected = alone.finder->find(picture_of(t), report);
    const Detections found = series.finder->settle(seen.frame, std::move(seen.found), seen.report);
    CHECK(found.frame == t);
    CHECK(found.size() == expected.size());
    CHECK(found.x_um == expected.x_um);
    CHECK(found.intensity == expected.intensity);
    io::Projection picture;
    picture.add(picture_of(t));
    CHECK(seen.picture.xy() == picture.xy());
    CHECK(seen.picture.xz() == picture.xz());
  }
  CHECK(series.counters.shared == 0);
  CHECK(series.counters.reads == kFrames);
  CHECK((series.counters.over > 0) == opens_again);
}

TEST_CASE("a frame that cannot be read ends the queue after those before it", "[detect]") {
  const bool opens_again = GENERATE(false, true);
  Series series(30, 7, opens_again);
  FrameQueue queue(*series.finder, kThree, kShape, series.frames, false);
  for (std::int32_t t = 0; t < 7; ++t) CHECK(queue.next().found.frame == t);
  CHECK_THROWS_WITH(queue.next(), "pictures: frame 7 is broken");
}

TEST_CASE("a queue can be left at any frame, and reads only some frames ahead", "[detect]") {
  const int taken = GENERATE(0, 1, 5);
  Series series(200, -1, true);
  {
    FrameQueue queue(*series.finder, kThree, kShape, series.frames, false);
    for (int t = 0; t < taken; ++t) queue.next();
  }
  const auto ahead = static_cast<int>(frames_ahead(*series.finder, kThree, kShape));
  CHECK(ahead == 12);
  CHECK(series.counters.reads <= (taken == 0 ? 0 : taken + ahead));
}

TEST_CASE("the time of reading frames leaves out waiting for the reader", "[detect]") {
  const bool opens_again = GENERATE(false, true);
  constexpr std::int32_t kFrames = 12;
  Series series(kFrames, -1, opens_again);
  series.counters.slow = std::chrono::milliseconds(10);
  const int threads = GENERATE(1, 4);
  const std::vector<Execution> executions(static_cast<std::size_t>(threads), Execution{2, Backend::cpu});
  FrameQueue queue(*series.finder, executions, kShape, series.frames, false);
  FrameWork work;
  for (std::int32_t t = 0; t < kFrames; ++t) work.add(queue.next().work);
  const double inside = 1e-9 * static_cast<double>(series.counters.inside);
  INFO(threads << " executions, " << work.read_s << " s of reading, " << inside << " s in the source");
  CHECK(work.read_s >= inside);
  CHECK(work.read_s < 1.5 * inside);
  CHECK(work.detect_s > 0);
  const SideBySide side_by_side = queue.side_by_side();
  CHECK(side_by_side.detectors == (threads > 1 ? threads : 2));
  CHECK(side_by_side.readers == (threads > 1 && opens_again ? 8 : 1));
}
