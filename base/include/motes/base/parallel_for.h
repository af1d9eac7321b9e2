#pragma once
/// A parallel loop whose body may throw: memory can run out in any thread, and must end in a message, not a
/// crash.

#include <cstdint>
#include <exception>

#include <omp.h>

#include <motes/base/host_blocks.h>
#include <motes/base/stop.h>

namespace motes {

/// Calls body(i) for i in [0, count) on up to `threads` threads (at least 1), in any order; the bodies must
/// not touch each other's data, and may index scratch by omp_get_thread_num(). After a throw the rest may be
/// left out; the first exception caught is thrown on. Ends with Interrupted where the caller's work is to
/// stop (stop.h).
template <class Body>
void parallel_for(int threads, std::int64_t count, const Body& body) {
  std::exception_ptr failure;
  bool failed = false;
  const Stop stop = Stop::of_this_thread();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
  for (std::int64_t i = 0; i < count; ++i) {
    bool skip = false;
#pragma omp atomic read
    skip = failed;
    if (skip) continue;
    try {
      stop.check();
      body(i);
    } catch (...) {
#pragma omp critical(motes_parallel_for_failure)
      if (!failure) failure = std::current_exception();
#pragma omp atomic write
      failed = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Calls body(thread, threads) once on each of up to `threads` threads, which are told how many they are: for
/// work that is a thread's own from one call to the next. They take large arrays from the blocks that the
/// caller has in use. The first exception caught is thrown on.
template <class Body>
void each_thread(int threads, const Body& body) {
  std::exception_ptr failure;
  HostBlocks* const blocks = HostBlocks::in_use();
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const HostBlocks::Use same(blocks);
    try {
      body(static_cast<std::size_t>(omp_get_thread_num()), static_cast<std::size_t>(omp_get_num_threads()));
    } catch (...) {
#pragma omp critical(motes_parallel_for_failure)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace motes
