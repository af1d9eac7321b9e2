#include <atomic>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/io/frame_source.h>

#include "app/interrupt.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;

using namespace motes::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

void fails(const std::vector<std::string>& arguments, int code, const std::string& says) {
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  CHECK(outcome.code == code);
  CHECK(is_one_error_line(outcome.err));
  CHECK_THAT(outcome.err, Contains(says));
  CHECK(outcome.out.empty());
}

}  // namespace

TEST_CASE("Mistyped commands and options are answered with the nearest names") {
  fails({"trak", "a.tif"}, 2, "did you mean 'track'");
  fails({"track", "a.tif", "--theads", "2"}, 2, "did you mean '--threads'");
  fails({"track", "--outputt=x", "a.tif"}, 2, "did you mean '--output'");
  fails({"track", "--out", "x", "a.tif"}, 2, "did you mean '--output'");
  fails({"help", "linking.gat"}, 2, "did you mean 'linking.gate_um'");
  fails({"version"}, 2, "motes --version does that");
  fails({"track", "a.tif", "b.tif"}, 2, "one argument too many for 'track'; an output is given as -o b.tif");
  const TempDir images;
  for (const char* name : {"0.png", "1.png"}) write_file(images / name, "");
  fails({"track", (images / "0.png").string(), (images / "1.png").string()}, 2, "give their folder");
  fails({"track", (images / "*.png").string()}, 3, "give the folder, not a pattern");
  fails({"score", "a.csv", "b.csv"}, 2, "give both as --truth FILE --tracks FILE");
  fails({"track", "--tresh", "3", "a.tif"}, 2, "did you mean '--threshold'");
  fails({"info", "--set", "foo=1"}, 2, "unknown key 'foo' (motes info --options lists all keys)");
  fails({"--frob"}, 2, "unknown option '--frob'");
  fails({"track", "--polarity", "dark", "a.tif"}, 2, "it is a setting: --set detection.polarity=...");
  fails({"track", "--axis", "TYX", "a.tif"}, 2, "did you mean '--axes'");
  fails({"track", "a.tif", "--voxel", "0.5", "0.1", "0.1"}, 2, "write values without blanks, as in --voxel");
  fails({"track", "a.tif", "--memory", "3"}, 2, "'--memory'; --set linking.max_gap=N is the number");
  fails({"track", "a.tif", "-q"}, 2, "--quiet needs its full name");
  fails({"help", "bash"}, 2, "motes help --completion SHELL");
  fails({"help", "man"}, 2, "motes help --man");
  fails({"track", "--", "-a.tif", "-o", "b"}, 2, "'-o' is one argument too many");
  fails({"info", "-o=a.tif"}, 2, "unknown option '-o'");
  fails({"track", "--max-gap=2", "a.tif"}, 2, "--set linking.max_gap=...");
  fails({"track", "https://host/a.tif"}, 2, "motes reads local files");
  fails({"track", "-"}, 2, "does not read standard input");
  fails({"analyse", "s3://bucket/tracks.h5"}, 2, "motes reads local files");
  fails({"score", "--frobnicate"}, 2, "unknown option '--frobnicate'; see motes score --help");
  fails({"xyzzy"}, 2, "unknown command 'xyzzy'; see motes --help");
  fails({"link", "a.csv"}, 2, "motes track does that");
  fails({}, 2, "no command given");
  fails({"track", "a.tif", "detect"}, 2, "'detect' is one argument too many for 'track'");
  fails({"help", "track", "detect"}, 2, "one argument too many for 'help'");
  const TempDir dir;
  write_file(dir / "a.tif", "");
  fails({(dir / "a.tif").string()}, 2, "give a command first, as in motes track");
  fails({"track", "a.tif", "-o", ""}, 2, "--output: give a name; see motes track --help");
}

TEST_CASE("Values of options that are missing, repeated or not allowed are named") {
  fails({"track", "a.tif", "--gate"}, 2, "--gate needs a value (UM); see motes track --help");
  fails({"track", "a.tif", "--set"}, 2, "--set needs a value (key.path=value)");
  fails({"track", "a.tif", "--gate", "3", "--gate", "4"}, 2, "--gate is given more than once; keep one");
  fails({"cluster", "slurm", "a.tif", "--tasks", "0"}, 2,
        "--tasks: '0' is not allowed; allowed: a whole number above 0");
  fails({"match", "a.mtx", "--coarsen", "many"}, 2, "--coarsen: 'many' is not allowed; allowed: a whole");
  fails({"match", "a.mtx", "--coarsen-by", "size"}, 2, "'size' is not allowed; allowed: weight, density");
  fails({"track", "a.tif", "--columns", "x"}, 2, "role=NAME,... or {role: NAME");
  const Outcome crop = run_motes({"track", "a.tif", "--crop", "0:10"});
  CHECK_THAT(crop.err, Contains("--crop: input.crop: '0:10' is not allowed; two or three ranges are needed"));
  const TempDir dir;
  fails({"track", "a.tif", "--json", dir.path().string()}, 4, "is a folder");
}

TEST_CASE("Common options are checked like configuration keys") {
  fails({"info", "--threads", "many"}, 2, "--threads: execution.threads: 'many' is not allowed");
  fails({"info", "--backend", "gpu"}, 2, "auto, cpu or cuda");
  fails({"info", "--backend", "cuda"}, 2, "use auto or cpu");
  fails({"info", "--seed", "x"}, 2, "simulation.seed");
  fails({"info", "--set", "linking.gate=3"}, 2, "did you mean 'linking.gate_um'");
  fails({"info", "--config", "/nowhere.yaml"}, 2, "/nowhere.yaml");
}

TEST_CASE("A missing argument is named") {
  fails({"track"}, 2, "input.path");
  fails({"detect"}, 2, "input.path");
  fails({"simulate"}, 2, "CONFIG");
  fails({"score", "--truth", "a.csv"}, 2, "--tracks");
  fails({"convert", "a.csv"}, 2, "OUT");
}

TEST_CASE("Help and version go to standard output") {
  CHECK_THAT(run_motes({"--help"}).out, Contains("track") && Contains("simulate"));
  CHECK_THAT(run_motes({"track", "--help"}).out, Contains("--resume") && Contains("--set"));
  CHECK_THAT(run_motes({"--version"}).out, Contains("motes "));
  CHECK(run_motes({"--help"}).code == 0);
}

TEST_CASE("info shows the build and its solvers, as text and as JSON") {
  const Outcome text = run_motes({"info"});
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("compiler") && Contains("CUDA") && Contains("jv"));
  const Outcome structured = run_motes({"info", "--json", "-"});
  const json report = json::parse(structured.out);
  CHECK(report["solvers"].size() >= 1);
  CHECK(report["motes"].is_string());
}

TEST_CASE("Ctrl-C ends a simulation before anything is written") {
  const TempDir dir;
  write_file(dir / "c.yaml", "simulation:\n  particles: 20000\n  frames: 50\n");
  std::atomic<bool> over{false};
  std::thread user([&] {  // repeatedly, since a new command clears an earlier request
    while (!over) {
      motes::app::request_interrupt();
      std::this_thread::yield();
    }
  });
  const Outcome outcome = run_motes({"simulate", (dir / "c.yaml").string(), "-o", (dir / "out").string()});
  over = true;
  user.join();
  motes::app::clear_interrupt();
  CHECK(outcome.code == 130);
  CHECK_THAT(outcome.err, Contains("interrupted"));
  CHECK_FALSE(std::filesystem::exists(dir / "out" / "truth.h5"));
}

TEST_CASE("info shows the contents of a file") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), true);
  CHECK_THAT(run_motes({"info", (simulated / "frames/frames.ome.tif").string()}).out,
             Contains("OME-TIFF") && Contains("[0.2, 0.1, 0.1] um") && Contains("0.5 s"));
  CHECK_THAT(run_motes({"info", (simulated / "truth.h5").string()}).out, Contains("tracks:         24"));
  CHECK_THAT(run_motes({"info", (simulated / "detections.csv").string()}).out,
             Contains("points:         144"));
  fails({"info", (dir / "absent.tif").string()}, 3, "absent.tif");
}

TEST_CASE("simulate writes the truth, and positions without identities") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  for (const char* name : {"truth.h5", "truth.csv", "detections.csv", "config.yaml"}) {
    CHECK(std::filesystem::is_regular_file(simulated / name));
  }
  CHECK(!std::filesystem::exists(simulated / "frames"));
  const std::string header = file_bytes(simulated / "detections.csv").substr(0, 80);
  CHECK(header.find("particle") == std::string::npos);
  CHECK(header.find("track") == std::string::npos);

  const TempDir again;
  const auto repeated = simulate_small(again.path(), false, {"execution.threads=1"});
  CHECK(file_bytes(repeated / "detections.csv") == file_bytes(simulated / "detections.csv"));
  const TempDir other;
  const auto reseeded = simulate_small(other.path(), false, {"simulation.seed=5"});
  CHECK(file_bytes(reseeded / "truth.csv") != file_bytes(simulated / "truth.csv"));
}

TEST_CASE("simulate writes BigDataViewer volumes that are tracked like any other") {
  const TempDir dir;
  const auto simulated = simulate_small(
      dir.path(), true, {"imaging.format=bdv-h5", "imaging.bleaching_s=20", "imaging.intensity_spread=0.2"});
  CHECK_THAT(run_motes({"info", (simulated / "frames/frames.xml").string()}).out,
             Contains("BDV HDF5") && Contains("[0.2, 0.1, 0.1] um") && Contains("0.5 s"));
  CHECK(!std::filesystem::exists(simulated / "frames/frames.ome.tif"));
  // The truth has the brightness and size of each point.
  const std::string header = file_bytes(simulated / "truth.csv").substr(0, 200);
  CHECK_THAT(header, Contains("photons") && Contains("radius_um"));
  CHECK_THAT(file_bytes(simulated / "detections.csv").substr(0, 200), !Contains("photons"));
}

TEST_CASE("simulate rejects invalid values and names the key") {
  const TempDir dir;
  write_file(dir / "i.yaml", "imaging: {write_frames: true, psf: gibson-lanni, na: 1.4}\n");
  const Outcome aperture = run_motes({"simulate", (dir / "i.yaml").string()});
  CHECK(aperture.code == 2);
  CHECK_THAT(aperture.err, Contains("imaging.na: 1.4"));
  write_file(dir / "c.yaml", "simulation:\n  box_um: 1e-300\n");
  const Outcome bad = run_motes({"simulate", (dir / "c.yaml").string(), "--set", "simulation.persistence=2"});
  CHECK(bad.code == 2);
  CHECK_THAT(bad.err, Contains("simulation.persistence"));
}

TEST_CASE("convert keeps the tracks, and scores prove it") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  const std::string truth = (simulated / "truth.h5").string();
  for (const char* name : {"t.csv", "t.vtp", "t.vtkhdf", "t.h5"}) {
    const std::string copy = (dir / name).string();
    REQUIRE(run_motes({"convert", truth, copy}).code == 0);
    const Outcome scored =
        run_motes({"score", "--truth", truth, "--tracks", copy, "--gate", "0.5", "--json", "-"});
    INFO(name << scored.err);
    const json scores = json::parse(scored.out);
    CHECK(scores["alpha"] == 1.0);
    CHECK(scores["link"]["f1"] == 1.0);
    CHECK(scores["link"]["true"] == 120);
  }
  fails({"convert", truth, (dir / "t.doc").string()}, 2, ".doc");
}

TEST_CASE("score needs both sides in one unit, and scales px on request") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  const std::string truth = (simulated / "truth.h5").string(), plain = (dir / "plain.csv").string();
  write_file(plain, "particle,frame,x,y,z\n1,0,10,10,10\n1,1,11,10,10\n");
  fails({"score", "--truth", truth, "--tracks", plain}, 2, "input.voxel_um");
  CHECK(run_motes({"score", "--truth", truth, "--tracks", plain, "--set", "input.voxel_um=0.1"}).code == 0);
  const Outcome micrometres =  // a pixel of 1 um
      run_motes({"score", "--truth", truth, "--tracks", plain, "--set", "input.voxel_um=1", "--json", "-"});
  CHECK(micrometres.code == 0);
  CHECK(json::parse(micrometres.out)["length_unit"] == "um");
  CHECK(run_motes({"score", "--truth", plain, "--tracks", plain}).code == 0);
  fails({"score", "--truth", plain, "--tracks", plain, "--gate", "0"}, 2, "--gate");
  fails({"score", "--truth", plain, "--tracks", plain, "--frame-step", "x"}, 2, "--frame-step");
  fails({"score", "--truth", plain, "--tracks", (dir / "none.csv").string()}, 3, "none.csv");
}

TEST_CASE("score --frame-step drops frames on both sides") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  const std::string truth = (simulated / "truth.h5").string();
  const Outcome scored = run_motes({"score", "--truth", truth, "--tracks", truth, "--frame-step", "2",
                                    "--gate-link", "0.3", "--json", "-"});
  INFO(scored.err);
  const json scores = json::parse(scored.out);
  CHECK(scores["true_positives"] == 72);
  CHECK(scores["link"]["true"] == 48);
  CHECK(scores["gate_link"] == 0.3);
}
