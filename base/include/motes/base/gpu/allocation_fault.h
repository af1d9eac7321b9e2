#pragma once
/// For tests: device or pinned memory that runs out at a chosen allocation.

#include <cstdint>

namespace motes::gpu {

/// The n-th allocation from now on, of all threads, fails as if there were no room, and no other (1: the
/// next one); 0: none does.
void fail_allocation(std::int64_t nth);

/// Whether it came to that since.
bool allocation_failed();

/// Asked before each allocation: whether it is the one that fails.
bool allocation_must_fail();

}  // namespace motes::gpu
