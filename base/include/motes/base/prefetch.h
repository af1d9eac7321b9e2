#pragma once
/// Asking for memory ahead of its use.

namespace motes {

/// Asks for the cache line of an address, which may lie anywhere. The empty statement stays: GCC takes a
/// function that does nothing but prefetch for one without effect, and drops the calls of it with all that
/// they ask for.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// The same for later, into the second-level cache: lines under way to the first are few at a time on some
/// CPUs, and those asked for early would keep the next ones waiting.
inline void prefetch_early(const void* address) {
  __builtin_prefetch(address, 0, 2);
  asm volatile("");
}

/// The same of a line that will be written.
inline void prefetch_to_write(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace motes
