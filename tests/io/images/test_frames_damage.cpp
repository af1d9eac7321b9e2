/// Damaged files: every truncation and every flipped byte ends in a result or in one of the project's errors,
/// quickly and without output.

#include <fstream>
#include <iterator>
#include <random>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/frame_source.h>
#include <motes/io/ome_tiff_writer.h>

#include "tests/io/images/tiff_bytes.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;

namespace {

enum class Outcome { whole, refused };

/// Opens and reads all frames.
Outcome read_all(const std::filesystem::path& path, const io::FrameOptions& options) {
  try {
    const auto source = io::open_frames(path, options);
    for (std::int32_t t = 0; t < source->info().frames; ++t) source->read(t);
    return Outcome::whole;
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return Outcome::refused;
  }
}

/// Redirects standard error to a file during its lifetime.
class CaughtErrors {
 public:
  explicit CaughtErrors(const std::filesystem::path& path) : saved_(dup(2)) {
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(file, 2);
    close(file);
  }
  ~CaughtErrors() {
    dup2(saved_, 2);
    close(saved_);
  }

 private:
  int saved_;
};

/// Writes one byte of the file in place.
void poke(const std::filesystem::path& path, std::size_t at, char value) {
  const int file = open(path.c_str(), O_WRONLY);
  REQUIRE(pwrite(file, &value, 1, static_cast<off_t>(at)) == 1);
  close(file);
}

void damage(const std::string& bytes, const io::FrameOptions& options, unsigned seed) {
  const TempDir dir;
  const auto path = dir / "a.tif";
  spill(path, bytes);
  REQUIRE(read_all(path, options) == Outcome::whole);
  {
    const CaughtErrors silence(dir / "stderr.txt");
    std::mt19937 random(seed);
    for (int i = 0; i < 500; ++i) {
      // Half of the flips are near the start or the end, since the directories there are small beside the
      // voxels.
      const std::size_t edge = std::min<std::size_t>(bytes.size(), 1200);
      std::size_t at = random() % bytes.size();
      if (i % 4 == 0) at = random() % edge;
      if (i % 4 == 1) at = bytes.size() - 1 - random() % edge;
      const unsigned flipped = static_cast<unsigned char>(bytes[at]) ^ (1u << (random() % 8));
      CAPTURE(seed, i, at);
      poke(path, at, static_cast<char>(i % 7 == 0 ? 0xff : flipped));
      read_all(path, options);
      poke(path, at, bytes[at]);
    }
    for (std::size_t i = 200; i-- > 0;) {
      std::filesystem::resize_file(path, bytes.size() * i / 200);
      CHECK(read_all(path, options) == Outcome::refused);
    }
  }
  CHECK(slurp(dir / "stderr.txt").empty());
}

TiffSpec series(const std::string& description) {
  TiffSpec spec;
  spec.pages = 6;
  spec.width = 40;
  spec.height = 30;
  spec.description = description;
  return spec;
}

}  // namespace

TEST_CASE("Damaged OME-TIFF, deflated", "[frames][damage]") {
  for (const bool deflate : {true, false}) {
    const TempDir dir;
    io::OmeTiffWriter writer(dir / "a.tif", {3, 1.0, deflate});
    VolumeFrame frame;
    frame.shape = {3, 24, 25};
    frame.voxel_um = {1, 1, 1};
    std::vector<std::uint16_t> voxels(3 * 24 * 25);
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<std::uint16_t>(i * i);
    frame.voxels = voxels;
    for (int t = 0; t < 3; ++t) writer.write(frame);
    writer.close();
    damage(slurp(dir / "a.tif"), {}, 11);
  }
}

TEST_CASE("Damaged TIFFs of strips and tiles", "[frames][damage]") {
  TiffSpec spec = series("ImageJ=1.53t\nimages=6\nslices=3\nframes=2\nhyperstack=true\nunit=um\n");
  spec.resolution = 3;
  damage(TiffBytes(spec).bytes(), {}, 1);
  spec.tile = 16;
  spec.big_endian = true;
  damage(TiffBytes(spec).bytes(), {}, 2);
  spec.big_tiff = true;
  spec.type = io::VoxelType::f32;
  damage(TiffBytes(spec).bytes(), {}, 3);
  spec.tile = 0;
  spec.directories = 1;
  damage(TiffBytes(spec).bytes(), {}, 4);
}

TEST_CASE("Damaged TIFFs with input.axes", "[frames][damage]") {
  io::FrameOptions options;
  options.axes = "T2ZYX";
  damage(TiffBytes(series("{\"shape\": [2, 3, 30, 40]}")).bytes(), options, 5);
}

TEST_CASE("Impossible sizes are rejected before memory is allocated", "[frames][damage]") {
  const TempDir dir;
  for (const std::uint32_t side : {100'000u, 2'000'000'000u, 4'294'967'295u}) {
    TiffSpec spec = series("");
    std::string bytes = TiffBytes(spec).bytes();
    // ImageWidth (256) and ImageLength (257), LONG, count 1, little-endian.
    for (const char low : {'\0', '\1'}) {
      const std::string entry = std::string({low, '\1', '\4', '\0', '\1', '\0', '\0', '\0'});
      for (std::size_t at = 0; (at = bytes.find(entry, at)) != std::string::npos; at += 12)
        for (int i = 0; i < 4; ++i)
          bytes[at + 8 + static_cast<std::size_t>(i)] = static_cast<char>(side >> (8 * i));
    }
    spill(dir / "a.tif", bytes);
    io::FrameOptions options;
    options.axes = "ZYX";
    CHECK(read_all(dir / "a.tif", options) == Outcome::refused);
  }
}

TEST_CASE("A chain of directories with a loop", "[frames][damage]") {
  const TempDir dir;
  std::string bytes = TiffBytes(series("")).bytes();
  // The last directory's "next" is the last zero word of the chain: point it back at the first directory.
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, &bytes[at], 4);
    return value;
  };
  std::size_t link = 4;
  while (word(link) != 0) {
    const std::size_t directory = word(link);
    link = directory + 2 + 12 * static_cast<unsigned char>(bytes[directory]);
  }
  const std::uint32_t first = word(4);
  std::memcpy(&bytes[link], &first, 4);
  spill(dir / "a.tif", bytes);
  CHECK(read_all(dir / "a.tif", {}) == Outcome::refused);
}

TEST_CASE("Opening reads no voxels; reading names the damaged page", "[frames][damage]") {
  const TempDir dir;
  io::OmeTiffWriter writer(dir / "a.tif", {2, 1.0, true});
  VolumeFrame frame;
  frame.shape = {2, 24, 25};
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::vector<float>(2 * 24 * 25, 3.0f);
  writer.write(frame);
  writer.write(frame);
  writer.close();
  // The first page's only strip follows the 8-byte header; no deflate stream starts with these bytes.
  for (std::size_t at = 8; at < 12; ++at) poke(dir / "a.tif", at, '\xff');
  const auto source = io::open_frames(dir / "a.tif");
  CHECK(source->read(1).voxels == frame.voxels);
  try {
    source->read(0);
    FAIL("a damaged strip was read");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), Catch::Matchers::Contains("page 1 of 4: strip 0"));
  }
}
