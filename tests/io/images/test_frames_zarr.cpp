#include <bit>

#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>

#include "io/files/half.h"
#include "tests/io/images/frame_errors.h"
#include "tests/io/images/zarr_stores.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// t 3, c 2, z 4, y 5, x 7: each value is its index, with a corner of zeros.
std::vector<std::uint16_t> numbered() {
  std::vector<std::uint16_t> values(3 * 2 * 4 * 5 * 7);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i < 70 ? 0 : i * 3);
  return values;
}

ZarrSpec spec(int version, const std::string& codec, bool shards = false) {
  ZarrSpec made{version, {3, 2, 4, 5, 7}, {1, 1, 2, 3, 4}, {}, codec};
  if (shards) {
    made.inner = made.chunk;
    made.chunk = {1, 2, 4, 6, 8};
  }
  return made;
}

void check_frames(const std::filesystem::path& store, const std::vector<std::uint16_t>& values) {
  for (const int channel : {0, 1}) {
    const auto source = io::open_frames(store, {std::nullopt, std::nullopt, channel, std::nullopt});
    REQUIRE(source->info().frames == 3);
    for (std::int32_t t = 0; t < 3; ++t) {
      const VolumeFrame frame = source->read(t);
      const auto begin = values.begin() + (t * 2 + channel) * 140;
      CHECK(std::get<std::vector<std::uint16_t>>(frame.voxels) ==
            std::vector<std::uint16_t>(begin, begin + 140));
    }
  }
}

}  // namespace

TEST_CASE("OME-Zarr of both versions, every codec, with and without shards") {
  const TempDir dir;
  const auto values = numbered();
  const int version = GENERATE(2, 3);
  const std::string codec = GENERATE("", "blosc", "zstd", "gzip");
  const bool shards = version == 3 && GENERATE(false, true);
  write_ome_zarr(dir / "a.zarr", spec(version, codec, shards), values);
  INFO(version << " " << codec << " " << shards);
  CHECK(io::is_frames(dir / "a.zarr"));
  check_frames(dir / "a.zarr", values);
  const auto source = io::open_frames(dir / "a.zarr");
  CHECK(source->info().axes == "TCZYX");
  CHECK(source->info().shape == Shape3{4, 5, 7});
  CHECK(source->info().voxel_um == Vec3{200 * 1e-3, 100 * 1e-3, 0.25});
  CHECK(source->info().dt_s == 0.5);
  CHECK(source->info().format == (version == 2 ? "OME-Zarr 0.4" : "OME-Zarr 0.5"));
}

TEST_CASE("a plain Zarr array is read if input.axes names its axes, in any order") {
  const TempDir dir;
  const auto values = numbered();
  ZarrSpec plain = spec(3, "zstd");
  write_zarr_array(dir / "a.zarr", plain, values);
  CHECK_THAT(message_of<InputError>([&] { io::open_frames(dir / "a.zarr"); }), Contains("input.axes"));
  CHECK_THAT(message_of<UsageError>([&] {
               io::open_frames(dir / "a.zarr", {{}, {}, {}, "TZYX"});
             }),
             Contains("names 4 axes") && Contains("has 5"));
  const auto straight = io::open_frames(dir / "a.zarr", {{}, {}, 1, "TCZYX"});
  const auto voxels = std::get<std::vector<std::uint16_t>>(straight->read(2).voxels);
  CHECK(voxels[0] == values[(2 * 2 + 1) * 140]);
  // The same bytes with axes x, z, y: t 3, c 2, x 4, z 5, y 7.
  const auto turned = io::open_frames(dir / "a.zarr", {{}, {}, 1, "TCXZY"});
  CHECK(turned->info().shape == Shape3{5, 7, 4});
  const VolumeFrame frame = turned->read(2);
  const auto& turned_voxels = std::get<std::vector<std::uint16_t>>(frame.voxels);
  for (std::size_t z = 0; z < 5; ++z)
    for (std::size_t y = 0; y < 7; ++y)
      for (std::size_t x = 0; x < 4; ++x)
        REQUIRE(turned_voxels[(z * 7 + y) * 4 + x] == values[(2 * 2 + 1) * 140 + (x * 5 + z) * 7 + y]);
}

TEST_CASE("signed and 64-bit Zarr values become floats, in any order of axes") {
  const TempDir dir;
  const auto store = dir / "a.zarr";
  const auto values = numbered();
  write_ome_zarr(store, spec(2, "zstd"), values);
  replace_in(store / "0/.zarray", "<u2", "<i2");
  const auto source = io::open_frames(store, {{}, {}, 1, {}});
  CHECK_THAT(source->info().notes.back(), Contains("i16"));
  const auto voxels = std::get<std::vector<float>>(source->read(2).voxels);
  CHECK(std::equal(voxels.begin(), voxels.end(), values.end() - 140, values.end()));

  // 16-bit floats; a missing chunk has the fill value.
  std::vector<std::uint16_t> halves;
  for (std::size_t i = 0; i < values.size(); ++i)
    halves.push_back(io::detail::Half(double(i % 999) / 4).bits);
  write_ome_zarr(dir / "h.zarr", spec(2, ""), halves);
  replace_in(dir / "h.zarr/0/.zarray", "<u2", "<f2");
  replace_in(dir / "h.zarr/0/.zarray", "\"fill_value\": 0", "\"fill_value\": 2.5");
  std::filesystem::remove(dir / "h.zarr/0/2/1/0/0/0");
  const auto half_source = io::open_frames(dir / "h.zarr", {{}, {}, 1, {}});
  const auto from_halves = std::get<std::vector<float>>(half_source->read(2).voxels);
  CHECK(from_halves[0] == 2.5F);
  CHECK(from_halves[139] == float((values.size() - 1) % 999) / 4);

  // Each double is four values of 16 bits, so x is four times as long until the metadata are rewritten.
  std::vector<std::uint16_t> parts;
  for (const std::uint16_t value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value / 4.0);
    for (int i = 0; i < 4; ++i) parts.push_back(static_cast<std::uint16_t>(bits >> (16 * i)));
  }
  ZarrSpec wide = spec(2, "");
  wide.shape.back() = 28, wide.chunk.back() = 16;
  write_zarr_array(dir / "b.zarr", wide, parts);
  replace_in(dir / "b.zarr/.zarray", "5, 28]", "5, 7]");
  replace_in(dir / "b.zarr/.zarray", "3, 16]", "3, 4]");
  replace_in(dir / "b.zarr/.zarray", "<u2", "<f8");
  const auto straight = io::open_frames(dir / "b.zarr", {{}, {}, 1, "TCZYX"});
  const auto doubles = std::get<std::vector<float>>(straight->read(2).voxels);
  for (std::size_t i = 0; i < 140; ++i) REQUIRE(doubles[i] == float(values[values.size() - 140 + i]) / 4);
  const auto turned = io::open_frames(dir / "b.zarr", {{}, {}, 1, "TCXZY"});
  const auto by_plane = std::get<std::vector<float>>(turned->read(2).voxels);
  for (std::size_t z = 0; z < 5; ++z)
    for (std::size_t y = 0; y < 7; ++y)
      for (std::size_t x = 0; x < 4; ++x)
        REQUIRE(by_plane[(z * 7 + y) * 4 + x] == doubles[(x * 5 + z) * 7 + y]);
}

TEST_CASE("plates, several series, unknown codecs and types are refused by name") {
  const TempDir dir;
  const auto store = dir / "a.zarr";
  const auto refusal = [&] { return message_of<InputError>([&] { io::open_frames(store)->read(0); }); };
  write_ome_zarr(store, spec(2, ""), numbered());
  spill(store / ".zattrs", R"({"plate": {"wells": [{"path": "B/2"}]}})");
  CHECK_THAT(refusal(), Contains("plate") && Contains("a.zarr/B/2/0"));
  spill(store / ".zattrs", "{}");
  CHECK_THAT(refusal(), Contains("no image"));
  spill(store / ".zattrs", multiscales_json("0.4"));
  replace_in(store / "0/.zarray", "\"compressor\": null", R"("compressor": {"id": "bz2"})");
  CHECK_THAT(refusal(), Contains("the codec 'bz2'"));
  replace_in(store / "0/.zarray", R"({"id": "bz2"})", "null");
  replace_in(store / "0/.zarray", "\"filters\": null", R"("filters": [{"id": "delta"}])");
  CHECK_THAT(refusal(), Contains("the filter 'delta'"));
  replace_in(store / "0/.zarray", R"([{"id": "delta"}])", "null");
  replace_in(store / "0/.zarray", "<u2", "<c8");
  CHECK_THAT(refusal(), Contains("<c8"));
  std::filesystem::remove_all(store);
  for (const char* series : {"0", "1"}) write_ome_zarr(store / series, spec(2, ""), numbered());
  spill(store / ".zgroup", R"({"zarr_format": 2})");
  CHECK_THAT(refusal(), Contains("several images") && Contains("a.zarr/0"));
  std::filesystem::remove_all(store / "1");
  CHECK(io::open_frames(store)->info().frames == 3);
}

TEST_CASE("hostile Zarr stores: claims are bounded, no path leaves the store") {
  const TempDir dir;
  const auto store = dir / "a.zarr";
  const auto fresh = [&](const ZarrSpec& s) {
    std::filesystem::remove_all(store);
    write_ome_zarr(store, s, numbered());
  };
  const auto refusal = [&] { return error_of<Error>([&] { io::open_frames(store)->read(1); }); };
  spill(dir / "secret", "0123456789");
  fresh(spec(2, ""));
  replace_in(store / ".zattrs", R"("path": "0")", R"("path": "../a.zarr/0")");
  CHECK_THAT(refusal(), Contains("leaves the store"));
  fresh(spec(2, ""));
  std::filesystem::remove(store / "0/1/0/0/0/0");
  std::filesystem::create_symlink(dir / "secret", store / "0/1/0/0/0/0");
  CHECK_THAT(refusal(), Contains("link that leaves the store"));
  fresh(spec(2, ""));
  replace_in(store / "0/.zarray", "[3, 2, 4, 5, 7]", "[3, 2, 400000000, 500000000, 700000000]");
  CHECK_THAT(refusal(), Contains("impossible"));
  fresh(spec(2, ""));
  replace_in(store / "0/.zarray", "[1, 1, 2, 3, 4]", "[1, 1, 2000000, 3000000, 4000000]");
  CHECK(refusal() != "");
  fresh(spec(2, ""));
  replace_in(store / "0/.zarray", "[1, 1, 2, 3, 4]", "[1, 1, 0, 3, 4]");
  CHECK_THAT(refusal(), Contains("not a size"));
  for (const char* codec : {"", "blosc", "zstd", "gzip"}) {
    fresh(spec(2, codec));
    replace_in(store / "0/.zarray", "[1, 1, 2, 3, 4]", "[1, 1, 2, 3, 5]");
    INFO(codec);
    CHECK(refusal() != "");
  }
  fresh(spec(3, "zstd", true));
  const auto shard = store / "0/c/1/0/0/0/0";
  std::string bytes = slurp(shard);
  bytes[bytes.size() - 256] = '\xFF';  // the first of 16 entries: beyond the end
  bytes[bytes.size() - 255] = '\xFF';
  spill(shard, bytes);
  CHECK(refusal() != "");
  spill(shard, "tiny");
  CHECK_THAT(refusal(), Contains("shorter than a shard's index"));
  fresh(spec(3, ""));
  spill(store / "zarr.json", std::string(1 << 20, '['));
  CHECK(refusal() != "");
}

TEST_CASE("damaged Zarr stores are read or rejected, without crashes") {
  const TempDir dir;
  const auto store = dir / "a.zarr";
  const bool shards = GENERATE(false, true);
  const std::string codec = GENERATE("blosc", "zstd", "gzip");
  write_ome_zarr(store, spec(3, codec, shards), numbered());
  const auto chunk = store / "0/c/1/0/0/0/0";
  const auto read = [&](const auto&) { io::open_frames(store)->read(1); };
  read_damaged_copies(chunk, slurp(chunk), 150, read);
  write_ome_zarr(store, spec(3, codec, shards), numbered());
  const auto metadata = store / "0/zarr.json";
  read_damaged_copies(metadata, slurp(metadata), 150, read);
}

TEST_CASE("the same image as OME-Zarr and as ImageJ TIFF has the same voxels") {
  MOTES_NEED_DATA(formats, "formats/bdv");
  for (const int channel : {0, 1}) {
    const io::FrameOptions options{std::nullopt, std::nullopt, channel, std::nullopt};
    const auto zarr = io::open_frames(formats / "mitosis_small.ome.zarr", options);
    const auto tiff = io::open_frames(formats / "mitosis-small.tif", options);
    REQUIRE(zarr->info().shape == tiff->info().shape);
    for (std::int32_t t = 0; t < 2; ++t) CHECK(zarr->read(t).voxels == tiff->read(t).voxels);
    const auto xml = io::open_frames(formats / "mitosis_small_omezarr.xml", options);
    REQUIRE(xml->info().voxel_um);
    CHECK(xml->info().voxel_um->x == Approx(0.0885));
    CHECK(xml->info().voxel_um_source == "metadata (BigDataViewer XML)");
    CHECK(xml->read(1).voxels == tiff->read(1).voxels);
  }
}
