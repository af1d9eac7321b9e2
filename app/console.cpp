#include "app/console.h"

#include <cerrno>
#include <cstring>
#include <ostream>

#include <motes/base/errors.h>

namespace motes::app {

void Console::write(std::string_view text) {
  errno = 0;
  out_ << text << '\n' << std::flush;
  if (out_ || errno == EPIPE) return;
  throw ResourceError(std::string("standard output: cannot write: ") +
                      (errno != 0 ? std::strerror(errno) : "stream closed") +
                      "; check free space where it leads");
}

void Console::print(std::string_view text) {
  if (!quiet_ && !json_on_output_) write(text);
}

void Console::print_json(std::string_view text) { write(text); }

void Console::note(std::string_view text) {
  if (!quiet_) err_ << text << '\n' << std::flush;
}

void Console::warn(const std::string& text) {
  warnings_.push_back(text);
  note("motes: warning: " + text);
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace motes::app
