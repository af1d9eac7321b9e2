#pragma once
/// This machine's memory, this process's, and hints on pages.

#include <cstddef>
#include <cstdint>

namespace motes::system {

/// Bytes of memory that the machine has; 0 where the system does not say.
std::int64_t physical_memory();

/// Bytes of memory that this process has now, pages of files included; 0 where the system does not say.
std::int64_t resident_memory();

/// The most bytes of memory that this process has had.
std::int64_t peak_memory();

/// Bytes of a page.
std::size_t page_size();

/// Asks for large pages for whole pages `begin` to `end`; the system may refuse.
void ask_large_pages(void* begin, std::size_t bytes);

/// Gives whole pages back to the system: they read as zeros from then on.
void drop_pages(void* begin, std::size_t bytes);

}  // namespace motes::system
