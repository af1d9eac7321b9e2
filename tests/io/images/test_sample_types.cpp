// Number types of files that frames do not have: which values they become, and which are refused.

#include <bit>
#include <cmath>

#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>

#include "io/files/half.h"
#include "tests/io/images/frame_errors.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::VoxelType;

namespace {

std::unique_ptr<io::FrameSource> open_planes(const std::filesystem::path& path) {
  io::FrameOptions options;
  options.axes = "TYX";
  return io::open_frames(path, options);
}

}  // namespace

TEST_CASE("Signed, wide and one-bit samples become floats and bytes of the same values", "[frames]") {
  struct Case {
    const char* name;
    int bits, sample_format;
    std::function<std::uint64_t(int)> pattern;
    std::function<double(int)> expected;
  };
  const auto less = [](int value) { return value - 100; };
  const auto as_bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const std::vector<Case> cases{
      {"i8", 8, 2, [&](int v) { return static_cast<std::uint8_t>(v / 2 - 60); },
       [](int v) { return v / 2 - 60; }},
      {"i16", 16, 2, [&](int v) { return static_cast<std::uint16_t>(less(v)); }, less},
      {"i32", 32, 2, [&](int v) { return static_cast<std::uint32_t>(less(v) * 1000); },
       [&](int v) { return less(v) * 1000; }},
      {"u32", 32, 1, [](int v) { return std::uint64_t(v) * 65536; }, [](int v) { return v * 65536.0; }},
      {"i64", 64, 2, [&](int v) { return static_cast<std::uint64_t>(less(v)); }, less},
      {"u64", 64, 1, [](int v) { return std::uint64_t(v); }, [](int v) { return v; }},
      {"f16", 16, 3, [](int v) { return io::detail::Half(v / 8.0).bits; }, [](int v) { return v / 8.0; }},
      {"f64", 64, 3, [&](int v) { return as_bits(less(v) / 7.0); },
       [&](int v) { return static_cast<float>(less(v) / 7.0); }},
      {"1-bit", 1, 1, [](int v) { return std::uint64_t(v % 2); }, [](int v) { return v % 2; }},
  };
  const TempDir dir;
  for (const Case& c : cases) {
    for (const int layout : {0, 1, 2, 3, 4}) {
      CAPTURE(c.name, layout);
      TiffSpec spec;
      spec.bits = c.bits, spec.sample_format = c.sample_format, spec.pattern = c.pattern;
      spec.width = 21, spec.pages = 3;
      spec.big_endian = layout == 1;
      spec.tile = layout == 2 ? 16 : 0;
      if (layout == 3) {  // all pages' voxels after one directory
        spec.directories = 1, spec.rows_per_strip = spec.height;
        spec.description = "ImageJ=1.53\nimages=3\nframes=3\nunit=micron\nfinterval=1\n";
      }
      spec.white_is_zero = layout == 4;
      const auto path = save_tiff(dir / "a.tif", spec);
      if (layout == 4 && c.bits != 1) {
        CHECK_THAT(message_of<InputError>([&] { open_planes(path); }), Contains("0 as white"));
        continue;
      }
      const auto source = open_planes(path);
      CHECK(source->info().type == (c.bits == 1 ? VoxelType::u8 : VoxelType::f32));
      for (const int page : {2, 0}) {
        const VolumeFrame frame = source->read(page);
        int wrong = 0;
        for (int y = 0; y < spec.height; ++y) {
          for (int x = 0; x < spec.width; ++x) {
            const auto i = static_cast<std::size_t>(y * spec.width + x);
            const double got =
                std::visit([&](const auto& v) { return static_cast<double>(v[i]); }, frame.voxels);
            double expected = c.expected(voxel_value(page, y, x));
            if (layout == 4) expected = 1 - expected;
            wrong += got != expected;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("16-bit floats: every value, and rounding to the nearest", "[frames]") {
  using io::detail::Half;
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const unsigned exponent = bits >> 10 & 31;
    const auto value = static_cast<float>(half);
    if (exponent == 31) {
      wrong += (bits & 1023) != 0 ? !std::isnan(value) : !std::isinf(value);
    } else {
      // The same sign, exponent and fraction as a 32-bit float, but for the smallest.
      const std::uint32_t wide = (bits & 0x8000) << 16 | (exponent + 112) << 23 | (bits & 1023) << 13;
      const float expected = exponent > 0
                                 ? std::bit_cast<float>(wide)
                                 : std::copysign(float(bits & 1023) / 16777216, bits > 32767 ? -1.F : 1.F);
      wrong += std::bit_cast<std::uint32_t>(value) != std::bit_cast<std::uint32_t>(expected);
    }
    if (!std::isnan(value)) wrong += Half(value).bits != bits;
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(static_cast<float>(Half(std::nan("")))));
  CHECK(static_cast<float>(Half(1 + 1.4 / 1024)) == 1 + 1.0F / 1024);
  CHECK(static_cast<float>(Half(1 + 1.5 / 1024)) == 1 + 2.0F / 1024);  // to the even one
  CHECK(static_cast<float>(Half(65519.9)) == 65504.0F);
  CHECK(std::isinf(static_cast<float>(Half(-65520))));
  CHECK(static_cast<float>(Half(-1e-9)) == 0);
}

TEST_CASE("Samples that a 32-bit float does not hold are refused with their value", "[frames]") {
  const TempDir dir;
  const auto message = [&](int bits, int format, std::function<std::uint64_t(int)> pattern) {
    TiffSpec spec;
    spec.bits = bits, spec.sample_format = format, spec.pattern = std::move(pattern);
    const auto source = open_planes(save_tiff(dir / "a.tif", spec));
    return message_of<InputError>([&] { source->read(0); });
  };
  const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  CHECK_THAT(message(32, 1, [](int v) { return 16777100u + unsigned(v); }),
             Contains("page 1 of 1 holds the integer 167772"));
  CHECK_THAT(message(32, 2, [](int v) { return v == 0 ? 0x80000000u : 0u; }), Contains("-2147483648"));
  CHECK_THAT(message(64, 1, [](int v) { return ~std::uint64_t(v); }), Contains("18446744073709551615"));
  CHECK_THAT(message(64, 3, [&](int v) { return real(v == 3 ? -1e39 : 0); }), Contains("-1e+39"));
  CHECK_THAT(message(64, 3, [&](int v) { return real(1e9 + v); }), Contains("subtract a constant"));
}
