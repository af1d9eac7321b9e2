/// Files on Linux: see files.h.

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/base/system/files.h>

namespace motes::system {
namespace {

// Processes of a killed run may end shortly after the one that was waited for.
constexpr int kLockTries = 40;
constexpr auto kLockPause = std::chrono::milliseconds(50);

int sync(const std::filesystem::path& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = fsync(fd) != 0 ? errno : 0;
  close(fd);
  // Some file systems cannot sync (EINVAL, EROFS on a folder); the rename is complete all the same.
  return error == EINVAL || error == EROFS ? 0 : error;
}

int write_whole(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t wrote = write(fd, bytes, count);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    bytes += wrote;
    count -= static_cast<std::size_t>(wrote);
  }
  return 0;
}

}  // namespace

std::string random_digits() {
  static thread_local std::random_device random;  // opening one takes longer than using it
  std::string digits;
  for (int i = 0; i < 4; ++i) {
    unsigned value = random();
    for (int digit = 0; digit < 4; ++digit, value >>= 4) digits += "0123456789abcdef"[value & 15];
  }
  return digits;
}

int create_new_file(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

int sync_file(const std::filesystem::path& path) { return sync(path, O_RDONLY | O_NOFOLLOW); }
int sync_folder(const std::filesystem::path& path) { return sync(path, O_RDONLY | O_DIRECTORY); }

int sync_file_system(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = syncfs(fd) != 0 ? errno : 0;
  close(fd);
  return error;
}

int exchange(const std::filesystem::path& one, const std::filesystem::path& other) {
  return renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) != 0 ? errno : 0;
}

int refuses_files(const std::filesystem::path& folder) {
  return access(folder.c_str(), W_OK | X_OK) != 0 ? errno : 0;
}

int append_to_stream(const std::filesystem::path& from, const std::filesystem::path& stream) {
  const int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return errno;
  const int out = open(stream.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (out < 0) {
    const int error = errno;
    close(in);
    return error;
  }
  std::vector<char> block(1 << 16);
  int error = 0;
  for (;;) {
    const ssize_t got = read(in, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0 || (error = write_whole(out, block.data(), static_cast<std::size_t>(got))) != 0) break;
  }
  close(in);
  if (close(out) != 0 && error == 0) error = errno;
  return error;
}

ReadableFile::ReadableFile(const std::filesystem::path& path, int& error) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  error = fd_ < 0 ? errno : 0;
  if (error != 0) return;
  struct stat status {};
  if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode))
    error = kNotRegular;
  else
    size_ = static_cast<std::uint64_t>(status.st_size);
}

ReadableFile::~ReadableFile() {
  if (fd_ >= 0) close(fd_);
}

ReadableFile::ReadableFile(ReadableFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), size_(std::exchange(other.size_, 0)) {}
ReadableFile& ReadableFile::operator=(ReadableFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

std::size_t ReadableFile::read_at(std::uint64_t offset, std::span<std::byte> out, int& error) const {
  std::size_t done = 0;
  error = 0;
  while (done < out.size()) {
    const ssize_t got = pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

GrowingFile::GrowingFile(const std::filesystem::path& path, int& error) {
  // O_NONBLOCK: opening a pipe of that name must not block.
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  error = fd_ < 0 ? errno : 0;
  struct stat status {};
  if (error == 0 && (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode))) error = EINVAL;
}

GrowingFile::~GrowingFile() { close(); }

int GrowingFile::close() { return fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 ? errno : 0; }

GrowingFile::GrowingFile(GrowingFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
GrowingFile& GrowingFile::operator=(GrowingFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

int GrowingFile::resize(std::int64_t bytes) { return ftruncate(fd_, bytes) != 0 ? errno : 0; }

int GrowingFile::write_at(std::int64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += wrote;
  }
  return 0;
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const auto lock = [&](const std::filesystem::path& path, int flags) {
    fd_ = open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (fd_ >= 0 && flock(fd_, LOCK_EX | LOCK_NB) == 0) return 0;
    const int error = errno;
    if (fd_ >= 0) close(std::exchange(fd_, -1));
    return error;
  };
  const auto lock_any = [&] {
    const int error = lock(folder, O_RDONLY | O_DIRECTORY);
    return error == 0 || error == EWOULDBLOCK ? error
                                              : lock(folder / ".motes.lock", O_RDWR | O_CREAT | O_NOFOLLOW);
  };
  int error = lock_any();
  for (int tries = 0; error == EWOULDBLOCK && tries < kLockTries; ++tries) {
    std::this_thread::sleep_for(kLockPause);
    error = lock_any();
  }
  if (error == EWOULDBLOCK)
    throw ResourceError(folder.string() +
                        ": another run is writing to this folder; wait for it, or choose another with -o");
  if (error != 0)
    throw ResourceError(folder.string() + ": cannot lock the output folder: " + std::strerror(error) +
                        "; check permissions, or choose another with -o");
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace motes::system
