// PNG files as frames: every kind of pixel, folders, and what is refused.

#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <motes/io/frame_source.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/png_bytes.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/io/track_samples.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::open_frames;

namespace {

io::FrameOptions with_axes(const std::string& axes) {
  io::FrameOptions options;
  options.axes = axes;
  return options;
}

/// A file with the values of page `page`.
PngSpec grey_page(int page) {
  PngSpec spec;
  spec.sample = [page](int y, int x, int) { return voxel_value(page, y, x); };
  return spec;
}

/// Red, green and blue of 2^depth greys, the darkest last.
std::string grey_palette(int depth) {
  std::string palette;
  for (int i = 0; i < 1 << depth; ++i) palette += std::string(3, static_cast<char>(255 - i));
  return palette;
}

std::string refusal(const std::filesystem::path& path, const io::FrameOptions& options = {}) {
  return message_of<InputError>([&] {
    const auto source = open_frames(path, options);
    for (std::int32_t t = 0; t < source->info().frames; ++t) source->read(t);
  });
}

}  // namespace

TEST_CASE("PNG: pixels of every kind are read as greys", "[frames][png]") {
  struct Case {
    int colour, depth;
    std::function<int(int value)> expected;  ///< of a stored value
  };
  const auto same = [](int v) { return v; };
  const std::vector<Case> cases{{kGrey, 1, [](int v) { return v * 255; }},
                                {kGrey, 2, [](int v) { return v * 85; }},
                                {kGrey, 4, [](int v) { return v * 17; }},
                                {kGrey, 8, same},
                                {kGrey, 16, same},
                                {kGreyAlpha, 8, same},
                                {kGreyAlpha, 16, same},
                                {kColour, 8, same},
                                {kColour, 16, same},
                                {kColourAlpha, 8, same},
                                {kColourAlpha, 16, same},
                                {kPalette, 1, [](int v) { return 255 - v; }},
                                {kPalette, 2, [](int v) { return 255 - v; }},
                                {kPalette, 4, [](int v) { return 255 - v; }},
                                {kPalette, 8, [](int v) { return 255 - v; }}};
  const TempDir dir;
  for (const Case& c : cases) {
    for (const bool interlaced : {false, true}) {
      CAPTURE(c.colour, c.depth, interlaced);
      const int most = (1 << c.depth) - 1;
      const auto value = [&](int y, int x) {
        return (voxel_value(0, y, x) * (c.depth == 16 ? 200 : 1)) & most;
      };
      PngSpec spec;
      spec.colour = c.colour, spec.depth = c.depth, spec.interlaced = interlaced;
      if (c.colour == kPalette) spec.palette = grey_palette(c.depth);
      spec.sample = [&](int y, int x, int channel) {
        const bool alpha = (c.colour == kGreyAlpha && channel == 1) || channel == 3;
        return alpha ? most : value(y, x);
      };
      spill(dir / "a.png", png_bytes(spec));
      REQUIRE(io::is_frames(dir / "a.png"));
      const auto source = open_frames(dir / "a.png");
      CHECK(source->info().format == "PNG");
      CHECK(source->info().frames == 1);
      CHECK(source->info().shape == Shape3{1, spec.height, spec.width});
      CHECK(source->info().type == (c.depth == 16 ? io::VoxelType::u16 : io::VoxelType::u8));
      CHECK_FALSE(source->info().voxel_um);
      const VolumeFrame frame = source->read(0);
      int wrong = 0;
      for (int y = 0; y < spec.height; ++y)
        for (int x = 0; x < spec.width; ++x)
          wrong += std::visit([&](const auto& v) { return int(v[std::size_t(y * spec.width + x)]); },
                              frame.voxels) != c.expected(value(y, x));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("PNG: colours and transparent pixels are refused with their place", "[frames][png]") {
  const TempDir dir;
  const auto message = [&](const PngSpec& spec) {
    spill(dir / "a.png", png_bytes(spec));
    return refusal(dir / "a.png");
  };
  for (const bool interlaced : {false, true}) {
    PngSpec spec;
    spec.interlaced = interlaced;
    spec.colour = kColour;
    spec.sample = [](int y, int x, int c) { return 50 + (c == 1 && y == 4 && x == 6); };
    CHECK_THAT(message(spec), Contains("in colour") && Contains("x 6, y 4") && Contains("one channel"));
    spec.colour = kColourAlpha, spec.depth = 16;
    spec.sample = [](int y, int x, int c) { return c < 3 ? 7 : y == 2 && x == 12 ? 65534 : 65535; };
    CHECK_THAT(message(spec), Contains("transparent at x 12, y 2"));
    spec.colour = kPalette, spec.depth = 2, spec.palette = grey_palette(2);
    spec.sample = [](int, int x, int) { return x % 4; };
    spec.transparency = "\xFF\xFF\x7F";
    CHECK_THAT(message(spec), Contains("transparent at x 2, y 0"));
    spec.transparency = "";
    spec.palette[9] = '\x7';  // entry 3
    CHECK_THAT(message(spec), Contains("in colour") && Contains("x 3, y 0"));
  }
}

TEST_CASE("PNG: a folder is read as one of single-page TIFFs is", "[frames][folder][png]") {
  const TempDir dir;
  const auto tiffs = dir / "tiffs", pngs = dir / "pngs";
  std::filesystem::create_directories(tiffs);
  std::filesystem::create_directories(pngs);
  const auto save = [&](const std::string& name, int page) {
    TiffSpec tiff;
    tiff.type = io::VoxelType::u8;
    tiff.sample_format = 1;
    tiff.bits = 8;
    tiff.pattern = [page](int value) { return std::uint64_t((value + page * 37) % 251); };
    save_tiff(tiffs / (name + ".tif"), tiff);
    spill(pngs / (name + ".PNG"), png_bytes(grey_page(page)));
  };
  const auto same = [&](const io::FrameOptions& options) {
    const auto a = open_frames(tiffs, options), b = open_frames(pngs, options);
    CHECK(a->info().axes == b->info().axes);
    CHECK(a->info().notes.size() == b->info().notes.size());
    CHECK(a->info().channels == b->info().channels);
    REQUIRE(a->info().frames == b->info().frames);
    for (std::int32_t t = 0; t < a->info().frames; ++t) CHECK(a->read(t).voxels == b->read(t).voxels);
    CHECK(b->again()->read_over(0, b->read(0)).voxels == b->read(0).voxels);
  };
  const auto clear = [&] {
    for (const auto& folder : {tiffs, pngs})
      for (const auto& entry : std::filesystem::directory_iterator(folder)) std::filesystem::remove(entry);
  };
  // trackpy's names: neither z nor t.
  for (const int i : {10, 2, 0, 7, 1, 3, 4, 5, 6, 8, 9, 11}) save("bulk_water_" + std::to_string(i), i);
  CHECK(io::is_frames(pngs));
  CHECK_THAT(refusal(pngs),
             Contains("folder of 12 single planes") && Contains("input.axes") && Contains("input.dt_s"));
  CHECK_THAT(open_frames(pngs, with_axes("TYX"))->info().format, Contains("folder of 12 PNG files"));
  CHECK(plane_is_page(open_frames(pngs, with_axes("TYX"))->read(10), 0, 10));
  for (const char* axes : {"TYX", "ZYX", "TZ4YX", "ZT3YX"}) same(with_axes(axes));
  clear();
  for (int t = 0; t < 3; ++t)
    for (int z = 0; z < 2; ++z) save(fmt::format("img_time{}_z{}", t, z), t * 2 + z);
  same({});
  CHECK(open_frames(pngs)->info().axes == "TZYX");
  // TIFFs take precedence over PNGs, and the preview of a run is not read as a frame.
  save_tiff(pngs / "stack.tif", {});
  CHECK(open_frames(pngs)->info().format == "TIFF");
  clear();
  for (const char* name : {"preview.png", "report.json", "tracks.h5"}) std::ofstream(pngs / name).flush();
  CHECK_FALSE(io::is_frames(pngs));
  CHECK_THAT(refusal(pngs), Contains("no TIFF or PNG files") && Contains("'tracks.h5'"));
}

TEST_CASE("PNG: files of one folder must be alike", "[frames][folder][png]") {
  const TempDir dir;
  const auto message = [&](const PngSpec& odd) {
    for (int t = 0; t < 3; ++t) spill(dir / ("frame" + std::to_string(t) + ".png"), png_bytes(grey_page(t)));
    spill(dir / "frame1.png", png_bytes(odd));
    return refusal(dir.path());
  };
  PngSpec odd = grey_page(1);
  odd.width = 12;
  CHECK_THAT(message(odd), Contains("frame1.png") && Contains("1 x 11 x 12 u8") && Contains("same shape"));
  odd.width = 13, odd.depth = 16;
  CHECK_THAT(message(odd), Contains("1 x 11 x 13 u16") && Contains("first file 1 x 11 x 13 u8"));
  spill(dir / "frame1.png", "not a PNG");
  CHECK_THAT(refusal(dir.path()), Contains("frame1.png"));
  // An optimiser stores a dark frame in fewer bits: the values stay.
  odd.depth = 4;
  odd.sample = [](int, int x, int) { return x; };
  spill(dir / "frame1.png", png_bytes(odd));
  CHECK(std::get<std::vector<std::uint8_t>>(open_frames(dir.path())->read(1).voxels)[5] == 5 * 17);
}

TEST_CASE("PNG: damaged files are rejected in one line", "[frames][damage][png]") {
  const TempDir dir;
  const auto path = dir / "a.png";
  PngSpec spec = grey_page(0);
  spec.interlaced = GENERATE(false, true);
  spec.colour = GENERATE(kGrey, kColourAlpha);
  if (spec.colour == kColourAlpha)
    spec.sample = [](int y, int x, int c) { return c == 3 ? 255 : voxel_value(0, y, x); };
  const std::string good = png_bytes(spec);
  for (std::size_t size = 1; size < good.size(); ++size) {
    spill(path, good.substr(0, size));
    CAPTURE(size);
    CHECK_THAT(refusal(path), Contains("a.png"));
  }
  // Each byte is covered by a checksum.
  for (std::size_t at = 8; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    spill(path, bad);
    CAPTURE(at);
    CHECK_THAT(refusal(path), Contains("damaged"));
  }
  read_damaged_copies(path, good, 500, [](const auto& file) { open_frames(file)->read(0); });
}

TEST_CASE("PNG: claims are bounded by the file", "[frames][damage][png]") {
  const TempDir dir;
  const auto path = dir / "a.png";
  PngSpec spec;
  spec.width = spec.height = 900000;
  const std::string end = png_chunk("IDAT", deflated("tiny")) + png_chunk("IEND", "");
  spill(path, png_header(spec) + end);
  CHECK_THAT(refusal(path), Contains("900000 x 900000") && Contains("cannot come from"));
  spec.width = spec.height = 0x7fffffff;
  spill(path, png_header(spec) + end);
  CHECK_THAT(refusal(path), Contains("damaged"));
  spec.width = spec.height = 300;
  spill(path, png_header(spec) + end);
  CHECK_THAT(refusal(path), Contains("damaged"));
  // A compressed text and a colour profile that would unpack to much are not unpacked.
  const std::string bomb = deflated(std::string(std::size_t{64} << 20, 'a'));
  const std::string good = png_bytes(grey_page(0));
  const std::size_t pixels = good.find("IDAT") - 4;
  for (const std::string name : {"zTXt", "iCCP", "iTXt"}) {
    const std::string head = name == "iTXt" ? std::string("a\0\1\0\0\0", 6) : std::string("a\0\0", 3);
    spill(path, good.substr(0, pixels) + png_chunk(name, head + bomb) + good.substr(pixels));
    CHECK(plane_is_page(open_frames(path)->read(0), 0, 0));
  }
}
