// Imaris files: contents, unknown values, and rejected files.

#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>

#include "tests/io/images/imaris_file.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::open_frames;
using namespace motes::testing::imaris;

namespace {

/// Calls `change` with the open file, to damage it for a test.
template <class Change>
std::filesystem::path broken(const std::filesystem::path& path, const Change& change) {
  write_imaris(path);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  change(file);
  return path;
}

std::string refusal(const std::filesystem::path& path) {
  return error_of<InputError>([&] { open_frames(path)->read(0); });
}

}  // namespace

TEST_CASE("An Imaris file: finest level, without padding, one channel of several") {
  const TempDir dir;
  const bool contiguous = GENERATE(false, true);
  Imaris what;
  what.contiguous = contiguous;
  const auto path = write_imaris(dir / "a.ims", what);
  REQUIRE(io::is_frames(path));
  io::FrameOptions options;
  options.channel = 1;
  const auto source = open_frames(path, options);
  const io::SeriesInfo& info = source->info();
  CHECK(info.format == "Imaris");
  CHECK(info.axes == "TCZYX");
  CHECK(info.frames == 3);
  CHECK(info.channels == 2);
  CHECK(info.shape == Shape3{kDepth, kHeight, kWidth});
  CHECK(info.type == io::VoxelType::u16);
  REQUIRE(info.voxel_um);
  CHECK(info.voxel_um->x == Approx(0.2));
  CHECK(info.voxel_um->y == Approx(0.2));
  CHECK(info.voxel_um->z == Approx(0.5));
  REQUIRE(info.dt_s);
  CHECK(*info.dt_s == Approx(2.5));  // across midnight of a leap day
  CHECK(info.voxel_um_source == "metadata (Imaris)");
  CHECK(info.notes.empty());
  for (int t = 0; t < 3; ++t) {
    const VolumeFrame frame = source->read(t);
    const auto& voxels = std::get<std::vector<std::uint16_t>>(frame.voxels);
    REQUIRE(voxels.size() == kDepth * kHeight * kWidth);
    std::size_t k = 0;
    for (hsize_t z = 0; z < kDepth; ++z)
      for (hsize_t y = 0; y < kHeight; ++y)
        for (hsize_t x = 0; x < kWidth; ++x) REQUIRE(voxels[k++] == value_at(t, 1, z, y, x));
  }
  CHECK_THAT(error_of<UsageError>([&] {
               io::FrameOptions third;
               third.channel = 2;
               open_frames(path, third);
             }),
             Contains("input.channel"));
}

TEST_CASE("missing or odd Imaris metadata leave scale and time unknown, with a note") {
  const TempDir dir;
  const auto info_of = [&](const Imaris& what) {
    return open_frames(write_imaris(dir / "a.ims", what))->info();
  };
  for (const auto& [unit, factor] : {std::pair{"nm", 1e-3}, {"mm", 1e3}, {"\xC2\xB5m", 1.0}}) {
    Imaris what;
    what.image["Unit"] = unit;
    CHECK(info_of(what).voxel_um->x == Approx(0.2 * factor));
  }
  for (const std::string unit : {"", "parsec"}) {
    Imaris what;
    what.image["Unit"] = unit;
    const auto info = info_of(what);
    CHECK_FALSE(info.voxel_um);
    CHECK_THAT(info.notes.back(), Contains("input.voxel_um"));
  }
  Imaris what;
  what.image["ExtMax2"] = "0";
  CHECK_FALSE(info_of(what).voxel_um);
  what = {};
  what.times = {"2024-02-28 23:59:59.000", "2024-02-28 23:59:59.000", "2024-02-28 23:59:59.000"};
  CHECK_FALSE(info_of(what).dt_s);
  CHECK_THAT(info_of(what).notes.back(), Contains("input.dt_s"));
  what.times = {"2024-02-28 23:59:59.000", "yesterday", "2024-02-28 23:59:59.000"};
  CHECK_FALSE(info_of(what).dt_s);
  what.times = {"2024-02-28 10:00:00.000", "2024-02-28 10:00:01.100", "2024-02-28 10:00:02.000"};
  CHECK(*info_of(what).dt_s == Approx(1.0));
  CHECK_THAT(info_of(what).notes.back(), Contains("not regular"));
  what = {};
  what.size_x = "";  // the whole image's sizes are used
  CHECK(info_of(what).shape.nx == 7);
  what.frames = 1;
  what.time_points = "1";
  CHECK(info_of(what).axes == "CZYX");
}

TEST_CASE("Imaris voxels of all number types") {
  const TempDir dir;
  Imaris what;
  what.type = H5T_STD_U8LE;
  CHECK(open_frames(write_imaris(dir / "a.ims", what))->info().type == io::VoxelType::u8);
  what.type = H5T_IEEE_F32LE;
  const auto source = open_frames(write_imaris(dir / "a.ims", what));
  CHECK(std::get<std::vector<float>>(source->read(2).voxels)[1] == 20001.0F);
  for (const hid_t type : {H5T_STD_U32LE, H5T_STD_I16BE, H5T_IEEE_F64LE, H5T_STD_I64LE}) {
    for (const char* width : {"7", "16"}) {  // with and without padding along x
      what.type = type, what.size_x = width, what.frames = 3;
      const auto wide = open_frames(write_imaris(dir / "a.ims", what));
      CHECK(wide->info().type == io::VoxelType::f32);
      CHECK_THAT(wide->info().notes.back(), Contains("32-bit floats"));
      const auto voxels = std::get<std::vector<float>>(wide->read(2).voxels);
      const std::size_t nx = width == std::string("7") ? 7 : 16;
      for (std::size_t z = 0; z < 3; ++z)
        for (std::size_t y = 0; y < 5; ++y)
          for (std::size_t x = 0; x < 7; ++x)
            REQUIRE(voxels[(z * 5 + y) * nx + x] == value_at(2, 0, z, y, x));
    }
  }
}

TEST_CASE("Damaged Imaris files are rejected with the place") {
  const TempDir dir;
  const auto path = dir / "a.ims";
  const std::string first = "/DataSet/ResolutionLevel 0/TimePoint 0/Channel 0";
  Imaris what;
  what.time_points = "9";
  CHECK_THAT(refusal(write_imaris(path, what)), Contains("9 time points, but has 3"));
  for (const std::string size : {"17", "0", "-3", "2.5", "seven", "nan", "1e30"}) {
    CAPTURE(size);
    what = {};
    what.size_x = size;
    CHECK_THAT(refusal(write_imaris(path, what)), Contains("Channel 0"));
  }
  const auto remove = [&](const std::string& name) {
    return refusal(
        broken(path, [&](const Handle& file) { H5Ldelete(file.id(), name.c_str(), H5P_DEFAULT); }));
  };
  CHECK_THAT(remove(first + "/Data"), Contains("Channel 0/Data") && Contains("missing"));
  CHECK_THAT(remove("/DataSet/ResolutionLevel 0/TimePoint 1"), Contains("no TimePoint 1"));
  CHECK_THAT(remove("/DataSet/ResolutionLevel 0/TimePoint 0/Channel 0"), Contains("no Channel 0"));
  CHECK_THAT(remove("/DataSet/ResolutionLevel 0"), Contains("unsupported format"));
  CHECK_THAT(refusal(broken(path,
                            [&](const Handle& file) {
                              H5Ldelete(file.id(), (first + "/Data").c_str(), H5P_DEFAULT);
                              H5Lcreate_external("/etc/passwd", "/x", file.id(), (first + "/Data").c_str(),
                                                 H5P_DEFAULT, H5P_DEFAULT);
                            })),
             Contains("another file"));
  const auto replace_data = [&](std::vector<hsize_t> shape) {
    return refusal(broken(path, [&](const Handle& file) {
      H5Ldelete(file.id(), (first + "/Data").c_str(), H5P_DEFAULT);
      const Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      const std::vector<hsize_t> chunk(shape.size(), 2);
      H5Pset_chunk(list.id(), static_cast<int>(shape.size()), chunk.data());
      const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
      const Handle made(H5Dcreate2(file.id(), (first + "/Data").c_str(), H5T_STD_U16LE, space.id(),
                                   H5P_DEFAULT, list.id(), H5P_DEFAULT),
                        H5Dclose);
    }));
  };
  CHECK_THAT(replace_data({8, 8}), Contains("three-dimensional"));
  CHECK_THAT(replace_data({1'000'000, 1'000'000, 1'000}), Contains("more than the file can have"));
  CHECK_THAT(replace_data({2, 8, 16}), Contains("3 voxels along Z"));
  const std::string bytes = slurp(write_imaris(path));
  spill(path, bytes.substr(0, bytes.size() / 2));
  CHECK_FALSE(refusal(path).empty());
}

TEST_CASE("A later Imaris volume of another size is refused") {
  const TempDir dir;
  const auto path = broken(dir / "a.ims", [](const Handle& file) {
    const Handle channel(H5Gopen2(file.id(), "/DataSet/ResolutionLevel 0/TimePoint 2/Channel 0", H5P_DEFAULT),
                         H5Gclose);
    H5Adelete(channel.id(), "ImageSizeX");
    text(channel, "ImageSizeX", "6");
  });
  const auto source = open_frames(path);
  CHECK_NOTHROW(source->read(1));
  CHECK_THAT(error_of<InputError>([&] { source->read(2); }), Contains("TimePoint 2") && Contains("unlike"));
}
