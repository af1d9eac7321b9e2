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

/// Removes the file unless released: a failed write leaves nothing behind.
class Temporary {
 public:
  explicit Temporary(std::filesystem::path path) : path_(std::move(path)) {}
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void release() { path_.clear(); }

 private:
  std::filesystem::path path_;
};

std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  const std::string stem = "." + target.stem().string() + ".tmp-" + std::to_string(getpid()) + "-" +
                           std::to_string(counter.fetch_add(1));
  return target.parent_path() / (stem + target.extension().string());
}

}  // namespace

void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write) {
  const std::filesystem::path folder = target.parent_path().empty() ? "." : target.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(folder, "cannot create folder", error.value());
  if (access(folder.c_str(), W_OK) != 0) fail(folder, "folder is not writable", errno);

  Temporary temporary(temporary_beside(target));
  write(temporary.path());
  sync_path(temporary.path(), O_RDONLY);
  std::filesystem::rename(temporary.path(), target, error);
  if (error) fail(target, "cannot put the finished file in place", error.value());
  temporary.release();
  sync_path(folder, O_RDONLY | O_DIRECTORY);
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
