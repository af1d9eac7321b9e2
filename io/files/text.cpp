/// Reads whole files, and converts numbers to text and back.

#include "io/files/text.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <system_error>

#include <motes/base/errors.h>

#include "io/files/encoding.h"
#include "io/files/open_error.h"

namespace motes::io::detail {
namespace {

std::ifstream open_regular(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw InputError(path.string() + ": no such file; check the path");
  if (error) fail_to_open(path, "open", error.value());
  if (std::filesystem::is_directory(status)) {
    throw InputError(path.string() + ": this is a folder; name a file in it");
  }
  if (!std::filesystem::is_regular_file(status)) {  // reading a pipe could block
    throw InputError(path.string() +
                     ": this is not a regular file; save its contents to a file, and give that");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_to_open(path, "open", errno);
  return in;
}

/// from_chars rejects numbers outside double's range; strtod rounds them to infinity or zero as IEEE does.
double round_out_of_range(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

void append_percent(std::string& out, char c) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

}  // namespace

std::string read_file_start(const std::filesystem::path& path, std::size_t count) {
  std::ifstream in = open_regular(path);
  std::string bytes(count, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  if (in.bad()) throw InputError(path.string() + ": cannot read the file; copy it again");
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

std::string read_whole_file(const std::filesystem::path& path) {
  std::ifstream in = open_regular(path);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::string bytes;
  if (!error && size > 0) {
    bytes.resize(static_cast<std::size_t>(size));
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw InputError(path.string() + ": cannot read the file; copy it again");
  return bytes;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

std::optional<double> parse_double(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end) return std::nullopt;
  if (error == std::errc::result_out_of_range) return round_out_of_range(text);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (!text.empty() && stop == end && error == std::errc()) return value;
  const auto real = parse_double(text);
  constexpr double kExact = 9007199254740992.0;  // 2^53: larger doubles skip integers
  if (!real || !(std::abs(*real) <= kExact) || *real != std::floor(*real)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<double> parse_trimmed_number(std::string_view text) { return parse_double(trimmed(text)); }
std::optional<std::int64_t> parse_trimmed_integer(std::string_view text) {
  return parse_integer(trimmed(text));
}

bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  const std::string folded = lower_case(text);
  return folded == "nan" || folded == "na" || folded == "n/a" || folded == "none" || folded == "null";
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  (void)error;  // 32 characters suffice for the shortest text of a double
  out.append(buffer, end);
}

void append_number(std::string& out, std::int64_t value) {
  char buffer[24];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  (void)error;  // 24 characters suffice for an int64
  out.append(buffer, end);
}

std::string xml_escaped(std::string_view text) {
  const bool utf8 = is_utf8(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += '_';
    } else if (byte >= 0x80 && !utf8) {
      append_percent(out, c);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace motes::io::detail
