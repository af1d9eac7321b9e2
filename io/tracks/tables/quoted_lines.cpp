/// Recognises quoted lines and removes their quotes.

#include "io/tracks/tables/quoted_lines.h"

#include <algorithm>
#include <string_view>

namespace motes::io::detail {
namespace {

/// The line from `begin` on, without its end.
std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find_first_of("\r\n", begin), text.size()) - begin);
}

/// Whether the line is one quoted field: within, quotes stand in pairs.
bool is_one_field(std::string_view line) {
  if (line.size() < 2 || line.front() != '"' || line.back() != '"') return false;
  line = line.substr(1, line.size() - 2);
  for (std::size_t at = line.find('"'); at != std::string_view::npos; at = line.find('"', at + 2))
    if (at + 1 >= line.size() || line[at + 1] != '"') return false;
  return true;
}

}  // namespace

bool unquote_lines(std::string& text, std::size_t begin) {
  const std::string_view header = line_at(text, begin);
  if (!is_one_field(header) || header.find_first_of(",;\t") == std::string_view::npos) return false;
  std::size_t out = begin;
  for (std::size_t at = begin; at < text.size();) {
    const std::string_view line = line_at(text, at);
    const std::size_t end = at + line.size();
    const bool quoted = is_one_field(line);
    const std::size_t last = quoted ? end - 1 : end;
    for (std::size_t from = quoted ? at + 1 : at; from < last; ++from) {
      text[out++] = text[from];
      if (quoted && text[from] == '"') ++from;
    }
    if (end < text.size()) text[out++] = text[end];
    at = end + 1;
  }
  text.resize(out);
  return true;
}

}  // namespace motes::io::detail
