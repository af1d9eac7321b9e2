#pragma once
/// A temporary file without a name, seen as memory: the system writes its pages out and brings them back.

#include <cstddef>
#include <filesystem>

namespace motes::system {

class MappedFile {
 public:
  MappedFile() = default;
  /// `bytes` of zeros in a file in `folder` that has no name: it is gone with this object or the process,
  /// however that ends. The disk keeps room for all of it. Child processes do not see it. `error` is 0, or
  /// the system's error number (ENOSPC: the disk has no room) of a file that could not be made.
  MappedFile(const std::filesystem::path& folder, std::size_t bytes, int& error);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Takes its pages out of this process's resident memory; the file keeps what they hold. Any thread may
  /// read and write meanwhile.
  void let_go() const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Whether the folder's files are in memory (tmpfs).
bool is_memory(const std::filesystem::path& folder);

}  // namespace motes::system
