#include "matching/detail/parallel_copy.h"

#include <algorithm>
#include <cstring>

#include "matching/parallel_for.h"

namespace motes::matching::detail {

void parallel_copy(void* to, const void* from, std::size_t bytes, int threads) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::size_t pieces = (bytes + kPiece - 1) / kPiece;
  const auto copy = [&](std::int64_t k) {
    const std::size_t at = static_cast<std::size_t>(k) * kPiece;
    std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at,
                std::min(kPiece, bytes - at));
  };
  const auto count = static_cast<std::int64_t>(pieces);
  if (threads > 1 && pieces > 1)
    parallel_for(std::min(threads, 8), count, copy);
  else
    for (std::int64_t k = 0; k < count; ++k) copy(k);
}

}  // namespace motes::matching::detail
