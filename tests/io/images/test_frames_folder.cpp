#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <motes/io/frame_source.h>
#include <motes/io/ome_tiff_writer.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::open_frames;

namespace {

template <class... Values>
std::string fmt_name(const char* pattern, const Values&... values) {
  return fmt::format(fmt::runtime(pattern), values...);
}

io::FrameOptions with_axes(const std::string& axes) {
  io::FrameOptions options;
  options.axes = axes;
  return options;
}

/// Writes volumes of `pages` pages; file i has the values of pages i * pages ...
void save_volume(const std::filesystem::path& path, int number, std::int32_t pages) {
  VolumeFrame frame;
  frame.shape = {pages, 9, 8};
  frame.voxel_um = {1, 1, 2};
  std::vector<std::uint8_t> voxels;
  for (int z = 0; z < pages; ++z)
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 8; ++x)
        voxels.push_back(static_cast<std::uint8_t>(voxel_value(number * pages + z, y, x)));
  frame.voxels = std::move(voxels);
  io::OmeTiffWriter writer(path, {1, 0.0, true});
  writer.write(frame);
  writer.close();
}

}  // namespace

TEST_CASE("A folder of numbered volumes, in the order of their numbers", "[frames][folder]") {
  const TempDir dir;
  for (const int t : {10, 2, 0, 7, 1, 3, 4, 5, 6, 8, 9, 11})
    save_volume(dir / ("run2_t" + std::to_string(t) + ".ome.tif"), t, 3);
  std::ofstream(dir / "notes.txt") << "ignored";
  std::ofstream(dir / ".hidden.tif") << "ignored";
  CHECK(io::is_frames(dir.path()));
  const auto source = open_frames(dir.path());
  CHECK(source->info().frames == 12);
  CHECK(source->info().axes == "TZYX");
  CHECK(source->info().shape == Shape3{3, 9, 8});
  CHECK(source->info().voxel_um == Vec3{1, 1, 2});
  CHECK_THAT(source->info().format, Contains("folder of 12"));
  for (const int t : {11, 0, 2, 2, 10})
    for (int z = 0; z < 3; ++z) CHECK(plane_is_page(source->read(t), z, 3 * t + z));
  CHECK(source->again()->read_over(7, source->read(3)).voxels == source->read(7).voxels);

  // The axes of each volume, or of all pages as one list.
  CHECK(plane_is_page(open_frames(dir.path(), with_axes("ZYX"))->read(4), 1, 13));
  CHECK(plane_is_page(open_frames(dir.path(), with_axes("TZYX"))->read(4), 1, 13));
  CHECK(plane_is_page(open_frames(dir.path(), with_axes("T6Z6YX"))->read(1), 5, 11));
  CHECK(plane_is_page(open_frames(dir.path(), with_axes("ZTYX"))->read(1), 5, 16));
  CHECK_THROWS_AS(open_frames(dir.path(), with_axes("T5Z6YX")), UsageError);
}

TEST_CASE("A name with the sign # instead of a number is refused", "[frames][folder]") {
  const TempDir dir;
  for (const char* name : {"v1.tif", "v#.tif"}) save_volume(dir / name, 0, 3);
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }),
             Contains("v#.tif") && Contains("differ in more than a number"));
}

TEST_CASE("Differing voxel sizes in one folder are refused", "[frames][folder]") {
  const TempDir dir;
  TiffSpec spec;
  spec.pages = 2;
  spec.description = "ImageJ=1.53t\nimages=2\nslices=2\nspacing=2\nunit=um\n";
  for (int t = 0; t < 3; ++t) {
    spec.resolution = t == 2 ? 5 : 4;
    save_tiff(dir / ("v" + std::to_string(t) + ".tif"), spec);
  }
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }),
             Contains("v2.tif") && Contains("0.2") && Contains("0.25") && Contains("input.voxel_um"));
  io::FrameOptions options;
  options.voxel_um = Vec3{1, 1, 1};
  CHECK(open_frames(dir.path(), options)->info().frames == 3);
}

TEST_CASE("Plain volumes in a folder: their pages are z", "[frames][folder]") {
  const TempDir dir;
  TiffSpec spec;
  spec.pages = 4;
  for (int t = 5; t <= 20; t += 5) save_tiff(dir / ("v" + std::to_string(t) + ".TIF"), spec);
  const auto source = open_frames(dir.path());
  CHECK(source->info().frames == 4);
  CHECK(source->info().shape.nz == 4);
  CHECK_THAT(source->info().notes.front(), Contains("taken as z"));
  CHECK(plane_is_page(source->read(3), 2, 2));
}

TEST_CASE("One plane per file: names that spell out t, z and c", "[frames][folder]") {
  const TempDir dir;
  for (int t = 0; t < 2; ++t)
    for (int z = 0; z < 3; ++z)
      for (int c = 0; c < 2; ++c)
        save_volume(dir / fmt_name("img_channel{:03}_position000_time{:09}_z{:03}.tif", c, t, z),
                    (t * 3 + z) * 2 + c, 1);
  io::FrameOptions options;
  options.channel = 1;
  const auto source = open_frames(dir.path(), options);
  CHECK(source->info().axes == "TZCYX");
  CHECK(source->info().channels == 2);
  CHECK(source->info().shape.nz == 3);
  for (int t = 0; t < 2; ++t)
    for (int z = 0; z < 3; ++z) CHECK(plane_is_page(source->read(t), z, (t * 3 + z) * 2 + 1));
  std::filesystem::remove(dir / fmt_name("img_channel{:03}_position000_time{:09}_z{:03}.tif", 1, 1, 2));
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }), Contains("places"));
}

TEST_CASE("One stack per file: names that spell out t and c", "[frames][folder]") {
  const TempDir dir;
  for (int t = 1; t < 4; ++t)
    for (int c = 0; c < 2; ++c) save_volume(dir / fmt_name("exp_w{}_s1_t{}.tif", c + 1, t), 2 * t + c, 3);
  io::FrameOptions options;
  options.channel = 1;
  const auto source = open_frames(dir.path(), options);
  CHECK(source->info().axes == "TCZYX");
  CHECK(source->info().channels == 2);
  CHECK(source->info().shape.nz == 3);
  REQUIRE(source->info().frames == 3);
  for (int t = 1; t < 4; ++t)
    for (int z = 0; z < 3; ++z) CHECK(plane_is_page(source->read(t - 1), z, (2 * t + 1) * 3 + z));
  for (int t = 2; t < 4; ++t)
    for (int c = 1; c < 3; ++c) std::filesystem::remove(dir / fmt_name("exp_w{}_s1_t{}.tif", c, t));
  CHECK(open_frames(dir.path())->info().axes == "CZYX");  // two files are left
  TiffSpec both;
  both.pages = 4;
  both.description = "ImageJ=1.53t\nimages=4\nchannels=2\nslices=2\nspacing=2\nunit=um\n";
  for (int c = 1; c < 3; ++c) save_tiff(dir / fmt_name("exp_w{}_s1_t1.tif", c), both);
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }), Contains("count channels, too"));
}

TEST_CASE("A MicroManager folder with its metadata.txt", "[frames][folder]") {
  const TempDir dir;
  TiffSpec spec;
  spec.pages = 1;
  for (int t = 0; t < 3; ++t)
    for (int z = 0; z < 2; ++z)
      for (const char* c : {"DAPI", "GFP_long"})
        save_tiff(dir / fmt_name("img_{:09}_{}_{:03}.tif", t, c, z), spec);
  std::ofstream(dir / "metadata.txt")
      << R"({"Summary": {"PixelSize_um": 0.25, "z-step_um": 1.5, "Interval_ms": 500, "ChNames": ["DAPI", "GFP_long"]}})";
  const io::SeriesInfo info = open_frames(dir.path())->info();
  CHECK(info.frames == 3);
  CHECK(info.channels == 2);
  CHECK(info.shape.nz == 2);
  CHECK(info.voxel_um == Vec3{0.25, 0.25, 1.5});
  CHECK(info.dt_s == 0.5);
  CHECK(info.voxel_um_source == "metadata (MicroManager)");
}

TEST_CASE("Folders that count time, with one volume each", "[frames][folder]") {
  const TempDir dir;
  for (int t = 0; t < 3; ++t) {
    const auto folder = dir / ("run/t00" + std::to_string(t));
    std::filesystem::create_directories(folder);
    for (int z = 0; z < 4; ++z) save_volume(folder / ("plane_z" + std::to_string(z) + ".tif"), t * 4 + z, 1);
  }
  const auto source = open_frames(dir / "run");
  CHECK(io::is_frames(dir / "run"));
  CHECK(source->info().frames == 3);
  CHECK(source->info().shape == Shape3{4, 9, 8});
  CHECK(source->info().axes == "TZYX");
  for (int t = 0; t < 3; ++t)
    for (int z = 0; z < 4; ++z) CHECK(plane_is_page(source->read(t), z, t * 4 + z));
  std::filesystem::remove(dir / "run/t001/plane_z3.tif");
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "run"); }),
             Contains("t001") && Contains("must have the same shape"));
  std::filesystem::rename(dir / "run/t001", dir / "run/t005");
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "run"); }), Contains("missing"));
  for (const char* name : {"pos/Pos0", "pos/Pos1"}) {
    std::filesystem::create_directories(dir / name);
    save_volume(dir / name / "a.tif", 0, 3);
  }
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "pos"); }),
             Contains("'Pos0'") && Contains("give one of them"));
}

TEST_CASE("Names that count planes do not count as times", "[frames][folder]") {
  const TempDir dir;
  TiffSpec spec;
  spec.pages = 4;
  for (int z = 0; z < 3; ++z) save_tiff(dir / ("embryo_z" + std::to_string(z) + ".tif"), spec);
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }),
             Contains("count planes") && Contains("input.axes"));
  const auto given = open_frames(dir.path(), with_axes("TZYX"));
  CHECK(given->info().frames == 3);
  CHECK_THAT(given->info().notes.back(), Contains("count planes") && Contains("as time"));
}

TEST_CASE("Single planes in a folder need input.axes", "[frames][folder]") {
  const TempDir dir;
  for (int i = 0; i < 6; ++i) save_volume(dir / ("s" + std::to_string(i) + ".tif"), i, 1);
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }),
             Contains("input.axes") && Contains("6 single"));
  CHECK(open_frames(dir.path(), with_axes("TYX"))->info().frames == 6);
  CHECK(open_frames(dir.path(), with_axes("ZYX"))->info().shape.nz == 6);
  const auto split = open_frames(dir.path(), with_axes("TZ3YX"));
  CHECK(split->info().frames == 2);
  CHECK(plane_is_page(split->read(1), 2, 5));
}

TEST_CASE("Folders that are not series say which file is wrong", "[frames][folder]") {
  const auto message = [](const std::vector<std::string>& names, int odd_pages) {
    const TempDir dir;
    for (std::size_t i = 0; i < names.size(); ++i) save_volume(dir / names[i], 0, i == 1 ? odd_pages : 2);
    return message_of<InputError>([&] { open_frames(dir.path()); });
  };
  CHECK_THAT(message({"t1.tif", "t2.tif", "t4.tif"}, 2),
             Contains("number 3 is missing") && Contains("t4.tif"));
  CHECK_THAT(message({"t1.tif", "t2.tif", "t3.tif"}, 5), Contains("t2.tif") && Contains("5 x 9 x 8"));
  CHECK_THAT(message({"t1.tif", "t2.tif", "mean.tif"}, 2), Contains("mean.tif"));
  CHECK_THAT(message({"a1b0.tif", "a1b1.tif", "a2b0.tif", "a2b1.tif"}, 2), Contains("2 places"));
  CHECK_THAT(message({"t1.tif", "t01.tif"}, 2), Contains("0 places"));

  const TempDir empty;
  CHECK_THAT(message_of<InputError>([&] { open_frames(empty.path()); }), Contains("no TIFF or PNG files"));
  CHECK_FALSE(io::is_frames(empty.path()));
  for (const char* name : {"b.csv", ".hidden", "a.czi"}) {
    std::ofstream(empty / name).flush();
    CHECK_THAT(
        message_of<InputError>([&] { open_frames(empty.path()); }),
        Contains(name == std::string("a.czi") ? "'a.czi'; save them as OME-TIFF" : "'b.csv'; name a file"));
  }
  std::ofstream(empty / "tracks.h5").flush();
  CHECK_THAT(message_of<InputError>([&] { open_frames(empty.path()); }), Contains("'tracks.h5'"));

  const TempDir damaged;
  for (int t = 0; t < 3; ++t) save_volume(damaged / ("t" + std::to_string(t) + ".tif"), t, 2);
  std::ofstream(damaged / "t1.tif") << "not a TIFF";
  CHECK_THAT(message_of<InputError>([&] { open_frames(damaged.path()); }), Contains("t1.tif"));

  const TempDir times;
  TiffSpec spec;
  spec.pages = 2;
  spec.description = "ImageJ=1.53t\nimages=2\nframes=2\n";
  for (int t = 0; t < 3; ++t) save_tiff(times / ("t" + std::to_string(t) + ".tif"), spec);
  CHECK_THAT(message_of<InputError>([&] { open_frames(times.path()); }), Contains("2 time points"));
}

TEST_CASE("A folder of one file is that file", "[frames][folder]") {
  const TempDir dir;
  save_volume(dir / "only.tif", 0, 3);
  CHECK(open_frames(dir.path())->info().format == "OME-TIFF");
}

TEST_CASE("A folder of JPEGs, and a movie, are refused with what to do", "[frames]") {
  const TempDir dir;
  std::ofstream(dir / "f000.jpg") << "\xFF\xD8";
  std::ofstream(dir / "m.avi") << "RIFF";
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir.path()); }),
             Contains("f000.jpg") && Contains("Image Sequence") && Contains("pims.open"));
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "m.avi"); }), Contains("pims.open(path)"));
}
