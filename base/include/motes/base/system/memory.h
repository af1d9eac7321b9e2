#pragma once
/// The memory of this machine and this process, and hints about pages.

#include <cstddef>
#include <cstdint>

namespace motes::system {

/// Bytes of memory of the machine; 0 if unknown.
std::int64_t physical_memory();

/// Bytes of resident memory of this process, pages of mapped files included; 0 if unknown.
std::int64_t resident_memory();

/// The peak of the resident memory of this process in bytes.
std::int64_t peak_memory();

/// Bytes of a page.
std::size_t page_size();

/// Bytes of a block of malloc, which may be more than requested.
std::size_t block_size(void* block);

/// Requests large pages for a range of whole pages; the system may ignore it.
void ask_large_pages(void* begin, std::size_t bytes);

/// Returns a range of whole pages to the system; they then read as zeros.
void drop_pages(void* begin, std::size_t bytes);

/// Returns memory that was freed but is cached by malloc to the system. Takes a few ms per GB.
void return_free_memory();

}  // namespace motes::system
