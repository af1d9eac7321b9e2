#pragma once
/// A parallel loop that costs nothing on one thread.

#include <cstdint>

#include <motes/base/parallel_for.h>
#include <motes/base/stop.h>

namespace motes {

/// parallel_for for bodies that do not ask for their thread's number: on one thread it is a plain loop. There
/// parallel_for still has OpenMP make a team of one, which calls the kernel; where a million small
/// problems are solved, that takes longer than they do.
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
