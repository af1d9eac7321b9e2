#pragma once
/// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a pure function of key and counter, so
/// that results do not depend on threads or order, and the GPU will give the same bits.

#include <array>
#include <cstdint>

namespace motes::sim {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// What a random number is for; keeps the streams of different purposes apart.
enum class Stream : std::uint32_t { seeding = 1, direction = 2, bias = 3, photons = 4, camera = 5, faults = 6 };

/// The numbers of one (seed, stream, a, b), drawn one after the other.
class Random {
 public:
  Random(std::uint64_t seed, Stream stream, std::uint32_t a, std::uint32_t b);
  std::uint32_t bits();
  double uniform();                ///< in [0, 1), 53 bits
  double normal();                 ///< mean 0, variance 1
  std::int64_t poisson(double mean);  ///< mean >= 0

 private:
  std::array<std::uint32_t, 4> counter_, block_;
  std::array<std::uint32_t, 2> key_;
  int used_ = 4;
};

}  // namespace motes::sim
