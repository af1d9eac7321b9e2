#pragma once
/// Integer hash functions for CPU and GPU.

#include <cstdint>

#include <motes/base/host_device.h>

namespace motes {

/// The finaliser of SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014): a bijection of 64-bit words. A change of any input bit flips each output bit with
/// probability about 1/2.
MOTES_HOST_DEVICE constexpr std::uint64_t splitmix64_finaliser(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio, odd.
inline constexpr std::uint64_t kSplitmix64Increment = 0x9e3779b97f4a7c15ULL;

/// One step of SplitMix64 from state x.
MOTES_HOST_DEVICE constexpr std::uint64_t splitmix64(std::uint64_t x) {
  return splitmix64_finaliser(x + kSplitmix64Increment);
}

}  // namespace motes
