#pragma once
/// File operations that the standard library lacks: exclusive creation, syncing to the disk, reading and
/// writing at an offset, and a lock on a folder.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace motes::system {

/// 16 unpredictable hexadecimal digits.
std::string random_digits();

/// Creates an empty file. Fails if the path exists, even as a dangling link. Returns 0 or the system's
/// error number.
int create_new_file(const std::filesystem::path& path);

/// Write the file (or the folder's entries) through to the disk. Return 0 or the system's error number; 0
/// also if the file system does not support it.
int sync_file(const std::filesystem::path& path);
int sync_folder(const std::filesystem::path& path);
/// Writes everything on the folder's file system through to the disk. Returns 0 or the system's error number.
int sync_file_system(const std::filesystem::path& folder);

/// Gives each of two files or folders the other's name, in one step. Returns 0 or the system's error number.
int exchange(const std::filesystem::path& one, const std::filesystem::path& other);

/// 0 if files can be created in this folder, else the system's error number.
int refuses_files(const std::filesystem::path& folder);

/// Copies a file's bytes to an existing device or pipe. Returns 0 or the system's error number.
int append_to_stream(const std::filesystem::path& from, const std::filesystem::path& stream);

/// A regular file that is read at any offset. Several threads may read at the same time.
class ReadableFile {
 public:
  static constexpr int kNotRegular = -1;

  ReadableFile() = default;
  /// Opens the file. `error` is 0, the system's error number, or kNotRegular (a folder, a pipe, a device).
  ReadableFile(const std::filesystem::path& path, int& error);
  ~ReadableFile();
  ReadableFile(ReadableFile&& other) noexcept;
  ReadableFile& operator=(ReadableFile&& other) noexcept;

  /// Bytes of the file when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills `out` with the bytes from `offset` on. Returns the number of bytes read: less than out.size() at
  /// the end of the file, or after an error, whose number is then in `error` (else 0).
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out, int& error) const;

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// A file that is written at any offset.
class GrowingFile {
 public:
  GrowingFile() = default;
  /// Opens or creates a regular file, without following a link. `error` is 0 or the system's error number.
  GrowingFile(const std::filesystem::path& path, int& error);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&& other) noexcept;

  /// Return 0 or the system's error number.
  int resize(std::int64_t bytes);
  int write_at(std::int64_t offset, std::string_view bytes) const;
  /// Closes the file, and reports errors of delayed writes.
  int close();

 private:
  int fd_ = -1;
};

/// An exclusive lock on a folder during the object's lifetime. The system releases it when the process ends
/// in any way.
class FolderLock {
 public:
  /// Throws ResourceError if another process still holds the lock after two seconds. On network file
  /// systems that cannot lock folders, the lock is on the file .motes.lock in it, which is not removed.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace motes::system
