#include <catch2/catch.hpp>

#include <motes/io/geff.h>
#include <motes/io/track_files.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

TrackSet lineage(const std::string& unit, std::optional<double> dt_s) {
  TrackSet tracks;
  tracks.dt_s = dt_s;
  tracks.length_unit = unit;
  add_track(tracks, 7, {0, 1, 2});
  add_track(tracks, 3, {3, 4, 6});
  add_track(tracks, 12, {3, 4});
  add_track(tracks, 5, {2});
  add_track(tracks, 30, {4, 5});
  add_track(tracks, 31, {7, 8});
  tracks.parent = {-1, 7, 7, -1, -1, -1};
  tracks.merged_into = {-1, -1, 31, -1, 31, -1};
  PropertyColumn quality{"quality", {}}, odd{"mean/I", {}};
  for (std::size_t i = 0; i < tracks.points(); ++i) {
    quality.values.push_back(static_cast<double>(i) / 3);
    odd.values.push_back(i % 3 == 0 ? std::nan("") : 1.0 / static_cast<double>(i));
  }
  tracks.point_properties = {odd, quality};
  return tracks;
}

}  // namespace

TEST_CASE("GEFF keeps tracks, numbers, mothers, merges, times, units and properties") {
  const TempDir dir;
  const TrackSet tracks =
      lineage(GENERATE("um", "px"), GENERATE(std::optional<double>(0.3), std::optional<double>()));
  io::write_tracks(dir / "t.geff", tracks);
  CHECK(io::is_geff(dir / "t.geff"));
  require_same_tracks(tracks, io::read_tracks(dir / "t.geff"));
  io::write_tracks(dir / "t.geff", tracks);  // an older GEFF is replaced
  CHECK(files_in(dir.path()) == 1);
}

TEST_CASE("GEFF: a mother with only one daughter, and no tracks at all") {
  const TempDir dir;
  TrackSet tracks;
  tracks.dt_s = 1.0;
  add_track(tracks, 1, {0, 1});
  add_track(tracks, 2, {2, 3});
  tracks.parent = {-1, 1};
  io::write_geff(dir / "t.geff", tracks);
  require_same_tracks(tracks, io::read_geff(dir / "t.geff"));
  io::write_geff(dir / "none.geff", {});
  CHECK(io::read_geff(dir / "none.geff").tracks() == 0);
}

TEST_CASE("a folder that is not a GEFF is not replaced") {
  const TempDir dir;
  std::filesystem::create_directory(dir / "t.geff");
  spill(dir / "t.geff/thesis.txt", "years of work");
  CHECK_THAT(error_of<UsageError>([&] { io::write_geff(dir / "t.geff", {}); }),
             Contains("choose another name"));
  CHECK(slurp(dir / "t.geff/thesis.txt") == "years of work");
}

TEST_CASE("damaged GEFF folders are refused") {
  const TempDir dir;
  const auto fresh = [&] {
    std::filesystem::remove_all(dir / "t.geff");
    io::write_geff(dir / "t.geff", lineage("um", 0.3));
    return dir / "t.geff";
  };
  const auto refusal = [&] { return error_of<InputError>([&] { io::read_geff(dir / "t.geff"); }); };
  spill(fresh() / "nodes/props/x/values/0", "short");
  CHECK_THAT(refusal(), Contains("nodes/props/x/values/0") && Contains("5 bytes"));
  replace_in(fresh() / "nodes/ids/.zarray", "\"shape\": [\n    13", "\"shape\": [\n    900000000000");
  CHECK_THAT(refusal(), Contains("more values than are possible"));
  replace_in(fresh() / ".zattrs", "\"display_horizontal\": \"x\"", "\"display_horizontal\": \"../../x\"");
  CHECK(refusal() == "");  // x is found by name
  replace_in(fresh() / ".zattrs", "\"name\": \"x\",\n        \"type\"",
             "\"name\": \"../../../x\",\n        \"type\"");
  CHECK_THAT(refusal(), Contains("leaves the store"));
  spill(fresh() / ".zattrs", "{\"geff\": ");
  CHECK_FALSE(io::is_geff(dir / "t.geff"));
  spill(dir / "t.geff/.zattrs", "{\"geff\": " + std::string(100000, '[') + std::string(100000, ']') + "}");
  CHECK_FALSE(io::is_geff(dir / "t.geff"));
  CHECK_THAT(refusal(), Contains("nested deeper"));
  std::filesystem::remove(fresh() / "nodes/props/y/values/0");
  std::filesystem::create_symlink("/etc/passwd", dir / "t.geff/nodes/props/y/values/0");
  CHECK_THAT(refusal(), Contains("link that leaves the store"));
  std::filesystem::remove_all(dir / "t.geff");
}

TEST_CASE("a real GEFF") {
  MOTES_NEED_DATA(geff, "formats/geff/FakeTracks_export.geff");
  std::vector<std::string> notes;
  const TrackSet tracks = io::read_tracks(geff, {}, &notes);
  CHECK(tracks.points() == 84);
  CHECK(tracks.length_unit == "um");
  CHECK(tracks.dt_s == 1.0);
  CHECK(*std::max_element(tracks.frame.begin(), tracks.frame.end()) == 49);
  CHECK(std::any_of(tracks.parent.begin(), tracks.parent.end(), [](auto p) { return p >= 0; }));
}
