#pragma once
/// Elementary functions with the same bits on every machine, on CPU and GPU. They use only +, -, *, /, sqrt
/// and integer operations, whose results IEEE 754 fixes, without contraction into fused operations (the
/// host compiles with -ffp-contract=off, device code with --fmad=false). The functions of C libraries
/// differ in their last bits between libraries and between CPU and GPU.
///
/// Errors are below 2 ulp unless stated otherwise; tests compare with the C library. Series end where the
/// next term is below 2^-55 of the result. The polynomials of erf were interpolated at Chebyshev nodes with
/// 40 digits.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <motes/base/host_device.h>

namespace motes {

inline constexpr double kLog2High = 0x1.62e42feep-1;  ///< 21 trailing zero bits: exact times any exponent
inline constexpr double kLog2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kTwoPi = 6.283185307179586477;

/// log(x 2^exponent) of a normal positive x; a loop over it can be vectorised.
MOTES_HOST_DEVICE inline double exact_log_of_normal(double x, double exponent = 0) {
  // x = m * 2^k with m in [sqrt(1/2), sqrt(2)), so that log(m) never cancels against the exponent's part.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x), fraction = bits & 0x000fffffffffffffULL;
  const std::uint64_t upper = fraction >= 0x6a09e667f3bcdULL ? 1 : 0;  // from sqrt(2) on
  const double m = std::bit_cast<double>(fraction | ((0x3ffULL - upper) << 52));
  // An integer below 2^52 is in the last bits of its sum with 2^52.
  const double biased = std::bit_cast<double>(((bits >> 52) + upper) | 0x4330000000000000ULL);
  const double k = biased - (0x1p52 + 1023) + exponent;
  // log(m) = 2 atanh(s) with s = (m - 1) / (m + 1); |s| <= 0.1716.
  const double f = m - 1, s = f / (2 + f), z = s * s;
  double series = 2.0 / 23;
  series = series * z + 2.0 / 21;
  series = series * z + 2.0 / 19;
  series = series * z + 2.0 / 17;
  series = series * z + 2.0 / 15;
  series = series * z + 2.0 / 13;
  series = series * z + 2.0 / 11;
  series = series * z + 2.0 / 9;
  series = series * z + 2.0 / 7;
  series = series * z + 2.0 / 5;
  series = series * z + 2.0 / 3;
  // 2 s = f - s f, and f is exact, so the rounding error of s matters little.
  const double tail = s * (z * series - f);
  return k * kLog2High + (f + (tail + k * kLog2Low));
}

/// log(x) of a normal positive x; -infinity for 0, NaN for negative x and NaN.
MOTES_HOST_DEVICE inline double exact_log(double x) {
  if (!(x > 0))
    return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x > std::numeric_limits<double>::max()) return x;
  // Subnormal: scaled into the normal range.
  return x < 0x1p-1022 ? exact_log_of_normal(x * 0x1p54, -54) : exact_log_of_normal(x);
}

/// exp(x); 0 below -745.2, infinity above 709.8. Subnormal results are rounded twice.
MOTES_HOST_DEVICE inline double exact_exp(double x) {
  if (!(x > -745.2)) return x < 0 ? 0.0 : x;  // and NaN
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double high = x - k * kLog2High, low = k * kLog2Low, r = high - low;  // |r| <= 0.347
  double series = 1.0 / 6227020800;
  series = series * r + 1.0 / 479001600;
  series = series * r + 1.0 / 39916800;
  series = series * r + 1.0 / 3628800;
  series = series * r + 1.0 / 362880;
  series = series * r + 1.0 / 40320;
  series = series * r + 1.0 / 5040;
  series = series * r + 1.0 / 720;
  series = series * r + 1.0 / 120;
  series = series * r + 1.0 / 24;
  series = series * r + 1.0 / 6;
  series = series * r + 0.5;
  const double value = 1 + (r + r * r * series);
  // 2^k in two factors, so that neither overflows.
  const int exponent = static_cast<int>(k), half = exponent / 2, rest = exponent - half;
  const double first = std::bit_cast<double>(static_cast<std::uint64_t>(half + 1023) << 52);
  const double second = std::bit_cast<double>(static_cast<std::uint64_t>(rest + 1023) << 52);
  return value * first * second;
}

struct SinCos {
  double sin, cos;
};

/// Sine and cosine of 2 pi turns, |turns| < 2^51. Absolute error below 2^-52; the reduction is exact.
MOTES_HOST_DEVICE inline SinCos exact_sin_cos_turns(double turns) {
  const double quarters = std::floor(4 * turns + 0.5);
  const double t = (turns - 0.25 * quarters) * kTwoPi, z = t * t;  // |t| <= pi/4
  double s = 1.0 / 355687428096000;
  s = s * z - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = t + t * (z * s);
  double c = 1.0 / 20922789888000;
  c = c * z - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = 1 - (0.5 * z - z * z * c);
  const auto quadrant = static_cast<std::int64_t>(quarters) & 3;
  if (quadrant == 0) return {s, c};
  if (quadrant == 1) return {c, -s};
  if (quadrant == 2) return {-s, -c};
  return {-c, s};
}

/// erf(x); relative error below 4 ulp.
MOTES_HOST_DEVICE inline double exact_erf(double x) {
  const double a = x < 0 ? -x : x;
  if (!(a < 6)) return a >= 6 ? (x < 0 ? -1.0 : 1.0) : x;  // erfc(6) < 2^-55; and NaN
  if (a <= 1) {
    const double z = x * x;
    double p = 5.9571761477489114044e-11;
    p = p * z - 1.137284885679167367e-9;
    p = p * z + 1.4659775274047435814e-8;
    p = p * z - 1.6350312701054695011e-7;
    p = p * z + 1.6461000484121368033e-6;
    p = p * z - 1.4925595266831181565e-5;
    p = p * z + 1.2055331111642710923e-4;
    p = p * z - 8.5483269808337899052e-4;
    p = p * z + 5.2239776248180144673e-3;
    p = p * z - 2.6866170645076793248e-2;
    p = p * z + 1.1283791670954878666e-1;
    p = p * z - 3.7612638903183748056e-1;
    return x * (p * z + 1.1283791670955125738);
  }
  // erfc(a) exp(a^2) is a smooth function of (a - 5/2) / (a + 5/2) on [1, 6].
  const double t = (a - 2.5) / (a + 2.5);
  double p = 8.1343807092296342299e-8;
  p = p * t - 1.5625258507743159276e-6;
  p = p * t - 2.2842173094341345458e-6;
  p = p * t + 7.4848011785262803334e-6;
  p = p * t + 1.8609712314617464438e-5;
  p = p * t - 3.417222927355303399e-5;
  p = p * t - 1.2887649615317198621e-4;
  p = p * t + 2.283795589660541375e-4;
  p = p * t + 8.7591540191687556256e-4;
  p = p * t - 2.6423659277596578963e-3;
  p = p * t - 3.9937011641469867934e-3;
  p = p * t + 3.9922539074783797864e-2;
  p = p * t - 1.2503305237885553023e-1;
  p = p * t + 2.5171319321745600641e-1;
  p = p * t - 3.7173673394897323812e-1;
  p = p * t + 2.1080636406114357137e-1;
  const double erf = 1 - p * exact_exp(-(a * a));
  return x < 0 ? -erf : erf;
}

}  // namespace motes
