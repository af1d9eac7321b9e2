/// Conversion of Latin-1 and UTF-16 to UTF-8.

#include "io/files/encoding.h"

#include <cstddef>
#include <cstdint>

namespace motes::io::detail {
namespace {

void append_utf8(std::string& out, std::uint32_t point) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto follow = [&](std::uint32_t shift) { add(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    follow(0);
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    follow(6);
    follow(0);
  } else {
    add(0xF0 | point >> 18);
    follow(12);
    follow(6);
    follow(0);
  }
}

bool starts_pair(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool ends_pair(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

bool is_utf8(std::string_view text) {
  std::size_t following = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (following > 0) {
      if ((byte & 0xC0) != 0x80) return false;
      --following;
    } else if (byte >= 0x80) {
      if (byte < 0xC2 || byte > 0xF4) return false;
      following = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    }
  }
  return following == 0;
}

std::string utf8_of_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) append_utf8(out, static_cast<unsigned char>(c));
  return out;
}

bool is_utf16(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv)) return false;
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::optional<std::string> utf8_of_utf16(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  const std::size_t high = text.starts_with("\xFE\xFF") ? 0 : 1;
  const auto unit = [&](std::size_t at) {
    const std::uint32_t upper = static_cast<unsigned char>(text[at + high]);
    return upper << 8 | static_cast<unsigned char>(text[at + 1 - high]);
  };
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t at = 2; at < text.size(); at += 2) {
    std::uint32_t point = unit(at);
    if (ends_pair(point)) return std::nullopt;
    if (starts_pair(point)) {
      at += 2;
      if (at >= text.size() || !ends_pair(unit(at))) return std::nullopt;
      point = 0x10000 + (((point - 0xD800) << 10) | (unit(at) - 0xDC00));
    }
    append_utf8(out, point);
  }
  return out;
}

}  // namespace motes::io::detail
