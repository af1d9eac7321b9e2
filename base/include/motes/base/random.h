#pragma once
/// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a pure function of key and counter,
/// so that results do not depend on threads or order, and are the same on CPU and GPU.
///
/// Philox is a bijection of the counter, keyed by the seed: ten rounds of two 32x32-bit multiplications
/// whose high halves are mixed with the key and the other words. Since there is no state, every number can
/// be computed independently; a Random only counts blocks of four words.
///
/// Poisson numbers with a small mean are drawn by inversion (probabilities are summed until they exceed a
/// uniform number), those with a larger mean by PTRS (W. Hormann, "The transformed rejection method for
/// generating Poisson random variables", 1993): a table-mountain hat over the density of the transformed
/// variable, with a squeeze that accepts about nine in ten without computing a logarithm.

#include <array>
#include <cmath>
#include <cstdint>

#include <motes/base/exact_math.h>
#include <motes/base/host_device.h>

namespace motes {

MOTES_HOST_DEVICE inline std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                                 std::array<std::uint32_t, 2> key) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

/// The purpose of a random number; each purpose has its own independent stream.
enum class RandomStream : std::uint32_t {
  seeding = 1,
  direction = 2,
  bias = 3,
  photons = 4,
  camera = 5,
  faults = 6,
  background = 7,
  diffusion = 8,
  state = 9,
  lifetime = 10,
  birth = 11,
  flow = 12,
  division = 13,
  frame_time = 14,
  noise = 15,
  miss = 16,
  blink = 17,
  false_detection = 18,
  particle_speed = 19,
  clusters = 20,
  wall = 21,
  brightness = 22,
  // 64 and above: imaging; 128 and above: instances of matching problems
};

/// The first block of (seed, stream, a, b): four independent words, for code that fills arrays.
MOTES_HOST_DEVICE inline std::array<std::uint32_t, 4> random_block(std::uint64_t seed, RandomStream stream,
                                                                   std::uint32_t a, std::uint32_t b) {
  return philox4x32({0, a, b, static_cast<std::uint32_t>(stream)},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

/// Four independent normal numbers from four random words (Box-Muller, both halves). The smallest uniform
/// number, 2^-33, bounds them by 6.8 standard deviations.
MOTES_HOST_DEVICE inline std::array<double, 4> normals_of(const std::array<std::uint32_t, 4>& words) {
  const double radius0 = std::sqrt(-2 * exact_log((words[0] + 0.5) * 0x1p-32));
  const double radius1 = std::sqrt(-2 * exact_log((words[2] + 0.5) * 0x1p-32));
  const SinCos angle0 = exact_sin_cos_turns(words[1] * 0x1p-32);
  const SinCos angle1 = exact_sin_cos_turns(words[3] * 0x1p-32);
  return {radius0 * angle0.cos, radius0 * angle0.sin, radius1 * angle1.cos, radius1 * angle1.sin};
}

/// For larger means a double cannot represent the logarithms that the rejection method compares.
inline constexpr double kMaxPoissonMean = 1e9;

/// log(k!), k >= 0; relative error below 1e-14.
MOTES_HOST_DEVICE double log_factorial(std::int64_t k);

/// The sequence of random numbers of (seed, stream, a, b). The key is the seed and the counter is (block,
/// a, b, stream), so different sequences of a seed never share a block. Bit-identical on every machine, on
/// CPU and GPU.
class Random {
 public:
  MOTES_HOST_DEVICE Random(std::uint64_t seed, RandomStream stream, std::uint32_t a, std::uint32_t b)
      : counter_{0, a, b, static_cast<std::uint32_t>(stream)},
        block_{},
        key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

  MOTES_HOST_DEVICE std::uint32_t bits() {
    if (used_ == 4) {
      block_ = next_block();
      used_ = 0;
    }
    return block_[static_cast<std::size_t>(used_++)];
  }

  MOTES_HOST_DEVICE double uniform() {                          ///< in [0, 1), 53 bits
    const std::uint64_t high = bits() >> 5, low = bits() >> 6;  // 27 + 26 bits
    return static_cast<double>((high << 26) | low) * 0x1p-53;
  }

  MOTES_HOST_DEVICE double exponential() {  ///< mean 1
    return -exact_log(1 - uniform());
  }

  MOTES_HOST_DEVICE double normal() {  ///< mean 0, variance 1 (Box-Muller, the cosine half)
    const double radius = std::sqrt(-2 * exact_log(1 - uniform()));
    return radius * exact_sin_cos_turns(uniform()).cos;
  }

  /// Four normal numbers from the next block (normals_of). The rest of the current block is kept for bits().
  MOTES_HOST_DEVICE std::array<double, 4> normals() { return normals_of(next_block()); }

  /// A Poisson number of this mean in [0, kMaxPoissonMean]; throws std::invalid_argument for others (on the
  /// GPU the result is undefined). Exact up to the rounding of doubles.
  MOTES_HOST_DEVICE std::int64_t poisson(double mean);

 private:
  MOTES_HOST_DEVICE std::array<std::uint32_t, 4> next_block() {
    const auto block = philox4x32(counter_, key_);
    ++counter_[0];
    return block;
  }

  MOTES_HOST_DEVICE std::int64_t poisson_by_inversion(double mean);
  MOTES_HOST_DEVICE std::int64_t poisson_by_rejection(double mean);

  std::array<std::uint32_t, 4> counter_, block_;
  std::array<std::uint32_t, 2> key_;
  int used_ = 4;
};

namespace random_detail {
[[noreturn]] void refuse_poisson_mean();
}

MOTES_HOST_DEVICE inline double log_factorial(std::int64_t k) {
  constexpr double kSmall[16] = {0.0,
                                 0.0,
                                 0.6931471805599453,
                                 1.791759469228055,
                                 3.1780538303479458,
                                 4.787491742782046,
                                 6.579251212010101,
                                 8.525161361065415,
                                 10.60460290274525,
                                 12.801827480081469,
                                 15.104412573075516,
                                 17.502307845873887,
                                 19.987214495661885,
                                 22.552163853123425,
                                 25.191221182738682,
                                 27.89927138384089};
  if (k < 16) return kSmall[k];
  // Stirling's series at n = k + 1; the first omitted term is below 1e-13 already at n = 17.
  const double n = static_cast<double>(k) + 1;
  const double inverse = 1 / n, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  constexpr double kHalfLogTwoPi = 0.9189385332046727418;
  return (n - 0.5) * exact_log(n) - n + kHalfLogTwoPi + series;
}

MOTES_HOST_DEVICE inline std::int64_t Random::poisson_by_inversion(double mean) {
  // With a mean below 10 the probability of reaching this is far below 2^-53. It ends the loop if rounding
  // leaves the sum of probabilities below the largest uniform number.
  constexpr std::int64_t kCap = 120;
  const double u = uniform();
  double probability = exact_exp(-mean);
  double sum = probability;
  std::int64_t k = 0;
  while (u >= sum && k < kCap) {
    ++k;
    probability *= mean / static_cast<double>(k);
    sum += probability;
  }
  return k;
}

MOTES_HOST_DEVICE inline std::int64_t Random::poisson_by_rejection(double mean) {
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double squeeze = 0.9277 - 3.6224 / (b - 2);
  const double log_mean = exact_log(mean);
  while (true) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double us = 0.5 - (u < 0 ? -u : u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) return static_cast<std::int64_t>(k);
    if (!(k >= 0) || (us < 0.013 && v > us)) continue;
    const auto count = static_cast<std::int64_t>(k);
    if (exact_log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(count))
      return count;
  }
}

MOTES_HOST_DEVICE inline std::int64_t Random::poisson(double mean) {
#ifndef __CUDA_ARCH__
  if (!(mean >= 0 && mean <= kMaxPoissonMean)) random_detail::refuse_poisson_mean();
#endif
  return mean < 10 ? poisson_by_inversion(mean) : poisson_by_rejection(mean);  // PTRS is valid from 10 on
}

}  // namespace motes
