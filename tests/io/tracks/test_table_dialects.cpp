// Tables as other programs write them. The headers are those programs' own; the numbers are made up.
#include <catch2/catch.hpp>
#include <zlib.h>

#include <motes/io/tables.h>
#include <motes/io/track_files.h>

#include "tests/io/tracks/dialect.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::VectorContains;

namespace {

std::string gzipped(std::string_view text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() + 128, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string trackmate(const std::string& length, const std::string& time) {
  return "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME,RADIUS\n"
         "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,Radius\n"
         "Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,R\n"
         ",,,(quality),(" +
         length + "),(" + length + "),(" + length + "),(" + time + "),,(" + length +
         ")\n"
         "ID1,1,0,5.5,1000,2000,500,0,0,250\n"
         "ID2,2,0,6.5,1500,2500,500,2,1,250\n"
         "ID3,3,,7.5,0,0,0,4,2,250\n";
}

}  // namespace

TEST_CASE("TrackMate's tables keep their unit and their times") {
  Dialect nm(trackmate("nm", "min"));
  const TrackSet tracks = nm.tracks();
  CHECK(tracks.length_unit == "um");
  CHECK(tracks.x_um == std::vector<double>{1000 * 1e-3, 1500 * 1e-3});
  CHECK(tracks.z_um == std::vector<double>{500 * 1e-3, 500 * 1e-3});
  CHECK(tracks.dt_s == 120.0);
  CHECK(nm.noted("lengths are in nm"));
  CHECK(Dialect(trackmate("mm", "sec")).tracks().x_um[0] == 1e6);
  CHECK(Dialect(trackmate("micron", "sec")).tracks().dt_s == 2.0);
  CHECK(Dialect(trackmate("\xC2\xB5m", "sec")).tracks().length_unit == "um");

  Dialect pixels(trackmate("pixel", "frame"));
  CHECK(pixels.tracks().length_unit == "px");
  CHECK_FALSE(pixels.tracks().dt_s);
  CHECK(pixels.noted("'POSITION_T' states no unit of time"));
  const io::PointTable points = Dialect(trackmate("nm", "sec")).points();
  REQUIRE(points.frames.size() == 3);
  CHECK(points.frames[0].radius_um == std::vector<double>{0.25});
  CHECK(points.frames[1].quality == std::vector<double>{6.5});
}

TEST_CASE("Imaris positions: a title, a unit in every row, frames called Time") {
  const std::string text =
      " \nPosition\n====================\n \n"
      "Position X,Position Y,Position Z,Unit,Category,Collection,Time,TrackID,ID,\n"
      "1.5,2.5,3.5,um,Spot,Position,1,1000000000,0,\n"
      "1.6,2.6,3.6,um,Spot,Position,2,1000000000,1,\n"
      "9,9,9,um,Spot,Position,2,,2,\n";
  Dialect imaris(text);
  const TrackSet tracks = imaris.tracks();
  CHECK(tracks.length_unit == "um");
  CHECK(tracks.frame == std::vector<std::int32_t>{1, 2});
  CHECK(tracks.track_id == std::vector<std::int64_t>{1000000000});
  CHECK(tracks.y_um == std::vector<double>{2.5, 2.6});
  std::string mixed = text;
  mixed.replace(mixed.find("1.6,2.6,3.6,um"), 14, "1.6,2.6,3.6,nm");
  CHECK_THAT(Dialect(mixed).refusal(), Contains("t.csv:7") && Contains("Unit is 'nm'"));
}

TEST_CASE("units in the names of columns") {
  const Dialect storm(
      "\"id\",\"frame\",\"x [nm]\",\"y [nm]\",\"z [nm]\",\"sigma [nm]\",\"intensity [photon]\"\n"
      "1,1,1500,2500,-250,120,900\n2,2,1600,2400,250,130,800\n");
  const io::PointTable points = storm.points();
  CHECK(points.length_unit == "um");
  CHECK(points.frames[0].x_um == std::vector<double>{1500 * 1e-3});
  CHECK(points.frames[1].z_um == std::vector<double>{250 * 1e-3});
  CHECK(Dialect("frame,x_nm,y_nm\n0,5,6\n").points().frames[0].y_um[0] == 6 * 1e-3);
  CHECK(Dialect("frame,X (mm),Y (mm)\n0,5,6\n").points().frames[0].x_um[0] == 5e3);
  CHECK(Dialect("frame,X nm,Y nm\n0,5,6\n").points().frames[0].y_um[0] == 6 * 1e-3);
  const io::PointTable slashes = Dialect("t/ms,x/nm,y / nm,mean/um\n0,5,6,1\n50,5,6,1\n").points();
  CHECK(slashes.frames[1].y_um[0] == 6 * 1e-3);
  CHECK(slashes.dt_s == 0.05);
  CHECK_THAT(Dialect("frame,x [nm],y [nm],z\n0,5,6,7\n").refusal(), Contains("'z' does not match"));
  for (const char* header :
       {"frame,x_um,y,z_um", "frame,x,y_um,z", "frame,x [nm],y,z", "frame,POSITION_X,y_um,z"})
    CHECK_THAT(Dialect(std::string(header) + "\n0,5,6,7\n").refusal(),
               Contains("units are mixed") && Contains("states one") && Contains("rename the columns"));
  CHECK_THAT(Dialect("frame,POSITION_X,y,z\n0,5,6,7\n").refusal(),
             Contains("are of different families") && Contains("--columns \"x=POSITION_X,y=y\""));
  CHECK_THAT(Dialect("frame,x_um,z_um\n0,5,6\n").refusal(), Contains("no y column"));
  const io::PointTable timed = Dialect("frame,time [ms],x_um,y_um\n0,0,1,1\n1,50,1,1\n2,100,1,1\n").points();
  CHECK(timed.dt_s == 0.05);
}

TEST_CASE("column names of other programs are suggested") {
  const auto refusal = [](const std::string& header, const std::string& row) {
    return Dialect(header + "\n" + row + "\n").refusal();
  };
  CHECK_THAT(refusal("frame,label,centroid-0,centroid-1,centroid-2", "0,1,1,2,3"),
             Contains("--columns \"x=centroid-2,y=centroid-1,z=centroid-0\""));
  CHECK_THAT(refusal("frame,label,centroid-0,centroid-1", "0,1,1,2"),
             Contains("--columns \"x=centroid-1,y=centroid-0\""));
  CHECK_THAT(refusal("frame,Pos_X,Pos_Y,Pos_Z", "0,1,2,3"), Contains("\"x=Pos_X,y=Pos_Y,z=Pos_Z\""));
  CHECK_THAT(refusal("frame,Object_Center_0,Object_Center_1", "0,1,2"),  // ilastik counts from x
             Contains("\"x=Object_Center_0,y=Object_Center_1\""));
  CHECK_THAT(refusal("frame,max,sx,sy,pos xnm,pos ynm", "0,1,2,3,4,5"), Contains("\"x=pos xnm,y=pos ynm\""));
  CHECK_THAT(refusal("Time Point,BX,BY,Center X (\u00b5m),Center Y (\u00b5m)", "0,1,2,3,4"),
             Contains("if 'Time Point' counts frames") &&
                 Contains("\"frame=Time Point,x=Center X (\u00b5m),y=Center Y (\u00b5m)\""));
  CHECK_THAT(refusal("ImageNumber,Location_Center_X,Location_Center_Y", "1,1,2"),
             Contains("use --columns frame=ImageNumber,x=Location_Center_X,y=Location_Center_Y"));
  CHECK_THAT(Dialect("Timepoint,CenterX,CenterY\n0,1,2\n").refusal(columns({{"frame", "Timepoint"}})),
             Contains("\"frame=Timepoint,x=CenterX,y=CenterY\""));
  CHECK_THAT(refusal("Last Frame,First Frame,x_um,y_um", "9,1,1,2"),
             Contains("if 'First Frame' counts frames"));
  CHECK_THAT(refusal("id,Start frame,end_frame,x_um,y_um", "0,1,3,1,2"), Contains("if 'Start frame' counts"));
  CHECK_THAT(refusal("id,movie.frame,x_um,y_um", "0,1,1,2"), Contains("--columns frame=movie.frame"));
  CHECK_THAT(refusal("frame rate,frames,x_um,y_um", "0,1,1,2"), !Contains("counts frames"));
  CHECK_THAT(refusal("Track n\u00b0\tSlice n\u00b0\tX\tY", "1\t1\t2\t3"),  // Fiji's Manual Tracking
             Contains("if 'Slice n\u00b0' counts frames"));
  CHECK_THAT(refusal("frame,row,col,area", "0,1,2,3"), Contains("use --columns \"x=col,y=row\""));
  CHECK_THAT(refusal("LABEL,TRACK_ID,SPOT_SOURCE_ID,SPOT_TARGET_ID", "a,0,1,2"),
             Contains("TrackMate's table of edges or tracks"));
  CHECK_THAT(refusal("# frame,x_um,y_um", "0,1,2"),
             Contains("no header") && Contains("remove the '#' before it"));
  CHECK_THAT(refusal("0,1,2", "0,1,2"), Contains("no header") && !Contains("'#'"));
  CHECK_THAT(refusal("frame,x (um),y (um),z (slice)", "0,1,2,3"),
             Contains("column 'z (slice)' does not match x (um) and y (um); name it z (um)"));
  CHECK_THAT(refusal("frame|x|y", "0|1|2"), Contains("commas, not by '|'"));
  CHECK_THAT(refusal("t,x_um,y_um", "0.5,1,2"), Contains("--columns time=t"));
  CHECK_THAT(refusal("Experiment 3", "frame,x_um,y_um\n0,1,2"), Contains("delete the lines above it"));
  CHECK_THAT(refusal("a,b,c", "1,2,3"), !Contains("lines above"));
  CHECK_THAT(refusal("frame,x_px,y_px", "0,1,2"), Contains("are in pixels") && Contains("--voxel"));
  CHECK_THAT(Dialect(trackmate("pixel", "frame")).refusal(), Contains("are in pixels"));
}

TEST_CASE("a column that probably numbers tracks is suggested") {
  const auto hint = [](const std::string& header, const std::string& row) {
    const Dialect table("frame,x_um,y_um," + header + "\n0,1,2," + row + "\n");
    return error_of<InputError>([&] { io::read_tracks_csv(table.path(), {}); });
  };
  CHECK_THAT(hint("track-id", "0"),
             Contains("if 'track-id' numbers tracks, use --columns particle=track-id"));
  CHECK_THAT(hint("TrackObjects_Displacement_50,TrackObjects_Label_50", "0,1"),
             Contains("particle=TrackObjects_Label_50"));
  CHECK_THAT(hint("Cell ID", "0"), Contains("--columns \"particle=Cell ID\""));
  CHECK_THAT(hint("mass", "0"), Contains("no track column") && !Contains("numbers tracks"));
  // Imaris called the column so; it is not that of the mothers then.
  Dialect imaris("Position X,Position Y,Position Z,Unit,Time,Parent,ID\n1,2,3,um,1,1000000007,0\n");
  const TrackSet tracks = imaris.tracks(columns({{"particle", "Parent"}}));
  CHECK(tracks.track_id == std::vector<std::int64_t>{1000000007});
  CHECK(tracks.parent.empty());
}

TEST_CASE("a column that is called frame may hold times") {
  const Dialect seconds("frame,x_um,y_um\n0,1,2\n0.5,1,2\n1,1,2\n");
  CHECK_THAT(seconds.refusal(), Contains("use --columns time=frame"));
  const io::PointTable points = seconds.points(columns({{"time", "frame"}}));
  CHECK(points.dt_s == 0.5);
  CHECK(points.frames.size() == 3);
  const Dialect stamps("frame,x_um,y_um\n1714557600000,1,2\n1714557600500,1,2\n1714557601000,1,2\n");
  CHECK_THAT(stamps.refusal(),
             Contains("the largest frame is 2147483647") && Contains("--columns time=frame"));
  CHECK(stamps.points(columns({{"time", "frame"}})).dt_s == 500);
}

TEST_CASE("dates and times of day are refused where they stand") {
  const Dialect dates("time,x_um,y_um\n2024-05-01 10:00:00,1,2\n");
  CHECK_THAT(dates.refusal(columns({{"time", "time"}})), Contains("t.csv:2: time is '2024-05-01 10:00:00'") &&
                                                             Contains("give seconds, or number the frames"));
  CHECK_THAT(dates.refusal(columns({{"frame", "time"}})), Contains("number the frames"));
  const Dialect text("t [s],x_um,y_um\n0,1,2\nlate,1,2\n");
  CHECK_THAT(text.refusal(), Contains("t.csv:3: t [s] is 'late'; a number is needed"));
}

TEST_CASE("Fiji's Results: a plane is not a frame unless the user says so") {
  const std::string text = " ,Label,Area,X,Y,Slice\n1,a,4,10.5,20.5,1\n2,a,5,11.5,21.5,2\n";
  const Dialect fiji(text);
  CHECK_THAT(fiji.refusal(), Contains("no frame column") && Contains("--columns frame=Slice"));
  CHECK_THAT(fiji.refusal(columns({{"frame", "Slice"}}, io::TableUnit::unknown)), Contains("input.unit"));
  const io::PointTable points = fiji.points(columns({{"frame", "Slice"}}));
  CHECK(points.frames.size() == 2);
  CHECK(points.frames[1].x_um == std::vector<double>{11.5});
}

TEST_CASE("napari's points and tracks") {
  const Dialect points("index,axis-0,axis-1,axis-2,axis-3\n0.0,0.0,3,2,1\n1.0,1.0,6,5,4\n");
  const io::PointTable four = points.points(unit(io::TableUnit::px));
  CHECK(four.length_unit == "px");
  CHECK(four.frames[1].frame == 1);
  CHECK(four.frames[1].x_um[0] == 4);
  CHECK(four.frames[1].z_um[0] == 6);
  const Dialect three("index,axis-0,axis-1,axis-2\n0,0,2,1\n1,1,5,4\n");
  CHECK_THAT(three.refusal(unit(io::TableUnit::px)), Contains("axis-0 is time or z"));
  const io::PointTable plane =
      three.points(columns({{"frame", "axis-0"}, {"y", "axis-1"}, {"x", "axis-2"}}, io::TableUnit::px));
  CHECK(plane.frames[1].y_um[0] == 5);
  Dialect tracks("track_id,t,z,y,x\n1,0,1,2,3\n1,1,1,2,3\n");
  CHECK(tracks.tracks().x_um == std::vector<double>{3, 3});
  CHECK(Dialect("Track #,t,x,y,z\n4,0,1,2,0\n4,1,1,2,0\n").tracks().track_id == std::vector<std::int64_t>{4});
}

TEST_CASE("btrack and ultrack: identities, roots that are their own mothers, 0 for none") {
  Dialect btrack(
      "ID t x y z parent root state generation dummy\n1 0 1 2 3 1 1 5 0 False\n1 1 1 2 3 1 1 5 0 False\n"
      "2 2 1 2 3 1 1 5 1 False\n");
  const TrackSet tracks = btrack.tracks();
  CHECK(Dialect("particle  frame x_um y_um \n 1 0   1.5 2 \n\"1\" 1 2.5 3\n").tracks().x_um ==
        std::vector<double>{1.5, 2.5});
  CHECK(tracks.track_id == std::vector<std::int64_t>{1, 2});
  CHECK(tracks.parent == std::vector<std::int64_t>{-1, 1});
  Dialect ultrack("track_id,t,z,y,x,id,parent_track_id,parent_id\n1,0,1,2,3,10,-1,-1\n2,1,1,2,3,11,1,10\n");
  CHECK(ultrack.tracks().parent == std::vector<std::int64_t>{-1, 1});
  Dialect zero("track_id,t,x,y,parent\n1,0,1,2,0\n2,1,1,2,1\n");
  CHECK(zero.tracks().parent == std::vector<std::int64_t>{-1, 1});
  Dialect real("track_id,t,x,y,parent\n0,0,1,2,-1\n2,1,1,2,0\n");
  CHECK(real.tracks().parent == std::vector<std::int64_t>{-1, 0});
}

TEST_CASE("points that name their mothers, as motile writes them") {
  const std::string rows[] = {"1,,1\n", "2,1,1\n", "3,2,2\n", "4,2,3\n", "5,3,2\n", "6,4,3\n"};
  const std::string places[] = {"0,10,10,", "1,11,11,", "2,12,10,", "2,12,14,", "3,13,9,", "3,13,15,"};
  const auto table = [&](const std::string& header, auto row) {
    std::string text = header + "\n";
    for (std::size_t i = 0; i < 6; ++i) text += places[i] + row(rows[i]);
    return text;
  };
  const auto whole = [](const std::string& row) { return row; };
  const auto untracked = [](const std::string& row) { return row.substr(0, row.rfind(',')) + "\n"; };

  Dialect motile(table("t,y,x,id,parent_id,track_id", whole));
  const TrackSet named = motile.tracks(unit(io::TableUnit::um));
  CHECK(named.track_id == std::vector<std::int64_t>{1, 2, 3});
  CHECK(named.parent == std::vector<std::int64_t>{-1, 1, 1});
  CHECK(named.x_um == std::vector<double>{10, 11, 10, 9, 14, 15});
  CHECK(named.point_properties.empty());

  const TrackSet cut = Dialect(table("t,y,x,id,parent_id", untracked)).tracks(unit(io::TableUnit::um));
  CHECK(cut.x_um == named.x_um);
  CHECK(cut.parent == std::vector<std::int64_t>{-1, cut.track_id[0], cut.track_id[0]});

  // A number for the whole lineage, which would be two points of one track in one frame.
  const auto lineage = [](const std::string& row) { return row.substr(0, row.rfind(',')) + ",7\n"; };
  const TrackSet split = Dialect(table("t,y,x,ID,Parent_ID,track_id", lineage)).tracks();
  CHECK(split.x_um == named.x_um);
  CHECK(split.parent[1] == split.track_id[0]);

  // A point without links is a track, unless the table has track numbers; 0 is a point if one is called so.
  CHECK(Dialect("frame,x,y,id,parent_id\n0,1,1,8,0\n1,1,1,9,0\n").tracks().tracks() == 2);
  CHECK(Dialect("frame,x,y,id,parent_id\n0,1,1,0,-1\n1,1,1,9,0\n").tracks().tracks() == 1);
  CHECK(Dialect("frame,x,y,id,parent_id\n").tracks().tracks() == 0);
  const auto refusal = [](const std::string& text) {
    return error_of<InputError>([&] { Dialect(text).tracks(); });
  };
  CHECK_THAT(refusal("frame,x,y,id,parent_id\n0,1,1,8,\n1,1,1,8,8\n"), Contains("t.csv:3: another point"));
  CHECK_THAT(refusal("frame,x,y,id,parent_id\n0,1,1,8,\n1,1,1,9,3\n"),
             Contains("t.csv:3: column 'parent_id'"));
  CHECK_THAT(refusal("frame,x,y,id,parent_id\n0,1,1,8.5,\n"), Contains("t.csv:2: column 'id' needs"));
  CHECK_THAT(refusal("frame,x,y,id,parent_id\n0,1,1,8,\n0,1,1,9,8\n"), Contains("two points of frame 0"));
  // With track numbers, columns of another meaning are properties as before.
  const TrackSet other = Dialect("frame,x,y,id,parent_id,track\n0,1,1,8,,1\n1,1,1,8,4,1\n").tracks();
  CHECK(other.point_properties.size() == 2);
}

TEST_CASE("a table in gzip") {
  const TempDir dir;
  const std::string text = "particle,frame,x_um,y_um,z_um\n3,0,1,2,3\n3,1,2,3,4\n";
  spill(dir / "t.csv.gz", gzipped(text));
  CHECK(io::read_tracks(dir / "t.csv.gz").x_um == std::vector<double>{1, 2});
  spill(dir / "two.gz", gzipped(text) + gzipped("4,0,1,2,3\n"));
  CHECK(io::read_tracks(dir / "two.gz").tracks() == 2);
  spill(dir / "cut.gz", gzipped(text).substr(0, 40));
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks(dir / "cut.gz"); }), Contains("gzip"));
  read_damaged_copies(dir / "x.gz", gzipped(text), 200, [](const auto& path) { io::read_tracks(path); });
}

TEST_CASE("decimal commas") {
  Dialect commas("particle;frame;x_um;y_um;label\n1;0;1,5;-2,25e1;a,b\n1;1;2;3,0;c\n");
  const TrackSet tracks = commas.tracks();
  CHECK(tracks.x_um == std::vector<double>{1.5, 2});
  CHECK(tracks.y_um == std::vector<double>{-22.5, 3});
  CHECK(commas.noted("decimal commas"));
  CHECK_THAT(Dialect("frame;x_um;y_um\n0;1,5;2.5\n").refusal(), Contains("'1,5'") && Contains("'2.5'"));
  CHECK_THAT(Dialect("frame;x_um;y_um\n0;1.234,5;2\n").refusal(), Contains("x_um is '1.234,5'"));
  Dialect points("particle;frame;x_um;y_um\n1;0;1.5;2.5\n");
  CHECK(points.tracks().x_um == std::vector<double>{1.5});
  CHECK_FALSE(points.noted("decimal commas"));
}

TEST_CASE("input.columns assigns columns") {
  const Dialect table("when,cx,cy,cz,cell\n0,1,2,3,a\n1,1,2,3,a\n");
  CHECK_THAT(table.refusal(),
             Contains("no frame column") && Contains("'when'") && Contains("--columns frame=NAME"));
  const auto names = columns({{"frame", "when"}, {"x", "cx"}, {"y", "cy"}, {"z", "cz"}});
  CHECK(table.points(names).frames[1].z_um[0] == 3);
  CHECK_THAT(table.refusal(columns({{"frame", "nope"}})),
             Contains("input.columns: frame") && Contains("'nope'"));
}

TEST_CASE("an integer t in seconds is not taken as frames") {
  const std::string text = "particle,t,x_um,y_um\n1,0,1,1\n1,60,2,2\n1,180,3,3\n";
  Dialect table(text);
  CHECK_THAT(table.refusal(),
             Contains("steps of 60") && Contains("--columns time=t") && Contains("--columns frame=t"));
  const TrackSet seconds = table.tracks(columns({{"time", "t"}}));
  CHECK(seconds.frame == std::vector<std::int32_t>{0, 1, 3});
  CHECK(seconds.dt_s == 60.0);
  CHECK(seconds.time_s == std::vector<double>{0, 60, 180});
  CHECK(table.tracks(columns({{"frame", "t"}})).frame == std::vector<std::int32_t>{0, 60, 180});
  CHECK(Dialect("particle,frame,x_um,y_um\n1,0,1,1\n1,60,2,2\n1,120,3,3\n").tracks().frame[1] == 60);
  CHECK_THAT(Dialect("time_s,x_um,y_um\n0,1,1\n1,1,1\n1.4,1,1\n").refusal(columns({{"time", "time_s"}})),
             Contains("not multiples of one interval"));
}

TEST_CASE("input.unit sets the unit of plain lengths") {
  const Dialect table("particle,frame,x,y,z\n1,0,1000,2000,3000\n");
  CHECK_THAT(table.refusal(), Contains("input.unit") && Contains("input.voxel_um"));
  CHECK(table.points(unit(io::TableUnit::um)).frames[0].x_um[0] == 1000);
  CHECK(table.points(unit(io::TableUnit::um)).length_unit == "um");
  CHECK(table.points(unit(io::TableUnit::nm)).frames[0].x_um[0] == 1000 * 1e-3);
  CHECK(table.points(unit(io::TableUnit::mm)).frames[0].x_um[0] == 1e6);
  CHECK(table.points(unit(io::TableUnit::px)).length_unit == "px");
  io::TableOptions scaled = unit(io::TableUnit::px);
  scaled.voxel_um = Vec3{0.1, 0.1, 0.3};
  CHECK(table.points(scaled).frames[0].z_um[0] == 3000 * 0.3);
}

TEST_CASE("tables of spreadsheets: a line sep=, rows of empty fields, UTF-16, Latin-1") {
  const std::string rows = "0;1.5;2;3\n1;1.6;2;3\n";
  for (const char* first : {"sep=;\n", "\"sep=;\"\r\n", "SEP=;\n\n"}) {
    INFO(first);
    CHECK(Dialect(first + ("frame;x_um;y_um;z_um\n" + rows)).points().frames[1].x_um[0] == 1.6);
  }
  CHECK(Dialect("sep=|\nframe|x_um|y_um\n0|1|2\n").points().frames[0].y_um[0] == 2);
  const io::PointTable empty =
      Dialect("frame,x_um,y_um,z_um\n,,,\n0,1,2,3\n,,,\n,,,,,\n1,1,2,3\n,,,\n").points();
  REQUIRE(empty.frames.size() == 2);
  CHECK(empty.frames[1].size() == 1);
  CHECK_THAT(Dialect("frame,x_um,y_um,z_um\n0,1,2,3\n1,,,\n").refusal(), Contains("t.csv:3: x_um is ''"));

  const std::string plain = "frame\tx (\xB5m)\ty (\xB5m)\n0\t1.5\t2\n1\t1.6\t2\n";
  std::string little = "\xFF\xFE", big = "\xFE\xFF";
  for (const char c : plain) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string& text : {plain, little, big}) {
    Dialect table(text);
    const io::PointTable points = table.points();
    CHECK(points.length_unit == "um");
    CHECK(points.frames[1].x_um == std::vector<double>{1.6});
    CHECK(io::is_text_table(table.path()));
  }
  CHECK_THAT(Dialect(little + "\n").refusal(), Contains("UTF-16"));
  CHECK_THAT(Dialect(little + std::string("\x01\xD8\n\0", 4)).refusal(), Contains("UTF-16"));
  CHECK_THAT(Dialect(little + std::string("\x01\xDC\n\0", 4)).refusal(), Contains("UTF-16"));
  std::string tracked = "\xFF\xFE";
  for (const char c : std::string("particle,frame,x,y\n7,0,1,2\n")) tracked += {c, '\0'};
  CHECK(io::read_tracks(Dialect(tracked).path()).track_id == std::vector<std::int64_t>{7});
}

TEST_CASE("names in Latin-1 are asked for in UTF-8") {
  const Dialect table("Slice n\xB0\tX\tY\n1\t5\t6\n");
  CHECK(table.points(columns({{"frame", "Slice n\xC2\xB0"}})).frames[0].x_um == std::vector<double>{5});
}

TEST_CASE("R's write.table has no name for the column of row names") {
  const Dialect table("\"frame\" \"x_um\" \"y_um\"\n\"1\" 0 5 6\n\"2\" 1 5.5 6\n");
  const io::PointTable points = table.points();
  REQUIRE(points.frames.size() == 2);
  CHECK(points.frames[1].x_um == std::vector<double>{5.5});
  CHECK(points.frames[1].properties.empty());
  CHECK_THAT(Dialect("frame,x_um,y_um\n0,5,6,7\n").refusal(), Contains("this row has 4 fields"));
}

TEST_CASE("a line of units below the header") {
  const std::string mastodon =
      "Label,ID,Spot frame,Spot position X,Spot position Y,Spot position Z\n"
      ",,,(nm),(nm),(nm)\na,0,0,1000,2000,3000\n";
  const std::map<std::string, std::string> names{
      {"frame", "Spot frame"}, {"x", "Spot position X"}, {"y", "Spot position Y"}, {"z", "Spot position Z"}};
  io::TableOptions options;
  options.columns = names;
  const io::PointTable points = Dialect(mastodon).points(options);
  CHECK(points.length_unit == "um");
  CHECK(points.frames[0].z_um == std::vector<double>{3000 * 1e-3});
  CHECK(Dialect("t_s,x,y\nmin,um,um\n1,2,3\n2,2,3\n").points().dt_s == 60.0);
  CHECK(Dialect("frame,x_um,y_um\n-,um,um\n0,2,3\n").points().frames[0].x_um[0] == 2);
  CHECK_THAT(Dialect("frame,x_um,y_um\n-,nm,nm\n0,2,3\n").refusal(), Contains("another unit"));
  CHECK_THAT(Dialect("frame,x,y\n-,nm,um\n0,2,3\n").refusal(), Contains("use one unit"));
  CHECK_THAT(Dialect("frame,x,y\n-,px,px\n0,2,3\n").refusal(), Contains("input.unit"));
}

TEST_CASE("times with a unit replace frames, and a column has one role") {
  for (const std::string name : {"t_s", "time [s]", "Time (sec)"}) {
    const io::PointTable points = Dialect(name + ",x_um,y_um\n0,1,2\n0.5,1,2\n1.5,1,2\n").points();
    CHECK(points.dt_s == 0.5);
    CHECK(points.frames.size() == 4);
  }
  CHECK_THAT(Dialect("time,x_um,y_um\n0,1,2\n").refusal(), Contains("no frame column"));
  CHECK_THAT(Dialect("frame,a,b\n0,1,2\n").refusal(columns({{"x", "a"}, {"y", "a"}})),
             Contains("'a' is called x and y"));
}

TEST_CASE("a table is recognised by its content") {
  CHECK(io::is_text_table(Dialect("frame x y\n0 1 2\n", "t.dat").path()));
  CHECK(io::is_text_table(Dialect("# title\n\nframe;x;y\n0;1,5;2\n", "t").path()));
  for (const char* text :
       {"", "a,b,c\n", "<a>1 2 3</a>\n", "{\"a\": [1, 2, 3]}", "words in 1 line\n", "\x01 1 2 3\n"})
    CHECK_FALSE(io::is_text_table(Dialect(text, "t.dat").path()));
}

TEST_CASE("a faulty cell is named with what to do about it") {
  const std::string head = "frame,x_um,y_um\n0,1,2\n";
  CHECK_THAT(Dialect(head + "1,#N/A,2\n").refusal(),
             Contains("t.csv:3") && Contains("x_um") && Contains("correct the cell or remove the row"));
  CHECK_THAT(Dialect(head + "1,,2\n").refusal(), Contains("correct the cell or remove the row"));
  CHECK_THAT(Dialect(head + "1,\"5,5\",2\n").refusal(), Contains("if semicolons or tabs separate"));
  CHECK_THAT(Dialect("frame;x_um;y_um\n0;1.234,5;2\n").refusal(), Contains("without thousands separators"));
  CHECK_THAT(Dialect(head + "0.5,1,2\n").refusal(), Contains("--columns time=frame"));
  CHECK_THAT(Dialect(head + "1,2,5,3,5\n").refusal(), Contains("separate columns by semicolons"));
  CHECK_THAT(Dialect(head + "1,2\n").refusal(), Contains("correct the row") && !Contains("semicolons"));
}
