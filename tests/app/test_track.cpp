#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/base/gpu/device.h>

#include "app/interrupt.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;

using namespace motes::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Runs a command that must succeed.
Outcome must_run(const std::vector<std::string>& arguments) {
  Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return outcome;
}

json read_json(const std::filesystem::path& path) { return json::parse(file_bytes(path)); }

/// A report without the values that may differ from run to run.
json without_times(json report) {
  for (const char* key : {"stages", "seconds", "file_seconds"}) report.erase(key);
  report.erase("peak_memory_mb");
  for (json& pair : report["pairs"]) pair.erase("seconds");
  return report;
}

std::vector<std::string> files_below(const std::filesystem::path& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) names.push_back(std::filesystem::relative(entry.path(), dir).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Checks that two output folders have the same files with the same bytes, except for times in the report.
void check_same_results(const std::filesystem::path& a, const std::filesystem::path& b) {
  CHECK(files_below(a) == files_below(b));
  for (const std::string& name : files_below(a)) {
    INFO(name);
    const bool same = name == "report.json"
                          ? without_times(read_json(a / name)) == without_times(read_json(b / name))
                          : file_bytes(a / name) == file_bytes(b / name);
    CHECK(same);
  }
}

std::vector<std::string> stage_names(const json& report) {
  std::vector<std::string> names;
  for (const json& stage : report["stages"]) names.push_back(stage["stage"]);
  return names;
}

double link_f1(const std::string& truth, const std::filesystem::path& tracks, const std::string& step = "1") {
  const Outcome scored = must_run({"score", "--truth", truth, "--tracks", (tracks / "tracks.h5").string(),
                                   "--gate", "0.3", "--frame-step", step, "--json", "-"});
  return json::parse(scored.out)["link"]["f1"];
}

}  // namespace

TEST_CASE("The report lists the first thousand pairs; output.pairs writes all") {
  const TempDir dir;
  std::string table = "frame,x_um,y_um,z_um\n";
  for (int f = 0; f < 1500; ++f) table += std::to_string(f) + ",1,2,3\n" + std::to_string(f) + ",9,9,9\n";
  write_file(dir / "t.csv", table);
  for (const std::string pairs : {"false", "true"}) {
    const std::filesystem::path out = dir / pairs;
    must_run({"track", (dir / "t.csv").string(), "-o", out.string(), "--set", "linking.scope=pairs", "--set",
              "output.pairs=" + pairs});
    const json report = read_json(out / "report.json");
    CHECK(report["tracks"]["tracks"] == 2);
    CHECK(report["pairs_total"] == 1499);
    REQUIRE(report["pairs"].size() == 1000);
    CHECK(report["pairs"][999]["from"] == 999);
    CHECK(report["pairs"][999]["links"] == 2);
    CHECK(std::filesystem::exists(out / "pairs.csv") == (pairs == "true"));
  }
  const std::string text = file_bytes(dir / "true" / "pairs.csv");
  CHECK(std::count(text.begin(), text.end(), '\n') == 1500);
  CHECK_THAT(text, Contains("\n1498,1499,jv,cpu,optimal,0,2,2,"));
}

TEST_CASE("Linked on a GPU, tracks are the same bytes; without a GPU, only auto continues") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  for (const std::string backend : {"cpu", "auto"})
    must_run({"track", input, "-o", (dir / backend).string(), "--backend", backend, "--set",
              "linking.scope=pairs"});
  const std::vector<std::string> same{"tracks.h5",     "tracks.csv", "tracks.vtp",
                                      "tracks.vtkhdf", "frames.pvd", "preview.png"};
  for (const std::string& name : same)
    CHECK(file_bytes(dir / "auto" / name) == file_bytes(dir / "cpu" / name));
  const json report_auto = read_json(dir / "auto" / "report.json");
  for (const json& pair : report_auto["pairs"]) CHECK(pair["backend"] == "cpu");

  const std::vector<std::string> on_gpu{"track",     input,  "-o",    (dir / "gpu").string(),
                                        "--backend", "cuda", "--set", "linking.scope=pairs"};
  if (gpu::list_devices().devices.empty()) {
    const Outcome refused = run_motes(on_gpu);
    CHECK(refused.code == 4);
    CHECK(is_one_error_line(refused.err));  // before any input is read
    CHECK_THAT(refused.err, Contains("execution.backend: no GPU"));
    CHECK(!std::filesystem::exists(dir / "gpu"));
    return;
  }
  must_run(on_gpu);
  for (const std::string& name : same)
    CHECK(file_bytes(dir / "gpu" / name) == file_bytes(dir / "cpu" / name));
  const json report_gpu = read_json(dir / "gpu" / "report.json");
  for (const json& pair : report_gpu["pairs"]) {
    CHECK(pair["backend"] == "cuda");
    CHECK(pair["components"].is_null());
  }
}

TEST_CASE("The automatic gate is reported with the curve it was estimated from") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  const Outcome outcome =
      must_run({"track", input, "-o", (dir / "t").string(), "--set", "linking.scope=pairs"});
  CHECK_THAT(outcome.err,
             Contains("(estimated)") && Contains("links possible within 0.25 0.5 0.75 1 1.5 2 x the gate:"));
  const json linking = read_json(dir / "t" / "report.json")["linking"];
  const json& estimate = linking["estimate"];
  CHECK(estimate["gate_um"] == linking["gate_um"]);
  CHECK(estimate["share"] == 0.99);
  REQUIRE(estimate["curve"]["pairs"].size() == 5);
  for (const json& pair : estimate["curve"]["pairs"])
    CHECK(pair["cardinality"].size() == estimate["curve"]["gates_um"].size());
  for (const char* share : {"0", "1.5", "-1", "much"}) {
    const Outcome refused = run_motes(
        {"track", input, "-o", (dir / "r").string(), "--set", std::string("linking.gate_share=") + share});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("linking.gate_share") && Contains("above 0, at most 1"));
  }
}

TEST_CASE("Greedy links say that they are a heuristic") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  must_run({"track", input, "-o", (dir / "t").string(), "--set", "linking.solver=greedy", "--set",
            "linking.verify=true"});
  const json report_t = read_json(dir / "t" / "report.json");
  for (const json& pair : report_t["pairs"]) {
    CHECK(pair["solver"] == "greedy");
    CHECK(pair["status"] == "heuristic");
    CHECK(pair["verified"].is_null());
    CHECK(pair["gap"].is_null());
  }
}

TEST_CASE("From volumes to scored tracks, with every output file") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), true);
  const auto out = dir / "tracks";
  const Outcome outcome =
      must_run({"track", (simulated / "frames/frames.ome.tif").string(), "-o", out.string()});
  CHECK_THAT(outcome.err,
             Contains("axes:") && Contains("voxel size:") && Contains("spot radius") && Contains("gate "));
  CHECK_THAT(outcome.out, Contains(out.string()));
  for (const char* name : {"tracks.h5", "tracks.csv", "tracks.vtp", "tracks.vtkhdf", "frames.pvd",
                           "config.yaml", "report.json", "preview.png", "report.html"}) {
    INFO(name);
    CHECK(std::filesystem::is_regular_file(out / name));
  }
  CHECK(!std::filesystem::exists(out / "checkpoint.log"));
  CHECK(link_f1((simulated / "truth.h5").string(), out) > 0.95);
  const json report = read_json(out / "report.json");
  CHECK(report["frames"].size() == 6);
  CHECK(report["frames"][0]["threshold"].is_number());
  CHECK(report["pairs"].size() == 5);
  CHECK(report["pairs"][0]["status"] == "optimal");
  CHECK(stage_names(report) ==
        std::vector<std::string>{"start", "read", "detect", "gate", "link", "tracks", "write", "report"});
}

TEST_CASE("The report gives the time of reading and detecting, and which of them limits the run") {
  const TempDir dir;
  const auto input = (simulate_small(dir.path(), true) / "frames/frames.ome.tif").string();
  must_run({"track", input, "-o", (dir / "t").string(), "--threads", "2", "--quiet"});
  const json report = read_json(dir / "t" / "report.json");
  const json& stage = report["stages"][2];
  REQUIRE(stage["stage"] == "detect");
  const double read = stage["busy_s"]["read"], detect = stage["busy_s"]["detect"];
  CHECK(read > 0);
  CHECK(detect > 0);
  CHECK(read + detect < 2 * stage["seconds"].get<double>());  // two threads
  CHECK(stage["bound_by"] == (read > detect / 2 ? "read" : "detect"));
  for (const json& other : report["stages"])
    if (other["stage"] != "detect") CHECK_FALSE(other.contains("busy_s"));
}

TEST_CASE("Every second of a run belongs to a stage") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  motes::app::Hooks hooks;
  hooks.before_s = 0.25;  // for loading the libraries
  const Outcome outcome = run_motes({"track", input, "-o", (dir / "t").string()}, hooks);
  REQUIRE(outcome.code == 0);
  const json report = read_json(dir / "t" / "report.json");
  CHECK(stage_names(report) ==
        std::vector<std::string>{"start", "read", "gate", "link", "tracks", "write", "report"});
  double sum = 0;
  for (const json& stage : report["stages"]) sum += stage["seconds"].get<double>();
  CHECK(sum == Approx(report["seconds"].get<double>()).epsilon(1e-6));
  CHECK(report["stages"][0]["seconds"] >= 0.25);
  CHECK(report["file_seconds"].size() + 1 == report["files"].size());  // report.html
}

TEST_CASE("Speed-only options and the place of the results change no byte") {
  const TempDir dir;
  const auto input = (simulate_small(dir.path(), true) / "frames/frames.ome.tif").string();
  must_run({"track", input, "-o", (dir / "one").string(), "--quiet"});
  must_run({"track", input, "-o", (dir / "two").string(), "--quiet"});
  check_same_results(dir / "one", dir / "two");
  must_run({"track", input, "-o", (dir / "three").string(), "--quiet", "--threads", "1", "--set",
            "linking.verify=true"});
  CHECK(file_bytes(dir / "three" / "tracks.csv") == file_bytes(dir / "one" / "tracks.csv"));
}

TEST_CASE("An interrupted run keeps its frames, and --resume gives the same bytes") {
  const TempDir dir;
  const auto input = (simulate_small(dir.path(), true) / "frames/frames.ome.tif").string();
  must_run({"track", input, "-o", (dir / "whole").string()});

  const std::vector<std::string> command{"track", input, "-o", (dir / "cut").string()};
  motes::app::Hooks hooks;
  hooks.after_frame = [](std::int32_t done) {
    if (done == 3) motes::app::request_interrupt();
  };
  const Outcome interrupted = run_motes(command, hooks);
  CHECK(interrupted.code == 130);
  CHECK_THAT(interrupted.err, Contains("after 3 of 6 frames") && Contains("--resume"));
  CHECK(files_below(dir / "cut") == std::vector<std::string>{"checkpoint.log"});

  SECTION("the same command continues where it stopped") {
    auto resumed = command;
    resumed.push_back("--resume");
    CHECK_THAT(must_run(resumed).err, Contains("resuming after 3 finished frames"));
    check_same_results(dir / "whole", dir / "cut");
  }
  SECTION("other settings are refused: their frames would differ") {
    const Outcome other = run_motes(
        {"track", input, "-o", (dir / "cut").string(), "--resume", "--set", "detection.radius_um=0.3"});
    CHECK(other.code == 2);
    CHECK_THAT(other.err, Contains("checkpoint.log"));
  }
  SECTION("a damaged end loses only its own frames") {
    const std::string log = file_bytes(dir / "cut" / "checkpoint.log");
    write_file(dir / "cut" / "checkpoint.log", log.substr(0, log.size() - 5));
    auto resumed = command;
    resumed.push_back("--resume");
    CHECK_THAT(must_run(resumed).err, Contains("resuming after 2 finished frames"));
    check_same_results(dir / "whole", dir / "cut");
  }
  SECTION("without --resume the run starts over") {
    must_run(command);
    check_same_results(dir / "whole", dir / "cut");
  }
}

TEST_CASE("track --resume without anything to resume is an ordinary run") {
  const TempDir dir;
  const auto input = (simulate_small(dir.path(), true) / "frames/frames.ome.tif").string();
  CHECK_THAT(must_run({"track", input, "-o", (dir / "t").string(), "--resume"}).err,
             Contains("nothing to resume"));
}

TEST_CASE("Another run's results are overwritten only with --force, and are then removed") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  const auto out = dir / "t";
  const std::vector<std::string> command{"track", input, "-o", out.string(), "--gate", "0.5"};
  must_run(command);
  must_run(command);  // the same run
  std::vector<std::string> other{"track",  input,  "-o",    out.string(),
                                 "--gate", "0.25", "--set", "output.vtk=false"};
  const std::string before = file_bytes(out / "tracks.h5");
  const Outcome refused = run_motes(other);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("linking.gate_um was 0.5 and is 0.25") && Contains("--force"));
  CHECK(file_bytes(out / "tracks.h5") == before);
  write_file(out / "notes.txt", "mine");
  other.push_back("--force");
  must_run(other);
  CHECK(files_below(out) == std::vector<std::string>{"config.yaml", "notes.txt", "preview.png", "report.html",
                                                     "report.json", "tracks.csv", "tracks.h5"});
  write_file(out / "config.yaml", "input: {no such key: 1}\n");
  CHECK(run_motes(command).code == 2);
}

TEST_CASE("report.html is self-contained and has the results of the run") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  must_run({"track", input, "-o", (dir / "t").string(), "--gate", "0.5"});
  const std::string page = file_bytes(dir / "t" / "report.html");
  CHECK_THAT(page,
             !Contains("src=\"http") && !Contains("{{") && Contains("data:image/png;base64,iVBORw0KGgo"));
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(open) + open.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  REQUIRE(data["charts"].size() == 4);
  CHECK(data["charts"][0]["series"][0]["x"].size() == 6);
  CHECK(data["charts"][1]["series"][1]["name"] == "gate (linking.gate_um)");
  double links = 0, counted = 0;
  for (const json& count : data["charts"][1]["series"][0]["y"]) counted += count.get<double>();
  const json report = read_json(dir / "t" / "report.json");
  for (const json& pair : report["pairs"]) links += pair["links"].get<double>();
  CHECK(counted > 0);
  CHECK(counted <= links);
  bool told = false;
  for (const json& parameter : data["parameters"])
    if (parameter["key"] == "linking.gate_um")
      told = parameter["from"] == "--gate" && parameter["value"] == "0.5";
  CHECK(told);
  std::size_t points = 0;
  for (const json& length : data["scene"]["lengths"]) points += length.get<std::size_t>();
  CHECK(points == data["scene"]["frames"].size());
  CHECK(data["scene"]["points"].get<std::string>().size() == (6 * points + 2) / 3 * 4);
  CHECK(data["scene"]["tracks"] == data["scene"]["of_tracks"]);
}

TEST_CASE("report.html of a long series shows means of frames and part of the points") {
  const TempDir dir;
  std::string table = "frame,x_um,y_um,z_um\n";
  for (int t = 0; t < 25'000; ++t) table += std::to_string(t) + "," + std::to_string(t % 2 * 0.01) + ",0,0\n";
  write_file(dir / "long.csv", table);
  REQUIRE(run_motes({"track", (dir / "long.csv").string(), "-o", (dir / "t").string(), "--quiet", "--set",
                     "output.vtk=false", "--set", "output.preview=false", "--set", "linking.scope=pairs"})
              .code == 0);
  const std::string page = file_bytes(dir / "t" / "report.html");
  CHECK_THAT(page, Contains("(means of 13 frames)"));
  CHECK_THAT(page, Contains("\"lengths\":[12500]") && Contains("\"every\":2"));
}

TEST_CASE("A browser draws every plot of report.html without an error") {
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) MOTES_SKIP("there is no chromium");
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  must_run({"track", input, "-o", (dir / "t").string()});
  const std::string page = (dir / "t" / "report.html").string();
  const std::string command =
      "HOME=" + dir.path().string() +
      " timeout 100 chromium --headless=new --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader "
      "--virtual-time-budget=5000 "
      "--enable-logging=stderr --dump-dom file://" +
      page + " > " + (dir / "dom.html").string() + " 2> " + (dir / "log.txt").string();
  if (std::system(command.c_str()) != 0) MOTES_SKIP("chromium does not start here");
  const std::string dom = file_bytes(dir / "dom.html");
  CHECK_THAT(file_bytes(dir / "log.txt"), !Contains("Uncaught"));
  if (dom.find("<p>Plots are left out") != std::string::npos) MOTES_SKIP("built without Chart.js");
  std::size_t canvases = 0;
  for (auto at = dom.find("<canvas"); at != std::string::npos; at = dom.find("<canvas", at + 1)) ++canvases;
  const bool in_3d = dom.find("<div id=\"scene\" hidden") == std::string::npos;  // else no WebGL here
  CHECK(canvases == (in_3d ? 5 : 4));
  CHECK_THAT(dom, Contains("<td>linking.gate_um</td>"));
}

TEST_CASE("Tables and tracks are linked without detection") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  const std::string truth = (simulated / "truth.h5").string();
  must_run({"track", (simulated / "detections.csv").string(), "-o", (dir / "csv").string(), "--set",
            "linking.gate_um=0.5"});
  CHECK(link_f1(truth, dir / "csv") == 1.0);
  must_run({"track", truth, "-o", (dir / "h5").string(), "--set", "linking.gate_um=0.5"});
  CHECK(link_f1(truth, dir / "h5") == 1.0);
  const Outcome detected = run_motes({"detect", truth, "-o", (dir / "no.csv").string()});
  CHECK(detected.code == 2);
  CHECK_THAT(detected.err, Contains("holds points already"));
}

TEST_CASE("frame_step keeps multiples, with the input's frame numbers and times") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), true);
  const std::string truth = (simulated / "truth.h5").string();
  for (const char* input : {"frames/frames.ome.tif", "detections.csv"}) {
    INFO(input);
    const auto out = dir / "stepped";
    must_run({"track", (simulated / input).string(), "-o", out.string(), "--force", "--set",
              "input.frame_step=2", "--set", "linking.max_speed_um_s=0.5", "--set", "input.dt_s=0.5"});
    const json report = read_json(out / "report.json");
    CHECK(report["frames"].size() == 3);
    CHECK(report["frames"][2]["frame"] == 4);
    CHECK(report["linking"]["gate_um"] == 0.5);
    CHECK(link_f1(truth, out, "2") > 0.95);
  }
}

TEST_CASE("A configuration file is an input too, and the one written can be run again") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  write_file(dir / "simulated" / "track.yaml", "input:\n  path: detections.csv\nlinking:\n  gate_um: 0.5\n");
  must_run({"track", (simulated / "track.yaml").string(), "-o", (dir / "one").string()});
  must_run({"track", (dir / "one" / "config.yaml").string(), "-o", (dir / "two").string()});
  check_same_results(dir / "one", dir / "two");
}

TEST_CASE("track --json - prints JSON alone, and --quiet nothing") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  const std::string input = (simulated / "detections.csv").string();
  const Outcome as_json = must_run({"track", input, "-o", (dir / "t").string(), "--json", "-"});
  CHECK(without_times(json::parse(as_json.out)) == without_times(read_json(dir / "t" / "report.json")));
  const Outcome quiet = must_run({"track", input, "-o", (dir / "t").string(), "--quiet"});
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  const Outcome both =
      must_run({"track", input, "-o", (dir / "t").string(), "--quiet", "--json", (dir / "r.json").string()});
  CHECK(both.out.empty());
  CHECK(read_json(dir / "r.json")["command"] == "track");
}

TEST_CASE("detect writes a table that track links") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), true);
  const std::string frames = (simulated / "frames/frames.ome.tif").string();
  for (const std::string& table : {(dir / "found.csv").string(), (dir / "found.h5").string()}) {
    INFO(table);
    must_run({"detect", frames, "-o", table});
    must_run({"track", table, "-o", (dir / "t").string(), "--force", "--gate", "0.5"});
    const json report = read_json(dir / "t" / "report.json");
    CHECK(report["input"]["dt_s"] == 0.5);
    CHECK(link_f1((simulated / "truth.h5").string(), dir / "t") > 0.95);
  }
  const Outcome refused = run_motes({"detect", frames, "-o", (dir / "found.vtp").string()});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("found.vtp") && Contains(".csv or .h5"));
  CHECK(!std::filesystem::exists(dir / "found.vtp"));
}

TEST_CASE("The option --dt overrides the interval in detections.h5") {
  const TempDir dir;
  const auto made = simulate_small(dir.path(), true);
  const std::string spots = (dir / "d.h5").string();
  REQUIRE(run_motes({"detect", (made / "frames" / "frames.ome.tif").string(), "-o", spots, "--quiet"}).code ==
          0);
  REQUIRE(run_motes({"track", spots, "-o", (dir / "run").string(), "--dt", "7", "--quiet"}).code == 0);
  CHECK_THAT(run_motes({"info", (dir / "run" / "tracks.h5").string()}).out, Contains("frame interval: 7 s"));
}

TEST_CASE("A simulated table states its frame interval, also if it is one second") {
  const TempDir dir;
  write_file(dir / "s.yaml", "simulation: {particles: 5, frames: 3, dt_s: 1}\n");
  must_run({"simulate", (dir / "s.yaml").string(), "-o", (dir / "s").string()});
  must_run({"track", (dir / "s" / "detections.csv").string(), "-o", (dir / "t").string()});
  const json report = read_json(dir / "t" / "report.json");
  CHECK(report["input"]["dt_s"] == 1.0);
}

TEST_CASE("A solver by name gives the tracks of auto") {
  const TempDir dir;
  const std::string input = (simulate_small(dir.path(), false) / "detections.csv").string();
  for (const std::string scope : {"pairs", "series"}) {
    const auto track = [&](const std::string& name, const std::string& solver) {
      must_run({"track", input, "-o", (dir / (scope + name)).string(), "--set", "linking.scope=" + scope,
                "--set", "linking.solver=" + solver});
      return file_bytes(dir / (scope + name) / "tracks.csv");
    };
    CAPTURE(scope);
    // `auto` takes jv; an auction reaches the same tracks in other steps.
    CHECK(track("a", "auto") == track("b", "auction-scaled"));
  }
}
