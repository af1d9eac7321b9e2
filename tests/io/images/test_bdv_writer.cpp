#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/io/bdv_writer.h>
#include <motes/io/frame_source.h>

#include "tests/io/images/noise_frame.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

template <class T>
void write_series(const std::filesystem::path& path, const Shape3& shape, const io::BdvOptions& options) {
  io::BdvWriter writer(path, options);
  for (std::int32_t t = 0; t < options.frames; ++t) writer.write(noise_frame<T>(shape, t));
  writer.close();
}

}  // namespace

TEST_CASE("BigDataViewer files read back what was written, by .h5 or .xml") {
  // Smaller than a chunk, whole chunks, and chunks cut at every side.
  const Shape3 shape = GENERATE(Shape3{1, 3, 5}, Shape3{16, 64, 64}, Shape3{19, 70, 131});
  const bool deflate = GENERATE(true, false);
  const TempDir dir;
  write_series<std::uint16_t>(dir / "a & b.h5", shape, {3, 0.25, deflate});
  CHECK(files_in(dir.path()) == 2);
  for (const char* name : {"a & b.h5", "a & b.xml"}) {
    REQUIRE(io::is_frames(dir / name));
    const auto source = io::open_frames(dir / name);
    const io::SeriesInfo& info = source->info();
    CHECK(info.format == "BDV HDF5");
    CHECK(info.frames == 3);
    CHECK(info.shape == shape);
    CHECK(info.type == io::VoxelType::u16);
    CHECK(info.voxel_um == Vec3{0.1, 0.2, 1.0 / 3});
    CHECK(info.dt_s == 0.25);
    for (std::int32_t t = 0; t < 3; ++t) {
      const VolumeFrame frame = source->read(t);
      CHECK(frame.voxels == noise_frame<std::uint16_t>(shape, t).voxels);
      CHECK(frame.time_s == 0.25 * t);
    }
  }
}

TEST_CASE("BigDataViewer files widen bytes, and omit an unknown interval") {
  const TempDir dir;
  const Shape3 shape{4, 6, 7};
  write_series<std::uint8_t>(dir / "a.h5", shape, {2, 0, true});
  const auto source = io::open_frames(dir / "a.h5");
  CHECK_FALSE(source->info().dt_s);
  const auto bytes = std::get<std::vector<std::uint8_t>>(noise_frame<std::uint8_t>(shape, 1).voxels);
  const VolumeFrame frame = source->read(1);
  const auto& wide = std::get<std::vector<std::uint16_t>>(frame.voxels);
  CHECK(std::equal(bytes.begin(), bytes.end(), wide.begin(), wide.end()));
}

TEST_CASE("the same series gives the same BigDataViewer bytes") {
  const TempDir dir;
  write_series<std::uint16_t>(dir / "1" / "a.h5", {4, 6, 7}, {2, 1, true});
  write_series<std::uint16_t>(dir / "2" / "a.h5", {4, 6, 7}, {2, 1, true});
  CHECK(slurp(dir / "1" / "a.h5") == slurp(dir / "2" / "a.h5"));
  CHECK(slurp(dir / "1" / "a.xml") == slurp(dir / "2" / "a.xml"));
}

TEST_CASE("an unfinished BigDataViewer series leaves no files") {
  const TempDir dir;
  {
    io::BdvWriter writer(dir / "a.h5", {2, 1, true});
    writer.write(noise_frame<std::uint16_t>({4, 6, 7}, 0));
    CHECK_THROWS_WITH(writer.close(), Contains("only 1 of the announced 2 frames"));
    CHECK_THROWS_WITH(writer.write(noise_frame<std::uint16_t>({4, 6, 8}, 1)), Contains("differs"));
    CHECK_THROWS_WITH(writer.write(noise_frame<std::uint8_t>({4, 6, 7}, 1)), Contains("differs"));
  }
  CHECK(files_in(dir.path()) == 0);
  io::BdvWriter floats(dir / "b.h5", {1, 1, true});
  CHECK_THROWS_AS(floats.write(noise_frame<float>({4, 6, 7}, 0)), UsageError);
  CHECK_THROWS_AS(io::BdvWriter(dir / "c.h5", {0, 1, true}), UsageError);
  CHECK_THROWS_AS(io::BdvWriter("/proc/motes/c.h5", {1, 1, true}), ResourceError);
}
