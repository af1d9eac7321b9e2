#pragma once
/// Tables in which each whole line is one quoted field, as spreadsheets save a table that they read as one
/// column.

#include <cstddef>
#include <string>

namespace motes::io::detail {

/// Removes the outer quotes of each line of `text` from byte `begin` on, and halves the quotes within, if the
/// first line is one quoted field that has separators. Returns whether it did. O(text).
bool unquote_lines(std::string& text, std::size_t begin);

}  // namespace motes::io::detail
