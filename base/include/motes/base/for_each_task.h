#pragma once
/// Parallel loops without overhead on one thread.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <motes/base/parallel_for.h>
#include <motes/base/stop.h>

namespace motes {

/// parallel_for for bodies that do not use their thread's number. On one thread this is a plain loop, whereas
/// parallel_for makes an OpenMP team of one, with a system call, which for a million small problems takes
/// longer than solving them.
template <class Body>
void for_each_task(int threads, std::int64_t count, const Body& body) {
  if (threads > 1) return parallel_for(threads, count, body);
  const Stop stop = Stop::of_this_thread();
  for (std::int64_t i = 0; i < count; ++i) {
    stop.check();
    body(i);
  }
}

/// Calls body(begin, end) for consecutive blocks of [0, count), as for_each_task does; each has `block`
/// numbers, the last one those that are left.
template <std::integral Integer, class Body>
void for_each_block(int threads, Integer count, std::type_identity_t<Integer> block, const Body& body) {
  const auto all = static_cast<std::int64_t>(count), size = static_cast<std::int64_t>(block);
  for_each_task(threads, (all + size - 1) / size, [&](std::int64_t k) {
    body(static_cast<Integer>(k * size), static_cast<Integer>(std::min(all, (k + 1) * size)));
  });
}

}  // namespace motes
