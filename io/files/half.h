#pragma once
/// 16-bit floating-point numbers (IEEE 754 binary16), which C++20 does not have.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace motes::io::detail {

/// Sign, 5 bits of exponent, 10 of fraction. Every value is exact as a float.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  /// The nearest value, of two the even one; infinite from 65520 on.
  explicit Half(double value) {
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::abs(value);
    int exponent = 0;
    std::frexp(std::max(size, 1e-9), &exponent);  // that of 0 is 0
    exponent = std::max(exponent, -13);  // below, all have the same steps
    const double steps = std::nearbyint(std::ldexp(size, 11 - exponent));
    const bool finite = size < 65520;  // false for NaN, too
    const int unsigned_bits = finite             ? (exponent + 13) * 1024 + static_cast<int>(steps)
                              : std::isnan(size) ? 0x7e00
                                                 : 0x7c00;
    bits = static_cast<std::uint16_t>(sign | unsigned_bits);
  }

  operator float() const {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    float size = std::ldexp(static_cast<float>(exponent == 0 ? fraction : 1024 + fraction),
                            std::max(exponent, 1) - 25);
    if (exponent == 31)
      size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return (bits & 0x8000) != 0 ? -size : size;
  }
};

}  // namespace motes::io::detail
