#pragma once
/// Reordering of vectors by several threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <motes/base/parallel_for.h>

namespace motes {

/// The vector of values[order[i]], [order.size()], computed on up to `threads` threads (at least 1).
/// O(order.size()).
template <class T>
std::vector<T> parallel_gather(int threads, const std::vector<T>& values,
                               const std::vector<std::size_t>& order) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::vector<T> out(order.size());
  parallel_for(threads, static_cast<std::int64_t>((order.size() + kBlock - 1) / kBlock), [&](std::int64_t b) {
    const std::size_t begin = static_cast<std::size_t>(b) * kBlock;
    const std::size_t end = std::min(order.size(), begin + kBlock);
    for (std::size_t i = begin; i < end; ++i) out[i] = values[order[i]];
  });
  return out;
}

}  // namespace motes
