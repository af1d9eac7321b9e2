
#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::FrameOptions;
using io::open_frames;
using io::VoxelType;

namespace {

FrameOptions with_axes(const std::string& axes) {
  FrameOptions options;
  options.axes = axes;
  return options;
}

std::string ome(const std::string& order, int c, int z, int t, const std::string& inside,
                const std::string& attributes = "") {
  return "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image "
         "ID=\"Image:0\">"
         "<Pixels ID=\"Pixels:0\" Type=\"uint16\" SizeX=\"13\" SizeY=\"11\" DimensionOrder=\"" +
         order + "\" SizeC=\"" + std::to_string(c) + "\" SizeZ=\"" + std::to_string(z) + "\" SizeT=\"" +
         std::to_string(t) + "\" " + attributes + ">" + inside + "</Pixels></Image></OME>";
}

TiffSpec pages_with(int pages, const std::string& description) {
  TiffSpec spec;
  spec.pages = pages;
  spec.description = description;
  return spec;
}

}  // namespace

TEST_CASE("Every byte order, dialect, type and layout of a TIFF is read voxel by voxel", "[frames]") {
  const TempDir dir;
  for (const bool big_endian : {false, true})
    for (const bool big_tiff : {false, true})
      for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f32})
        for (const int tile : {0, 16}) {
          CAPTURE(big_endian, big_tiff, to_string(type), tile);
          TiffSpec spec;
          spec.big_endian = big_endian;
          spec.big_tiff = big_tiff;
          spec.type = type;
          spec.tile = tile;
          spec.width = 37;
          spec.height = 21;
          spec.pages = 6;
          const auto source = open_frames(save_tiff(dir / "a.tif", spec), with_axes("T2ZYX"));
          REQUIRE(source->info().frames == 2);
          REQUIRE(source->info().shape == Shape3{3, 21, 37});
          CHECK(source->info().type == type);
          for (int t = 0; t < 2; ++t) {
            const VolumeFrame frame = source->read(t);
            CHECK(frame.index == t);
            for (int z = 0; z < 3; ++z) CHECK(plane_is_page(frame, z, 3 * t + z));
          }
        }
}

TEST_CASE("A plain TIFF of several pages needs input.axes, one page does not", "[frames]") {
  const TempDir dir;
  const auto path = save_tiff(dir / "a.tif", pages_with(12, ""));
  CHECK(io::is_frames(path));
  CHECK_THAT(message_of<InputError>([&] { open_frames(path); }),
             Contains("input.axes") && Contains("12 pages"));
  CHECK(open_frames(path, with_axes("zyx"))->info().shape.nz == 12);
  CHECK(open_frames(path, with_axes("TYX"))->info().frames == 12);
  CHECK(open_frames(path, with_axes("TZ4YX"))->info().frames == 3);
  CHECK(open_frames(path, with_axes("T6ZYX"))->info().shape.nz == 2);
  CHECK(open_frames(path, with_axes("T2ZC3YX"))->info().channels == 3);
  for (const char* bad : {"TZYX", "T5ZYX", "T3Z3YX", "Z0YX", "Z99999999999999999999YX"}) {
    CAPTURE(bad);
    CHECK_THAT(message_of<UsageError>([&] { open_frames(path, with_axes(bad)); }), Contains("input.axes"));
  }
  for (const char* bad : {"", "YX1", "ZXY", "ZZYX", "QYX", "TZ", "YXZ", "Y5X", "Z4000000000T4000000000YX"})
    CHECK_THROWS_AS(open_frames(path, with_axes(bad)), UsageError);
  const auto one = open_frames(save_tiff(dir / "one.tif", pages_with(1, "")));
  CHECK(one->info().frames == 1);
  CHECK(one->info().shape == Shape3{1, 11, 13});
  CHECK(plane_is_page(one->read(0), 0, 0));
}

TEST_CASE("ImageJ's text gives order, scale and interval", "[frames][imagej]") {
  const TempDir dir;
  TiffSpec spec =
      pages_with(12,
                 "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\nunit=micron\n"
                 "spacing=0.5\nfinterval=2.5\n");
  spec.resolution = 5;
  FrameOptions options;
  options.channel = 1;
  const auto source = open_frames(save_tiff(dir / "a.tif", spec), options);
  const io::SeriesInfo& info = source->info();
  CHECK(info.format == "ImageJ TIFF");
  CHECK(info.axes == "TZCYX");
  CHECK(info.channel == 1);
  REQUIRE(info.voxel_um);
  CHECK(info.voxel_um->x == Approx(0.2));
  CHECK(info.voxel_um->y == Approx(0.2));
  CHECK(info.voxel_um->z == Approx(0.5));
  CHECK(info.dt_s == 2.5);
  for (int t = 0; t < 2; ++t) {
    const VolumeFrame frame = source->read(t);
    CHECK(frame.time_s == 2.5 * t);
    for (int z = 0; z < 3; ++z) CHECK(plane_is_page(frame, z, (t * 3 + z) * 2 + 1));
  }
  io::require_calibration(info);
  CHECK_THROWS_AS(source->read(2), InputError);
  CHECK_THROWS_AS(source->read(-1), InputError);
}

TEST_CASE("ImageJ's spellings of units", "[frames][imagej]") {
  const TempDir dir;
  const auto x_um = [&](const std::string& lines, double resolution, int unit) {
    TiffSpec spec = pages_with(2, "ImageJ=1.53t\nimages=2\nslices=2\nspacing=2\n" + lines);
    spec.resolution = resolution;
    spec.resolution_unit = unit;
    const auto voxel = open_frames(save_tiff(dir / "a.tif", spec))->info().voxel_um;
    return voxel ? voxel->x : -1.0;
  };
  for (const char* micro :
       {"um", "micron", "microns", "\\u00B5m", "\xC2\xB5m", "\xCE\xBCm", "\xB5m", "\xB5m\r"}) {
    CAPTURE(micro);
    CHECK(x_um(std::string("unit=") + micro + "\n", 4, 1) == Approx(0.25));
  }
  CHECK(x_um("unit=nm\n", 0.01, 1) == Approx(0.1));
  CHECK(x_um("unit=mm\n", 4, 1) == Approx(250));
  CHECK_THAT(open_frames(dir / "a.tif")->info().notes.back(), Contains("250 um, which is large"));
  CHECK(x_um("unit=cm\n", 4000, 1) == Approx(2.5));
  CHECK(x_um("unit=inch\n", 25400, 1) == Approx(1));
  CHECK(x_um("", 4000, 3) == Approx(2.5));
  CHECK(x_um("", 25400, 2) == Approx(1));
  CHECK(x_um("", 72, 2) == -1);
  CHECK(x_um("unit=pixel\n", 4, 1) == -1);
  CHECK(x_um("", 4, 1) == -1);
  CHECK(x_um("unit=m\n", 1, 1) == -1);
  CHECK(x_um("unit=um\n", 0, 1) == -1);
}

TEST_CASE("ImageJ's yunit and zunit apply to their own axes", "[frames][imagej]") {
  const TempDir dir;
  const auto voxel = [&](const std::string& lines) {
    TiffSpec spec = pages_with(2, "ImageJ=1.53t\nimages=2\nslices=2\nspacing=2\nunit=um\n" + lines);
    spec.resolution = 4;
    return open_frames(save_tiff(dir / "a.tif", spec))->info();
  };
  CHECK(voxel("").voxel_um == Vec3{0.25, 0.25, 2});
  CHECK(voxel("zunit=nm\n").voxel_um == Vec3{0.25, 0.25, 2e-3});
  CHECK(voxel("yunit=mm\nzunit=mm\n").voxel_um == Vec3{0.25, 250, 2000});
  CHECK_FALSE(voxel("zunit=furlong\n").voxel_um);
  CHECK_THAT(voxel("zunit=furlong\n").notes.at(1), Contains("zunit ('furlong')"));
}

TEST_CASE("images with 0 as white are inverted, by the tag", "[frames]") {
  const TempDir dir;
  for (const VoxelType type : {VoxelType::u8, VoxelType::u16}) {
    TiffSpec spec = pages_with(2, "ImageJ=1.53t\nimages=2\nslices=2\nspacing=2\n");
    spec.type = type;
    const VolumeFrame black = open_frames(save_tiff(dir / "a.tif", spec))->read(0);
    spec.white_is_zero = true;
    const auto source = open_frames(save_tiff(dir / "b.tif", spec));
    CHECK_THAT(source->info().notes.back(), Contains("MINISWHITE"));
    const VolumeFrame white = source->read(0);
    std::visit(
        [&](const auto& values) {
          using Value = typename std::decay_t<decltype(values)>::value_type;
          const auto& stored = std::get<std::decay_t<decltype(values)>>(black.voxels);
          for (std::size_t i = 0; i < values.size(); ++i)
            REQUIRE(values[i] == static_cast<Value>(std::numeric_limits<Value>::max() - stored[i]));
        },
        white.voxels);
  }
}

TEST_CASE("incomplete ImageJ metadata, or ones that contradict the file", "[frames][imagej]") {
  const TempDir dir;
  const auto message = [&](int pages, const std::string& text) {
    const auto path = save_tiff(dir / "a.tif", pages_with(pages, text));
    return message_of<InputError>([&] { open_frames(path); });
  };
  CHECK_THAT(message(6, "ImageJ=1.53t\nimages=6\n"), Contains("input.axes"));
  CHECK_THAT(message(6, "ImageJ=1.53t\nimages=6\nslices=4\n"), Contains("input.axes"));
  CHECK_THAT(message(5, "ImageJ=1.53t\nimages=6\nslices=6\n"),
             Contains("truncated") && Contains("6 pages, but 5"));
  CHECK_THAT(message(6, "ImageJ=1.53t\nimages=6\nslices=6\nfinterval=2\n"),
             Contains("may be times") && Contains("input.axes"));
  CHECK_THAT(message(7, "ImageJ=1.53t\nimages=6\nslices=6\nspacing=2\n"),
             Contains("6 pages") && Contains("it has 7"));
  CHECK_THAT(message(1, "ImageJ=1.53t\nimages=9000000000000000000\nslices=9000000000000000000\nframes=9\n"),
             Contains("a.tif"));

  const auto tifffile = open_frames(save_tiff(dir / "b.tif", [] {
    TiffSpec spec = pages_with(6, "ImageJ=1.11a\nimages=6\nslices=6\nhyperstack=true\nunit=um\n");
    spec.resolution = 2;
    return spec;
  }()));
  CHECK_FALSE(tifffile->info().voxel_um);
  CHECK_THAT(message_of<InputError>([&] { io::require_calibration(tifffile->info()); }),
             Contains("input.voxel_um"));

  const auto series =
      open_frames(save_tiff(dir / "c.tif", pages_with(6, "ImageJ=1.53t\nimages=6\nframes=6\nfps=4\n")));
  CHECK(series->info().dt_s == 0.25);
  FrameOptions options;
  options.voxel_um = Vec3{1, 1, 1};
  const auto untimed =
      open_frames(save_tiff(dir / "d.tif", pages_with(6, "ImageJ=1.53t\nimages=6\nframes=6\n")), options);
  CHECK(untimed->read(3).time_s == 3);
  const auto bare = open_frames(dir / "d.tif");
  CHECK_THAT(message_of<InputError>([&] { io::require_calibration(bare->info()); }),
             Contains("input.voxel_um") && Contains("input.dt_s"));
  CHECK_THAT(message_of<InputError>([&] { io::require_calibration(untimed->info()); }),
             Contains("input.dt_s"));
}

TEST_CASE("Missing axes, voxel size and frame interval are named in one message", "[frames]") {
  const TempDir dir;
  const auto asked = [&](FrameOptions options) {
    return message_of<InputError>([&] { open_frames(save_tiff(dir / "a.tif", pages_with(6, "")), options); });
  };
  CHECK_THAT(asked({}), Contains("set input.axes") && Contains("input.voxel_um (--voxel") &&
                            Contains("input.dt_s (--dt"));
  FrameOptions voxel;
  voxel.voxel_um = Vec3{1, 1, 1};
  CHECK_THAT(asked(voxel), !Contains("input.voxel_um") && Contains("input.dt_s (--dt"));
  voxel.dt_s = 1;
  CHECK_THAT(asked(voxel), Contains("set input.axes") && !Contains("too"));
  std::filesystem::create_directory(dir / "planes");
  for (const char* name : {"planes/a1.tif", "planes/a2.tif"}) save_tiff(dir / name, pages_with(1, ""));
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "planes"); }),
             Contains("set input.axes") && Contains("--voxel") && Contains("--dt"));
  const auto imagej =
      save_tiff(dir / "b.tif", pages_with(6, "ImageJ=1.53t\nimages=6\nslices=6\nfinterval=2\n"));
  CHECK_THAT(message_of<InputError>([&] { open_frames(imagej); }),
             Contains("may be times") && Contains("--voxel") && !Contains("--dt"));
  voxel = {{}, {}, {}, "TYX"};
  CHECK(open_frames(imagej, voxel)->info().dt_s == 2);
}

TEST_CASE("Series beyond 4 GB: one directory, all voxels after it", "[frames][imagej]") {
  const TempDir dir;
  for (const bool big_endian : {false, true})
    for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f32}) {
      TiffSpec spec = pages_with(6, "ImageJ=1.53t\nimages=6\nslices=3\nframes=2\nhyperstack=true\n");
      spec.directories = 1;
      spec.big_endian = big_endian;
      spec.type = type;
      const auto source = open_frames(save_tiff(dir / "a.tif", spec));
      REQUIRE(source->info().frames == 2);
      CHECK(plane_is_page(source->read(1), 2, 5));
      CHECK(plane_is_page(source->read(0), 1, 1));
      spec.description = "ImageJ=1.53t\nimages=8\nslices=4\nframes=2\nhyperstack=true\n";
      CHECK_THAT(message_of<InputError>([&] { open_frames(save_tiff(dir / "b.tif", spec)); }),
                 Contains("8 pages, but 6"));
    }
}

TEST_CASE("Another reader of a TIFF gives the same frames, in the memory of earlier ones", "[frames]") {
  const TempDir dir;
  const bool one_directory = GENERATE(false, true);
  TiffSpec spec = pages_with(12, "ImageJ=1.53t\nimages=12\nslices=3\nframes=4\nhyperstack=true\n");
  if (one_directory) spec.directories = 1;
  const std::filesystem::path path = save_tiff(dir / "a.tif", spec);
  const auto source = open_frames(path);
  const auto other = source->again(), third = other->again();
  VolumeFrame frame;
  for (const int t : {2, 0, 3, 3}) {
    frame = (t == 0 ? other : third)->read_over(t, std::move(frame));
    CHECK(frame.index == t);
    CHECK(frame.voxels == source->read(t).voxels);
    for (int z = 0; z < 3; ++z) CHECK(plane_is_page(frame, z, 3 * t + z));
  }
  VolumeFrame of_another_shape = source->read(1);
  of_another_shape.shape = {3, 11, 12};
  std::get<std::vector<std::uint16_t>>(of_another_shape.voxels).resize(3 * 11 * 12);
  CHECK(other->read_over(1, std::move(of_another_shape)).voxels == source->read(1).voxels);

  spec.pages = 6;
  spec.description = "ImageJ=1.53t\nimages=6\nslices=3\nframes=2\nhyperstack=true\n";
  save_tiff(path, spec);
  CHECK_THAT(message_of<InputError>([&] { source->again(); }), Contains("has changed"));
}

TEST_CASE("OME-XML gives any order of planes", "[frames][ome]") {
  const TempDir dir;
  const int c = 2, z = 3, t = 2;
  for (const std::string order : {"XYCZT", "XYCTZ", "XYZCT", "XYZTC", "XYTCZ", "XYTZC"}) {
    for (const std::string listed : {"", "<TiffData/>", "<TiffData IFD=\"0\" PlaneCount=\"12\"/>"}) {
      CAPTURE(order, listed);
      FrameOptions options;
      options.channel = 1;
      const auto source =
          open_frames(save_tiff(dir / "a.ome.tif", pages_with(12, ome(order, c, z, t, listed))), options);
      const VolumeFrame frame = source->read(1);
      for (int plane = 0; plane < z; ++plane) {
        int page = 0, stride = 1;
        for (const char axis : order.substr(2)) {
          page += stride * (axis == 'C' ? 1 : axis == 'T' ? 1 : plane);
          stride *= axis == 'C' ? c : axis == 'T' ? t : z;
        }
        CHECK(plane_is_page(frame, plane, page));
      }
    }
  }
}

TEST_CASE("TiffData elements place planes one by one", "[frames][ome]") {
  const TempDir dir;
  const std::string scattered =
      "<TiffData IFD=\"3\" FirstZ=\"0\" FirstT=\"0\"><UUID "
      "FileName=\"x.ome.tif\">urn:uuid:1</UUID></TiffData>"
      "<TiffData IFD=\"0\" FirstZ=\"1\" FirstT=\"0\" PlaneCount=\"1\"/>"
      "<TiffData IFD=\"1\" FirstZ=\"0\" FirstT=\"1\" PlaneCount=\"2\"/>";
  const auto source = open_frames(save_tiff(dir / "a.tif", pages_with(4, ome("XYZTC", 1, 2, 2, scattered))));
  CHECK(plane_is_page(source->read(0), 0, 3));
  CHECK(plane_is_page(source->read(0), 1, 0));
  CHECK(plane_is_page(source->read(1), 0, 1));
  CHECK(plane_is_page(source->read(1), 1, 2));

  const auto message = [&](int pages, const std::string& text) {
    const auto path = save_tiff(dir / "b.tif", pages_with(pages, text));
    return message_of<InputError>([&] { open_frames(path); });
  };
  CHECK_THAT(message(4, ome("XYZTC", 1, 2, 2, "<TiffData IFD=\"0\" PlaneCount=\"3\"/>")),
             Contains("plane 3"));
  CHECK_THAT(message(4, ome("XYZTC", 1, 2, 2, "<TiffData IFD=\"9\"/>")), Contains("from page 10"));
  CHECK_THAT(message(4, ome("XYZTC", 1, 2, 2, "<TiffData IFD=\"0\" FirstZ=\"2\"/>")), Contains("FirstZ"));
  CHECK_THAT(message(4, ome("XYZTC", 1, 2, 2, "<TiffData IFD=\"-1\"/>")), Contains("IFD"));
  CHECK_THAT(message(3, ome("XYZTC", 1, 2, 2, "<TiffData/>")), Contains("4 pages, but 3"));
  CHECK_THAT(
      message(4,
              ome("XYZTC", 1, 2, 2,
                  "<TiffData IFD=\"0\" PlaneCount=\"2\"><UUID FileName=\"a.tif\">urn:uuid:1</UUID></TiffData>"
                  "<TiffData FirstT=\"1\" IFD=\"0\"><UUID FileName=\"b.tif\">urn:uuid:2</UUID></TiffData>")),
      Contains("no TiffData for plane") && Contains("input.axes"));
}

TEST_CASE("OME-XML gives scale and interval with their units", "[frames][ome]") {
  const TempDir dir;
  const auto info = [&](const std::string& attributes) {
    return open_frames(
               save_tiff(dir / "a.tif", pages_with(4, ome("XYZTC", 1, 2, 2, "<TiffData/>", attributes))))
        ->info();
  };
  const auto all = info(
      "PhysicalSizeX=\"100\" PhysicalSizeXUnit=\"nm\" PhysicalSizeY=\"0.2\" PhysicalSizeZ=\"0.003\" "
      "PhysicalSizeZUnit=\"mm\" TimeIncrement=\"2\" TimeIncrementUnit=\"min\"");
  REQUIRE(all.voxel_um);
  CHECK(all.voxel_um->x == Approx(0.1));
  CHECK(all.voxel_um->y == Approx(0.2));
  CHECK(all.voxel_um->z == Approx(3));
  CHECK(all.dt_s == 120.0);
  CHECK(info("TimeIncrement=\"0.5\"").dt_s == 0.5);
  CHECK_FALSE(info("PhysicalSizeX=\"1\" PhysicalSizeY=\"1\"").voxel_um);
  CHECK_FALSE(info("PhysicalSizeX=\"nan\" PhysicalSizeY=\"1\" PhysicalSizeZ=\"1\"").voxel_um);
  CHECK_FALSE(info("PhysicalSizeX=\"1\" PhysicalSizeXUnit=\"pixel\" PhysicalSizeY=\"1\" PhysicalSizeZ=\"1\"")
                  .voxel_um);
  CHECK_FALSE(info("TimeIncrement=\"-1\"").dt_s);
  FrameOptions options;
  options.voxel_um = Vec3{1, 2, 3};
  options.dt_s = 7;
  const auto given = open_frames(dir / "a.tif", options)->info();
  CHECK(given.voxel_um == Vec3{1, 2, 3});
  CHECK(given.voxel_um_source == "input.voxel_um");
  CHECK(given.dt_s == 7.0);
}

TEST_CASE("Broken OME-XML is an error, unless input.axes is set", "[frames][ome]") {
  const TempDir dir;
  const std::string sound = ome("XYZTC", 1, 2, 2, "<TiffData/>");
  const auto path = save_tiff(dir / "a.tif", pages_with(4, sound.substr(0, sound.size() - 30)));
  CHECK_THAT(message_of<InputError>([&] { open_frames(path); }), Contains("byte") && Contains("OME-XML"));
  CHECK(open_frames(path, with_axes("T2ZYX"))->info().shape.nz == 2);
  for (const auto& [from, to] : {std::pair{"SizeX=\"13\"", "SizeX=\"14\""},
                                 {"SizeT=\"2\"", "SizeT=\"-2\""},
                                 {"SizeT=\"2\"", ""},
                                 {"XYZTC", "XYZTT"},
                                 {"XYZTC", "ZXYTC"},
                                 {"Pixels", "Pix"},
                                 {"SizeT=\"2\"", "SizeT=\"4000000000000000000\""}}) {
    std::string text = sound;
    for (std::size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, std::strlen(from), to);
    CAPTURE(text);
    CHECK_THROWS_AS(open_frames(save_tiff(dir / "b.tif", pages_with(4, text))), InputError);
  }
}

TEST_CASE("tifffile's JSON gives the shape, and the order if it names the axes", "[frames]") {
  const TempDir dir;
  const auto path = [&](const std::string& text) { return save_tiff(dir / "a.tif", pages_with(12, text)); };
  const auto named = open_frames(path("{\"axes\": \"ZTYX\", \"shape\": [3, 4, 11, 13]}"));
  CHECK(named->info().frames == 4);
  CHECK(plane_is_page(named->read(1), 2, 9));
  const std::string bare = "{\"shape\": [3, 4, 11, 13]}";
  CHECK_THAT(message_of<InputError>([&] { open_frames(path(bare)); }), Contains("input.axes"));
  CHECK(open_frames(path(bare), with_axes("TZYX"))->info().frames == 3);
  CHECK_THROWS_AS(open_frames(path("{\"axes\": \"QQYX\", \"shape\": [3, 4, 11, 13]}")), InputError);
  for (const char* odd :
       {"{\"shape\": [3, 4, 13, 11]}", "{\"shape\": 5}", "{\"shape\": [-3, 4, 11, 13]}", "{\"shape\": [",
        "{\"shape\": [9e99, 1e400]}", "{\"shape\": [], \"axes\": 5}", "{\"shape\": [99, 4, 11, 13]}",
        "{\"shape\": [4000000000000, 4000000000000, 11, 13]}"}) {
    CAPTURE(odd);
    CHECK_THROWS_AS(open_frames(path(odd)), InputError);
  }
}

TEST_CASE("input.channel out of range names key and range", "[frames]") {
  const TempDir dir;
  const auto path = save_tiff(dir / "a.tif", pages_with(4, ome("XYCZT", 2, 2, 1, "<TiffData/>")));
  for (const int channel : {-1, 2}) {
    FrameOptions options;
    options.channel = channel;
    CHECK_THAT(message_of<UsageError>([&] { open_frames(path, options); }),
               Contains("input.channel") && Contains("0 to 1"));
  }
  CHECK_THAT(open_frames(path)->info().notes.back(), Contains("input.channel"));
  FrameOptions options;
  options.voxel_um = Vec3{1, 0, 1};
  CHECK_THAT(message_of<UsageError>([&] { open_frames(path, options); }), Contains("input.voxel_um"));
  options.voxel_um.reset();
  options.dt_s = -1;
  CHECK_THAT(message_of<UsageError>([&] { open_frames(path, options); }), Contains("input.dt_s"));
}

TEST_CASE("Unsupported pixel types are rejected by name", "[frames]") {
  const TempDir dir;
  const auto message = [&](int samples, int bits, int format) {
    TiffSpec spec;
    spec.samples = samples;
    spec.bits = bits;
    spec.sample_format = format;
    return message_of<InputError>([&] { open_frames(save_tiff(dir / "a.tif", spec)); });
  };
  CHECK_THAT(message(3, 0, 0), Contains("RGB"));
  CHECK_THAT(message(1, 24, 3), Contains("24-bit float"));
  CHECK_THAT(message(1, 12, 1), Contains("12-bit"));
}

TEST_CASE("Missing files, and files that are not a series", "[frames]") {
  const TempDir dir;
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "none.tif"); }), Contains("none.tif"));
  CHECK_FALSE(io::is_frames(dir / "none.tif"));
  std::ofstream(dir / "text.tif") << "particle,frame,x,y,z\n";
  CHECK_THROWS_AS(open_frames(dir / "text.tif"), InputError);
  CHECK_FALSE(io::is_frames(dir / "text.tif"));
  std::ofstream(dir / "empty.tif").flush();
  CHECK_THROWS_AS(open_frames(dir / "empty.tif"), InputError);
  CHECK_FALSE(io::is_frames(dir / "empty.tif"));
  CHECK_FALSE(io::is_frames("/dev/null"));
}

TEST_CASE("Real ImageJ and tifffile stacks", "[frames][data]") {
  MOTES_NEED_DATA(regions, "formats/misc/Regions_size_5_5_100_100.tif");
  const auto source = open_frames(regions);
  CHECK(source->info().axes == "TZYX");
  REQUIRE(source->info().frames == 10);
  REQUIRE(source->info().shape == Shape3{20, 100, 100});
  CHECK(source->info().dt_s == 1.0);
  CHECK_FALSE(source->info().voxel_um);
  for (int t = 0; t < 10; ++t) {
    const VolumeFrame frame = source->read(t);
    int marked = 0;
    for (const auto v : std::get<std::vector<std::uint8_t>>(frame.voxels)) marked += v > 0 ? 1 : 0;
    CHECK(marked > 0);
  }

  MOTES_NEED_DATA(fake, "formats/trackmate/FakeTracks.tif");
  CHECK(open_frames(fake)->info().frames == 50);
  CHECK(open_frames(fake)->info().shape == Shape3{1, 128, 128});

  MOTES_NEED_DATA(labels, "cho-3d-labels/Fluo-N3DH-CHO_02_ERR_SEG.tif");
  const auto as_times = open_frames(labels, with_axes("ZTYX"));
  CHECK(as_times->info().frames == 5);
  CHECK(as_times->info().shape == Shape3{20, 443, 512});
  CHECK(as_times->info().type == VoxelType::u16);

  for (const char* name : {"katherine.tif", "levke.tif"}) {
    MOTES_NEED_DATA(colloids, std::string("confocal-colloids/") + name);
    CHECK(open_frames(colloids)->info().shape == Shape3{128, 128, 128});
    open_frames(colloids)->read(0);
  }
  MOTES_NEED_DATA(peri, "confocal-colloids/peri_small_confocal_image.tif");
  // A plain stack of 48 slices without spacing: these may be planes or times.
  CHECK_THAT(message_of<InputError>([&] { open_frames(peri); }), Contains("input.axes"));
  FrameOptions volume;
  volume.axes = "ZYX";
  CHECK(open_frames(peri, volume)->info().shape == Shape3{48, 64, 64});
}
