#pragma once
/// Fault injection for tests: makes a chosen allocation of device or pinned memory fail.

#include <cstdint>

namespace motes::gpu {

/// Makes the n-th allocation from now on (of all threads; 1: the next) fail as if memory were full. 0: none
/// fails.
void fail_allocation(std::int64_t nth);

/// Whether that allocation has been reached.
bool allocation_failed();

/// Counts an allocation and returns whether it must fail. Called before each.
bool allocation_must_fail();

}  // namespace motes::gpu
