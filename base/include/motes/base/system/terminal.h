#pragma once
/// Standard error and the terminal behind it.

#include <cstddef>
#include <string_view>

namespace motes::system {

/// Whether standard error is a terminal.
bool error_is_terminal();

/// Columns of that terminal; 80 if unknown.
std::size_t terminal_columns();

/// Writes to standard error with a single system call, without buffers, locks or memory, so that it can be
/// used when the process is about to end. Errors are ignored.
void write_error(std::string_view text);

}  // namespace motes::system
