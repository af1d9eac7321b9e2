#pragma once
/// A file opened for reading at any offset.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <motes/base/system/files.h>

namespace motes::io::detail {

class InputFile {
 public:
  /// Throws InputError if the file does not exist or is not a regular file, ResourceError if it cannot be
  /// opened for another reason.
  explicit InputFile(std::filesystem::path path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return file_.size(); }

  /// Fills `out` from `offset`. Returns false if the file is too short; throws InputError if reading fails.
  bool read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// The first `count` bytes, or all if there are fewer.
  std::string head(std::size_t count) const;

 private:
  std::filesystem::path path_;
  system::ReadableFile file_;
};

}  // namespace motes::io::detail
