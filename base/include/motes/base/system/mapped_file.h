#pragma once
/// A temporary file without a name, mapped into memory.

#include <cstddef>
#include <filesystem>
#include <string>

namespace motes::system {

class MappedFile {
 public:
  MappedFile() = default;
  /// Maps a new unnamed file of `bytes` zeros in `folder`. It disappears with this object, or when the
  /// process ends in any way. Disk space for all of it is reserved. Child processes do not inherit the
  /// mapping. `error` is 0, or the system's error number (ENOSPC: the disk is full) if the file could not be
  /// created.
  MappedFile(const std::filesystem::path& folder, std::size_t bytes, int& error);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Removes its pages from this process's resident memory; the file keeps their contents. Other threads
  /// may read and write at the same time.
  void release_pages() const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The folder's name; "." for an empty path.
std::string name_of(const std::filesystem::path& folder);

/// Whether the folder is on a file system in memory (tmpfs).
bool is_memory(const std::filesystem::path& folder);

}  // namespace motes::system
