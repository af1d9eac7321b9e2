#include <cstdlib>
#include <map>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>

#include "app/options/nearest.h"
#include "app/options/options.h"
#include "app/ranks.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::app;
using Catch::Matchers::Contains;
using testing::TempDir;
using testing::write_file;

namespace {

/// For each option, a value other than its default.
const std::map<std::string, std::string> kOthers{
    {"input.path", "/data/a: #b \"c\".tif"},
    {"input.voxel_um", "[0.3, 0.1, 0.2]"},
    {"input.dt_s", "0.1"},
    {"input.channel", "2"},
    {"input.frame_step", "5"},
    {"input.frames", "3:9"},
    {"input.axes", "TZYX"},
    {"input.trusted", "true"},
    {"input.allow_outside", "true"},
    {"input.columns", "{x: 'Position X, \"a\": #1', frame: Time}"},
    {"input.unit", "nm"},
    {"input.crop", "10:20,0:,3:5"},
    {"input.mask", "/data/mask.tif"},
    {"input.labels", "/data/labels.tif"},
    {"detection.method", "labels"},
    {"detection.radius_um", "[0.5, 0.25, 0.25]"},
    {"detection.largest_radius_um", "[2, 1, 1]"},
    {"detection.threshold", "3.25"},
    {"detection.false_positives_per_frame", "2.5"},
    {"detection.max_count", "100"},
    {"detection.polarity", "dark"},
    {"detection.refine", "parabola"},
    {"linking.gate_um", "1e-3"},
    {"linking.scope", "series"},
    {"linking.model", "velocity"},
    {"linking.max_gap", "5"},
    {"linking.features", "[quality, intensity]"},
    {"linking.exclusion_um", "0.5"},
    {"linking.events", "divisions"},
    {"linking.confidence", "false"},
    {"linking.min_confidence", "0.5"},
    {"linking.min_length", "3"},
    {"linking.gate_share", "0.9"},
    {"linking.max_speed_um_s", "0.30000000000000004"},
    {"linking.cost", "euclidean"},
    {"linking.no_link_cost", "2"},
    {"linking.solver", "jv"},
    {"linking.verify", "true"},
    {"execution.backend", "cpu"},
    {"execution.threads", "3"},
    {"execution.memory_gb", "1.5"},
    {"execution.devices", "[1, 0]"},
    {"output.dir", "null"},
    {"output.preview", "false"},
    {"output.vtk", "false"},
    {"output.report", "false"},
    {"output.pairs", "true"},
    {"output.csv_names", "trackpy"},
    {"simulation.particles", "7"},
    {"simulation.frames", "9"},
    {"simulation.dt_s", "0.25"},
    {"simulation.box_um", "4"},
    {"simulation.persistence", "0.1"},
    {"simulation.speed_um_s", "0.7"},
    {"simulation.min_distance_um", "0.9"},
    {"simulation.seed", "4611686018427387904"},
    {"simulation.density_per_um3", "0.2"},
    {"simulation.time_jitter_s", "0.01"},
    {"simulation.motion", "switching"},
    {"simulation.speed_spread", "0.2"},
    {"simulation.diffusion_um2_s", "0.3"},
    {"simulation.confinement", "sphere"},
    {"simulation.confinement_radius_um", "0.7"},
    {"simulation.states", "[confined, walk]"},
    {"simulation.switch_rate_per_s", "[0.1, 0.30000000000000004]"},
    {"simulation.state_speed_um_s", "[0, 2]"},
    {"simulation.state_diffusion_um2_s", "[1, 0]"},
    {"simulation.new_run_direction", "true"},
    {"simulation.boundary", "open"},
    {"simulation.margin_um", "3"},
    {"simulation.same_track_on_return", "true"},
    {"simulation.birth_rate_per_s", "4"},
    {"simulation.death_rate_per_s", "5"},
    {"simulation.drift_um_s", "[-1, 0, 2]"},
    {"simulation.rotation_deg_s", "-3"},
    {"simulation.rotation_axis", "[0, 1, 0]"},
    {"simulation.flow", "turbulence"},
    {"simulation.flow_speed_um_s", "0.6"},
    {"simulation.flow_scale_um", "6"},
    {"simulation.flow_modes", "7"},
    {"simulation.division_s", "8"},
    {"simulation.division_spread_s", "9"},
    {"simulation.division_distance_um", "2"},
    {"simulation.repulsion_um", "2.5"},
    {"simulation.repulsion_rate_per_s", "3"},
    {"simulation.seeding", "shell"},
    {"simulation.clusters", "4"},
    {"simulation.cluster_radius_um", "2"},
    {"simulation.seeding_radius_um", "[1, 2, 3]"},
    {"simulation.truth", "[h5, xml]"},
    {"simulation.detections", "[]"},
    {"faults.noise_um", "[0.2, 0.1, 0.1]"},
    {"faults.miss", "0.1"},
    {"faults.blink_on_s", "2"},
    {"faults.blink_off_s", "1"},
    {"faults.false_per_frame", "5"},
    {"faults.merge_um", "0.3"},
    {"faults.merge_into", "brighter"},
    {"imaging.voxel_um", "0.3"},
    {"imaging.psf_sigma_um", "0.4"},
    {"imaging.background", "11"},
    {"imaging.snr", "2"},
    {"detection.camera_gain", "2.5"},
    {"detection.camera_offset", "90"},
    {"detection.read_noise", "3"},
    {"imaging.offset", "1"},
    {"imaging.read_noise", "2.5"},
    {"imaging.psf", "gibson-lanni"},
    {"imaging.na", "0.9"},
    {"imaging.wavelength_um", "0.6"},
    {"imaging.refractive_index", "1.4"},
    {"imaging.sample_index", "1.35"},
    {"imaging.depth_um", "3"},
    {"imaging.psf_range_um", "2"},
    {"imaging.defocus_um", "1.5"},
    {"imaging.focal_plane_um", "-2"},
    {"imaging.photons", "500"},
    {"imaging.intensity_spread", "0.1"},
    {"imaging.radius_spread", "0.2"},
    {"imaging.bleaching_s", "30"},
    {"imaging.gain", "2"},
    {"imaging.bit_depth", "12"},
    {"imaging.format", "bdv-h5"},
    {"imaging.write_frames", "true"},
    {"imaging.deflate", "false"}};

/// The error message of load_yaml for this text.
std::string complaint(const std::string& yaml) {
  const TempDir dir;
  const auto file = dir / "bad.yaml";
  write_file(file, yaml);
  Config config;
  try {
    load_yaml(file, config);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("The effective configuration reads back to the same values, for every option") {
  Config config;
  for (const Option& option : options()) {
    INFO(option.path);
    REQUIRE(kOthers.count(option.path) == 1);
    set_key(config, option.path, kOthers.at(option.path), "--set");
    CHECK(to_text(option.get(config)) != to_text(option.get(Config{})));
  }
  const TempDir dir;
  write_file(dir / "written.yaml", to_yaml(config));
  Config read;
  load_yaml(dir / "written.yaml", read);
  for (const Option& option : options()) {
    INFO(option.path);
    CHECK(to_text(option.get(read)) == to_text(option.get(config)));
  }
  CHECK(to_yaml(read) == to_yaml(config));
}

TEST_CASE("The defaults are the same after writing and reading") {
  const TempDir dir;
  write_file(dir / "defaults.yaml", to_yaml(Config{}));
  Config read;
  load_yaml(dir / "defaults.yaml", read);
  CHECK(to_yaml(read) == to_yaml(Config{}));
}

TEST_CASE("Names of columns: YAML, and key=name for the command line") {
  Config config;
  set_key(config, "input.columns", "x=Position X,y=a,b,frame=T = 1", "--columns");
  CHECK(config.input.columns ==
        std::map<std::string, std::string>{{"x", "Position X"}, {"y", "a,b"}, {"frame", "T = 1"}});
  const TempDir dir;
  write_file(dir / "c.yaml", "input:\n  columns:\n    x: Position X\n    time: t\n");
  load_yaml(dir / "c.yaml", config);
  CHECK(config.input.columns == std::map<std::string, std::string>{{"time", "t"}, {"x", "Position X"}});
  for (const char* bad : {"x", "w=a", "x=", "{w: a}", "{x: [a]}", "[x, a]", "x=a,x=b"}) {
    INFO(bad);
    CHECK_THROWS_AS(set_key(config, "input.columns", bad, "--columns"), UsageError);
  }
  write_file(dir / "map.yaml", "input:\n  path: {x: a}\n");
  CHECK_THROWS_AS(load_yaml(dir / "map.yaml", config), UsageError);
}

TEST_CASE("Vectors are [z, y, x], and one number stands for all three") {
  Config config;
  set_key(config, "input.voxel_um", "[3, 2, 1]", "--set");
  CHECK(*config.input.voxel_um == Vec3{1, 2, 3});
  set_key(config, "input.voxel_um", "2", "--set");
  CHECK(*config.input.voxel_um == Vec3{2, 2, 2});
}

TEST_CASE("On the command line a list needs no brackets") {
  Config config;
  apply_assignment(config, "input.voxel_um=0.3,.2,0.1");
  CHECK(config.input.voxel_um == Vec3{0.1, 0.2, 0.3});
  apply_assignment(config, "input.path=a,b.tif");
  CHECK(config.input.path == "a,b.tif");
  CHECK_THROWS_WITH(apply_assignment(config, "linking.gate_um=0,5"), Contains("'0,5' is not allowed"));
}

TEST_CASE("GPUs are named by number, or all of them") {
  const auto devices = [](const std::string& text) {
    Config config;
    set_key(config, "execution.devices", text, "--devices");
    return config.execution.devices;
  };
  CHECK(Config().execution.devices == std::vector{0});
  CHECK(devices("all").empty());
  CHECK(devices("3") == std::vector{3});
  CHECK(devices("1,0") == std::vector{1, 0});
  CHECK(devices("[1, 0]") == std::vector{1, 0});
  for (const char* wrong : {"", "0,0", "-1", "0,x", "1.5", "[]", "all,0", "0,,1"})
    CHECK_THROWS_AS(devices(wrong), UsageError);
}

TEST_CASE("The GPUs of a machine are distributed to its ranks") {
  CHECK(devices_of_rank({0, 1, 2}, 0, 1) == std::vector{0, 1, 2});
  CHECK(devices_of_rank({4, 5, 6}, 0, 2) == std::vector{4, 6});
  CHECK(devices_of_rank({4, 5, 6}, 1, 2) == std::vector{5});
  CHECK(devices_of_rank({4, 5}, 2, 3) == std::vector{4});
}

TEST_CASE("A relative input.path starts at the YAML file's folder") {
  const TempDir dir;
  write_file(dir / "c.yaml", "input: {path: sub/a.tif}\n");
  Config config;
  load_yaml(dir / "c.yaml", config);
  CHECK(config.input.path == (dir.path() / "sub/a.tif").string());
  set_key(config, "input.path", "b.tif", "--set");
  CHECK(config.input.path == "b.tif");
}

TEST_CASE("An unknown key names file, line and the nearest known key") {
  CHECK_THAT(complaint("input:\n  path: a\nlinking:\n  gate_mu: 3\n"),
             Contains("bad.yaml:4: ") && Contains("'linking.gate_mu'") &&
                 Contains("did you mean 'linking.gate_um'"));
  CHECK_THAT(complaint("linking:\n  radius_um: 3\n"), Contains("did you mean 'detection.radius_um'"));
  CHECK_THAT(complaint("\nlinkin:\n  gate_um: 3\n"),
             Contains("bad.yaml:2: ") && Contains("did you mean 'linking'"));
  Config config;
  CHECK_THROWS_WITH(set_key(config, "detection.treshold", "3", "--set"),
                    Contains("--set: ") && Contains("did you mean 'detection.threshold'"));
  CHECK_THROWS_WITH(apply_assignment(config, "detection.threshold"), Contains("has no '='"));
}

TEST_CASE("A value of the wrong type or domain names file, line, key and what is allowed") {
  const auto says = [](const std::string& yaml, const std::string& line, const std::string& key) {
    CHECK_THAT(complaint(yaml),
               Contains("bad.yaml:" + line + ": ") && Contains(key) && Contains("allowed: "));
  };
  says("linking:\n  gate_um: -1\n", "2", "linking.gate_um");
  says("linking:\n  gate_um: wide\n", "2", "linking.gate_um");
  says("linking:\n  gate_um: .nan\n", "2", "linking.gate_um");
  says("linking:\n  gate_um: nan\n", "2", "linking.gate_um");
  says("linking:\n  gate_um: 1e999\n", "2", "linking.gate_um");
  says("linking:\n  gate_um: [1, 2, 3]\n", "2", "linking.gate_um");
  says("linking:\n  gate_um: {a: 1}\n", "2", "linking.gate_um");
  says("linking:\n  gate_um:\n", "2", "linking.gate_um");
  says("linking:\n  cost: cubed\n", "2", "squared or euclidean");
  says("linking:\n  verify: yes\n", "2", "true or false");
  says("input:\n  path: a\n  voxel_um: [1, 2]\n", "3", "input.voxel_um");
  says("input:\n  voxel_um: [1, [2], 3]\n", "2", "input.voxel_um");
  says("input:\n  voxel_um: []\n", "2", "input.voxel_um");
  says("input:\n  voxel_um: 0\n", "2", "input.voxel_um");
  says("input:\n  frame_step: 0\n", "2", "input.frame_step");
  says("input:\n  frame_step: 1.5\n", "2", "input.frame_step");
  says("input:\n  channel: 99999999999999999999\n", "2", "input.channel");
  says("simulation:\n  seed: -1\n", "2", "simulation.seed");
  CHECK_THAT(complaint("linking:\n  solver: jvv\n"),
             Contains("bad.yaml:2: linking.solver") && Contains("did you mean 'jv'"));
}

TEST_CASE("A file that is not a configuration is refused, with the line") {
  CHECK_THAT(complaint("linking: [1\n"), Contains("not valid YAML"));
  CHECK_THAT(complaint("linking:\n  gate_um: 1\n  gate_um: 2\n"),
             Contains("bad.yaml:3: ") && Contains("twice"));
  CHECK_THAT(complaint("linking:\n  gate_um: 1\nlinking:\n  verify: true\n"),
             Contains("bad.yaml:3: ") && Contains("twice"));
  CHECK_THAT(complaint("just words\n"), Contains("bad.yaml:1: ") && Contains("sections"));
  CHECK_THAT(complaint("linking: 3\n"), Contains("bad.yaml:1: ") && Contains("linking.gate_um"));
  CHECK_THAT(complaint("? [a, b]\n: 3\n"), Contains("one word"));
  CHECK_THAT(complaint(std::string(2 << 20, '#')), Contains("larger than"));
  CHECK_THAT(complaint(std::string(4000, '[')), Contains("not valid YAML"));
  CHECK(complaint("") == "no error");
  CHECK(complaint("linking:\n") == "no error");
  Config config;
  CHECK_THROWS_WITH(load_yaml("/nowhere/at/all.yaml", config), Contains("/nowhere/at/all.yaml"));
}

TEST_CASE("A file with an error changes nothing") {
  const TempDir dir;
  write_file(dir / "c.yaml", "input:\n  frame_step: 3\nlinking:\n  gate_um: -1\n");
  Config config;
  CHECK_THROWS_AS(load_yaml(dir / "c.yaml", config), UsageError);
  CHECK(config.input.frame_step == 1);
}

TEST_CASE("Two keys that both give the gate contradict each other") {
  Config config;
  config.linking.gate_um = 1;
  CHECK_NOTHROW(check_consistency(config));
  config.linking.max_speed_um_s = 1;
  CHECK_THROWS_WITH(check_consistency(config),
                    Contains("linking.gate_um") && Contains("linking.max_speed_um_s"));
}

TEST_CASE("Edit distance") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("gate_um", "gate_mu") == 2);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(nearest("x", {}).empty());
}

TEST_CASE("A key without its section is found by its beginning") {
  const std::vector<std::string> keys{"input.path", "linking.gate_um", "linking.gate_share", "linking.scope"};
  CHECK(nearest("gate", keys) == "linking.gate_um");
  CHECK(nearest("gate_share", keys) == "linking.gate_share");
  CHECK(nearest("tracking.scope", keys) == "linking.scope");
  CHECK(nearest("linking.gat_sh", keys) == "linking.gate_share");
}

TEST_CASE("A word unlike all keys is not answered with one of them") {
  const std::vector<std::string> keys{"input.path", "linking.scope"};
  CHECK(nearest("colour", keys).empty());
  CHECK(nearest("", keys).empty());
  CHECK(did_you_mean("colour", keys, "; see motes --help") == "; see motes --help");
  CHECK(did_you_mean("scpoe", std::vector<std::string>{"scope"}, "") == "; did you mean 'scope'?");
}

TEST_CASE("A truth value is not the path of a label image or mask") {
  Config config;
  for (const std::string word : {"true", "yes", "1"}) {
    CHECK_THROWS_WITH(apply_assignment(config, "input.labels=" + word),
                      Contains("'" + word + "' is not allowed; give the path of the label image") &&
                          Contains("set detection.method: labels instead"));
    CHECK_THAT(complaint("input:\n  labels: " + word + "\n"),
               Contains("bad.yaml:2: ") && Contains("give the path of the label image"));
  }
  CHECK_THROWS_WITH(apply_assignment(config, "input.labels=false"), Contains("give a path, or none"));
  CHECK_THROWS_WITH(apply_assignment(config, "input.mask=true"), Contains("give the path of the mask"));
  apply_assignment(config, "input.labels=./true");
  CHECK(config.input.labels == "./true");
}

TEST_CASE("A path that begins with ~/ is in the home folder") {
  const TempDir dir;
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  setenv("HOME", "/home/ada", 1);
  Config config;
  write_file(dir / "a.yaml", "input:\n  path: ~/a.tif\n  labels: b~/c.tif\noutput:\n  dir: ~/out\n");
  load_yaml(dir / "a.yaml", config);
  CHECK(config.input.path == "/home/ada/a.tif");
  CHECK(config.input.labels == (dir / "b~/c.tif").string());
  CHECK(config.output.dir == "/home/ada/out");
  apply_assignment(config, "input.mask=~/m.tif");
  CHECK(config.input.mask == "/home/ada/m.tif");
  apply_assignment(config, "output.dir=~ada/x");  // of another user: not known
  CHECK(config.output.dir == "~ada/x");
  unsetenv("HOME");
  apply_assignment(config, "output.dir=~/x");
  CHECK(config.output.dir == "~/x");
  if (home != nullptr) setenv("HOME", before.c_str(), 1);
}
