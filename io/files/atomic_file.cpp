#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/unfinished_files.h>

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

/// What is there already and is no file: a device, a pipe, what a shell opened. A file that takes its name
/// would not be read by who waits there, and /dev/null would be a file from then on.
bool is_stream(const std::filesystem::path& target, const std::filesystem::file_status& status) {
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return false;
  if (!std::filesystem::is_regular_file(status)) return true;
  const std::string name = std::filesystem::absolute(target).lexically_normal().string();
  return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/");
}

void append_to_stream(const std::filesystem::path& from, const std::filesystem::path& stream) {
  std::ifstream in(from, std::ios::binary);
  const int fd = open(stream.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) fail(stream, "cannot open", errno);
  std::vector<char> block(1 << 16);
  int error = 0;
  while (error == 0 && in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    for (std::streamsize done = 0; error == 0 && done < in.gcount();) {
      const ssize_t wrote = write(fd, block.data() + done, static_cast<std::size_t>(in.gcount() - done));
      if (wrote >= 0)
        done += wrote;
      else if (errno != EINTR)
        error = errno;
    }
  }
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0) fail(stream, "cannot write", error);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)), place_(target_) {
  std::error_code none;
  const std::filesystem::file_status there = std::filesystem::status(target_, none);
  if (std::filesystem::is_directory(there)) fail(target_, "cannot write", EISDIR);
  if (is_stream(target_, there)) {
    stream_ = true;
    temporary_ = temporary_beside(std::filesystem::temp_directory_path() / target_.filename());
    note_unfinished(temporary_);
    return;
  }
  if (std::filesystem::exists(there) && std::filesystem::is_symlink(target_, none))
    place_ = std::filesystem::canonical(target_);
  const std::filesystem::path folder = folder_of(place_);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(folder, "cannot create folder", error.value());
  if (access(folder.c_str(), W_OK) != 0) fail(folder, "folder is not writable", errno);
  temporary_ = temporary_beside(place_);
  note_unfinished(temporary_);
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
  forget_unfinished(temporary_);
}

void AtomicFile::commit() {
  if (stream_) return append_to_stream(temporary_, target_);
  sync_path(temporary_, O_RDONLY);
  std::error_code error;
  std::filesystem::rename(temporary_, place_, error);
  if (error) fail(target_, "cannot put the finished file in place", error.value());
  forget_unfinished(temporary_);
  temporary_.clear();
  sync_path(folder_of(place_), O_RDONLY | O_DIRECTORY);
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
