#pragma once
/// A parallel loop without overhead on one thread.

#include <cstdint>

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

}  // namespace motes
