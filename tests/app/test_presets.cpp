/// The configurations that users copy: each runs, shortened, and does as its comments say.
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <motes/io/detections_h5.h>
#include <motes/io/tables.h>
#include <motes/io/track_files.h>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

using Settings = std::vector<std::string>;

/// Settings that shorten a preset for a test.
const std::map<std::string, Settings> kPresets{
    {"demo", {"simulation.frames=2", "simulation.particles=20"}},
    {"paper-fig5", {"simulation.frames=5"}},
    {"virus-like", {"simulation.frames=2", "simulation.box_um=[1.8, 6.3, 6.3]", "simulation.particles=20"}},
    {"vesicle-like", {"simulation.frames=10"}},
    {"receptor-like", {"simulation.frames=20"}},
    {"microtubule-like", {"simulation.frames=20"}},
    {"embryo", {"simulation.frames=90"}},
    {"turbulence-1e6", {"simulation.frames=4", "simulation.particles=300"}},
    {"dense-stress", {"simulation.frames=3", "simulation.box_um=10"}}};

std::filesystem::path config_of(const std::string& name) {
  return std::filesystem::path(MOTES_SOURCE_DIR) / "configs" / (name + ".yaml");
}

nlohmann::json simulate(const std::filesystem::path& config, const std::filesystem::path& out,
                        const Settings& settings) {
  std::vector<std::string> arguments{"simulate", config.string(), "-o", out.string(), "--json", "-"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_CASE("every preset that simulates runs, and lists its files") {
  const TempDir dir;
  std::set<std::string> tested;
  for (const auto& entry : std::filesystem::directory_iterator(config_of("demo").parent_path())) {
    const std::string name = entry.path().stem().string();
    if (file_bytes(entry.path()).find("\nsimulation:") == std::string::npos) continue;
    INFO(name);
    REQUIRE(kPresets.count(name) == 1);
    const auto report = simulate(entry.path(), dir / name, kPresets.at(name));
    for (const auto& file : report["files"])
      CHECK(std::filesystem::is_regular_file(dir.path() / name / file.get<std::string>()));
    CHECK(report["truth"]["points"].get<int>() > 0);
    tested.insert(name);
  }
  CHECK(tested.size() == kPresets.size());

  const TrackSet embryo = io::read_tracks(dir / "embryo" / "truth.h5");
  CHECK(embryo.tracks() > 120);
  CHECK(io::read_tracks(dir / "embryo" / "truth.csv").parent == embryo.parent);
  const TrackSet receptors = io::read_tracks(dir / "receptor-like" / "truth.csv");
  REQUIRE(receptors.point_properties.size() == 1);
  CHECK(receptors.point_properties[0].name == "state");
  // track reads the HDF5 that simulate writes.
  const auto detections = (dir / "turbulence-1e6" / "detections.h5").string();
  CHECK(run_motes({"track", detections, "-o", (dir / "t").string(), "--quiet"}).code == 0);
  CHECK_THAT(run_motes({"info", detections}).out, Contains("detections"));
}

TEST_CASE("detections have no identities; detection_truth.csv and truth.h5 have") {
  const TempDir dir;
  const auto out = dir / "out";
  simulate(config_of("dense-stress"), out,
           {"simulation.box_um=8", "simulation.frames=4", "simulation.detections=[csv, h5]"});
  const std::string header = file_bytes(out / "detections.csv").substr(0, 40);
  CHECK(header.substr(0, header.find('\n')) == "frame,t_s,x_um,y_um,z_um");
  const auto csv = io::read_points_csv(out / "detections.csv", {});
  const auto h5 = io::read_detections_h5(out / "detections.h5");
  REQUIRE(csv.frames.size() == h5.frames.size());
  for (std::size_t k = 0; k < csv.frames.size(); ++k) {
    CHECK(csv.frames[k].x_um == h5.frames[k].x_um);
    CHECK(h5.frames[k].time_s != h5.frames[k].frame);  // the jittered times
  }
  // Every line of detection_truth.csv agrees with the truth's own column.
  const TrackSet truth = io::read_tracks(out / "truth.h5");
  std::map<std::pair<int, long>, std::int64_t> detection_of;
  for (std::size_t t = 0; t < truth.tracks(); ++t)
    for (auto p = static_cast<std::size_t>(truth.track_offsets[t]);
         p < static_cast<std::size_t>(truth.track_offsets[t + 1]); ++p)
      if (truth.detection[p] >= 0) detection_of[{truth.frame[p], truth.track_id[t]}] = truth.detection[p];
  std::istringstream lines(file_bytes(out / "detection_truth.csv"));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "frame,detection,particle");
  std::size_t real = 0, wrong = 0;
  while (std::getline(lines, line)) {
    int frame = 0;
    long detection = 0, particle = 0;
    REQUIRE(std::sscanf(line.c_str(), "%d,%ld,%ld", &frame, &detection, &particle) == 3);
    if (particle < 0) continue;
    ++real;
    wrong += detection_of.at({frame, particle}) != detection;
  }
  CHECK(wrong == 0);
  CHECK(real == detection_of.size());
}

TEST_CASE("simulate writes the truth in the formats asked for, and no detections for []") {
  const TempDir dir;
  simulate(config_of("vesicle-like"), dir / "out",
           {"simulation.frames=3", "simulation.particles=20", "simulation.truth=[xml, vtp]",
            "simulation.detections=[]"});
  CHECK(io::read_tracks(dir / "out" / "truth.xml").points() ==
        io::read_tracks(dir / "out" / "truth.vtp").points());
  for (const char* name : {"truth.h5", "truth.csv", "detections.csv", "detection_truth.csv"})
    CHECK(!std::filesystem::exists(dir / "out" / name));
}

TEST_CASE("simulate rejects a missing GPU, and models without a CUDA form") {
  const TempDir dir;
  const auto refusal = [&](const std::string& preset) {
    return run_motes(
        {"simulate", config_of(preset).string(), "-o", (dir / "x").string(), "--backend", "cuda"});
  };
  const Outcome together = refusal("embryo");
  CHECK(together.code == 2);
  CHECK_THAT(together.err, Contains("execution.backend") && Contains("repel"));
  CHECK(is_one_error_line(together.err));
  if (!gpu::list_devices().devices.empty()) return;
  const Outcome absent = refusal("paper-fig5");
  CHECK(absent.code == 4);
  CHECK_THAT(absent.err, Contains("execution.backend: no GPU"));
  CHECK(!std::filesystem::exists(dir / "x"));
}

TEST_CASE("a damaged table of detections is refused with its fault") {
  const TempDir dir;
  simulate(config_of("vesicle-like"), dir / "out", {"simulation.frames=3", "simulation.detections=h5"});
  const std::string bytes = file_bytes(dir / "out" / "detections.h5");
  write_file(dir / "cut.h5", bytes.substr(0, bytes.size() / 2));
  const Outcome cut = run_motes({"track", (dir / "cut.h5").string(), "-o", (dir / "t").string()});
  CHECK(cut.code == 3);
  CHECK(is_one_error_line(cut.err));
}
