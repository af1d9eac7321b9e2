#pragma once
/// Large copies in host memory by several threads; one thread cannot use the full bandwidth.

#include <cstddef>
#include <span>

namespace motes {

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

/// As std::memcpy of each, on up to `threads` threads; small copies are made by the calling thread.
void parallel_copy(std::span<const Copy> copies, int threads);

inline void parallel_copy(void* to, const void* from, std::size_t bytes, int threads) {
  const Copy copy{to, from, bytes};
  parallel_copy(std::span(&copy, 1), threads);
}

}  // namespace motes
