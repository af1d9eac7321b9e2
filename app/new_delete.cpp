/// The program's operator new and delete, so that execution.memory_gb bounds arrays of every kind.

#include <new>

#include <motes/base/large_blocks.h>

void* operator new(std::size_t bytes) { return motes::take_block(bytes); }

/// Replaced too, since a sanitizer's own form would not match this delete.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return motes::take_block(bytes);
  } catch (...) {
    return nullptr;
  }
}

void operator delete(void* block) noexcept { motes::give_block(block); }
void operator delete(void* block, std::size_t) noexcept { motes::give_block(block); }
