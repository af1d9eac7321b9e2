#pragma once
/// Runs the command line inside the test process.

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli.h"

namespace motes::testing {

struct Outcome {
  int code = 0;
  std::string out, err;
};

/// `motes` with these arguments (the program's name is added).
Outcome run_motes(std::vector<std::string> arguments, const app::Hooks& hooks = {});

std::string file_bytes(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

/// Whether `text` is one line that begins like an error.
bool is_one_error_line(const std::string& text);

/// A simulation small enough for a test: 24 slow, bright particles in 6 frames. Returns its folder.
std::filesystem::path simulate_small(const std::filesystem::path& dir, bool volumes,
                                     const std::vector<std::string>& settings = {});

}  // namespace motes::testing
