#include <catch2/catch.hpp>

#include <motes/io/track_files.h>
#include <motes/io/vtk_tracks.h>

#include "io/hdf5/h5.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

using Numbers = std::vector<std::int64_t>;

/// A file as another program may write it: two steps; the first in two parts, of 1 and 2 points.
class ForeignFile {
 public:
  explicit ForeignFile(const std::filesystem::path& path) : file_(path, path.string()) {
    for (const char* group : {"/VTKHDF", "/VTKHDF/Steps", "/VTKHDF/PointData"}) file_.group(group);
  }
  ForeignFile& with(const std::string& name, const Numbers& values) {
    file_.dataset("/VTKHDF/" + name, values);
    return *this;
  }
  ForeignFile& places(const std::vector<double>& values, std::size_t width = 3) {
    file_.table("/VTKHDF/Points", values, width);
    file_.table("/VTKHDF/PointData/velocity", std::vector<double>(values.size(), 1), width);
    return *this;
  }
  ForeignFile& times(const std::vector<double>& values) {
    file_.dataset("/VTKHDF/Steps/Values", values);
    return *this;
  }
  ForeignFile& steps(const Numbers& parts = {2, 1}, const Numbers& first = {0, 2},
                     const Numbers& points = {1, 2, 1}, const Numbers& begins = {0, 3}) {
    return with("Steps/NumberOfParts", parts)
        .with("Steps/PartOffsets", first)
        .with("NumberOfPoints", points)
        .with("Steps/PointOffsets", begins);
  }
  void close() { file_.close(); }

 private:
  io::detail::h5::Writer file_;
};

const std::vector<double> kPlaces{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

}  // namespace

TEST_CASE("tracks.vtkhdf keeps tracks to the bit") {
  const TempDir dir;
  TrackSet tracks = sample_tracks(GENERATE(std::optional<double>(0.1), std::optional<double>()));
  tracks.length_unit = GENERATE("um", "px");
  tracks.point_properties.push_back({"\xC2\xB5/<&> 'a'", std::vector<double>(tracks.points(), 1)});
  if (tracks.length_unit == "px") tracks.parent.clear(), tracks.merged_into.clear();
  io::write_tracks(dir / "t.vtkhdf", tracks);
  require_same_tracks(tracks, io::read_tracks(dir / "t.vtkhdf"));
  io::write_tracks(dir / "again.vtkhdf", tracks);
  CHECK(slurp(dir / "again.vtkhdf") == slurp(dir / "t.vtkhdf"));
}

TEST_CASE("tracks.vtkhdf arranges its steps as the format demands") {
  const TempDir dir;
  TrackSet tracks;
  add_track(tracks, 7, {0, 2});
  add_track(tracks, 9, {2, 3});
  io::write_tracks_vtkhdf(dir / "t.vtkhdf", tracks);
  CHECK(io::is_vtkhdf(dir / "t.vtkhdf"));
  const io::detail::h5::Reader file(dir / "t.vtkhdf");
  CHECK(file.int64s("/VTKHDF/NumberOfPoints") == Numbers{1, 2, 1});
  CHECK(file.int64s("/VTKHDF/Vertices/Connectivity") == Numbers{0, 0, 1, 0});
  CHECK(file.int64s("/VTKHDF/Vertices/Offsets") == Numbers{0, 1, 0, 1, 2, 0, 1});
  CHECK(file.int64s("/VTKHDF/Lines/Offsets") == Numbers{0, 0, 0});
  CHECK(file.int64s("/VTKHDF/PointData/track_id") == Numbers{7, 7, 9, 9});
  CHECK(file.int32s("/VTKHDF/PointData/frame") == std::vector<std::int32_t>{0, 2, 2, 3});
  CHECK(file.int64s("/VTKHDF/Steps/PointOffsets") == Numbers{0, 1, 3});
  CHECK(file.table("/VTKHDF/Steps/CellOffsets", 4) ==
        std::vector<double>{0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0});
}

TEST_CASE("tracks.vtkhdf of no tracks") {
  const TempDir dir;
  io::write_tracks_vtkhdf(dir / "none.vtkhdf", {});
  CHECK(io::read_tracks_vtkhdf(dir / "none.vtkhdf").tracks() == 0);
}

TEST_CASE("long columns of tracks.vtkhdf are encoded by all threads and read back") {
  const TempDir dir;
  TrackSet tracks;
  std::vector<std::int32_t> frames(100000);
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = static_cast<std::int32_t>(i);
  for (const std::int64_t id : {3, 1, 2}) add_track(tracks, id, frames);
  io::write_tracks_vtkhdf(dir / "long.vtkhdf", tracks);
  require_same_tracks(tracks, io::read_tracks_vtkhdf(dir / "long.vtkhdf"));
}

TEST_CASE("foreign temporal VTKHDF with several parts is read") {
  const TempDir dir;
  ForeignFile(dir / "f.vtkhdf")
      .times({.5, 1})
      .steps()
      .places(kPlaces)
      .with("PointData/track_id", {4, 5, 6, 5})
      .with("PointData/frame", {0, 0, 0, 1})
      .with("PointData/mass", {1, 2, 3, 4})
      .close();
  const TrackSet tracks = io::read_tracks(dir / "f.vtkhdf");
  CHECK(tracks.track_id == Numbers{4, 5, 6});
  CHECK(tracks.track_offsets == Numbers{0, 1, 3, 4});
  CHECK(tracks.x_um == std::vector<double>{1, 4, 10, 7});
  CHECK(tracks.time_s == std::vector<double>{.5, .5, 1, .5});
  CHECK(tracks.length_unit == "px");
  REQUIRE(tracks.point_properties.size() == 1);
  CHECK(tracks.point_properties[0].values == std::vector<double>{1, 2, 4, 3});
}

TEST_CASE("VTKHDF without tracks, or with invalid ones, is rejected") {
  const TempDir dir;
  const auto path = dir / "bad.vtkhdf";
  const auto refusal = [&](const auto& fill) {
    ForeignFile file(path);
    fill(file);
    file.close();
    return error_of<InputError>([&] { io::read_tracks(path); });
  };
  const auto fields = [](ForeignFile& file, const Numbers& frames = {0, 0, 0, 1}) -> ForeignFile& {
    return file.with("PointData/track_id", {4, 5, 6, 5}).with("PointData/frame", frames);
  };
  CHECK_THAT(refusal([](ForeignFile&) {}), Contains("there is no PointData/track_id"));
  CHECK_THAT(refusal([&](ForeignFile& f) {
               fields(f).times({1, 2}).steps({2, 2}).places(kPlaces);
             }),
             Contains("step 1 names parts that do not exist"));
  CHECK_THAT(refusal([&](ForeignFile& f) {
               fields(f).times({1, 2}).steps({2, 1}, {0, 2}, {1, 2, 2}).places(kPlaces);
             }),
             Contains("step 1 needs more of track_id"));
  CHECK_THAT(refusal([&](ForeignFile& f) {
               fields(f).times({1, 2}).steps({2, 1}, {0, 2}, {1, -2, 2}).places(kPlaces);
             }),
             Contains("NumberOfPoints is -2"));
  CHECK_THAT(refusal([&](ForeignFile& f) { fields(f).times({1}).steps().places(kPlaces); }),
             Contains("do not match"));
  CHECK_THAT(refusal([&](ForeignFile& f) {
               fields(f).times({1, 2}).steps().places(kPlaces, 2);
             }),
             Contains("Points must have 3 columns"));
  CHECK_THAT(refusal([&](ForeignFile& f) {
               fields(f, {0, 0, 0, -1}).times({1, 2}).steps().places(kPlaces);
             }),
             Contains("frame is -1"));
  CHECK_THAT(refusal([&](ForeignFile& f) {
               fields(f, {0, 0, 1, 0}).times({1, 2}).steps().places(kPlaces);
             }),
             Contains("second point in frame 0"));
}
