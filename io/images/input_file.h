#pragma once
/// A file opened for reading at any offset.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace motes::io::detail {

class InputFile {
 public:
  /// Throws InputError when the file is not there or is not a regular file, ResourceError when it may not be
  /// read.
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Fills `out` from `offset`. Returns false when the file ends before; throws InputError when the disk
  /// fails.
  bool read_at(std::uint64_t offset, std::span<std::byte> out) const;

  /// At most `count` bytes from the start.
  std::string head(std::size_t count) const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace motes::io::detail
