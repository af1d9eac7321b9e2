/// Copies in pieces, by several threads.

#include <algorithm>
#include <cstring>
#include <vector>

#include <motes/base/parallel_copy.h>
#include <motes/base/parallel_for.h>

namespace motes {

void parallel_copy(std::span<const Copy> copies, int threads) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<Copy> pieces;
  for (const Copy& copy : copies)
    for (std::size_t at = 0; at < copy.bytes; at += kPiece)
      pieces.push_back({static_cast<char*>(copy.to) + at, static_cast<const char*>(copy.from) + at,
                        std::min(kPiece, copy.bytes - at)});
  const auto make = [&](std::int64_t k) {
    const Copy& piece = pieces[static_cast<std::size_t>(k)];
    std::memcpy(piece.to, piece.from, piece.bytes);
  };
  const auto count = static_cast<std::int64_t>(pieces.size());
  if (threads > 1 && count > 1)
    parallel_for(std::min(threads, 8), count, make);
  else
    for (std::int64_t k = 0; k < count; ++k) make(k);
}

}  // namespace motes
