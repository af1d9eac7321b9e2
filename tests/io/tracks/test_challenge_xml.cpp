#include <catch2/catch.hpp>

#include <motes/io/challenge_xml.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

std::string contest(const std::string& inside) {
  return "<?xml version=\"1.0\"?>\n<root><TrackContestISBI2012 snr=\"7\">" + inside +
         "</TrackContestISBI2012></root>";
}

std::string particle(const std::string& detections) {
  return contest("<particle>" + detections + "</particle>");
}

}  // namespace

TEST_CASE("challenge XML keeps paths to the bit") {
  const TempDir dir;
  const TrackSet tracks = sample_tracks();
  io::write_challenge_xml(dir / "t.xml", tracks);
  const TrackSet back = io::read_challenge_xml(dir / "t.xml");
  require_same_paths(tracks, back);
  CHECK(back.length_unit == "px");
  CHECK_FALSE(back.dt_s);
  CHECK(back.time_s[4] == 6);
  CHECK(back.track_id == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(io::is_challenge_xml(dir / "t.xml"));
  io::write_challenge_xml(dir / "again.xml", back);
  CHECK(slurp(dir / "t.xml") == slurp(dir / "again.xml"));
}

TEST_CASE("challenge XML of no tracks is an empty set") {
  const TempDir dir;
  io::write_challenge_xml(dir / "t.xml", {});
  CHECK(io::read_challenge_xml(dir / "t.xml").tracks() == 0);
  spill(dir / "e.xml", contest("<particle/><particle></particle>"));
  CHECK(io::read_challenge_xml(dir / "e.xml").tracks() == 0);
}

TEST_CASE("challenge XML: z defaults to 0, order of detections is free") {
  const TempDir dir;
  spill(dir / "t.xml",
        particle("<detection t=\"3\" x=\"1\" y=\"2\"/><detection t=\"1.0\" x=\"5\" y=\"6\" z=\"-.5\"/>"));
  const TrackSet tracks = io::read_challenge_xml(dir / "t.xml");
  CHECK(tracks.frame == std::vector<std::int32_t>{1, 3});
  CHECK(tracks.z_um == std::vector<double>{-.5, 0});
}

TEST_CASE("bad challenge XML is rejected with the byte offset") {
  const TempDir dir;
  const auto refusal = [&](const std::string& text) {
    spill(dir / "bad.xml", text);
    return error_of<InputError>([&] { io::read_challenge_xml(dir / "bad.xml"); });
  };
  CHECK_THAT(refusal(particle("<detection t=\"0\" x=\"1\"")), Contains("malformed") && Contains("byte"));
  CHECK_THAT(refusal(particle("<detection x=\"1\" y=\"2\"/>")),
             Contains("no attribute t") && Contains("byte 68"));
  CHECK_THAT(refusal(particle("<detection t=\"0\" y=\"2\"/>")), Contains("no attribute x"));
  CHECK_THAT(refusal(particle("<detection t=\"0\" x=\"2\"/>")), Contains("no attribute y"));
  CHECK_THAT(refusal(particle("<detection t=\"-1\" x=\"1\" y=\"2\"/>")), Contains("t=\"-1\""));
  CHECK_THAT(refusal(particle("<detection t=\"1.5\" x=\"1\" y=\"2\"/>")), Contains("whole number"));
  CHECK_THAT(refusal(particle("<detection t=\"3000000000\" x=\"1\" y=\"2\"/>")), Contains("2147483647"));
  CHECK_THAT(refusal(particle("<detection t=\"1\" x=\"nan\" y=\"2\"/>")), Contains("finite"));
  CHECK_THAT(refusal(particle("<detection t=\"1\" x=\"1\" y=\"2\" z=\"a\"/>")), Contains("z=\"a\""));
  CHECK_THAT(refusal(particle("<detection t=\"1\" x=\"1\" y=\"2\"/><detection t=\"1\" x=\"1\" y=\"2\"/>")),
             Contains("second point in frame 1"));
  CHECK_THAT(refusal("<root><other/></root>"), Contains("TrackContestISBI2012"));
  CHECK_THAT(refusal(""), Contains("bad.xml"));
  CHECK_THAT(error_of<InputError>([&] { io::read_challenge_xml(dir / "absent.xml"); }),
             Contains("no such file"));
}

TEST_CASE("Icy's tracks are read with their mothers and merges") {
  const auto track = [](const char* id, int first, int last) {
    std::string text = std::string("<track id=\"") + id + "\">";
    for (int t = first; t <= last; ++t)
      text += "<detection classname=\"p\" t=\"" + std::to_string(t) + "\" x=\"" + std::to_string(t + 0.5) +
              "\" y=\"2\" z=\"1\" type=\"1\"/>";
    return text + "</track>";
  };
  const auto file = [](const std::string& tracks, const std::string& links) {
    return "<?xml version=\"1.0\"?>\n<root><trackfile version=\"1\"/><trackgroup description=\"a\">" +
           tracks + "</trackgroup><linklist>" + links + "</linklist></root>";
  };
  const std::string five =
      track("-7", 0, 2) + track("11", 3, 5) + track("12", 3, 5) + track("13", 0, 5) + track("14", 6, 8);
  const TempDir dir;
  spill(dir / "icy.xml", file(five,
                              "<link from=\"-7\" to=\"11\"/><link from=\"-7\" to=\"12\"/>"
                              "<link from=\"12\" to=\"14\"/><link from=\"13\" to=\"14\"/>"));
  CHECK(io::is_challenge_xml(dir / "icy.xml"));
  const TrackSet tracks = io::read_challenge_xml(dir / "icy.xml");
  CHECK(tracks.tracks() == 5);
  CHECK(tracks.x_um[4] == 4.5);
  CHECK(tracks.parent == std::vector<std::int64_t>{-1, 0, 0, -1, -1});
  CHECK(tracks.merged_into == std::vector<std::int64_t>{-1, -1, 4, 4, -1});
  const auto refusal = [&](const std::string& inside, const std::string& links) {
    spill(dir / "bad.xml", file(inside, links));
    return error_of<InputError>([&] { io::read_challenge_xml(dir / "bad.xml"); });
  };
  CHECK_THAT(refusal(five, "<link from=\"8\" to=\"11\"/>"), Contains("no track of the file in from"));
  CHECK_THAT(refusal(five, "<link from=\"11\" to=\"-7\"/>"), Contains("begins before the other ends"));
  CHECK_THAT(refusal(five, "<link from=\"11\" to=\"11\"/>"), Contains("begins before the other ends"));
  CHECK_THAT(refusal(five + track("13", 7, 8), ""), Contains("a second track has the id 13"));
  read_damaged_copies(dir / "d.xml", slurp(dir / "icy.xml"), 2000,
                      [](const auto& path) { io::read_challenge_xml(path); });
}

TEST_CASE("damaged challenge XML never crashes the reader") {
  const TempDir dir;
  io::write_challenge_xml(dir / "t.xml", sample_tracks());
  read_damaged_copies(dir / "d.xml", slurp(dir / "t.xml"), 2000,
                      [](const auto& path) { io::read_challenge_xml(path); });
}

TEST_CASE("the challenge's own files are read") {
  MOTES_NEED_DATA(data, "scorer-reference/ref_3d.xml");
  for (const char* name : {"scorer-reference/ref_3d.xml", "scorer-reference/cand_2d_damaged.xml",
                           "formats/isbi/vesicle_7_low_traces.xml", "formats/isbi/FakeTracks_ISBI.xml",
                           "ptc-virus-excerpt/virus_snr7_mid_first10.xml"}) {
    INFO(name);
    const auto path = data_dir() / name;
    CHECK(io::is_challenge_xml(path));
    const TrackSet tracks = io::read_challenge_xml(path);
    const TempDir dir;
    io::write_challenge_xml(dir / "t.xml", tracks);
    require_same_tracks(tracks, io::read_challenge_xml(dir / "t.xml"));
    CHECK(tracks.tracks() > 1);
  }
  CHECK(io::read_challenge_xml(data_dir() / "ptc-virus-excerpt/virus_snr7_mid_first10.xml").tracks() == 10);
  CHECK(io::read_challenge_xml(data_dir() / "formats/misc/FakeTracks_Icy.xml").tracks() > 1);
}
