#pragma once
/// Integers wide enough for sums of doubles on a common grid without rounding.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <type_traits>

namespace motes::python {

__extension__ typedef __int128 Int128;

/// 2240 bits in two's complement: enough for any sum of up to 2^60 doubles. Only addition and comparison.
class WideInteger {
 public:
  WideInteger() = default;
  /// mantissa * 2^shift, shift >= 0.
  WideInteger(std::int64_t mantissa, int shift) {
    const auto word = static_cast<std::size_t>(shift / 64);
    const int bits = shift % 64;
    const Int128 low = static_cast<Int128>(mantissa) << bits;
    limbs_[word] = static_cast<std::uint64_t>(low);
    limbs_[word + 1] = static_cast<std::uint64_t>(low >> 64);
    for (std::size_t k = word + 2; k < kLimbs; ++k) limbs_[k] = mantissa < 0 ? ~std::uint64_t{0} : 0;
  }
  WideInteger& operator+=(const WideInteger& other) {
    bool carry = false;
    for (std::size_t k = 0; k < kLimbs; ++k) {
      const std::uint64_t sum = limbs_[k] + other.limbs_[k];
      const std::uint64_t all = sum + (carry ? 1 : 0);
      carry = sum < limbs_[k] || all < sum;
      limbs_[k] = all;
    }
    return *this;
  }
  WideInteger operator-() const {
    WideInteger out;
    bool carry = true;
    for (std::size_t k = 0; k < kLimbs; ++k) {
      out.limbs_[k] = ~limbs_[k] + (carry ? 1 : 0);
      carry = carry && limbs_[k] == 0;
    }
    return out;
  }
  WideInteger& operator-=(const WideInteger& other) { return *this += -other; }
  friend WideInteger operator+(WideInteger a, const WideInteger& b) { return a += b; }
  friend bool operator<(const WideInteger& a, const WideInteger& b) {
    const auto top_a = static_cast<std::int64_t>(a.limbs_.back());
    const auto top_b = static_cast<std::int64_t>(b.limbs_.back());
    if (top_a != top_b) return top_a < top_b;
    for (std::size_t k = kLimbs - 1; k-- > 0;)
      if (a.limbs_[k] != b.limbs_[k]) return a.limbs_[k] < b.limbs_[k];
    return false;
  }
  /// The value times 2^lsb as a double, to a few units in the last place.
  double times_power(int lsb) const {
    const bool negative = static_cast<std::int64_t>(limbs_.back()) < 0;
    const WideInteger magnitude = negative ? -*this : *this;
    double sum = 0;
    for (std::size_t k = 0; k < kLimbs; ++k)
      sum += std::ldexp(static_cast<double>(magnitude.limbs_[k]), static_cast<int>(64 * k) + lsb);
    return negative ? -sum : sum;
  }

 private:
  static constexpr std::size_t kLimbs = 35;
  std::array<std::uint64_t, kLimbs> limbs_{};
};

/// A finite double as mantissa * 2^exponent.
struct Parts {
  explicit Parts(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto field = static_cast<int>(bits >> 52 & 0x7ff);
    mantissa = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << 52) - 1));
    if (field != 0) mantissa |= std::int64_t{1} << 52;
    exponent = (field != 0 ? field : 1) - 1075;
    if (bits >> 63 != 0) mantissa = -mantissa;
  }
  std::int64_t mantissa;
  int exponent;
};

/// x * 2^-lsb as an integer; lsb must not exceed the exponent of x's lowest set bit.
template <class Number>
Number on_grid(double x, int lsb) {
  const Parts parts(x);
  const int shift = parts.exponent - lsb;
  if (parts.mantissa == 0) return Number{};
  const std::int64_t mantissa = shift < 0 ? parts.mantissa >> -shift : parts.mantissa;  // these bits are zero
  if constexpr (std::is_same_v<Number, WideInteger>)
    return WideInteger(mantissa, std::max(shift, 0));
  else
    return static_cast<Number>(mantissa) << std::max(shift, 0);
}

inline double times_power(Int128 x, int lsb) { return std::ldexp(static_cast<double>(x), lsb); }
inline double times_power(const WideInteger& x, int lsb) { return x.times_power(lsb); }

/// Exponents of the highest and lowest bits of a set of doubles.
struct BitRange {
  int low = 4096, high = -4096;
  void add(double x) {
    const Parts parts(x);
    if (parts.mantissa == 0) return;
    low = std::min(low, parts.exponent + __builtin_ctzll(static_cast<std::uint64_t>(parts.mantissa)));
    high = std::max(high, parts.exponent + 53);
  }
};

}  // namespace motes::python
