#include <catch2/catch.hpp>

#include <motes/io/mtrackj.h>
#include <motes/io/track_files.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

const std::string kHead =
    "MTrackJ 1.5.1 Data File\nDisplaying true true true 1 10 0 4 100 2 0 0 0 2 1 12 0 true\n";
const std::string kEnd = "End of MTrackJ Data File\n";

struct Mdf {
  explicit Mdf(std::string_view text) { spill(dir / "t.mdf", text); }
  TrackSet read() { return io::read_tracks(dir / "t.mdf", {}, &notes); }
  std::string refusal() {
    return error_of<InputError>([&] { read(); });
  }
  TempDir dir;
  std::vector<std::string> notes;
};

std::string refusal(const std::string& body) { return Mdf(kHead + body).refusal(); }

}  // namespace

TEST_CASE("MTrackJ: frames and slices are counted from 0, x and y are kept") {
  Mdf file(kHead +
           "Assembly 1 FF0000\nCluster 1 FF0000\nTrack 4 FF0000 true\nPoint 1 78.5 25.0 2.0 1.0 1.0\n"
           "Point 2 79.0 26.0 2.5 3.0 1.0\nTrack 0 00FF00 true\nPoint 1 1 2 1 2 1\n" +
           kEnd);
  const TrackSet tracks = file.read();
  CHECK(tracks.track_id == std::vector<std::int64_t>{4, 0});
  CHECK(tracks.frame == std::vector<std::int32_t>{0, 2, 1});
  CHECK(tracks.x_um == std::vector<double>{78.5, 79, 1});
  CHECK(tracks.y_um == std::vector<double>{25, 26, 2});
  CHECK(tracks.z_um == std::vector<double>{1, 1.5, 0});
  CHECK(tracks.length_unit == "px");
  CHECK(tracks.point_properties.empty());
  CHECK(tracks.track_properties.empty());
  CHECK(file.notes.empty());
  CHECK(io::is_mtrackj(file.dir / "t.mdf"));
}

TEST_CASE("MTrackJ: clusters and channels become properties, and numbers of tracks differ") {
  Mdf file(
      "MTrackJ 1.2.0 Data File\r\nAssembly 1\r\nCluster 1\r\nTrack 1\r\nPoint 1 1 2 1 1 1\r\nCluster 2\r\n"
      "Track 1\r\nPoint 1 3 4 1 1 2\r\n\r\nTrack 2\r\nPoint 1 5 6 1 2 1\r\nPoint 2 5 7 1 1 1\r\nEnd of "
      "MTrackJ Data File");
  const TrackSet tracks = file.read();
  CHECK(tracks.track_id == std::vector<std::int64_t>{1, 2, 3});
  CHECK(tracks.frame == std::vector<std::int32_t>{0, 0, 0, 1});
  REQUIRE(tracks.track_properties.size() == 1);
  CHECK(tracks.track_properties[0].name == "cluster");
  CHECK(tracks.track_properties[0].values == std::vector<double>{1, 2, 2});
  REQUIRE(tracks.point_properties.size() == 1);
  CHECK(tracks.point_properties[0].name == "channel");
  CHECK(tracks.point_properties[0].values == std::vector<double>{1, 2, 1, 1});
  REQUIRE(file.notes.size() == 1);
  CHECK_THAT(file.notes[0], Contains("get new numbers"));
  CHECK(Mdf(kHead + "Assembly 1\nCluster 1\nTrack 1\n" + kEnd).read().tracks() == 0);
}

TEST_CASE("damaged MTrackJ files are refused where they are") {
  const std::string start = "Assembly 1\nCluster 1\nTrack 1\n";
  CHECK_THAT(refusal(start + "Point 1 1 2 1 1 1\n"), Contains("cut off"));
  for (const char* point :
       {"1 1 2 1 1", "1 1 2 1 1 1 1", "1 1 a 1 1 1", "1 1 nan 1 1 1", "1 1 1e999 1 1 1", ""}) {
    INFO(point);
    CHECK_THAT(refusal(start + "Point " + point + "\n" + kEnd),
               Contains("t.mdf:6: ") && Contains("six finite"));
  }
  for (const char* t : {"0", "1.5", "-1", "3e9", "1e300"}) {
    INFO(t);
    CHECK_THAT(refusal(start + "Point 1 1 2 1 " + t + " 1\n" + kEnd), Contains("t.mdf:6: t is not"));
  }
  CHECK_THAT(refusal(start + "Point 1 1 2 1 5 1\nPoint 2 1 3 1 5 1\n" + kEnd),
             Contains("t.mdf:7: track ") && Contains("second point in frame 4"));
  CHECK_THAT(refusal("Assembly 1\nPoint 1 1 2 1 1 1\n" + kEnd),
             Contains("t.mdf:4: ") && Contains("out of place"));
  CHECK_THAT(refusal(start + "Pint 1 1 2 1 1 1\n" + kEnd), Contains("t.mdf:6: 'Pint 1 1"));
  CHECK_THAT(refusal("Assembly 1\nTrack x\n" + kEnd), Contains("t.mdf:4: Track needs a whole number"));
  CHECK_THAT(refusal("Assembly\n" + kEnd), Contains("t.mdf:3: Assembly needs"));
}

TEST_CASE("damaged MTrackJ files never crash the reader") {
  const TempDir dir;
  std::string text = kHead + "Assembly 1 FF0000\nCluster 1 FF0000\n";
  for (int track = 1; track < 4; ++track) {
    text += "Track " + std::to_string(track) + " FF0000 true\n";
    for (int t = 1; t < 5; ++t)
      text += "Point " + std::to_string(t) + " 1.5 2.25 1.0 " + std::to_string(t) + ".0 1.0\n";
  }
  read_damaged_copies(dir / "d.mdf", text + kEnd, 2000, [](const auto& path) { io::read_mtrackj(path); });
}
