#pragma once
/// Tables with decimal commas (1,5 for 1.5).

#include <cstddef>
#include <string>

namespace motes::io::detail {

/// Fields of `text` from `begin` on that are numbers with one comma (between digits, no point) get a point
/// in its place; true when there was one. Throws InputError (`path`) where other numbers of the table have a
/// point: one of the two separates thousands. O(bytes).
bool replace_decimal_commas(std::string& text, std::size_t begin, char delimiter, const std::string& path);

}  // namespace motes::io::detail
