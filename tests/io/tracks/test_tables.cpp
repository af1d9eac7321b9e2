#include <catch2/catch.hpp>

#include <motes/io/tables.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

const io::TableOptions kPixels{Vec3{1, 1, 1}, std::nullopt};

class Table {
 public:
  explicit Table(std::string_view text) { spill(path(), text); }
  std::filesystem::path path() const { return dir_ / "t.csv"; }
  io::PointTable points(const io::TableOptions& options = kPixels) const {
    return io::read_points_csv(path(), options);
  }
  TrackSet tracks(const io::TableOptions& options = {}) const { return io::read_tracks_csv(path(), options); }
  std::string refusal() const {
    return error_of<InputError>([&] { points(); });
  }

 private:
  TempDir dir_;
};

std::string refusal(std::string_view text) { return Table(text).refusal(); }

}  // namespace

TEST_CASE("tracks.csv keeps tracks to the bit") {
  const TempDir dir;
  TrackSet tracks = sample_tracks(GENERATE(std::optional<double>(0.1), std::optional<double>(1.0 / 3),
                                           std::optional<double>(5e-5), std::optional<double>()));
  tracks.length_unit = GENERATE("um", "px");
  if (tracks.length_unit == "px") tracks.parent.clear(), tracks.merged_into.clear();
  io::write_tracks_csv(dir / "t.csv", tracks);
  require_same_tracks(tracks, io::read_tracks_csv(dir / "t.csv"));
  io::write_tracks_csv(dir / "again.csv", io::read_tracks_csv(dir / "t.csv"));
  CHECK(slurp(dir / "t.csv") == slurp(dir / "again.csv"));
}

TEST_CASE("tracks.csv of no tracks is an empty set") {
  const TempDir dir;
  io::write_tracks_csv(dir / "t.csv", {});
  CHECK(slurp(dir / "t.csv") == "particle,frame,x_um,y_um,z_um\n");
  CHECK(io::read_tracks_csv(dir / "t.csv").tracks() == 0);
}

TEST_CASE("properties with the name of a column get another name") {
  const TempDir dir;
  TrackSet tracks;
  add_track(tracks, 1, {0, 1});
  tracks.point_properties = {{"frame", {1, 2}}, {"x_um", {3, 4}}, {"x", {5, 6}}};
  io::write_tracks_csv(dir / "t.csv", tracks);
  CHECK(slurp(dir / "t.csv").starts_with("particle,frame,x_um,y_um,z_um,frame_,x_um_,x\n"));
  require_same_paths(tracks, io::read_tracks_csv(dir / "t.csv"));
  tracks.length_unit = "px";
  io::write_tracks_csv(dir / "t.csv", tracks);
  require_same_paths(tracks, io::read_tracks_csv(dir / "t.csv"));
}

TEST_CASE("a table of points keeps frames, gaps and known columns") {
  const TempDir dir;
  std::vector<Detections> frames(4);
  for (std::size_t i = 0; i < 4; ++i) {
    frames[i].frame = static_cast<std::int32_t>(i) + 10;
    frames[i].time_s = 0.25 * frames[i].frame;
    frames[i].properties = {{"snr", {}}};
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}}) {
    frames[i].x_um = {0.1 * static_cast<double>(i), 1e-9};
    frames[i].y_um = frames[i].z_um = frames[i].quality = frames[i].x_um;
    frames[i].radius_um = {1.0 / 3, std::nan("")};
    frames[i].intensity = {std::nan(""), std::nan("")};
    frames[i].properties[0].values = {7, 8};
  }
  const std::string unit = GENERATE("um", "px");
  io::write_points_csv(dir / "p.csv", {frames, unit, {}});
  CHECK_THAT(slurp(dir / "p.csv"), !Contains("intensity"));
  const io::PointTable back = io::read_points_csv(dir / "p.csv", kPixels);
  CHECK(back.length_unit == unit);
  CHECK(back.dt_s == 0.25);
  REQUIRE(back.frames.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(back.frames[i].frame == frames[i].frame);
    CHECK(back.frames[i].time_s == frames[i].time_s);
    CHECK(same_bits(back.frames[i].x_um, frames[i].x_um));
    CHECK(same_bits(back.frames[i].z_um, frames[i].z_um));
    CHECK(same_bits(back.frames[i].radius_um, frames[i].radius_um));
    CHECK(back.frames[i].intensity.empty());  // unknown in all frames
    CHECK(same_bits(back.frames[i].quality, frames[i].quality));
    require_same_columns(back.frames[i].properties, frames[i].properties);
  }
}

TEST_CASE("delimiters, quotes, line ends, comments and byte order marks") {
  const std::string text = GENERATE(
      "frame,x,y,z\n0,1,2,3\n1,4,5,6\n", "frame;x;y;z\n0;1;2;3\n1;4;5;6\n",
      "frame\tx\ty\tz\n0\t1\t2\t3\n1\t4\t5\t6",
      "\xEF\xBB\xBF"
      "frame,x,y,z\r\n0,1,2,3\r\n1,4,5,6\r\n",
      "frame,x,y,z\r0,1,2,3\r1,4,5,6\r",
      "# made by hand\n\nframe , x, y,z\n0, 1 ,2,3\n   \n# note, with, commas, x, y\n1.0,+4,5e0,6\n\n",
      "\"frame\",\"x\",\"y\",\"z\"\n\"0\",\"1\",\"2\",\"3\"\n1,4,5,6\n", "z,y,frame,x\n6,5,1,4\n3,2,0,1\n",
      "t,X,Y,Z\n0,1,2,3\n1,4,5,6\n", ",frame,x,y,z\n0,0,1,2,3\n1,1,4,5,6\n",
      "frame,x,y,z,name\n0,1,2,3,\"a \"\"b\"\", c\"\n1,4,5,6,d\n",
      "FRAME,POSITION_X,POSITION_Y,POSITION_Z\n0,1,2,3\n1,4,5,6\n");
  INFO(text);
  const Table file(text);
  const io::PointTable table = file.points();
  REQUIRE(table.frames.size() == 2);
  CHECK(table.frames[0].x_um == std::vector<double>{1});
  CHECK(table.frames[0].z_um == std::vector<double>{3});
  CHECK(table.frames[1].x_um == std::vector<double>{4});
  CHECK(table.frames[1].y_um == std::vector<double>{5});
  CHECK(table.frames[1].properties.empty());
  CHECK(table.length_unit == "px");
  CHECK_FALSE(table.dt_s);
  CHECK(table.frames[1].time_s == 1);
  CHECK(table.frames[0].radius_um.empty());
}

TEST_CASE("plain coordinates are scaled, x_um is not") {
  const io::TableOptions options{Vec3{0.5, 2, 10}, 0.1};
  const auto plain = Table("frame,x,y,z\n3,1,2,3\n").points(options);
  CHECK(plain.length_unit == "um");
  CHECK(plain.frames[0].x_um[0] == 0.5);
  CHECK(plain.frames[0].y_um[0] == 4);
  CHECK(plain.frames[0].z_um[0] == 30);
  CHECK(plain.dt_s == 0.1);
  CHECK(plain.frames[0].time_s == 3 * 0.1);
  const auto micrometres = Table("frame,x,x_um,y_um,z_um\n3,9,1,2,3\n").points({});
  CHECK(micrometres.length_unit == "um");
  CHECK(micrometres.frames[0].x_um[0] == 1);
  CHECK(micrometres.frames[0].properties.at(0).name == "x");
  CHECK_THAT(error_of<UsageError>([] { Table("frame,x,y,z\n3,1,2,3\n").points({}); }),
             Contains("input.voxel_um"));
  CHECK_THROWS_AS(Table("frame,x,y\n3,1,2\n").points({Vec3{0, 1, 1}, {}}), UsageError);
  CHECK_THROWS_AS(Table("frame,x,y\n3,1,2\n").points({Vec3{1, 1, 1}, -1.0}), UsageError);
  CHECK(Table("particle,frame,x,y\n1,3,1,2\n").tracks(options).x_um[0] == 0.5);
}

TEST_CASE("columns without a role become properties, others are listed in the notes") {
  const auto table = Table(
                         "particle,frame,x,y,mass,name,parent,empty,QUALITY,radius_px,intensity\n"
                         "4,0,1,2,3.5,EMS,-1,,0.5,2,\n4,1,1,2,nan,ABp,-1,NA,1,2,9\n")
                         .points();
  REQUIRE(table.frames.size() == 2);
  REQUIRE(table.frames[0].properties.size() == 2);
  CHECK(table.frames[0].properties[0].name == "mass");
  CHECK(table.frames[0].properties[0].values[0] == 3.5);
  CHECK(std::isnan(table.frames[1].properties[0].values[0]));
  CHECK(table.frames[0].properties[1].name == "empty");
  CHECK(table.frames[0].quality[0] == 0.5);
  CHECK(table.frames[0].radius_um[0] == 2);
  CHECK(std::isnan(table.frames[0].intensity[0]));
  CHECK(table.frames[1].intensity[0] == 9);
  std::string notes;
  for (const std::string& note : table.notes) notes += note + '\n';
  CHECK_THAT(notes, Contains("no z column") && Contains("'particle'") && Contains("'parent'") &&
                        Contains("'name'") && Contains("line 2"));
}

TEST_CASE("times give the frame interval only if they are regular") {
  const auto regular = Table("frame,t_s,x,y\n2,10.5,0,0\n4,11.5,0,0\n5,12,0,0\n").points();
  CHECK(regular.dt_s == 0.5);
  CHECK(regular.frames[0].time_s == 10.5);
  CHECK(regular.frames[1].time_s == 11);
  const auto irregular = Table("frame,time_s,x,y\n2,10.5,0,0\n4,11.5,0,0\n5,13,0,0\n").points();
  CHECK_FALSE(irregular.dt_s);
  CHECK(irregular.frames[0].time_s == 2);
  CHECK(irregular.frames[0].properties.at(0).name == "time_s");
  CHECK(irregular.notes.size() == 2);
  const auto overridden = Table("frame,t_s,x,y\n2,1,0,0\n4,2,0,0\n").points({Vec3{1, 1, 1}, 3.0});
  CHECK(overridden.dt_s == 3);
  CHECK(overridden.frames[0].time_s == 6);
  CHECK_FALSE(Table("frame,t_s,x,y\n2,,0,0\n4,2,0,0\n").points().dt_s);
  CHECK_FALSE(Table("frame,t_s,x,y\n2,a,0,0\n4,2,0,0\n").points().dt_s);
  CHECK_FALSE(Table("frame,t_s,x,y\n2,5,0,0\n4,2,0,0\n").points().dt_s);
  CHECK(Table("frame,t_s,x,y\n3,1.5,0,0\n").points().dt_s == 0.5);
  CHECK_FALSE(Table("frame,t_s,x,y\n0,0,0,0\n").points().dt_s);
}

TEST_CASE("irregular times are kept as the frames' times if they are near a constant interval") {
  const std::string text = "frame,t_s,x,y\n0,0.1,0,0\n0,0.1,1,0\n1,0.8,0,0\n3,3.2,0,0\n4,3.9,0,0\n";
  const auto jittered = Table(text).points();
  REQUIRE(jittered.dt_s);
  CHECK(*jittered.dt_s == Approx(1).epsilon(0.02));
  REQUIRE(jittered.frames.size() == 5);
  CHECK(jittered.frames[0].time_s == 0.1);
  CHECK(jittered.frames[1].time_s == 0.8);
  CHECK(jittered.frames[2].time_s == Approx(2).margin(0.2));  // a frame without rows
  CHECK(jittered.frames[4].time_s == 3.9);
  CHECK(jittered.frames[0].properties.empty());
  REQUIRE(jittered.notes.size() == 2);
  CHECK_THAT(jittered.notes[1] + jittered.notes[0], Contains("frames keep its times"));
  // A given interval that agrees keeps the times, another one overrides them.
  const auto same = Table(text).points({Vec3{1, 1, 1}, 1.0});
  CHECK(same.dt_s == 1.0);
  CHECK(same.frames[4].time_s == 3.9);
  const auto other = Table(text).points({Vec3{1, 1, 1}, 2.0});
  CHECK(other.dt_s == 2.0);
  CHECK(other.frames[4].time_s == 8);
  CHECK(other.frames[0].properties.at(0).name == "t_s");
  // Times that differ within a frame, or diverge, are not the frames' times.
  CHECK_FALSE(Table("frame,t_s,x,y\n0,0,0,0\n0,0.3,1,0\n1,1,0,0\n2,2.2,0,0\n").points().dt_s);
  CHECK_FALSE(Table("frame,t_s,x,y\n0,0,0,0\n1,1,0,0\n2,10,0,0\n3,100,0,0\n").points().dt_s);
}

TEST_CASE("TrackMate's spot table: header lines in words and units, spots without a track") {
  const std::string head = "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME\n";
  const std::string words =
      "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame\nLabel,Spot ID,Track ID,Quality,X,Y,Z,T,Frame\n";
  const std::string rows =
      "ID1,1,0,5.5,1,2,3,0.5,1\nID2,2,,4,1,2,3,0.5,1\nID3,3,None,4,9,9,9,1.0,2\nID4,4,0,4,2,3,4,1.0,2\n";
  const std::string unit = GENERATE("(micron)", "(\xC2\xB5m)", "(\xCE\xBCm)", "um", "(pixel)");
  const Table file(head + words + " , , ,(quality)," + unit + "," + unit + "," + unit + ",(sec), \n" + rows);
  std::vector<std::string> notes;
  const TrackSet tracks = io::read_tracks_csv(file.path(), {}, &notes);
  CHECK(tracks.tracks() == 1);
  CHECK(tracks.frame == std::vector<std::int32_t>{1, 2});
  CHECK(tracks.length_unit == (unit == "(pixel)" ? "px" : "um"));
  CHECK(tracks.point_properties.size() == 2);
  CHECK(tracks.dt_s == 0.5);
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[1], Contains("2 rows"));
  const io::PointTable points = file.points();
  CHECK(points.frames[0].x_um.size() == 2);
  CHECK(points.frames[0].quality == std::vector<double>{5.5, 4});
}

TEST_CASE("TrackMate's columns with times instead of frames") {
  const io::PointTable points =
      Table(
          "t_s,ID,QUALITY,POSITION_X,POSITION_Y\n(sec),,(quality),(micron),(micron)\n"
          "0.5,1,5.5,1,2\n1.0,2,4,1,2\n")
          .points();
  CHECK(points.frames.size() == 2);
  CHECK(points.dt_s == 0.5);
  CHECK(points.frames.at(0).quality == std::vector<double>{5.5});
}

TEST_CASE("tracks of a table") {
  const std::string id = GENERATE("particle", "track", "track_id", "TRACK_ID", "Track_ID");
  const TrackSet tracks = Table(id +
                                ",frame,x,y,parent\n5,2,1,1,-1\n3,2,2,2,5\n5,0,3,3,-1\n3,3,4,4,5\n-1,9,0,0,-"
                                "1\n9007199254740993,1,5,5,\n")
                              .tracks();
  CHECK(tracks.track_id == std::vector<std::int64_t>{5, 3, 9007199254740993});
  CHECK(tracks.track_offsets == std::vector<std::int64_t>{0, 2, 4, 5});
  CHECK(tracks.frame == std::vector<std::int32_t>{0, 2, 2, 3, 1});
  CHECK(tracks.x_um == std::vector<double>{3, 1, 2, 4, 5});
  CHECK(tracks.parent == std::vector<std::int64_t>{-1, 5, -1});
  CHECK(tracks.detection == std::vector<std::int64_t>(5, -1));
}

TEST_CASE("bad tables are rejected with file and line") {
  CHECK_THAT(refusal(""), Contains("empty"));
  CHECK_THAT(refusal("# only a comment\n\n"), Contains("empty"));
  CHECK_THAT(refusal("0,1,2,3\n1,2,3,4\n"), Contains("t.csv:1: no header"));
  CHECK_THAT(refusal("a,b\n1,2\n"), Contains("t.csv:1: no frame column"));
  CHECK_THAT(refusal("frame,b\n1,2\n"), Contains("no x column"));
  CHECK_THAT(refusal("frame,x\n1,2\n"), Contains("no y column"));
  CHECK_THAT(refusal("frame,x,y\n"), Contains("no rows"));
  std::string wide = "frame,x,y", row = "1,2,3";
  for (int i = 0; i < 10'001; ++i) wide += ",p" + std::to_string(i), row += ",4";
  CHECK_THAT(refusal(wide + "\n" + row + "\n"),
             Contains("t.csv:1: the table has 10004 columns; at most 10000"));
  CHECK_THAT(refusal("frame,x,x,y\n1,2,3,4\n"), Contains("two columns are named 'x'"));
  CHECK_THAT(refusal("frame,x,y\n1,2,3\n1,2\n"),
             Contains("t.csv:3: this row has 2 fields, the header has 3"));
  CHECK_THAT(refusal("frame,x,y\n\n1,2,3,4\n"), Contains("t.csv:3: this row has 4"));
  CHECK_THAT(refusal("frame,x,y\n1,2,abc\n"), Contains("t.csv:2: y is 'abc'"));
  CHECK_THAT(refusal("frame,x,y\n1,,3\n"), Contains("t.csv:2: x is ''"));
  CHECK_THAT(refusal("frame,x,y\n1,nan,3\n"), Contains("finite"));
  CHECK_THAT(refusal("frame,x,y\n1,2,-inf\n"), Contains("finite"));
  CHECK_THAT(refusal("frame,x,y\n1,2,1e999\n"), Contains("finite"));
  CHECK_THAT(refusal("frame,x,y\n-1,2,3\n"), Contains("frame is '-1'"));
  CHECK_THAT(refusal("frame,x,y\n3.5,2,3\n"), Contains("t.csv:2: frame is '3.5'; a whole number"));
  CHECK_THAT(refusal("frame,x,y\n3000000000,2,3\n"), Contains("2147483647"));
  CHECK_THAT(refusal("frame,x,y\n99999999999999999999,2,3\n"), Contains("t.csv:2: frame"));
  CHECK_THAT(refusal("frame,x,y\n0,2,3\n10000000,2,3\n"), Contains("t.csv:3") && Contains("10 million"));
  CHECK_THAT(refusal("frame,x,y\n0,\"2,3\n"), Contains("t.csv:2: a quote is never closed"));
  CHECK_THAT(refusal("frame,x,y\n0,\"2\"3,4\n"), Contains("t.csv:2: text after a closing quote"));
  CHECK_THAT(refusal(std::string("frame,x\0,y\n", 11)), Contains("not a text table"));
  CHECK_THAT(refusal("\x1f\x8b\x08 anything"), Contains("gzip data"));
  CHECK_THAT(error_of<InputError>([] { io::read_points_csv("/nowhere/t.csv", {}); }),
             Contains("no such file"));
  CHECK_THAT(error_of<InputError>([] { io::read_points_csv("/", {}); }), Contains("folder"));

  const auto track_refusal = [](std::string_view text) {
    const Table file(text);
    return error_of<InputError>([&] { file.tracks(); });
  };
  CHECK_THAT(track_refusal("frame,x,y\n1,2,3\n"), Contains("t.csv:1: no track column"));
  CHECK_THAT(track_refusal("particle,frame,x,y\n1,2,3,4\n2,2,3,4\n1,2,3,4\n"),
             Contains("t.csv:4: track 1 has a second point in frame 2"));
  CHECK_THAT(track_refusal("particle,frame,x,y\n1.5,2,3,4\n"), Contains("t.csv:2: particle is '1.5'"));
  CHECK_THAT(track_refusal("particle,frame,x,y\n-2,2,3,4\n"), Contains("t.csv:2"));
  CHECK_THAT(track_refusal("particle,frame,x,y,parent\n1,2,3,4,x\n"), Contains("t.csv:2: parent is 'x'"));
  CHECK_THAT(track_refusal("particle,frame,x,y,merged_into\n1,2,3,4,x\n"),
             Contains("t.csv:2: merged_into is 'x'; the merged track's number is needed"));
  CHECK_THAT(track_refusal("particle,frame,x,y,merged_into\n1,2,3,4,1\n"),
             Contains("t.csv:2: track 1 merges into itself"));
}

TEST_CASE("damaged tables never crash the readers") {
  const TempDir dir;
  io::write_tracks_csv(dir / "t.csv", sample_tracks());
  const std::string bytes = slurp(dir / "t.csv");
  read_damaged_copies(dir / "d.csv", bytes, 1500, [](const auto& path) { io::read_tracks_csv(path); });
  read_damaged_copies(dir / "d.csv", bytes, 1500,
                      [](const auto& path) { io::read_points_csv(path, kPixels); });
}

TEST_CASE("tables that cannot be written leave no files") {
  const TempDir dir;
  spill(dir / "file", "x");
  CHECK_THROWS_AS(io::write_tracks_csv(dir / "file/t.csv", sample_tracks()), ResourceError);
  CHECK_THROWS_AS(io::write_points_csv("/proc/nowhere/t.csv", {}), ResourceError);
  CHECK(files_in(dir.path()) == 1);
}

TEST_CASE("real tables: wormguides") {
  MOTES_NEED_DATA(truth, "wormguides-dispim/truth.csv");
  const TrackSet tracks = io::read_tracks_csv(truth);
  CHECK(tracks.tracks() == 1330);
  CHECK(tracks.points() == 106275);
  CHECK(tracks.length_unit == "px");
  std::size_t daughters = 0;
  for (const std::int64_t parent : tracks.parent) daughters += parent >= 0;
  CHECK(daughters == 2 * 663);
  REQUIRE(tracks.point_properties.size() == 1);
  CHECK(tracks.point_properties[0].name == "diameter");
  const io::PointTable points = io::read_points_csv(truth, {Vec3{0.1625, 0.1625, 0.1625}, {}});
  CHECK(points.frames.size() == 360);
  CHECK(points.length_unit == "um");
}

TEST_CASE("real tables: rods, tracers, nuclei, spots") {
  MOTES_NEED_DATA(rods, "granular-rods/rods_df_black.csv");
  const TrackSet black = io::read_tracks_csv(rods);
  CHECK(black.points() == 500);
  CHECK(black.point_properties.front().name == "x1");
  CHECK(io::read_points_csv(rods, kPixels).frames.front().frame == 500);
  MOTES_NEED_DATA(tracers, "lpt-turbulence-10k/tracks.csv");
  CHECK(io::read_tracks_csv(tracers).points() == 39340);
  MOTES_NEED_DATA(nuclei, "tgmm-mini/tgmm-mini.csv");
  CHECK(io::read_points_csv(nuclei, kPixels).frames.size() == 31);
  CHECK_THROWS_AS(io::read_tracks_csv(nuclei), InputError);
  MOTES_NEED_DATA(spots, "llsm-cme-detections/spots_all.csv.gz");
  CHECK_THAT(error_of<InputError>([&] { io::read_points_csv(spots, kPixels); }),
             Contains("--columns \"x=mu_x,y=mu_y,z=mu_z\""));
}
