#pragma once
/// Standard error, where it is a terminal.

#include <cstddef>

namespace motes::system {

bool error_is_terminal();

/// Columns of the terminal that standard error is; 80 where it does not say.
std::size_t terminal_columns();

}  // namespace motes::system
