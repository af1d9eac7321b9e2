#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>
#include <zlib.h>

#include <motes/io/png.h>
#include <motes/io/preview.h>

#include "io/pictures/raster.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using io::Projection;

namespace {

struct Size {
  std::uint32_t width = 0, height = 0;
};

/// From the PNG's header chunk.
Size png_size(const std::filesystem::path& path) {
  const std::string bytes = slurp(path);
  REQUIRE(bytes.size() > 24);
  REQUIRE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  return {number(16), number(20)};
}

/// The pixels of a PNG file with three channels of 8 bits and the first three filters.
std::vector<std::uint8_t> png_pixels(const std::filesystem::path& path) {
  const Size size = png_size(path);
  const std::string bytes = slurp(path);
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  const auto number = [&](std::size_t at) {
    return std::size_t{data[at]} << 24 | std::size_t{data[at + 1]} << 16 | std::size_t{data[at + 2]} << 8 |
           data[at + 3];
  };
  std::string deflated;
  for (std::size_t at = 8; at < bytes.size(); at += 12 + number(at)) {
    REQUIRE(number(at + 8 + number(at)) == crc32_z(0, data + at + 4, number(at) + 4));
    if (bytes.substr(at + 4, 4) == "IDAT") deflated += bytes.substr(at + 8, number(at));
  }
  const std::size_t row = std::size_t{size.width} * 3;
  std::vector<std::uint8_t> rows((row + 1) * size.height), out;
  uLongf length = rows.size();
  REQUIRE(uncompress(rows.data(), &length, reinterpret_cast<const Bytef*>(deflated.data()),
                     deflated.size()) == Z_OK);
  REQUIRE(length == rows.size());
  for (std::size_t y = 0; y < size.height; ++y)
    for (std::size_t k = 0; k < row; ++k) {
      const int filter = rows[y * (row + 1)], above = y > 0 ? out[out.size() - row] : 0,
                before = k >= 3 ? out[out.size() - 3] : 0;
      out.push_back(static_cast<std::uint8_t>(rows[y * (row + 1) + 1 + k] + (filter == 2   ? above
                                                                             : filter == 1 ? before
                                                                                           : 0)));
    }
  return out;
}

template <class T>
VolumeFrame frame_of(Shape3 shape, Vec3 voxel_um, std::vector<T> voxels) {
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = voxel_um;
  frame.voxels = std::move(voxels);
  return frame;
}

/// Tracks of 50 points anywhere in a cube with sides of `side`.
TrackSet wandering(int tracks, double side) {
  std::mt19937 rng(2);
  std::uniform_real_distribution<double> anywhere(0, side);
  std::vector<std::int32_t> frames(50);
  std::iota(frames.begin(), frames.end(), 0);
  TrackSet all;
  for (int t = 0; t < tracks; ++t) add_track(all, t, frames);
  for (auto* column : {&all.x_um, &all.y_um, &all.z_um})
    for (double& x : *column) x = anywhere(rng);
  return all;
}

VolumeFrame ramp(Shape3 shape, Vec3 voxel_um) {
  std::vector<std::uint16_t> voxels(static_cast<std::size_t>(shape.voxels()));
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<std::uint16_t>(i * 37 % 5000);
  return frame_of(shape, voxel_um, std::move(voxels));
}

Projection projected(Shape3 shape, Vec3 voxel_um) {
  Projection projection;
  projection.add(ramp(shape, voxel_um));
  return projection;
}

}  // namespace

TEST_CASE("projections keep the brightest voxel along z and along y, over all frames") {
  Projection projection;
  CHECK(projection.empty());
  projection.add(frame_of<float>({2, 2, 3}, {1, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 0, 9, std::nanf(""), 11, 0}));
  CHECK(projection.xy() == std::vector<float>{7, 2, 9, 4, 11, 6});
  CHECK(projection.xz() == std::vector<float>{4, 5, 6, 7, 11, 9});
  projection.add(frame_of<float>({2, 2, 3}, {1, 1, 2}, std::vector<float>(12, 5)));
  CHECK(projection.xy() == std::vector<float>{7, 5, 9, 5, 11, 6});
  CHECK_THROWS_AS(projection.add(ramp({2, 3, 2}, {1, 1, 1})), InputError);
}

TEST_CASE("lines cover the right pixels, and none outside their clip rectangle") {
  io::detail::Raster picture(20, 10);
  picture.line(2, 5, 18, 5, 2, {255, 255, 255}, {0, 0, 10, 10});
  CHECK(picture.pixel(5, 4)[0] == 255);
  CHECK(picture.pixel(5, 5)[0] == 255);
  CHECK(picture.pixel(5, 2)[0] == 0);
  CHECK(picture.pixel(10, 5)[0] == 0);
  CHECK(picture.pixel(0, 5)[0] == 0);
  picture.line(-1e12, -1e12, 1e12, 1e12, 1.5, {255, 0, 0}, {0, 0, 20, 10});
  CHECK(picture.pixel(3, 3)[0] > 200);
  io::detail::Raster steep(10, 20);
  steep.line(5, -50, 5, 50, 1.5, {255, 255, 255}, {0, 0, 10, 20});
  CHECK(steep.pixel(4, 10)[0] == 191);  // 0.75 * 255
  CHECK(steep.pixel(5, 19)[0] == 191);
}

TEST_CASE("previews are to scale, and wide enough to look at") {
  const TempDir dir;
  const auto size_of = [&](const TrackSet& tracks, const Projection& projection) {
    io::write_preview_png(dir / "p.png", tracks, projection);
    return png_size(dir / "p.png");
  };
  const Size small = size_of({}, projected({29, 40, 70}, {1, 1, 5}));
  CHECK(small.width == 630);
  CHECK(small.height == 360 + 6 + 29 * 5 * 9);
  const Size native = size_of(sample_tracks(), projected({10, 300, 700}, {0.1, 0.1, 0.3}));
  CHECK(native.width == 700);
  CHECK(native.height == 300 + 6 + 30);
  const Size large = size_of(sample_tracks(), projected({2, 1500, 3000}, {1, 1, 1}));
  CHECK(large.width == 1024);
  CHECK(large.height == 512 + 6 + 8);
  const Size flat = size_of({}, projected({1, 300, 700}, {1, 1, 1}));
  CHECK(flat.height == 300);
  const Size tall = size_of({}, projected({1, 20000, 2}, {1, 1, 1}));
  CHECK(tall.height <= 2048);
  CHECK(size_of(sample_tracks(), {}).width <= 1024);
  CHECK(size_of({}, {}).width > 0);
}

TEST_CASE("a PNG file has the pixels of its picture, however it is compressed") {
  const TempDir dir;
  for (const auto contents : {io::PictureOf::images, io::PictureOf::lines}) {
    io::RgbImage picture{301, 997, std::vector<std::uint8_t>(301 * 997 * 3)};
    std::mt19937 rng(1);
    for (std::size_t k = 0; k < picture.bytes.size(); ++k)
      picture.bytes[k] = static_cast<std::uint8_t>(k % 5 == 0 ? rng() : 9);
    io::write_png(dir / "p.png", picture, contents);
    CHECK(png_pixels(dir / "p.png") == picture.bytes);
  }
}

TEST_CASE("lines of tracks cover at most half of a preview") {
  const TempDir dir;
  CHECK(io::preview_track_step(wandering(3, 100), {}) == 1);
  const TrackSet many = wandering(500, 100);
  CHECK(io::preview_track_step(many, {}) > 10);
  io::write_preview_png(dir / "p.png", many, {});
  const std::vector<std::uint8_t> pixels = png_pixels(dir / "p.png");
  std::size_t lit = 0;
  for (std::size_t k = 0; k < pixels.size(); k += 3)
    lit += std::max({pixels[k], pixels[k + 1], pixels[k + 2]}) > 64 ? 1 : 0;
  const double share = 3.0 * static_cast<double>(lit) / static_cast<double>(pixels.size());
  CHECK(share > 0.25);
  CHECK(share < 0.6);
  // Over an image, where the same paths are short, all are drawn.
  CHECK(io::preview_track_step(wandering(500, 1), projected({5, 600, 600}, {1, 1, 1})) == 1);
  CHECK(io::preview_track_step(sample_tracks(), {}) == 1);
  CHECK(io::preview_track_step({}, {}) == 1);
}

TEST_CASE("previews show all particles that move by less than a pixel, however long") {
  TrackSet tracks;
  std::vector<std::int32_t> frames(100'000);
  std::iota(frames.begin(), frames.end(), 0);
  for (int t = 0; t < 4; ++t) add_track(tracks, t, frames);
  const TrackSet steps = wandering(8000, 1e-4);
  for (auto column : {&TrackSet::x_um, &TrackSet::y_um, &TrackSet::z_um})
    for (std::size_t i = 0; i < tracks.points(); ++i)
      (tracks.*column)[i] = static_cast<double>(i / frames.size()) + (steps.*column)[i];
  CHECK(io::preview_track_step(tracks, {}) == 1);
}

TEST_CASE("previews of degenerate tracks are still pictures") {
  const TempDir dir;
  TrackSet one;
  add_track(one, 3, {0});
  io::write_preview_png(dir / "one.png", one, {});
  CHECK(png_size(dir / "one.png").width > 0);
  TrackSet wild = sample_tracks();
  wild.x_um[0] = 1e300;
  wild.y_um[1] = -1e300;
  wild.z_um[2] = std::nan("");
  io::write_preview_png(dir / "wild.png", wild, {});
  io::write_preview_png(dir / "wild2.png", wild, projected({4, 40, 50}, {1, 1, 1}));
  CHECK(png_size(dir / "wild2.png").width > 0);
  Projection constant;
  constant.add(frame_of<float>({2, 2, 2}, {1, 1, 1}, std::vector<float>(8, std::nanf(""))));
  io::write_preview_png(dir / "nan.png", {}, constant);
}

TEST_CASE("previews have reproducible bytes, and appear whole or not at all") {
  const TempDir dir;
  const Projection projection = projected({5, 60, 90}, {1, 1, 2});
  io::write_preview_png(dir / "a.png", sample_tracks(), projection);
  io::write_preview_png(dir / "b.png", sample_tracks(), projection);
  CHECK(slurp(dir / "a.png") == slurp(dir / "b.png"));
  CHECK_THROWS_AS(io::write_preview_png(dir / "a.png/c.png", sample_tracks(), projection), ResourceError);
  CHECK(files_in(dir.path()) == 2);
}
