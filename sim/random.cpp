/// Philox is a bijection of the counter, keyed by the seed: ten rounds of two 32x32-bit multiplications whose
/// high halves are mixed with the key and the other words. There is no state to carry, so any number can be
/// computed alone; a Random merely counts blocks of four words.
///
/// Poisson numbers of a small mean come from inversion (the sum of probabilities is walked until it exceeds a
/// uniform number). For larger means PTRS (W. Hormann, "The transformed rejection method for generating
/// Poisson random variables", 1993): a table-mountain hat over the density of the transformed variable, with
/// a squeeze that accepts about nine in ten without a logarithm.

#include "sim/random.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace motes::sim {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

/// PTRS is stated for means of 10 and more.
constexpr double kInversionBelow = 10;

/// A mean below 10 reaches this with a probability far below 2^-53; ends the walk when rounding leaves the
/// summed probabilities below the largest uniform number.
constexpr std::int64_t kInversionCap = 120;

std::int64_t poisson_by_inversion(Random& random, double mean) {
  const double u = random.uniform();
  double probability = std::exp(-mean);
  double sum = probability;
  std::int64_t k = 0;
  while (u >= sum && k < kInversionCap) {
    ++k;
    probability *= mean / static_cast<double>(k);
    sum += probability;
  }
  return k;
}

std::int64_t poisson_by_rejection(Random& random, double mean) {
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double squeeze = 0.9277 - 3.6224 / (b - 2);
  const double log_mean = std::log(mean);
  while (true) {
    const double u = random.uniform() - 0.5;
    const double v = random.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) return static_cast<std::int64_t>(k);
    if (!(k >= 0) || (us < 0.013 && v > us)) continue;
    const auto count = static_cast<std::int64_t>(k);
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(count))
      return count;
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
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

std::array<std::uint32_t, 4> random_block(std::uint64_t seed, Stream stream, std::uint32_t a,
                                          std::uint32_t b) {
  return philox4x32({0, a, b, static_cast<std::uint32_t>(stream)},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

double log_factorial(std::int64_t k) {
  static const std::array<double, 16> small = [] {
    std::array<double, 16> table{};
    double factorial = 1;
    for (std::size_t i = 1; i < table.size(); ++i) table[i] = std::log(factorial *= static_cast<double>(i));
    return table;
  }();
  if (k < static_cast<std::int64_t>(small.size())) return small[static_cast<std::size_t>(k)];
  // Stirling's series at n = k + 1; the first term left out is below 1e-13 already at n = 17.
  const double n = static_cast<double>(k) + 1;
  const double inverse = 1 / n, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return (n - 0.5) * std::log(n) - n + 0.5 * std::log(2 * std::numbers::pi) + series;
}

Random::Random(std::uint64_t seed, Stream stream, std::uint32_t a, std::uint32_t b)
    : counter_{0, a, b, static_cast<std::uint32_t>(stream)},
      block_{},
      key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

std::uint32_t Random::bits() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double Random::uniform() {
  const std::uint64_t high = bits() >> 5, low = bits() >> 6;  // 27 + 26 bits
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::int64_t Random::poisson(double mean) {
  if (!(mean >= 0 && mean <= kMaxPoissonMean))
    throw std::invalid_argument("Random::poisson: mean outside [0, 1e9]");
  return mean < kInversionBelow ? poisson_by_inversion(*this, mean) : poisson_by_rejection(*this, mean);
}

}  // namespace motes::sim
