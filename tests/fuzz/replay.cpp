// replay FOLDER: every input of FOLDER/READER through its reader, without a fuzzer. Earlier findings must
// stay refused, in every build.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/readers.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "replay FOLDER\n"), 2;
  int inputs = 0, found = 0;
  for (const std::string& reader : motes::fuzz::reader_names()) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / reader;
    if (!std::filesystem::is_directory(folder)) {
      std::fprintf(stderr, "%s: no inputs are kept for this reader\n", folder.c_str());
      ++found;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      ++inputs;
      try {
        motes::fuzz::run_reader(reader, bytes);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", entry.path().c_str(), error.what());
        ++found;
      }
    }
  }
  std::printf("%d inputs, %d findings\n", inputs, found);
  return found == 0 && inputs > 0 ? 0 : 1;
}
