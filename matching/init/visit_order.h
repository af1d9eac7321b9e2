#pragma once
/// The order in which initialisers visit rows.

#include <cstdint>
#include <numeric>

#include <motes/base/hash.h>
#include <motes/base/host_device.h>
#include <motes/matching/problem.h>

namespace motes::matching::detail {

/// Visits 0..count-1 in an order drawn from a seed (0: the natural order): k goes to (first + k * step) mod
/// count, with a step that has no factor in common with count.
class VisitOrder {
 public:
  VisitOrder(Index count, std::uint64_t seed) : count_(static_cast<std::uint64_t>(count)) {
    if (seed == 0 || count < 3) return;
    const std::uint64_t drawn = splitmix64(seed);
    first_ = (drawn >> 32) % count_;
    step_ = (drawn & 0xffffffff) % count_ | 1;
    while (std::gcd(step_, count_) != 1) step_ += 2;
  }
  bool natural() const { return step_ == 0; }
  MOTES_HOST_DEVICE Index operator()(Index k) const {
    if (step_ == 0) return k;  // avoids a division per vertex in the natural order
    return static_cast<Index>((first_ + static_cast<std::uint64_t>(k) * step_) % count_);
  }

 private:
  std::uint64_t count_, first_ = 0, step_ = 0;
};

}  // namespace motes::matching::detail
