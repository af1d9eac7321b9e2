#pragma once
/// Unit names as image files spell them, and numbers as their metadata write them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace motes::io::detail {

/// Micrometres in one of the unit, or nothing for an unknown one ("pixel", ""). The micro sign may be u,
/// Latin-1, UTF-8 (U+00B5 or U+03BC) or the escape \u00B5 that ImageJ writes.
std::optional<double> length_unit_um(std::string_view name);

/// Seconds in one of the unit, or nothing for an unknown one.
std::optional<double> time_unit_s(std::string_view name);

/// The whole text, but for blanks around it, as a number; nothing when it is none.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

/// parse_number for lengths and times: nothing unless positive and finite.
std::optional<double> parse_positive(std::string_view text);

std::string_view trim(std::string_view text);

}  // namespace motes::io::detail
