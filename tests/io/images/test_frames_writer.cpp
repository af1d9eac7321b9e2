#include <csignal>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <sys/resource.h>

#include <motes/io/frame_source.h>
#include <motes/io/ome_tiff_writer.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/noise_frame.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

template <typename T>
void write_series(const std::filesystem::path& path, const Shape3& shape, const io::OmeTiffOptions& options) {
  io::OmeTiffWriter writer(path, options);
  for (int t = 0; t < options.frames; ++t) writer.write(noise_frame<T>(shape, t));
  writer.close();
}

template <typename T>
void check_round_trip(const Shape3& shape, bool deflate) {
  CAPTURE(shape.nz, shape.ny, shape.nx, deflate, sizeof(T));
  const TempDir dir;
  io::OmeTiffOptions options;
  options.frames = 3;
  options.dt_s = 0.1;
  options.deflate = deflate;
  write_series<T>(dir / "a.ome.tif", shape, options);
  CHECK(files_in(dir.path()) == 1);
  const auto source = io::open_frames(dir / "a.ome.tif");
  const io::SeriesInfo& info = source->info();
  CHECK(info.format == "OME-TIFF");
  CHECK(info.shape == shape);
  REQUIRE(info.frames == 3);
  CHECK(info.channels == 1);
  CHECK(info.voxel_um == Vec3{0.1, 0.2, 1.0 / 3});
  CHECK(info.dt_s == 0.1);
  CHECK(info.notes.empty());
  for (const int t : {2, 0, 1}) CHECK(source->read(t).voxels == noise_frame<T>(shape, t).voxels);
}

/// Limits files to `bytes`, like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_signal_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_signal_);
  }

 private:
  rlimit old_{};
  void (*old_signal_)(int) = nullptr;
};

}  // namespace

TEST_CASE("OME-TIFF round trip of every type", "[frames][writer]") {
  for (const bool deflate : {false, true})
    for (const Shape3& shape :
         {Shape3{3, 20, 31}, Shape3{1, 700, 301}, Shape3{2, 1, 1}, Shape3{1, 2, 300000}}) {
      check_round_trip<std::uint8_t>(shape, deflate);
      check_round_trip<std::uint16_t>(shape, deflate);
      check_round_trip<float>(shape, deflate);
    }
}

TEST_CASE("The same series gives the same bytes", "[frames][writer]") {
  const TempDir dir;
  for (const char* name : {"a.tif", "b.tif"})
    write_series<std::uint16_t>(dir / name, {2, 40, 50}, {2, 1.0, true});
  CHECK(slurp(dir / "a.tif") == slurp(dir / "b.tif"));
}

TEST_CASE("A frame interval of 0 is not stated", "[frames][writer]") {
  const TempDir dir;
  write_series<std::uint8_t>(dir / "a.tif", {2, 4, 5}, {2, 0.0, true});
  CHECK_FALSE(io::open_frames(dir / "a.tif")->info().dt_s);
}

TEST_CASE("Without close no file is left, and an older one stays", "[frames][writer]") {
  const TempDir dir;
  std::ofstream(dir / "a.ome.tif") << "older";
  {
    io::OmeTiffWriter writer(dir / "a.ome.tif", {3, 1.0, true});
    writer.write(noise_frame<float>({2, 8, 8}, 0));
    CHECK(files_in(dir.path()) == 2);
  }
  CHECK(files_in(dir.path()) == 1);
  CHECK(slurp(dir / "a.ome.tif") == "older");
  {
    io::OmeTiffWriter writer(dir / "a.ome.tif", {1, 1.0, true});
    writer.write(noise_frame<float>({2, 8, 8}, 0));
    writer.close();
  }
  CHECK(io::is_frames(dir / "a.ome.tif"));
}

TEST_CASE("Frames that do not fit the series are refused", "[frames][writer]") {
  const TempDir dir;
  CHECK_THROWS_AS(io::OmeTiffWriter(dir / "a.tif", {0, 1.0, true}), UsageError);
  io::OmeTiffWriter writer(dir / "a.tif", {2, 1.0, true});
  CHECK_THROWS_AS(writer.close(), UsageError);
  writer.write(noise_frame<float>({2, 8, 8}, 0));
  CHECK_THROWS_AS(writer.write(noise_frame<float>({2, 8, 9}, 1)), UsageError);
  CHECK_THROWS_AS(writer.write(noise_frame<std::uint16_t>({2, 8, 8}, 1)), UsageError);
  VolumeFrame other = noise_frame<float>({2, 8, 8}, 1);
  other.voxel_um.z = 5;
  CHECK_THROWS_AS(writer.write(other), UsageError);
  other.voxel_um = noise_frame<float>({2, 8, 8}, 1).voxel_um;
  std::get<std::vector<float>>(other.voxels).pop_back();
  CHECK_THROWS_AS(writer.write(other), UsageError);
  CHECK_THAT(message_of<UsageError>([&] { writer.close(); }), Contains("only 1 of the announced 2 frames"));
  writer.write(noise_frame<float>({2, 8, 8}, 1));
  CHECK_THROWS_AS(writer.write(noise_frame<float>({2, 8, 8}, 2)), UsageError);
  writer.close();
  CHECK(io::open_frames(dir / "a.tif")->info().frames == 2);
}

TEST_CASE("A series that may exceed 4 GB starts as BigTIFF", "[frames][writer]") {
  const TempDir dir;
  const auto first_bytes = [&](std::int32_t frames) {
    io::OmeTiffWriter writer(dir / "a.tif", {frames, 1.0, false});
    writer.write(noise_frame<std::uint8_t>({1, 1000, 1000}, 0));
    return slurp(std::filesystem::directory_iterator(dir.path())->path()).substr(0, 4);
  };
  CHECK(first_bytes(3800) == std::string("II\x2A\0", 4));
  CHECK(first_bytes(3950) == std::string("II\x2B\0", 4));
}

TEST_CASE("A full disk is a ResourceError and leaves no files", "[frames][writer]") {
  for (const bool deflate : {false, true})
    for (const rlim_t limit : {0, 5, 1000, 100000, 400000}) {
      CAPTURE(deflate, limit);
      const TempDir dir;
      const FileSizeLimit full(limit);
      CHECK_THROWS_AS(write_series<std::uint16_t>(dir / "a.tif", {4, 256, 256}, {2, 1.0, deflate}),
                      ResourceError);
      CHECK(files_in(dir.path()) == 0);
    }
  CHECK_THROWS_AS(io::OmeTiffWriter("/proc/motes/a.tif", {1, 1.0, true}), ResourceError);
}
