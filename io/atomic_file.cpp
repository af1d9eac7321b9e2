#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "tracking/types/errors.h"

namespace motes::io {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& doing, int error) {
  throw ResourceError(path.string() + ": " + doing + ": " + std::strerror(error) +
                      "; check permissions and free space, or choose another output");
}

void sync_path(const std::filesystem::path& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) fail(path, "cannot reopen for syncing", errno);
  const int rc = fsync(fd);
  const int error = errno;
  close(fd);
  // Some file systems cannot sync (EINVAL, EROFS on a folder): the rename is still whole.
  if (rc != 0 && error != EINVAL && error != EROFS) fail(path, "cannot write to disk", error);
}

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.parent_path().empty() ? "." : target.parent_path();
}

std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  std::string name = ".";
  name += target.stem().string();
  name += ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(counter.fetch_add(1));
  name += target.extension().string();
  return target.parent_path() / name;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  const std::filesystem::path folder = folder_of(target_);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(folder, "cannot create folder", error.value());
  if (access(folder.c_str(), W_OK) != 0) fail(folder, "folder is not writable", errno);
  temporary_ = temporary_beside(target_);
}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::commit() {
  sync_path(temporary_, O_RDONLY);
  std::error_code error;
  std::filesystem::rename(temporary_, target_, error);
  if (error) fail(target_, "cannot put the finished file in place", error.value());
  temporary_.clear();
  sync_path(folder_of(target_), O_RDONLY | O_DIRECTORY);
}

void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write) {
  AtomicFile file(target);
  write(file.path());
  file.commit();
}

void write_text(const std::filesystem::path& target, std::string_view text) {
  write_atomically(target, [&](const std::filesystem::path& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) fail(target, "cannot write", errno != 0 ? errno : EIO);
  });
}

}  // namespace motes::io
