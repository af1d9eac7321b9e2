/// The countdown to the allocation that fails.

#include <atomic>

#include <motes/base/gpu/allocation_fault.h>

namespace motes::gpu {
namespace {

/// Allocations until the one that fails. 0: that one has failed; negative: none will fail.
std::atomic<std::int64_t> left = -1;

}  // namespace

void fail_allocation(std::int64_t nth) { left = nth > 0 ? nth : -1; }

bool allocation_failed() { return left == 0; }

bool allocation_must_fail() {
  std::int64_t before = left;
  while (before > 0 && !left.compare_exchange_weak(before, before - 1)) {
  }
  return before == 1;
}

}  // namespace motes::gpu
