#pragma once
/// What the standard library's files lack: creation that follows no link, writing through to the disk,
/// writing at an offset, and a lock on a folder.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace motes::system {

/// 16 hexadecimal digits that cannot be guessed.
std::string random_digits();

/// Creates an empty file that must not be there yet, not even as a link. 0, or the system's error number.
int create_new_file(const std::filesystem::path& path);

/// Has the system write the file (or the folder's entries) to the disk. 0 also where the file system cannot.
int sync_file(const std::filesystem::path& path);
int sync_folder(const std::filesystem::path& path);
/// All that was written to the file system that the folder is on.
int sync_file_system(const std::filesystem::path& folder);

/// 0, or why files cannot be made in this folder.
int refuses_files(const std::filesystem::path& folder);

/// Writes a file's bytes to an existing device or pipe. Returns 0, or the system's error number.
int append_to_stream(const std::filesystem::path& from, const std::filesystem::path& stream);

/// A file that grows in place.
class GrowingFile {
 public:
  GrowingFile() = default;
  /// Opens or creates it; never through a link, and only a regular file. `error` is 0 or the error number.
  GrowingFile(const std::filesystem::path& path, int& error);
  ~GrowingFile();
  GrowingFile(GrowingFile&& other) noexcept;
  GrowingFile& operator=(GrowingFile&& other) noexcept;

  /// 0, or the system's error number.
  int resize(std::int64_t bytes);
  int write_at(std::int64_t offset, std::string_view bytes);

 private:
  int fd_ = -1;
};

/// Held while the object lives: no other process that asks gets the same folder. The system gives it back
/// when the process ends in whatever way.
class FolderLock {
 public:
  /// Throws ResourceError where another process still holds it after two seconds. Where a network file system
  /// locks no folders, the lock is on the file .motes.lock in it, which stays.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace motes::system
