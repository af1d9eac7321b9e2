/// Descriptors, pipes and files in memory on Linux.

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <motes/base/system/descriptor.h>

namespace motes::system {

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Pipe make_pipe(int& error) {
  int ends[2] = {-1, -1};
  error = pipe2(ends, O_CLOEXEC) != 0 ? errno : 0;
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor make_memory_file(int& error) {
  Descriptor file(memfd_create("motes", MFD_CLOEXEC));
  error = file.number() < 0 ? errno : 0;
  return file;
}

int write_all(const Descriptor& to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(to.number(), bytes.data(), bytes.size());
    if (wrote >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

std::string read_line(const Descriptor& from, std::chrono::milliseconds most) {
  const auto limit = std::chrono::steady_clock::now() + most;
  std::string text;
  while (text.find('\n') == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {};
    pollfd waiting{from.number(), POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    char buffer[32];
    const ssize_t got = ready > 0 ? read(from.number(), buffer, sizeof buffer) : 0;
    if (got <= 0) return {};
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

std::string read_tail(const Descriptor& file, std::size_t most) {
  const off_t size = lseek(file.number(), 0, SEEK_END);
  const off_t from = std::max<off_t>(size - static_cast<off_t>(most), 0);
  std::string text(most, '\0');
  const ssize_t got = pread(file.number(), text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace motes::system
