#include <cmath>
#include <limits>
#include <numbers>

#include <catch2/catch.hpp>

#include <motes/base/exact_math.h>
#include <motes/base/random.h>

using namespace motes;

namespace {

/// |value - reference| in units of the last place of the reference, which has more digits than a double.
double ulps(double value, long double reference) {
  const double rounded = static_cast<double>(reference);
  const double step =
      std::nextafter(std::abs(rounded), std::numeric_limits<double>::infinity()) - std::abs(rounded);
  return static_cast<double>(std::abs(value - reference) / step);
}

}  // namespace

TEST_CASE("exact_log is the logarithm to 2 ulp") {
  Random random(1, RandomStream::seeding, 1, 0);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? std::exp(1400 * (random.uniform() - 0.5)) : 0.5 + random.uniform();
    worst = std::max(worst, ulps(exact_log(x), std::log(static_cast<long double>(x))));
  }
  CAPTURE(worst);
  CHECK(worst < 2);
  CHECK(exact_log(1) == 0);
  CHECK(exact_log(0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(exact_log(-1)));
  CHECK(exact_log(std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
  CHECK(exact_log(5e-324) == Approx(std::log(5e-324)).epsilon(1e-15));
}

TEST_CASE("exact_exp is the exponential to 2 ulp") {
  Random random(1, RandomStream::seeding, 2, 0);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? 1400 * (random.uniform() - 0.5) : 2 * random.uniform() - 1;
    worst = std::max(worst, ulps(exact_exp(x), std::exp(static_cast<long double>(x))));
  }
  CAPTURE(worst);
  CHECK(worst < 2);
  CHECK(exact_exp(0) == 1);
  CHECK(exact_exp(-800) == 0);
  CHECK(exact_exp(710) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(exact_exp(std::nan(""))));
  CHECK(exact_exp(-740) == Approx(std::exp(-740.0)).epsilon(1e-2));  // subnormal: few bits
}

TEST_CASE("exact sine and cosine of turns are right to 2^-52, and exact at quarters") {
  Random random(1, RandomStream::seeding, 3, 0);
  long double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double turns = i % 2 == 0 ? random.uniform() : 2000 * (random.uniform() - 0.5);
    const long double whole = turns - std::floor(static_cast<long double>(turns));
    const long double angle = 2 * std::numbers::pi_v<long double> * whole;
    const SinCos found = exact_sin_cos_turns(turns);
    worst = std::max({worst, std::abs(found.sin - std::sin(angle)), std::abs(found.cos - std::cos(angle))});
  }
  CHECK(worst < 0x1p-52L);
  CHECK(exact_sin_cos_turns(0.25).sin == 1);
  CHECK(exact_sin_cos_turns(0.5).sin == 0);
  CHECK(exact_sin_cos_turns(-0.5).cos == -1);
  CHECK(exact_sin_cos_turns(3.75).sin == -1);
}

TEST_CASE("exact_erf is the error function to 4 ulp") {
  Random random(1, RandomStream::seeding, 4, 0);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? 14 * (random.uniform() - 0.5) : std::exp(-30 * random.uniform());
    worst = std::max(worst, ulps(exact_erf(x), std::erf(static_cast<long double>(x))));
  }
  CAPTURE(worst);
  CHECK(worst < 4);
  CHECK(exact_erf(0) == 0);
  CHECK(exact_erf(-40) == -1);
  CHECK(exact_erf(std::numeric_limits<double>::infinity()) == 1);
  CHECK(std::isnan(exact_erf(std::nan(""))));
}
