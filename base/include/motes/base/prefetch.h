#pragma once
/// Prefetching of cache lines.

namespace motes {

/// Prefetches the cache line of an address, which need not be valid. The empty asm statement is needed: GCC
/// considers a function that only prefetches to have no effect, and removes calls of it.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// Prefetches a line that is needed later into the second-level cache. Some CPUs have few pending loads for
/// the first level, and early prefetches would delay later ones.
inline void prefetch_early(const void* address) {
  __builtin_prefetch(address, 0, 2);
  asm volatile("");
}

/// Prefetches a line that will be written.
inline void prefetch_to_write(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace motes
