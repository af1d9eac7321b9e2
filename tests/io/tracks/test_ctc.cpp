#include <cmath>

#include <catch2/catch.hpp>

#include <motes/io/ctc.h>
#include <motes/io/track_files.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

void add_path(TrackSet& tracks, std::int64_t id, std::int64_t parent, const std::vector<std::int32_t>& frames,
              Vec3 start) {
  for (const std::int32_t frame : frames) {
    tracks.frame.push_back(frame);
    tracks.detection.push_back(-1);
    tracks.time_s.push_back(frame);
    tracks.x_um.push_back(start.x + frame);
    tracks.y_um.push_back(start.y);
    tracks.z_um.push_back(start.z);
  }
  tracks.track_id.push_back(id);
  tracks.parent.push_back(parent);
  tracks.track_offsets.push_back(static_cast<std::int64_t>(tracks.points()));
}

/// In px: a mother with two daughters, a track with a gap, and two touching spheres.
TrackSet family() {
  TrackSet tracks;
  tracks.length_unit = "px";
  add_path(tracks, 40, -1, {0, 1}, {4, 5, 3});
  add_path(tracks, 41, 40, {2, 3}, {4, 5, 3});
  add_path(tracks, 42, 40, {2, 3}, {4, 9, 3});
  add_path(tracks, 7, -1, {0, 1, 3}, {20, 5, 3});
  return tracks;
}

io::TrackImage image(double radius) {
  io::TrackImage made;
  made.shape = Shape3{8, 15, 30};
  made.radius_um = radius;
  made.frames = 5;
  return made;
}

}  // namespace

TEST_CASE("Cell Tracking Challenge: spheres as masks and res_track.txt, and back by centroids") {
  const TempDir dir;
  io::write_ctc(dir / "t.ctc", family(), image(1.5));
  CHECK(slurp(dir / "t.ctc/res_track.txt") == "1 0 1 0\n2 2 3 1\n3 2 3 1\n4 0 1 0\n5 3 3 4\n");
  CHECK(files_in(dir / "t.ctc") == 6);
  CHECK(std::filesystem::exists(dir / "t.ctc/mask004.tif"));
  const TrackSet back = io::read_tracks(dir / "t.ctc");
  CHECK(back.length_unit == "px");
  CHECK(back.track_id == std::vector<std::int64_t>{1, 4, 2, 3, 5});
  CHECK(back.parent == std::vector<std::int64_t>{-1, -1, 1, 1, 4});
  CHECK(back.points() == family().points());
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(back.x_um[i] == Approx(4.0 + static_cast<double>(i)));
    CHECK(back.y_um[i] == Approx(5));
    CHECK(back.z_um[i] == Approx(3));
  }
}

TEST_CASE("CTC: objects of label images keep their voxels and get their track's number") {
  const TrackSet tracks = family();
  io::TrackImage images = image(1.5);
  // Each point's object is a bar along y through it, with number 100 + its track's id; other objects have no
  // point.
  const auto bars = [&](std::int32_t t) {
    VolumeFrame frame;
    frame.shape = *images.shape;
    frame.voxel_um = {1, 1, 1};
    std::vector<std::uint16_t> voxels(static_cast<std::size_t>(frame.shape.voxels()), 0);
    const auto bar = [&](std::int64_t z, std::int64_t y, std::int64_t x, std::uint16_t number) {
      for (std::int64_t j = y - 1; j <= y + 2; ++j)
        voxels[static_cast<std::size_t>((z * frame.shape.ny + j) * frame.shape.nx + x)] = number;
    };
    bar(6, 2, 1, 9);
    for (std::size_t k = 0; k < tracks.tracks(); ++k)
      for (auto i = static_cast<std::size_t>(tracks.track_offsets[k]);
           i < static_cast<std::size_t>(tracks.track_offsets[k + 1]); ++i)
        if (tracks.frame[i] == t)
          bar(3, std::llround(tracks.y_um[i]), std::llround(tracks.x_um[i]),
              static_cast<std::uint16_t>(100 + tracks.track_id[k]));
    frame.voxels = std::move(voxels);
    return frame;
  };
  images.labels = bars;
  const TempDir dir;
  io::write_ctc(dir / "t.ctc", tracks, images);
  CHECK(slurp(dir / "t.ctc/res_track.txt") == "1 0 1 0\n2 2 3 1\n3 2 3 1\n4 0 1 0\n5 3 3 4\n");
  const TrackSet back = io::read_tracks(dir / "t.ctc");
  REQUIRE(back.points() == tracks.points());
  CHECK(back.y_um[0] == Approx(5.5));  // the bar's centre, not the point
  CHECK(back.x_um[0] == Approx(4));

  SECTION("the property label names the object, wherever the point is") {
    TrackSet named = tracks;
    named.point_properties.push_back({"label", {}});
    for (std::size_t k = 0; k < named.tracks(); ++k)
      for (auto i = named.track_offsets[k]; i < named.track_offsets[k + 1]; ++i) {
        named.point_properties[0].values.push_back(static_cast<double>(100 + named.track_id[k]));
        named.z_um[static_cast<std::size_t>(i)] = 0;  // outside its bar
      }
    io::write_ctc(dir / "named.ctc", named, images);
    CHECK(io::read_tracks(dir / "named.ctc").y_um == back.y_um);
    named.point_properties[0].values[1] = 77;
    CHECK_THROWS_WITH(io::write_ctc(dir / "no.ctc", named, images),
                      Contains("frame 1: 1 objects of the tracks"));
    named.point_properties[0].values[0] = 107;
    CHECK_THROWS_WITH(io::write_ctc(dir / "no.ctc", named, images),
                      Contains("frame 0: the point at ") && Contains("of track 7 has no object of its own"));
  }
  SECTION("points on the background, and missing frames") {
    TrackSet off = tracks;
    off.z_um[0] = 0;
    CHECK_THROWS_WITH(io::write_ctc(dir / "no.ctc", off, images), Contains("of track 40 has no object"));
    images.frames = 2;
    CHECK_THROWS_WITH(io::write_ctc(dir / "no.ctc", tracks, images), Contains("labels have 2 frames"));
    CHECK(!std::filesystem::exists(dir / "no.ctc"));
  }
}

TEST_CASE("CTC: a mother that ends no earlier than her daughter begins is left out") {
  TrackSet tracks;
  tracks.length_unit = "px";
  add_path(tracks, 1, -1, {0, 1, 2}, {4, 5, 3});
  add_path(tracks, 2, 1, {2, 3}, {4, 10, 3});
  const TempDir dir;
  io::write_ctc(dir / "t.ctc", tracks, image(1.5));
  CHECK(slurp(dir / "t.ctc/res_track.txt") == "1 0 2 0\n2 2 3 0\n");
}

TEST_CASE("CTC: a detection at the border, up to a voxel outside, is drawn at the border") {
  const TempDir dir;
  for (const Vec3 start : {Vec3{-1.4, 5, 3}, Vec3{4, 15.4, 3}, Vec3{4, 5, -1.4}, Vec3{4, 5, 8.4}}) {
    TrackSet tracks;
    tracks.length_unit = "px";
    add_path(tracks, 1, -1, {0}, start);
    io::write_ctc(dir / "t.ctc", tracks, image(1));
    const TrackSet back = io::read_ctc(dir / "t.ctc");
    REQUIRE(back.points() == 1);
    CHECK(std::abs(back.x_um[0] - start.x) + std::abs(back.y_um[0] - start.y) +
              std::abs(back.z_um[0] - start.z) ==
          Approx(1.4));
  }
  for (const Vec3 start : {Vec3{-1.6, 5, 3}, Vec3{4, 15.6, 3}}) {
    TrackSet tracks;
    tracks.length_unit = "px";
    add_path(tracks, 1, -1, {0}, start);
    CHECK_THAT(error_of<UsageError>([&] { io::write_ctc(dir / "u.ctc", tracks, image(1)); }),
               Contains("outside images"));
  }
}

TEST_CASE("CTC masks in um: the voxel size is needed, and points must be inside") {
  const TempDir dir;
  TrackSet tracks = family();
  tracks.length_unit = "um";
  CHECK_THAT(error_of<UsageError>([&] { io::write_ctc(dir / "t.ctc", tracks, image(1)); }),
             Contains("input.voxel_um"));
  io::TrackImage scaled = image(1);
  scaled.voxel_um = Vec3{1, 0.5, 1};
  CHECK_THAT(error_of<UsageError>([&] { io::write_ctc(dir / "t.ctc", tracks, scaled); }),
             Contains("outside images"));
  scaled.shape = Shape3{8, 30, 30};
  io::write_ctc(dir / "t.ctc", tracks, scaled);
  CHECK(io::read_ctc(dir / "t.ctc").y_um[0] == Approx(10));
  io::TrackImage unknown = image(1);
  unknown.radius_um.reset();
  CHECK_THAT(error_of<UsageError>([&] { io::write_ctc(dir / "u.ctc", family(), unknown); }),
             Contains("detection.radius_um"));
  tracks = family();
  tracks.point_properties = {{"radius_px", std::vector<double>(tracks.points(), 2.0)}};
  io::write_ctc(dir / "u.ctc", tracks, unknown);
  CHECK(files_in(dir.path()) == 2);
}

TEST_CASE("CTC spheres of neighbours divide the voxels between them; each keeps its own centre") {
  const TempDir dir;
  TrackSet tracks;
  tracks.length_unit = "px";
  add_path(tracks, 1, -1, {0}, {10, 7, 4});
  add_path(tracks, 2, -1, {0}, {12, 7, 4});
  io::write_ctc(dir / "t.ctc", tracks, image(4));
  const TrackSet back = io::read_ctc(dir / "t.ctc");
  REQUIRE(back.tracks() == 2);
  CHECK(back.x_um[0] < 10);
  CHECK(back.x_um[1] > 12);
  CHECK(22 - back.x_um[0] == Approx(back.x_um[1]).margin(0.6));
}

TEST_CASE("damaged CTC folders are refused") {
  const TempDir dir;
  const auto fresh = [&] {
    io::write_ctc(dir / "t.ctc", family(), image(1.5));
    return dir / "t.ctc";
  };
  const auto refusal = [&] { return error_of<InputError>([&] { io::read_ctc(dir / "t.ctc"); }); };
  spill(fresh() / "res_track.txt", "1 0 one 0\n");
  CHECK_THAT(refusal(), Contains("res_track.txt:1") && Contains("four numbers"));
  spill(fresh() / "res_track.txt", "1 0 1 0\n1 2 3 0\n");
  CHECK_THAT(refusal(), Contains("occurs twice"));
  spill(fresh() / "res_track.txt", "1 0 1 0\n99 2 3 0\n");
  CHECK_THAT(refusal(), Contains("label 99") && Contains("in no mask"));
  spill(fresh() / "res_track.txt", "1 0 1 0\n");
  std::vector<std::string> notes;
  CHECK(io::read_ctc(dir / "t.ctc", &notes).tracks() == 1);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("7 labels"));
  spill(fresh() / "mask001.tif", "II*");
  CHECK_THAT(refusal(), Contains("mask001.tif"));
}
