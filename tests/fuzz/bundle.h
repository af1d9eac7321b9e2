#pragma once
/// A folder as one run of bytes, for formats that are folders: "@@FILE name" in a line of its own, then the
/// file's bytes up to the next such line. Easy to mutate: names and bytes change apart.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace motes::fuzz {

inline constexpr std::string_view kMark = "@@FILE ";

inline void spill(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string pack(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string out;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    out += std::string(kMark) + file.lexically_relative(folder).string() + "\n";
    out.append(std::istreambuf_iterator<char>(in), {});
    out += "\n";
  }
  return out;
}

/// Names that leave the folder, and more than 24 files, are left out.
inline void unpack(std::string_view bytes, const std::filesystem::path& folder) {
  std::error_code ignored;
  std::size_t at = bytes.find(kMark);
  for (int files = 0; at != std::string_view::npos && files < 24; ++files) {
    const std::size_t name_end = bytes.find('\n', at);
    if (name_end == std::string_view::npos) return;
    const std::string name(bytes.substr(at + kMark.size(), name_end - at - kMark.size()));
    const std::size_t next = bytes.find(kMark, name_end);
    std::string_view content = bytes.substr(
        name_end + 1, next == std::string_view::npos ? std::string_view::npos : next - name_end - 1);
    if (!content.empty() && content.back() == '\n') content.remove_suffix(1);
    at = next;
    const bool plain =
        !name.empty() && name.size() < 200 && name.front() != '/' && name.find("..") == std::string::npos &&
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isprint(c) != 0; });
    if (!plain) continue;
    const std::filesystem::path file = folder / name;
    std::filesystem::create_directories(file.parent_path(), ignored);
    spill(file, content);
  }
}

}  // namespace motes::fuzz
