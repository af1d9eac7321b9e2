// TIFFs of several samples per pixel, and of bits: which are read as grey, and which are refused.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <motes/io/frame_source.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::open_frames;
using io::VoxelType;

namespace {

/// Three planes along z, whose colours are channels.
std::string ome_of_planes(int samples) {
  return fmt::format(
      "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image "
      "ID=\"Image:0\"><Pixels ID=\"Pixels:0\" Type=\"uint16\" SizeX=\"13\" SizeY=\"11\" "
      "DimensionOrder=\"XYCZT\" SizeC=\"{}\" SizeZ=\"3\" SizeT=\"1\"><TiffData/></Pixels></Image></OME>",
      samples);
}

TiffSpec pages_with(int pages, const std::string& description) {
  TiffSpec spec;
  spec.pages = pages;
  spec.description = description;
  return spec;
}

}  // namespace

TEST_CASE("1-bit masks of tifffile keep their ones, which it calls black", "[frames]") {
  const TempDir dir;
  TiffSpec spec = pages_with(2, R"({"shape": [2, 11, 13], "axes": "ZYX"})");
  spec.bits = 1, spec.pattern = [](int value) { return std::uint64_t(value % 2); };
  spec.white_is_zero = true;
  const auto first = [&] { return voxel_at(open_frames(save_tiff(dir / "a.tif", spec))->read(0), 0, 0, 1); };
  REQUIRE(voxel_value(0, 0, 1) % 2 == 1);
  CHECK(first() == 0);  // a scanner's ink
  spec.software = "tifffile.py";
  CHECK(first() == 1);
}

TEST_CASE("RGB of equal channels is read as grey, in every layout", "[frames]") {
  const TempDir dir;
  for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f32})
    for (const int samples : {3, 4})
      for (const int layout : {0, 1, 2, 3, 4}) {
        if (samples == 4 && type == VoxelType::f32) continue;
        CAPTURE(to_string(type), samples, layout);
        TiffSpec spec = pages_with(3, layout == 4 ? ome_of_planes(samples) : "");
        spec.rgb = true, spec.samples = samples, spec.type = type;
        spec.planar = layout == 1 || layout == 3;
        spec.tile = layout == 2 || layout == 3 ? 16 : 0;
        spec.width = layout == 4 ? 13 : 37;
        spec.big_endian = layout == 1;
        const std::string trailing =
            fmt::format("{{\"shape\": [3, 11, 37, {}], \"axes\": \"ZYXS\"}}", samples);
        const std::string leading =
            fmt::format("{{\"shape\": [3, {}, 11, 37], \"axes\": \"ZSYX\"}}", samples);
        if (layout != 4) spec.description = spec.planar ? leading : trailing;
        const auto path = save_tiff(dir / "a.tif", spec);
        const auto source = open_frames(path);
        REQUIRE(source->info().shape == Shape3{3, 11, spec.width});
        CHECK(source->info().type == type);
        CHECK(source->info().channels == 1);
        const VolumeFrame frame = source->read(0);
        for (int z = 0; z < 3; ++z) CHECK(plane_is_page(frame, z, z));
        spec.tint = [](int page, int y, int x, int channel) {
          return page == 1 && (y > 5 || (y == 5 && x > 6)) && channel == 2 ? 1 : 0;
        };
        save_tiff(path, spec);
        CHECK_THAT(message_of<InputError>([&] { open_frames(path)->read(0); }),
                   Contains("page 2 of 3") && Contains("in colour") && Contains("x 7, y 5"));
      }
}

TEST_CASE("Transparent RGB, samples other than colours, and damaged layouts of both are refused",
          "[frames]") {
  const TempDir dir;
  TiffSpec spec;
  spec.rgb = true, spec.samples = 4, spec.type = VoxelType::f32;  // no float is known to mean opaque
  const auto message = [&] {
    save_tiff(dir / "a.tif", spec);
    return message_of<InputError>([&] { open_frames(dir / "a.tif")->read(0); });
  };
  CHECK_THAT(message(), Contains("floating-point alpha"));
  spec.samples = 5, spec.type = VoxelType::u8;
  CHECK_THAT(message(), Contains("5 samples per pixel"));
  spec.rgb = false, spec.samples = 3;
  CHECK_THAT(message(), Contains("3 samples per pixel"));
}
