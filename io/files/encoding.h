#pragma once
/// Conversion of the encodings of tables to UTF-8.

#include <optional>
#include <string>
#include <string_view>

namespace motes::io::detail {

/// Whether all bytes form UTF-8 sequences.
bool is_utf8(std::string_view text);

/// Latin-1 as UTF-8.
std::string utf8_of_latin1(std::string_view text);

/// Whether the text starts with the byte order mark of UTF-16 (and not that of UTF-32).
bool is_utf16(std::string_view text);

/// The text after its byte order mark as UTF-8; none for an odd number of bytes or an unpaired surrogate.
std::optional<std::string> utf8_of_utf16(std::string_view text);

}  // namespace motes::io::detail
