#pragma once
/// Tables with decimal commas (1,5 for 1.5).

#include <cstddef>
#include <string>

namespace motes::io::detail {

/// In each field of `text` from `begin` on that is a number with one comma (between digits, no point),
/// replaces the comma by a point; returns whether there was one. Throws InputError (`path`) if other numbers
/// have a point, since one of the two then separates thousands. O(bytes).
bool replace_decimal_commas(std::string& text, std::size_t begin, char delimiter, const std::string& path);

}  // namespace motes::io::detail
