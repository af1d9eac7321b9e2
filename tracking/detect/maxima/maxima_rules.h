#pragma once
/// Rules for local maxima, on the CPU and on the GPU.

#include <array>
#include <cstdint>

#include <motes/base/host_device.h>

namespace motes::tracking::detect::rules {

/// The member of a plateau nearest to its centre of mass; the first one if several are. `member(i)` gives z,
/// y, x of member i of n, in storage order.
template <class Member>
MOTES_HOST_DEVICE std::int64_t middle_of(std::int64_t n, const Member& member) {
  const auto count = static_cast<double>(n);
  double z = 0, y = 0, x = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::array<std::int64_t, 3> v = member(i);
    z += static_cast<double>(v[0]) / count;
    y += static_cast<double>(v[1]) / count;
    x += static_cast<double>(v[2]) / count;
  }
  std::int64_t best = 0;
  double least = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::array<std::int64_t, 3> v = member(i);
    const double dz = static_cast<double>(v[0]) - z, dy = static_cast<double>(v[1]) - y,
                 dx = static_cast<double>(v[2]) - x;
    const double distance2 = dz * dz + dy * dy + dx * dx;
    if (i > 0 && !(distance2 < least)) continue;
    best = i;
    least = distance2;
  }
  return best;
}

}  // namespace motes::tracking::detect::rules
