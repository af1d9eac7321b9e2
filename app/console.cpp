/// Writes messages and results, line by line.

#include "app/console.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <sstream>

#include <motes/base/errors.h>

namespace motes::app {

namespace {

/// The longest line of an error, in bytes: names and values in it come from files.
constexpr std::size_t kLongestLine = 2000;

/// The length in bytes of the control character at `i`, if it is one that a terminal may act on (C0 except
/// line end and tab, DEL, and C1, which UTF-8 writes in two bytes); else 0.
std::size_t control_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const unsigned c = byte(i);
  if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return 1;
  return c == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0 ? 2 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t control = control_at(text, i);
    out += control > 0 ? '?' : text[i];
    i += std::max<std::size_t>(control, 1);
  }
  return out;
}

void Console::write(std::string_view text) {
  errno = 0;
  out_ << text << '\n' << std::flush;
  if (out_ || errno == EPIPE) return;
  throw ResourceError(std::string("standard output: cannot write: ") +
                      (errno != 0 ? std::strerror(errno) : "stream closed") +
                      "; check the free space of its target");
}

void Console::print(std::string_view text) {
  if (!quiet_ && !json_on_output_) write(printable(text));
}

void Console::print_json(std::string_view text) {
  // JSON does not escape DEL and C1.
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t control = control_at(text, i);
    if (control == 0) {
      out += text[i++];
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(text[i + control - 1]));
    out += code;
    i += control;
  }
  write(out);
}

void Console::note(std::string_view text) {
  if (quiet_) return;
  write_one_line(err_, printable(text));
  err_ << '\n' << std::flush;
}

void Console::warn(const std::string& text) {
  warnings_.push_back(text);
  note("motes: warning: " + text);
}

void write_one_line(std::ostream& out, std::string_view text) {
  if (text.size() > kLongestLine) {
    const auto inside = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
    std::size_t head = kLongestLine / 2, tail = text.size() - kLongestLine / 2;
    while (head > 0 && inside(head)) --head;
    while (tail < text.size() && inside(tail)) ++tail;
    write_one_line(out, text.substr(0, head));
    out << " ... ";
    write_one_line(out, text.substr(tail));
    return;
  }
  while (!text.empty() && (text.back() == ' ' || control_at(text, text.size() - 1) > 0 ||
                           text.back() == '\n' || text.back() == '\t'))
    text.remove_suffix(1);
  for (std::size_t i = 0; i < text.size();) {
    const bool blank = text[i] == '\n' || text[i] == '\t';
    const std::size_t control = blank ? 1 : control_at(text, i);
    out.put(control > 0 ? ' ' : text[i]);
    i += std::max<std::size_t>(control, 1);
  }
}

std::string one_line(std::string_view text) {
  std::ostringstream line;
  write_one_line(line, text);
  return line.str();
}

}  // namespace motes::app
