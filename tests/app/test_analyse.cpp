#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("analyse measures known motion, and writes tables and a page") {
  const TempDir dir;
  write_file(dir / "diffusion.yaml",
             "simulation: {particles: 60, frames: 60, dt_s: 0.1, box_um: [40, 40, 40], motion: brownian, "
             "diffusion_um2_s: 0.05, seed: 2}\nfaults: {noise_um: 0.03}\n");
  REQUIRE(run_motes({"simulate", (dir / "diffusion.yaml").string(), "-o", (dir / "made").string()}).code ==
          0);
  REQUIRE(run_motes({"track", (dir / "made" / "detections.csv").string(), "-o", (dir / "run").string(),
                     "--quiet", "--set", "output.vtk=false", "--set", "output.preview=false", "--dt", "0.1"})
              .code == 0);
  const std::string tracks = (dir / "run" / "tracks.h5").string(), out = (dir / "motion").string();
  const Outcome outcome = run_motes({"analyse", tracks, "-o", out, "--json", (dir / "m.json").string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("diffusion constant: 0.0") && Contains("um^2/s"));
  const auto report = nlohmann::json::parse(file_bytes(dir / "m.json"));
  CHECK(report["command"] == "analyse");
  CHECK(report["time_unit"] == "s");
  CHECK(report["dimensions"] == 3);
  CHECK(report["diffusion"]["value"].get<double>() == Approx(0.05).epsilon(0.15));
  CHECK(report["diffusion"]["localisation_error"].get<double>() == Approx(0.03).epsilon(0.3));
  CHECK(report["lags"].size() > 5);
  CHECK(nlohmann::json::parse(file_bytes(dir / "motion" / "analysis.json")) == report);
  CHECK_THAT(file_bytes(dir / "motion" / "msd.csv"),
             StartsWith("lag_frames,lag_s,pairs,tracks,msd_um2,msd_error_um2"));
  CHECK_THAT(file_bytes(dir / "motion" / "drift.csv"), StartsWith("frame,links,dx_um"));
  CHECK_THAT(file_bytes(dir / "motion" / "track_figures.csv"), StartsWith("particle,points,"));
  CHECK_THAT(file_bytes(dir / "motion" / "analysis.html"), Contains("Mean squared displacement"));
}

TEST_CASE("The folder of a run stands for its tracks.h5") {
  const TempDir dir;
  write_file(dir / "t.csv", "frame,x_um,y_um,z_um\n0,0,0,0\n1,1,0,0\n2,2,0,0\n3,3,0,0\n");
  const std::string run = (dir / "run").string(), h5 = (dir / "run" / "tracks.h5").string();
  REQUIRE(run_motes({"track", (dir / "t.csv").string(), "-o", run, "--gate", "2", "--quiet"}).code == 0);
  CHECK(run_motes({"analyse", run}).out == run_motes({"analyse", h5}).out);
  CHECK_THAT(run_motes({"info", run}).out, Contains("points:         4"));
  CHECK(run_motes({"score", "--truth", run, "--tracks", h5}).code == 0);
  REQUIRE(run_motes({"convert", run, (dir / "copy.h5").string()}).code == 0);
  CHECK(file_bytes(dir / "copy.h5") == file_bytes(h5));
  const Outcome again = run_motes({"track", run, "-o", (dir / "again").string(), "--gate", "2"});
  INFO(again.err);
  CHECK(again.code == 0);
  std::filesystem::remove(h5);
  const Outcome none = run_motes({"analyse", run});
  CHECK(none.code == 3);
  CHECK_THAT(none.err, Contains("this folder has no tracks"));
}

TEST_CASE("Tracks of planes drift along x and y alone") {
  const TempDir dir;
  write_file(dir / "t.csv", "frame,particle,x_um,y_um\n0,0,0,0\n1,0,1,0\n2,0,2,1\n3,0,3,0\n");
  const std::string tracks = (dir / "t.csv").string(), out = (dir / "motion").string();
  CHECK_THAT(run_motes({"analyse", tracks, "-o", out}).out, Contains("drift: 1, 0 um per step along x, y\n"));
  CHECK_THAT(file_bytes(dir / "motion" / "analysis.html"), !Contains("\"name\":\"z\""));
  write_file(dir / "t.csv", "frame,particle,x_um,y_um,z_um\n0,0,0,0,0\n1,0,1,0,1\n2,0,2,0,0\n3,0,3,0,0\n");
  CHECK_THAT(run_motes({"analyse", tracks, "-o", out}).out,
             Contains("drift: 1, 0, 0 um per step along x, y, z"));
  CHECK_THAT(file_bytes(dir / "motion" / "analysis.html"), Contains("\"name\":\"z\""));
}

TEST_CASE("analyse names quantities that tracks do not determine, and rejects unusable input") {
  const TempDir dir;
  write_file(dir / "run.csv", "particle,frame,x,y,z\n0,0,0,0,0\n0,1,1,0,0\n0,2,2,0,0\n0,3,3,0,0\n");
  const Outcome run = run_motes({"analyse", (dir / "run.csv").string(), "--set", "input.unit=px"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("1 track only") && Contains("this is not diffusion"));
  CHECK_THAT(run.out, Contains("px^2/frame"));
  write_file(dir / "points.csv", "particle,frame,x,y,z\n0,0,0,0,0\n1,1,1,0,0\n");
  const Outcome points = run_motes({"analyse", (dir / "points.csv").string(), "--set", "input.unit=um"});
  CHECK(points.code == 0);
  CHECK_THAT(points.err, Contains("no track has two points"));
  CHECK_THAT(points.out, Contains("unknown: no track has two successive steps"));
  CHECK_THAT(
      run_motes({"analyse", (dir / "run.csv").string(), "--voxel", "2", "--dt", "4", "--min-length", "9"})
          .err,
      Contains("no track has 9 points"));
  CHECK_THAT(run_motes({"analyse", (dir / "run.csv").string(), "--voxel", "2", "--dt", "4"}).out,
             Contains("MSD after 1 frame: 4 um^2"));
  CHECK(run_motes({"analyse"}).code == 2);
  CHECK(run_motes({"analyse", (dir / "run.csv").string(), "--max-lag", "0"}).code == 2);
  CHECK(run_motes({"analyse", (dir / "none.csv").string()}).code == 3);
}
