#pragma once
/// Whole files and folders in tests.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

namespace motes::testing {

/// The bytes of a file.
inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Makes a file of these bytes, in place of one of that name.
inline void spill(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);  // some file systems write through when a file is overwritten in place
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// The number of a folder's files and folders.
inline std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// Replaces the first `from` in a file, which must contain it.
inline void replace_in(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  std::string text = slurp(file);
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  spill(file, text);
}

}  // namespace motes::testing
