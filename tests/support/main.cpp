/// The main function of all test programs, with exit code 77 for skipped tests.

#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "tests/support/skip.h"

namespace motes::testing {
namespace {
bool any_skip = false;
constexpr int kSkipReturnCode = 77;
}  // namespace

void note_skip(const std::string& reason) {
  any_skip = true;
  std::cout << "SKIPPED: " << reason << '\n';
}

void note_gpu_skip(const std::string& reason) {
  const char* required = std::getenv("MOTES_REQUIRE_GPU");
  if (required != nullptr && std::string(required) == "1")
    throw std::runtime_error(reason + " (MOTES_REQUIRE_GPU=1 forbids skipping)");
  note_skip(reason);
}

bool skipped() { return any_skip; }

std::filesystem::path data_dir() {
  const char* given = std::getenv("MOTES_DATA");
  const std::filesystem::path dir = given != nullptr ? given : MOTES_DATA_DIR;
  std::error_code ignored;
  return std::filesystem::is_directory(dir, ignored) ? dir : std::filesystem::path();
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "motes-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
}  // namespace motes::testing

int main(int argc, char** argv) {
  if (Catch::Session().run(argc, argv) != 0) return EXIT_FAILURE;
  return motes::testing::skipped() ? motes::testing::kSkipReturnCode : 0;
}
