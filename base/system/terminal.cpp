#include <sys/ioctl.h>
#include <unistd.h>

#include <motes/base/system/terminal.h>

namespace motes::system {

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace motes::system
