#pragma once
/// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a pure function of key and counter, so
/// that results do not depend on threads or order, and the GPU will give the same bits.

#include <array>
#include <cstdint>

namespace motes::sim {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// What a random number is for; keeps the streams of different purposes apart.
enum class Stream : std::uint32_t {
  seeding = 1,
  direction = 2,
  bias = 3,
  photons = 4,
  camera = 5,
  faults = 6,
  background = 7
};

/// The numbers of one (seed, stream, a, b), drawn one after the other. The key is the seed; the counter is
/// (block, a, b, stream), so no two streams ever share a block. bits() and uniform() are the same on every
/// machine; normal() and poisson() call the C library's log, exp, cos and sin, whose last bit may differ from
/// one C library to another.
class Random {
 public:
  Random(std::uint64_t seed, Stream stream, std::uint32_t a, std::uint32_t b);
  std::uint32_t bits();
  double uniform();  ///< in [0, 1), 53 bits
  double normal();   ///< mean 0, variance 1 (Box-Muller, the cosine half)
  /// Mean in [0, kMaxPoissonMean], else std::invalid_argument. Inversion below 10, above it the transformed
  /// rejection PTRS of Hormann 1993; both are exact up to the rounding of doubles.
  std::int64_t poisson(double mean);

 private:
  std::array<std::uint32_t, 4> counter_, block_;
  std::array<std::uint32_t, 2> key_;
  int used_ = 4;
};

/// Beyond this mean a double no longer holds the logarithms that the rejection compares.
inline constexpr double kMaxPoissonMean = 1e9;

/// The first block of (seed, stream, a, b): four independent words at once, for code that fills arrays.
std::array<std::uint32_t, 4> random_block(std::uint64_t seed, Stream stream, std::uint32_t a,
                                          std::uint32_t b);

/// log(k!), k >= 0; relative error below 1e-14. Thread-safe, which std::lgamma is not everywhere.
double log_factorial(std::int64_t k);

}  // namespace motes::sim
