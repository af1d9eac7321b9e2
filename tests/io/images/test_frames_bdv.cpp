#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>

#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>

#include "io/hdf5/h5.h"
#include "tests/io/images/frame_errors.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::open_frames;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Correlation of two frames' voxels.
double correlation(const VolumeFrame& a, const VolumeFrame& b) {
  const auto& x = std::get<std::vector<std::uint16_t>>(a.voxels);
  const auto& y = std::get<std::vector<std::uint16_t>>(b.voxels);
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

}  // namespace

TEST_CASE("BigDataViewer float volumes, by .h5 or .xml", "[frames][bdv][data]") {
  MOTES_NEED_DATA(h5, "tgmm-mini/tgmm_mini_27_31.h5");
  MOTES_NEED_DATA(xml, "tgmm-mini/tgmm_mini_27_31.xml");
  for (const auto& path : {h5, xml}) {
    REQUIRE(io::is_frames(path));
    const auto source = open_frames(path);
    const io::SeriesInfo& info = source->info();
    CHECK(info.frames == 5);
    CHECK(info.shape == Shape3{29, 40, 70});
    CHECK(info.type == io::VoxelType::f32);
    CHECK(info.axes == "TZYX");
    CHECK_FALSE(info.voxel_um);
    CHECK_THAT(info.notes.front(), Contains("'pixel'") && Contains("input.voxel_um"));
    double sum = 0;
    for (int t = 0; t < 5; ++t) {
      const VolumeFrame frame = source->read(t);
      const auto& voxels = std::get<std::vector<float>>(frame.voxels);
      sum = std::accumulate(voxels.begin(), voxels.end(), sum);
    }
    CHECK(sum == 142331851.0);
  }
}

TEST_CASE("Signed 16-bit BigDataViewer voxels are unsigned, setups are channels", "[frames][bdv][data]") {
  MOTES_NEED_DATA(h5, "formats/bdv/mitosis_small_hdf5.h5");
  MOTES_NEED_DATA(tif, "formats/bdv/mitosis-small.tif");
  // The TIFF is the same series, lightly filtered: it correlates best with its own time point and channel.
  std::vector<VolumeFrame> from_h5, from_tif;
  for (int c = 0; c < 2; ++c) {
    io::FrameOptions options;
    options.channel = c;
    const auto a = open_frames(h5, options), b = open_frames(tif, options);
    CHECK(a->info().channels == 2);
    CHECK(a->info().shape == b->info().shape);
    REQUIRE(a->info().voxel_um);
    REQUIRE(b->info().voxel_um);
    CHECK(a->info().voxel_um->x == Approx(b->info().voxel_um->x));
    CHECK(a->info().voxel_um->z == Approx(b->info().voxel_um->z));
    for (int t = 0; t < 2; ++t) {
      from_h5.push_back(a->read(t));
      from_tif.push_back(b->read(t));
    }
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      CAPTURE(i, j);
      if (i == j) CHECK(correlation(from_h5[i], from_tif[j]) > 0.95);
      if (i != j) CHECK(correlation(from_h5[i], from_tif[j]) < correlation(from_h5[i], from_tif[i]));
    }
}

TEST_CASE("Wide and 64-bit float BigDataViewer voxels become floats", "[frames][bdv]") {
  const TempDir dir;
  const float voxels[] = {-1, 0, 70000, 2.5F, 3, 4};
  const auto write = [&](hid_t type) {
    using io::detail::h5::Handle;
    const hsize_t shape[] = {1, 2, 3};
    const Handle file(H5Fcreate((dir / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const Handle list(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(list.id(), 1);
    const Handle space(H5Screate_simple(3, shape, nullptr), H5Sclose);
    const Handle made(
        H5Dcreate2(file.id(), "t00000/s00/0/cells", type, space.id(), list.id(), H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    REQUIRE(H5Dwrite(made.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, voxels) >= 0);
  };
  const auto read = [&] { return std::get<std::vector<float>>(open_frames(dir / "a.h5")->read(0).voxels); };
  write(H5T_IEEE_F64LE);
  CHECK(read() == std::vector<float>(voxels, voxels + 6));
  for (const hid_t type : {H5T_STD_I32LE, H5T_STD_I64BE}) {
    write(type);
    CHECK(read() == std::vector<float>{-1, 0, 70000, 2, 3, 4});
    CHECK_THAT(open_frames(dir / "a.h5")->info().notes.back(), Contains("32-bit floats"));
  }
}

TEST_CASE("BigDataViewer's XML decides scale and time points", "[frames][bdv][data]") {
  MOTES_NEED_DATA(h5, "tgmm-mini/tgmm_mini_27_31.h5");
  MOTES_NEED_DATA(xml, "tgmm-mini/tgmm_mini_27_31.xml");
  const TempDir dir;
  spill(dir / "tgmm_mini_27_31.h5", slurp(h5));
  const std::string text = slurp(xml);
  const auto open_with = [&](const std::string& changed) {
    spill(dir / "a.xml", changed);
    return open_frames(dir / "a.xml")->info();
  };
  for (const auto& [unit, factor] :
       {std::pair{"um", 1.0}, {"micron", 1.0}, {"\xC2\xB5m", 1.0}, {"nm", 1e-3}, {"mm", 1e3}, {"m", 1e6}}) {
    const auto info = open_with(replaced(text, "<unit>pixel", std::string("<unit>") + unit));
    REQUIRE(info.voxel_um);
    CHECK(info.voxel_um->z == Approx(5 * factor));
  }
  CHECK(open_with(replaced(text, "<last>4", "<last>2")).frames == 3);
  CHECK(open_with(replaced(text, "<first>0", "<first>2")).frames == 3);
  CHECK_THAT(message_of<InputError>([&] { open_with(replaced(text, "<last>4", "<last>6")); }),
             Contains("time point 5"));
  CHECK_THROWS_AS(open_with(replaced(text, "<last>4", "<last>x")), InputError);
  CHECK_THROWS_AS(open_with(replaced(text, "<last>4", "<last>99999999999")), InputError);
  const std::string range = "<first>0</first>\n      <last>4</last>";
  REQUIRE(text.find(range) != std::string::npos);
  CHECK(open_with(replaced(text, range, "<integerpattern>0-3:2, 4</integerpattern>")).frames == 3);
  CHECK_THROWS_AS(open_with(replaced(text, range, "<integerpattern>0-x</integerpattern>")), InputError);
  CHECK_THAT(message_of<InputError>([&] { open_with(text.substr(0, text.size() - 20)); }), Contains("byte"));
  CHECK_THAT(message_of<InputError>(
                 [&] { open_with(replaced(replaced(text, "<hdf5", "<zarr"), "</hdf5", "</zarr")); }),
             Contains("bdv.hdf5"));
  CHECK_THAT(message_of<InputError>([&] { open_with(replaced(text, "tgmm_mini_27_31.h5", "a.xml")); }),
             Contains("not an HDF5"));
  CHECK_THAT(message_of<InputError>([&] { open_with(replaced(text, "tgmm_mini_27_31.h5", "gone.h5")); }),
             Contains("gone.h5"));

  // Without an XML beside it; the last time point is renamed, so that two are missing in the middle.
  spill(dir / "b.h5", slurp(h5));
  CHECK(open_frames(dir / "b.h5")->info().frames == 5);
  spill(dir / "b.h5", replaced(slurp(h5), std::string("t00004\0", 7), std::string("t00006\0", 7)));
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "b.h5"); }),
             Contains("t00004") && Contains("missing"));
  io::FrameOptions options;
  options.axes = "TZYX";
  CHECK_THAT(message_of<UsageError>([&] { open_frames(h5, options); }), Contains("input.axes"));
}

TEST_CASE("other HDF5 files are not frames", "[frames][bdv][data]") {
  MOTES_NEED_DATA(other, "formats/misc/btrack_tracks.h5");
  CHECK_FALSE(io::is_frames(other));
  CHECK_THROWS_AS(open_frames(other), InputError);
}

TEST_CASE("A truncated HDF5 file is an InputError", "[frames][bdv][data]") {
  MOTES_NEED_DATA(h5, "tgmm-mini/tgmm_mini_27_31.h5");
  const TempDir dir;
  const std::string bytes = slurp(h5);
  for (std::size_t i = 0; i < 60; ++i) {
    spill(dir / "a.h5", bytes.substr(0, bytes.size() * i / 60));
    CHECK_THROWS_AS(open_frames(dir / "a.h5"), InputError);
    CHECK_FALSE(io::is_frames(dir / "a.h5"));
  }
}
