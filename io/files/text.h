#pragma once
/// Whole files as text, and lossless conversion between numbers and text.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace motes::io::detail {

/// The file's bytes. Throws InputError where it is absent, a folder or unreadable.
std::string read_whole_file(const std::filesystem::path& path);

/// At most `count` bytes from the file's start. Throws as read_whole_file.
std::string read_file_start(const std::filesystem::path& path, std::size_t count);

/// `text` without blanks (space, tab, line ends) around it.
std::string_view trimmed(std::string_view text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// ASCII letters folded to lower case.
std::string lower_case(std::string_view text);

/// The whole of `text` (already trimmed) as a number, "nan" and "inf" included; none where it is not a
/// number.
std::optional<double> parse_double(std::string_view text);

/// The same for whole numbers: "3.0" is 3, "3.5" is rejected. Exact over all of int64 when written without a
/// point.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// parse_double and parse_integer of `text` but for blanks around it.
std::optional<double> parse_trimmed_number(std::string_view text);
std::optional<std::int64_t> parse_trimmed_integer(std::string_view text);

/// True for what tables write where a value is missing: nothing, nan, na, none, null.
bool is_missing(std::string_view text);

/// Appends the shortest text that reads back to the same bits ("nan" for every NaN).
void append_number(std::string& out, double value);
void append_number(std::string& out, std::int64_t value);

/// `text` for an XML attribute: &, <, >, quotes as entities; control characters, which XML cannot hold, as
/// '_'; where it is not UTF-8, every byte beyond ASCII as %XX.
std::string xml_escaped(std::string_view text);

}  // namespace motes::io::detail
