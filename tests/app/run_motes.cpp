/// Runs the command line in this process and captures its output.

#include "tests/app/run_motes.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

namespace motes::testing {

Outcome run_motes(std::vector<std::string> arguments, const app::Hooks& hooks) {
  arguments.insert(arguments.begin(), "motes");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out, err;
  const int code = app::run(static_cast<int>(argv.size()), argv.data(), out, err, hooks);
  return {code, out.str(), err.str()};
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  INFO(path);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  REQUIRE(out.flush());
}

bool is_one_error_line(const std::string& text) {
  return text.starts_with("motes: error: ") && text.find('\n') == text.size() - 1;
}

std::filesystem::path simulate_small(const std::filesystem::path& dir, bool volumes,
                                     const std::vector<std::string>& settings) {
  const std::filesystem::path config = dir / "small.yaml";
  write_file(config,
             "simulation:\n  particles: 24\n  frames: 6\n  box_um: [4, 8, 8]\n  speed_um_s: 0.1\n"
             "  min_distance_um: 1.2\n  dt_s: 0.5\n"
             "imaging:\n  voxel_um: [0.2, 0.1, 0.1]\n  psf_sigma_um: [0.25, 0.15, 0.15]\n  snr: 10\n"
             "  write_frames: " +
                 std::string(volumes ? "true" : "false") + "\n");
  std::vector<std::string> arguments{"simulate", config.string(), "-o", (dir / "simulated").string(),
                                     "--quiet"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  const Outcome outcome = run_motes(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return dir / "simulated";
}

}  // namespace motes::testing
