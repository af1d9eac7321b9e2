#pragma once
/// A parallel loop whose body may throw.

#include <cstdint>
#include <exception>

#include "tracking/execution.h"

namespace motes::tracking::detail {

/// Calls body(i) for i in [0, count) on the execution's threads, in any order; the bodies must not touch each
/// other's data. After a throw the rest may be left out; the first exception caught is thrown on.
template <class Body>
void parallel_for(const Execution& execution, std::int64_t count, const Body& body) {
  std::exception_ptr failure;
  bool failed = false;
#pragma omp parallel for num_threads(thread_count(execution)) schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    bool skip = false;
#pragma omp atomic read
    skip = failed;
    if (skip) continue;
    try {
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

}  // namespace motes::tracking::detail
