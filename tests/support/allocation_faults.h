#pragma once
/// Work on a GPU whose memory runs out at every allocation in turn.

#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/gpu/allocation_fault.h>

namespace motes::testing {

/// Calls run() with the first allocation failing, the second, and so on until none is left; each time it
/// ends with ResourceError or checks its answer as ever, and afterwards run() again, which then finds all the
/// memory it asks for. What may run out of memory stands outside CHECK in run(), which would keep the error.
/// Returns how many allocations there were.
template <class Run>
std::int64_t fail_each_allocation(const Run& run) {
  for (std::int64_t nth = 1;; ++nth) {
    INFO("allocation " << nth << " fails");
    std::string why;
    gpu::fail_allocation(nth);
    try {
      run();
    } catch (const ResourceError& error) {
      why = error.what();
      CHECK(!why.empty());
    } catch (...) {
      gpu::fail_allocation(0);
      throw;
    }
    const bool failed = gpu::allocation_failed();
    gpu::fail_allocation(0);
    CHECK((failed || why.empty()));
    run();
    if (!failed) return nth - 1;
  }
}

}  // namespace motes::testing
