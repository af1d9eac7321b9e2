/// BigDataViewer's N5, written by the tests.
#include <bit>

#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/zarr_stores.h"
#include "tests/io/track_samples.h"
#include "tests/support/files.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// Writes one time point; sizes are JSON lists, x first.
void write_n5(const std::filesystem::path& folder, const std::string& dimensions, const std::string& block) {
  const auto point = folder / "setup0/timepoint0/s0";
  put(folder / "attributes.json", R"({"n5": "2.0.0"})");
  put(point / "attributes.json", R"({"dataType": "uint16", "compression": {"type": "raw"}, "dimensions": )" +
                                     dimensions + R"(, "blockSize": )" + block + "}");
}

/// A block of 16-bit values, big-endian, with its header.
std::string block_bytes(const std::vector<std::uint32_t>& size, const std::vector<std::uint16_t>& values) {
  std::string out{"\0\0\0\3", 4};
  for (const std::uint32_t n : size)
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift);
  for (const std::uint16_t v : values) {
    out += static_cast<char>(v >> 8);
    out += static_cast<char>(v & 255);
  }
  return out;
}

}  // namespace

TEST_CASE("N5: blocks, cut at the edge or missing, become a frame") {
  const TempDir dir;
  const auto store = dir / "a.n5";
  write_n5(store, "[3, 2, 1]", "[2, 2, 1]");
  put(store / "setup0/timepoint0/s0/0/0/0", block_bytes({2, 2, 1}, {1, 2, 3, 400}));
  const auto source = io::open_frames(store);
  CHECK(source->info().shape == Shape3{1, 2, 3});
  CHECK(std::get<std::vector<std::uint16_t>>(source->read(0).voxels) ==
        std::vector<std::uint16_t>{1, 2, 0, 3, 400, 0});
  put(store / "setup0/timepoint0/s0/1/0/0", block_bytes({1, 2, 1}, {7, 8}));
  CHECK(std::get<std::vector<std::uint16_t>>(source->read(0).voxels) ==
        std::vector<std::uint16_t>{1, 2, 7, 3, 400, 8});
}

TEST_CASE("N5: signed, wide and 64-bit float values become floats") {
  const TempDir dir;
  const auto store = dir / "a.n5";
  struct Case {
    const char* type;
    std::size_t bytes;
    double first;
  };
  for (const Case& c : {Case{"int8", 1, -5},
                        {"int16", 2, -5},
                        {"int32", 4, -5},
                        {"uint32", 4, 70000},
                        {"int64", 8, -5},
                        {"uint64", 8, 70000},
                        {"float32", 4, 0.5},
                        {"float64", 8, 0.25}}) {
    CAPTURE(c.type);
    const bool real = c.type[0] == 'f';
    write_n5(store, "[3, 2, 1]", "[2, 2, 1]");
    replace_in(store / "setup0/timepoint0/s0/attributes.json", "uint16", c.type);
    std::string block = block_bytes({2, 2, 1}, {});
    for (int i = 0; i < 4; ++i) {
      const double value = c.first + i;
      const std::uint64_t bits = !real          ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                 : c.bytes == 4 ? std::bit_cast<std::uint32_t>(float(value))
                                                : std::bit_cast<std::uint64_t>(value);
      for (std::size_t k = c.bytes; k-- > 0;) block += static_cast<char>(bits >> (8 * k));
    }
    put(store / "setup0/timepoint0/s0/0/0/0", block);
    const auto source = io::open_frames(store);
    const auto f = float(c.first);
    CHECK(std::get<std::vector<float>>(source->read(0).voxels) ==
          std::vector<float>{f, f + 1, 0, f + 2, f + 3, 0});
  }
  replace_in(store / "setup0/timepoint0/s0/attributes.json", "float64", "string");
  CHECK_THAT(message_of<InputError>([&] { io::open_frames(store); }), Contains("dataType"));
}

TEST_CASE("N5: claims without files are rejected") {
  const TempDir dir;
  const auto store = dir / "a.n5";
  const auto refused = [&] { return message_of<InputError>([&] { io::open_frames(store)->read(0); }); };
  write_n5(store, "[1000, 1000, 1000]", "[1, 1, 1]");  // would look for 10^9 files
  CHECK_THAT(refused(), Contains("4 million blocks"));
  write_n5(store, "[2147483648, 2147483648, 2147483648]", "[2147483648, 2147483648, 2147483648]");
  CHECK_THAT(refused(), Contains("a.n5"));
  write_n5(store, "[3, 2, 1]", "[2, 2, 1]");
  put(store / "setup0/timepoint0/s0/0/0/0", block_bytes({2, 2, 100000}, {1}));
  CHECK_THAT(refused(), Contains("block"));
  put(store / "setup0/timepoint0/s0/0/0/0", block_bytes({2, 2, 1}, {1}));
  CHECK_THAT(refused(), Contains("0/0/0"));
}
