#pragma once
/// Large copies in host memory by several threads: one does not reach what memory and a GPU's bus give.

#include <cstddef>

namespace motes::matching::detail {

/// As std::memcpy, on up to `threads` threads; small copies by the caller alone.
void parallel_copy(void* to, const void* from, std::size_t bytes, int threads);

}  // namespace motes::matching::detail
