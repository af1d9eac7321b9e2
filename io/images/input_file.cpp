#include "io/images/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <motes/base/errors.h>

namespace motes::io::detail {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // O_NONBLOCK: a named pipe must not hang the program before it is refused below.
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    const int error = errno;
    const std::string what = path_.string() + ": cannot open: " + std::strerror(error);
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG)
      throw InputError(what + "; check input.path");
    throw ResourceError(what + "; check its permissions");
  }
  struct stat status {};
  if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd_);
    throw InputError(path_.string() + ": this is not a regular file; check input.path");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(fd_); }

bool InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) return false;
  while (!out.empty()) {
    const ssize_t got = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got == 0) return false;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw InputError(path_.string() + ": cannot read at byte " + std::to_string(offset) + ": " +
                       std::strerror(errno) + "; copy the file again");
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

std::string InputFile::head(std::size_t count) const {
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, size_)), '\0');
  if (!read_at(0, std::as_writable_bytes(std::span(bytes)))) bytes.clear();
  return bytes;
}

}  // namespace motes::io::detail
