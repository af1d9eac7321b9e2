#pragma once
/// Units and numbers as they appear in image metadata.

#include <optional>
#include <string>
#include <string_view>

#include "io/files/text.h"

namespace motes::io::detail {

/// Micrometres per unit; none for an unknown one ("pixel", ""). The micro sign may be u, Latin-1, UTF-8
/// (U+00B5 or U+03BC) or the escape \u00B5 that ImageJ writes.
std::optional<double> length_unit_um(std::string_view name);

/// Seconds per unit; none for an unknown one.
std::optional<double> time_unit_s(std::string_view name);

/// The text as a length or time; none unless it is a positive, finite number.
std::optional<double> parse_positive(std::string_view text);

}  // namespace motes::io::detail
