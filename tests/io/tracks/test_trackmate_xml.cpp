#include <algorithm>

#include <catch2/catch.hpp>

#include <motes/io/track_files.h>
#include <motes/io/trackmate_xml.h>

#include "io/tracks/lineages/track_graph.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// Tracks with a division (7 -> 3, 12), a mother with only one daughter (3 -> 20), a gap and a single point.
TrackSet lineage(const std::string& unit = "um", std::optional<double> dt_s = 0.25) {
  TrackSet tracks;
  tracks.dt_s = dt_s;
  tracks.length_unit = unit;
  add_track(tracks, 7, {0, 1, 2});
  add_track(tracks, 3, {3, 4, 6});
  add_track(tracks, 12, {3, 4});
  add_track(tracks, 20, {8, 9});
  add_track(tracks, 5, {2});
  add_track(tracks, 30, {4, 5});
  add_track(tracks, 31, {7, 8});
  tracks.parent = {-1, 7, 7, 3, -1, -1, -1};
  tracks.merged_into = {-1, -1, 31, -1, -1, 31, -1};
  PropertyColumn quality{"quality", {}}, radius{unit == "um" ? "radius_um" : "radius_px", {}},
      odd{"mean I/2", {}};
  for (std::size_t i = 0; i < tracks.points(); ++i) {
    quality.values.push_back(static_cast<double>(i) / 3);
    radius.values.push_back(0.5 + static_cast<double>(i));
    odd.values.push_back(i % 3 == 0 ? std::nan("") : 1.0 / static_cast<double>(i));
  }
  tracks.point_properties = {quality, radius, odd};
  tracks.detection.assign(tracks.points(), -1);
  return tracks;
}

/// The same tracks sorted by number.
TrackSet sorted(const TrackSet& tracks) {
  std::vector<std::size_t> order(tracks.tracks());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return tracks.track_id[a] < tracks.track_id[b]; });
  TrackSet out;
  out.length_unit = tracks.length_unit;
  out.dt_s = tracks.dt_s;
  for (const auto& column : tracks.point_properties) out.point_properties.push_back({column.name, {}});
  for (const std::size_t t : order) {
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]);
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++i) {
      out.frame.push_back(tracks.frame[i]);
      out.time_s.push_back(tracks.time_s[i]);
      out.x_um.push_back(tracks.x_um[i]);
      out.y_um.push_back(tracks.y_um[i]);
      out.z_um.push_back(tracks.z_um[i]);
      for (std::size_t c = 0; c < out.point_properties.size(); ++c)
        out.point_properties[c].values.push_back(tracks.point_properties[c].values[i]);
    }
    out.track_id.push_back(tracks.track_id[t]);
    out.track_offsets.push_back(static_cast<std::int64_t>(out.points()));
    if (!tracks.parent.empty()) out.parent.push_back(tracks.parent[t]);
    if (!tracks.merged_into.empty()) out.merged_into.push_back(tracks.merged_into[t]);
  }
  return out;
}

std::size_t column(const TrackSet& tracks, const std::string& name) {
  for (std::size_t i = 0; i < tracks.point_properties.size(); ++i)
    if (tracks.point_properties[i].name == name) return i;
  FAIL("no property " + name);
  return 0;
}

std::string document(const std::string& spots, const std::string& edges,
                     const std::string& units = "spatialunits=\"nm\" timeunits=\"ms\"") {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TrackMate version=\"7.0\"><Model " + units +
         "><AllSpots><SpotsInFrame frame=\"0\">" + spots +
         "</SpotsInFrame></AllSpots><AllTracks><Track TRACK_ID=\"4\">" + edges +
         "</Track></AllTracks></Model></TrackMate>";
}

std::string spot(int id, int frame, const std::string& more = "") {
  return "<Spot ID=\"" + std::to_string(id) + "\" FRAME=\"" + std::to_string(frame) +
         "\" POSITION_X=\"1000\" POSITION_Y=\"2000\" POSITION_Z=\"3000\" POSITION_T=\"" +
         std::to_string(frame * 20) + "\" " + more + "/>";
}

std::string edge(int a, int b) {
  return "<Edge SPOT_SOURCE_ID=\"" + std::to_string(a) + "\" SPOT_TARGET_ID=\"" + std::to_string(b) + "\"/>";
}

TrackSet parse(const std::string& text, std::vector<std::string>* notes = nullptr) {
  const TempDir dir;
  spill(dir / "t.xml", text);
  return io::read_trackmate_xml(dir / "t.xml", notes);
}

}  // namespace

TEST_CASE("TrackMate XML keeps tracks, numbers, mothers, merges, times, units and properties") {
  const TempDir dir;
  const TrackSet tracks =
      lineage(GENERATE("um", "px"), GENERATE(std::optional<double>(0.25), std::optional<double>()));
  io::write_tracks(dir / "t.trackmate.xml", tracks);
  const TrackSet back = io::read_tracks(dir / "t.trackmate.xml");
  const TrackSet a = sorted(tracks), b = sorted(back);
  require_same_paths(a, b);
  CHECK(a.track_id == b.track_id);
  CHECK(a.parent == b.parent);
  CHECK(a.merged_into == b.merged_into);
  CHECK(a.length_unit == b.length_unit);
  CHECK(a.dt_s == b.dt_s);
  CHECK(same_bits(a.time_s, b.time_s));
  CHECK(b.point_properties.size() == 3);
  for (const std::string& name :
       {std::string("quality"), a.point_properties[1].name, std::string("mean I/2")})
    CHECK(same_bits(a.point_properties[column(a, name)].values, b.point_properties[column(b, name)].values));
  io::write_tracks(dir / "again.trackmate.xml", back);
  CHECK(io::read_tracks(dir / "again.trackmate.xml").points() == tracks.points());
}

TEST_CASE("TrackMate units become um and s") {
  std::vector<std::string> notes;
  const TrackSet tracks = parse(
      document(spot(1, 0, "RADIUS=\"500\"") + spot(2, 1) + spot(3, 2), edge(1, 2) + edge(3, 2)), &notes);
  CHECK(tracks.length_unit == "um");
  CHECK(tracks.x_um[0] == 1000 * 1e-3);
  CHECK(tracks.dt_s == 0.02);
  CHECK(tracks.frame == std::vector<std::int32_t>{0, 1, 2});
  CHECK(tracks.track_id == std::vector<std::int64_t>{4});
  CHECK(tracks.point_properties[column(tracks, "radius_um")].values[0] == 0.5);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("lengths are in nm"));
  CHECK(
      parse(document(spot(1, 0) + spot(2, 1), edge(1, 2), "spatialunits=\"mm\" timeunits=\"min\"")).x_um[0] ==
      1e6);
  CHECK(parse(document(spot(1, 0) + spot(2, 1), edge(1, 2), "spatialunits=\"\xC2\xB5m\"")).length_unit ==
        "um");
  const TrackSet plain =
      parse(document(spot(1, 0) + spot(2, 1), edge(1, 2), "spatialunits=\"pixel\" timeunits=\"frame\""));
  CHECK(plain.length_unit == "px");
  CHECK_FALSE(plain.dt_s);
}

TEST_CASE("spots that TrackMate's filters hide are left out, with a note") {
  const std::string hidden = GENERATE("0", "0.0");
  const std::string spots = spot(1, 0, "VISIBILITY=\"1\"") + spot(2, 1, "VISIBILITY=\"" + hidden + "\"") +
                            spot(3, 2, "VISIBILITY=\"1\"") + spot(5, 3);
  std::vector<std::string> notes;
  const TrackSet tracks = parse(document(spots, edge(1, 3) + edge(3, 5)), &notes);
  CHECK(tracks.frame == std::vector<std::int32_t>{0, 2, 3});
  CHECK(std::count(notes.begin(), notes.end(), "1 hidden spots are left out") == 1);
  CHECK_THAT(error_of<InputError>([&] { parse(document(spots, edge(1, 2))); }),
             Contains("SPOT_TARGET_ID=\"2\"") && Contains("no visible spot"));

  const TempDir dir;
  spill(dir / "t.xml", document(spots, ""));
  const auto points = io::read_trackmate_points(dir / "t.xml");
  std::size_t count = 0;
  for (const Detections& frame : points.frames) count += frame.size();
  CHECK(count == 3);
  spill(dir / "none.xml", document(spot(2, 1, "VISIBILITY=\"" + hidden + "\""), ""));
  CHECK_THAT(error_of<InputError>([&] { io::read_trackmate_points(dir / "none.xml"); }),
             Contains("no visible spots"));
}

TEST_CASE("a TrackMate track that divides and merges is cut into its branches") {
  std::vector<std::string> notes;
  const TrackSet tracks =
      parse(document(spot(1, 0) + spot(2, 1) + spot(3, 1) + spot(4, 2) + spot(5, 3) + spot(6, 3),
                     edge(1, 2) + edge(1, 3) + edge(2, 4) + edge(3, 4) + edge(4, 5)),
            &notes);
  REQUIRE(tracks.tracks() == 4);
  CHECK(tracks.track_id == std::vector<std::int64_t>{4, 5, 6, 7});
  CHECK(tracks.parent == std::vector<std::int64_t>{-1, 4, 4, -1});
  CHECK(tracks.track_offsets == std::vector<std::int64_t>{0, 1, 2, 3, 5});
  CHECK(tracks.merged_into == std::vector<std::int64_t>{-1, 7, 7, -1});
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[1], Contains("1 points belong to no track"));
  // A link of both is left out.
  const TrackSet both =
      parse(document(spot(1, 0) + spot(2, 0) + spot(3, 1) + spot(4, 1), edge(1, 3) + edge(1, 4) + edge(2, 3)),
            &notes);
  CHECK(both.tracks() == 4);
  CHECK(std::count_if(both.merged_into.begin(), both.merged_into.end(), [](auto t) { return t >= 0; }) == 1);
  CHECK_THAT(notes.back(), Contains("1 link is part of a division and of a merge"));
}

TEST_CASE("bad TrackMate files are rejected with the byte offset") {
  const auto refusal = [](const std::string& text) { return error_of<InputError>([&] { parse(text); }); };
  CHECK_THAT(refusal(document(spot(1, 0) + spot(1, 1), "")),
             Contains("byte") && Contains("two spots have this number"));
  CHECK_THAT(refusal(document(spot(1, 0), edge(1, 9))),
             Contains("SPOT_TARGET_ID=\"9\"") && Contains("no visible spot"));
  CHECK_THAT(refusal(document(spot(1, 0) + spot(2, 0), edge(1, 2))), Contains("two points of frame 0"));
  CHECK_THAT(refusal(document(spot(1, -1), "")), Contains("frames are numbered from 0"));
  CHECK_THAT(refusal(document("<Spot ID=\"1\" FRAME=\"0\" POSITION_X=\"NaN\" POSITION_Y=\"1\"/>", "")),
             Contains("finite"));
  CHECK_THAT(refusal("<TrackMate><Model>"), Contains("malformed XML"));
  const TempDir dir;
  const std::string good = document(spot(1, 0) + spot(2, 1), edge(1, 2));
  read_damaged_copies(dir / "t.xml", good, 300, [](const auto& path) { io::read_trackmate_xml(path); });
}

TEST_CASE("real TrackMate and MaMuT files") {
  MOTES_NEED_DATA(formats, "formats/trackmate");
  std::vector<std::string> notes;
  const TrackSet fake = io::read_tracks(formats / "FakeTracks_v7.0.5.xml", {}, &notes);
  CHECK(fake.points() == 84);
  CHECK(fake.length_unit == "px");
  CHECK(fake.dt_s == 1.0);
  const TrackSet mamut = io::read_tracks(formats / "mamut_3D_neuroblast.xml");
  CHECK(mamut.points() == 2430);
  CHECK(mamut.tracks() >= 6);
  const TrackSet old = io::read_tracks(formats / "Celegans-5pc_3D_oldformat.xml", {}, &notes);
  CHECK(old.length_unit == "um");
  CHECK(old.dt_s == 60.0);  // its spots state 1 min per frame, its image 2 min
  CHECK(std::any_of(notes.begin(), notes.end(),
                    [](const auto& n) { return n.find("120 s per frame") != std::string::npos; }));
  const TrackSet merging =
      io::read_tracks(formats / "trackmate_tracks_with_splitting_merging.xml", {}, &notes);
  CHECK(merging.tracks() > 4);
  CHECK(std::any_of(merging.parent.begin(), merging.parent.end(), [](auto p) { return p >= 0; }));
  CHECK(io::read_trackmate_points(formats / "FakeTracks_v7.0.5.xml").frames.size() == 50);
}

TEST_CASE("links of written graphs lead from earlier to later points, also at events") {
  const TrackSet tracks = lineage();
  const io::detail::TrackLinks links = io::detail::links_of(tracks);
  // Along the tracks, from mothers to daughters, and at the merge.
  CHECK(links.edges.size() == 2 + 2 + 1 + 1 + 1 + 1 + 3 + 2);
  for (const auto& [from, to] : links.edges) CHECK(tracks.frame[from] < tracks.frame[to]);
  CHECK(links.lineage == std::vector<std::size_t>{0, 0, 0, 0, 4, 0, 0});
  CHECK(links.lost == 0);
  CHECK(links.lost_merges == 0);
  TrackSet late = tracks;
  late.merged_into = {-1, 12, -1, -1, -1, 999, -1};  // a track that has begun, and none
  CHECK(io::detail::links_of(late).lost_merges == 2);
}
