#pragma once
/// Whole files as text, and lossless conversion between numbers and text.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace motes::io::detail {

/// The file's bytes. Throws InputError if it is missing, a folder, or unreadable.
std::string read_whole_file(const std::filesystem::path& path);

/// At most `count` bytes from the file's start. Throws as read_whole_file.
std::string read_file_start(const std::filesystem::path& path, std::size_t count);

/// `text` without blanks (space, tab, line ends) at its ends.
std::string_view trimmed(std::string_view text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text with ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// The whole of `text` (already trimmed) as a number, including "nan" and "inf"; none if it is not a number.
std::optional<double> parse_double(std::string_view text);

/// The same for integers: "3.0" is 3, "3.5" is rejected. Exact for all int64 written without a decimal point.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// parse_double and parse_integer of the trimmed text.
std::optional<double> parse_trimmed_number(std::string_view text);
std::optional<std::int64_t> parse_trimmed_integer(std::string_view text);

/// Whether the text marks a missing value in tables: empty, nan, na, none, null.
bool is_missing(std::string_view text);

/// Appends the shortest text that reads back to the same bits ("nan" for every NaN).
void append_number(std::string& out, double value);
void append_number(std::string& out, std::int64_t value);

/// `text` for an XML attribute: &, <, > and quotes become entities, control characters (which XML does not
/// allow) become '_'. If it is not UTF-8, every byte beyond ASCII becomes %XX.
std::string xml_escaped(std::string_view text);

}  // namespace motes::io::detail
