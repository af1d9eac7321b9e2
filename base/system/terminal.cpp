/// Standard error as a file descriptor and as a terminal.

#include <sys/ioctl.h>
#include <unistd.h>

#include <motes/base/system/terminal.h>

namespace motes::system {

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_error(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace motes::system
