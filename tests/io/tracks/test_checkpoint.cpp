#include <catch2/catch.hpp>

#include <motes/io/checkpoint.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using io::CheckpointWriter;

namespace {

Detections sample(std::int32_t frame, std::size_t count) {
  Detections d;
  d.frame = frame;
  d.time_s = frame * 0.1;
  for (std::size_t i = 0; i < count; ++i) d.x_um.push_back(static_cast<double>(i) / 3 + frame);
  d.y_um = d.z_um = d.intensity = d.x_um;
  d.radius_um = d.quality = std::vector<double>(count, std::nan(""));
  d.properties = {{"diameter", d.x_um}, {"", d.quality}};
  return d;
}

void require_same(const Detections& a, const Detections& b) {
  CHECK(a.frame == b.frame);
  CHECK(a.time_s == b.time_s);
  CHECK(same_bits(a.x_um, b.x_um));
  CHECK(same_bits(a.y_um, b.y_um));
  CHECK(same_bits(a.z_um, b.z_um));
  CHECK(same_bits(a.radius_um, b.radius_um));
  CHECK(same_bits(a.intensity, b.intensity));
  CHECK(same_bits(a.quality, b.quality));
  require_same_columns(a.properties, b.properties);
}

void append_frames(CheckpointWriter& log, int first, int end) {
  for (int i = first; i < end; ++i) log.append(sample(i, static_cast<std::size_t>(3 * i)), 0.5 * i);
}

}  // namespace

TEST_CASE("a checkpoint returns the appended records") {
  const TempDir dir;
  {
    CheckpointWriter log(dir / "sub/log", "abc");
    append_frames(log, 0, 5);
    CHECK(io::read_checkpoint(dir / "sub/log", "abc").size() == 5);  // while the writer is open
  }
  const auto back = io::read_checkpoint(dir / "sub/log", "abc");
  REQUIRE(back.size() == 5);
  for (int i = 0; i < 5; ++i) {
    require_same(back[static_cast<std::size_t>(i)].detections, sample(i, static_cast<std::size_t>(3 * i)));
    CHECK(back[static_cast<std::size_t>(i)].threshold == 0.5 * i);
  }
}

TEST_CASE("a checkpoint of another run is ignored") {
  const TempDir dir;
  CHECK(io::read_checkpoint(dir / "absent", "abc").empty());
  {
    CheckpointWriter log(dir / "log", "abc");
    append_frames(log, 0, 3);
  }
  CHECK(io::read_checkpoint(dir / "log", "abd").empty());
  CHECK(io::read_checkpoint(dir / "log", "ab").empty());
  { CheckpointWriter log(dir / "log", "other"); }
  CHECK(io::read_checkpoint(dir / "log", "abc").empty());
  {
    CheckpointWriter log(dir / "log", "other");
    append_frames(log, 0, 2);
  }
  { CheckpointWriter log(dir / "log", "other", CheckpointWriter::Start::fresh); }
  CHECK(io::read_checkpoint(dir / "log", "other").empty());
  spill(dir / "log", "frame,x,y,z\n");
  CHECK(io::read_checkpoint(dir / "log", "abc").empty());
}

TEST_CASE("a resumed checkpoint continues after its last whole record, with the same bytes") {
  const TempDir dir;
  {
    CheckpointWriter log(dir / "whole", "f");
    append_frames(log, 0, 6);
  }
  {
    CheckpointWriter log(dir / "log", "f");
    append_frames(log, 0, 4);
  }
  const std::string bytes = slurp(dir / "log");
  spill(dir / "log", bytes.substr(0, bytes.size() - 5));
  CHECK(io::read_checkpoint(dir / "log", "f").size() == 3);
  {
    CheckpointWriter log(dir / "log", "f");
    append_frames(log, 3, 6);
  }
  CHECK(io::read_checkpoint(dir / "log", "f").size() == 6);
  CHECK(slurp(dir / "log") == slurp(dir / "whole"));
}

TEST_CASE("damaged checkpoints return only their whole records, unchanged") {
  const TempDir dir;
  {
    CheckpointWriter log(dir / "log", "f");
    append_frames(log, 0, 6);
  }
  int shortened = 0;
  read_damaged_copies(
      dir / "damaged", slurp(dir / "log"), 2000,
      [&](const auto& path) {
        const auto records = io::read_checkpoint(path, "f");
        if (records.size() > 6) throw std::runtime_error("records out of nothing");
        for (std::size_t i = 0; i < records.size(); ++i) {
          if (!same_bits(records[i].detections.x_um, sample(static_cast<int>(i), 3 * i).x_um))
            throw std::runtime_error("changed");
        }
        shortened += records.size() < 6;
      },
      0);
  // A damaged record ends the checkpoint; it is not an error.
  CHECK(shortened > 1000);
}

TEST_CASE("a checkpoint that cannot be written is a ResourceError") {
  const TempDir dir;
  spill(dir / "file", "x");
  CHECK_THROWS_AS(CheckpointWriter(dir / "file/log", "f"), ResourceError);
  CHECK_THROWS_AS(CheckpointWriter(dir.path(), "f"), ResourceError);
  if (std::filesystem::exists("/dev/full")) {
    CHECK_THROWS_AS(CheckpointWriter("/dev/full", "f"), ResourceError);
  }
}

TEST_CASE("records of another run's checkpoint are not read") {
  const TempDir dir;
  {
    CheckpointWriter mine(dir / "mine", "runA"), other(dir / "other", "runB");
    append_frames(mine, 0, 1);
    append_frames(other, 0, 2);
  }
  const std::string mine = slurp(dir / "mine"), other = slurp(dir / "other");
  spill(dir / "mixed", mine + other.substr(mine.size()));  // headers have the same length
  CHECK(io::read_checkpoint(dir / "mixed", "runA").size() == 1);
  CHECK(io::read_checkpoint(dir / "other", "runB").size() == 2);
}

TEST_CASE("a checkpoint is not written through a link") {
  const TempDir dir;
  spill(dir / "precious", "keep me");
  std::filesystem::create_symlink(dir / "precious", dir / "log");
  CHECK_THROWS_AS(CheckpointWriter(dir / "log", "f"), ResourceError);
  CHECK(slurp(dir / "precious") == "keep me");
}
