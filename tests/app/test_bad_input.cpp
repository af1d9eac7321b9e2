/// Bad input to commands: the exit code, one line that names the place, and no half-written files.
#include <filesystem>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "tests/app/run_motes.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/support/skip.h"

using namespace motes;

using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

constexpr int kUsage = 2, kInput = 3, kResources = 4;

/// `track` of this input fails with that code, and leaves no results.
void track_fails(const std::string& input, const TempDir& dir, int code, const std::string& says,
                 const std::vector<std::string>& more = {}) {
  const auto out = dir / "results";
  std::vector<std::string> arguments{"track", input, "-o", out.string(), "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  CHECK(outcome.code == code);
  CHECK(is_one_error_line(outcome.err));
  CHECK_THAT(outcome.err, Contains(says));
  CHECK(outcome.out.empty());
  for (const char* name : {"tracks.h5", "tracks.csv", "tracks.vtp", "report.json", "config.yaml"}) {
    CHECK(!std::filesystem::exists(out / name));
  }
}

std::string table(const TempDir& dir, const std::string& text) {
  write_file(dir / "points.csv", text);
  return (dir / "points.csv").string();
}

}  // namespace

TEST_CASE("Missing input") {
  const TempDir dir;
  track_fails((dir / "absent.tif").string(), dir, kInput, "absent.tif");
  track_fails((dir / "absent.csv").string(), dir, kInput, "absent.csv");
  track_fails((dir / "absent.yaml").string(), dir, kUsage, "absent.yaml");
  std::filesystem::create_directory(dir / "empty");
  track_fails((dir / "empty").string(), dir, kInput, "empty");
}

TEST_CASE("Truncated and damaged volumes") {
  const TempDir dir;
  const auto path = simulate_small(dir.path(), true) / "frames" / "frames.ome.tif";
  const std::string whole = file_bytes(path);
  for (const double part : {0.0, 0.0001, 0.3, 0.9}) {
    INFO(part);
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    write_file(dir / "cut.tif", whole.substr(0, size));
    track_fails((dir / "cut.tif").string(), dir, kInput, "cut.tif");
  }
  TiffSpec floats;
  floats.type = io::VoxelType::f32;
  std::string bytes = TiffBytes(floats).bytes();
  const std::string some("\0\0\xC0\x3E", 4), infinite("\0\0\x80\x7F", 4);  // 0.375
  bytes.replace(bytes.find(some), 4, infinite);
  write_file(dir / "infinite.tif", bytes);
  track_fails((dir / "infinite.tif").string(), dir, kInput, "infinite.tif: frame 0: voxel", {"--voxel", "1"});
  write_file(dir / "noise.tif", std::string(5000, 'x'));
  track_fails((dir / "noise.tif").string(), dir, kInput, "noise.tif");
  write_file(dir / "points.csv.gz", "\x1f\x8b\x08" + std::string(100, 'x'));
  track_fails((dir / "points.csv.gz").string(), dir, kInput, "gzip data");
}

TEST_CASE("Tables with nonsense in them") {
  const TempDir dir;
  const std::string head = "frame,x_um,y_um,z_um\n0,1,1,1\n";
  track_fails(table(dir, head + "1,nan,1,1\n"), dir, kInput, "points.csv:3");
  track_fails(table(dir, head + "1,1,inf,1\n"), dir, kInput, "points.csv:3");
  track_fails(table(dir, head + "1,1,one,1\n"), dir, kInput, "points.csv:3");
  track_fails(table(dir, head + "-1,1,1,1\n"), dir, kInput, "points.csv:3");
  track_fails(table(dir, head + "1,1,1\n"), dir, kInput, "points.csv:3");
  track_fails(table(dir, "a,b\n1,2\n"), dir, kInput, "points.csv");
  track_fails(table(dir, ""), dir, kInput, "points.csv");
  track_fails(table(dir, "frame,x_um,y_um,z_um\n"), dir, kInput, "points.csv");
  track_fails(table(dir, "frame,x,y,z\n0,1,1,1\n"), dir, kUsage, "input.voxel_um");
  track_fails(table(dir, "frame,x_um,y_um,z_um\n1,1,1,1\n3,1,1,1\n"), dir, kInput, "frame_step",
              {"--set", "input.frame_step=100"});
  track_fails(table(dir, "frame,x_um,y_um,z\n0,1,1,1\n"), dir, kInput, "name it z_um");
}

TEST_CASE("Files for other programs are rejected with what to do") {
  const TempDir dir;
  const std::vector<std::pair<const char*, const char*>> cases{
      {"a.xlsx", "save the sheet as CSV"},     {"a.parquet", "in Python"},
      {"a.CSV.zip", "unpack them first"},      {"a.jpg", "save them as one TIFF"},
      {"a.dv", "as OME-TIFF in Fiji"},         {"a.tif", "this is not TIFF, although"},
      {"a.ims", "this is not HDF5, although"}, {"a.xyz", "or a table of points (.csv"}};
  for (const auto& [name, says] : cases) {
    write_file(dir / name, "PK\x03\x04 not what it seems");
    track_fails((dir / name).string(), dir, kInput, says);
  }
  write_file(dir / "a.dat", "frame x_um y_um\n0 1 2\n1 1 2\n");
  CHECK(run_motes({"track", (dir / "a.dat").string(), "-o", (dir / "out").string(), "--quiet"}).code == 0);
}

TEST_CASE("Files of other kinds, empty and truncated ones") {
  const TempDir dir;
  const std::string whole = file_bytes(simulate_small(dir.path(), false) / "truth.h5");
  for (const std::size_t size : {std::size_t{8}, whole.size() / 2, whole.size() - 5}) {
    INFO(size);
    write_file(dir / "cut.h5", whole.substr(0, size));
    track_fails((dir / "cut.h5").string(), dir, kInput, "cut.h5: the HDF5 file cannot be opened");
  }
  write_file(dir / "empty.h5", "");
  track_fails((dir / "empty.h5").string(), dir, kInput, "the file is empty");
}

TEST_CASE("A pipe without a writer is rejected at once") {
  const TempDir dir;
  const std::string pipe = (dir / "pipe.csv").string(), out = (dir / "out.csv").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::vector<std::vector<std::string>> commands{{"track", pipe, "-o", (dir / "results").string()},
                                                       {"info", pipe},
                                                       {"convert", pipe, out},
                                                       {"score", "--truth", pipe, "--tracks", pipe},
                                                       {"match", pipe}};
  for (const auto& command : commands) {
    const Outcome outcome = run_motes(command);
    INFO(command.front() << ": " << outcome.err);
    CHECK(outcome.code == kInput);
    CHECK(is_one_error_line(outcome.err));
    CHECK_THAT(outcome.err, Contains("not a regular file"));
  }
}

TEST_CASE("Gates beyond all lengths, and results without a name") {
  const TempDir dir;
  const std::string points = table(dir, "frame,x_um,y_um,z_um\n0,1,1,1\n1,1,1,1\n");
  for (const char* gate : {"linking.gate_um=1e300", "linking.gate_um=1e-300"})
    for (const char* scope : {"linking.scope=pairs", "linking.scope=series"})
      track_fails(points, dir, kUsage, "linking.gate_um", {"--set", gate, "--set", scope});
  track_fails(points, dir, kUsage, "--json", {"--json", ""});
  const Outcome match = run_motes({"match", "gen:uniform?rows=3&high=5", "--matching", ""});
  CHECK(match.code == kUsage);
  CHECK_THAT(match.err, Contains("--matching"));
}

TEST_CASE("simulate accepts only a configuration") {
  const TempDir dir;
  for (const std::string& config :
       {table(dir, "frame,x_um,y_um\n0,1,1\n"), (dir / "absent.yml").string(), dir.path().string()}) {
    const Outcome outcome = run_motes({"simulate", config, "-o", (dir / "s").string()});
    INFO(outcome.err);
    CHECK(outcome.code == kUsage);
    CHECK(is_one_error_line(outcome.err));
    CHECK_THAT(outcome.err, Contains(config));
    CHECK(!std::filesystem::exists(dir / "s"));
  }
}

TEST_CASE("A track that is its own mother") {
  const TempDir dir;
  write_file(dir / "t.csv", "particle,frame,x_um,y_um,z_um,parent\n1,0,1,1,1,-1\n2,1,1,1,1,2\n");
  const Outcome outcome = run_motes({"convert", (dir / "t.csv").string(), (dir / "t.h5").string()});
  CHECK(outcome.code == kInput);
  CHECK_THAT(outcome.err, Contains("t.csv:3: track 2 is its own parent"));
  CHECK(!std::filesystem::exists(dir / "t.h5"));
}

TEST_CASE("A speed without a frame interval") {
  const TempDir dir;
  const std::string points = table(dir, "frame,x_um,y_um,z_um\n0,1,1,1\n1,1,1,1\n");
  track_fails(points, dir, kUsage, "input.dt_s", {"--set", "linking.max_speed_um_s=1"});
  track_fails(points, dir, kUsage, "linking.gate_um",
              {"--set", "linking.max_speed_um_s=1", "--set", "linking.gate_um=1"});
}

TEST_CASE("Bad configuration names file and line") {
  const TempDir dir;
  write_file(dir / "c.yaml", "input:\n  path: a.csv\nlinking:\n  gate_um: -3\n");
  track_fails((dir / "c.yaml").string(), dir, kUsage, "c.yaml:4");
}

TEST_CASE("An empty frame in the middle is a gap; linked pair by pair it only ends tracks") {
  const TempDir dir;
  const std::string points = table(dir, "frame,x_um,y_um,z_um\n0,1,1,1\n1,1.1,1,1\n3,1.2,1,1\n4,1.3,1,1\n");
  for (const auto& [scope, tracks] : {std::pair{"pairs", "2 tracks of 4 detections in 5 frames"},
                                      std::pair{"series", "1 track of 4 detections in 5 frames"}}) {
    const Outcome outcome = run_motes({"track", points, "-o", (dir / scope).string(), "--set",
                                       "linking.gate_um=1", "--set", std::string("linking.scope=") + scope});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Contains(tracks));
  }
}

TEST_CASE("Frames with nothing to link are tracks of one point") {
  const TempDir dir;
  const std::string points = table(dir, "frame,x_um,y_um,z_um\n0,1,1,1\n2,1.1,1,1\n");
  const Outcome outcome = run_motes({"track", points, "-o", (dir / "t").string()});
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("2 tracks of 2 detections"));
  CHECK_THAT(outcome.err, Contains("nothing can be linked"));
}

TEST_CASE("Places that cannot be written") {
  const TempDir dir;
  const std::string points = table(dir, "frame,x_um,y_um,z_um\n0,1,1,1\n1,1,1,1\n");
  for (const std::string& place : {(dir / "points.csv" / "below").string(), std::string("/proc/motes")}) {
    const Outcome outcome = run_motes({"track", points, "-o", place});
    INFO(outcome.err);
    CHECK(outcome.code == kResources);
    CHECK_THAT(outcome.err, Contains(place) && Contains("motes: error: "));
  }
  const Outcome report = run_motes({"info", "--json", "/proc/motes/r.json"});
  CHECK(report.code == kResources);
}
