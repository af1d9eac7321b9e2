#pragma once
/// Parallel loops whose bodies may throw. OpenMP ends the program if an exception leaves a parallel region;
/// here it is rethrown by the caller.

#include <cstdint>
#include <exception>

#include <omp.h>

#include <motes/base/host_blocks.h>
#include <motes/base/stop.h>

namespace motes {

/// Calls body(i) for i in [0, count) on up to `threads` threads (at least 1), in any order. Bodies run
/// concurrently, and may index scratch memory by omp_get_thread_num(). After an exception the remaining
/// calls may be skipped, and the first exception is rethrown. Throws Interrupted if the caller's stop flag
/// is set (stop.h).
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

/// Calls body(thread, threads) once on each of up to `threads` threads, where the second argument is their
/// actual number. They take large arrays from the caller's cache (host_blocks.h). The first exception is
/// rethrown.
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
