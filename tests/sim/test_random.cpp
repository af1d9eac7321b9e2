#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/random.h>

#include "sim/imaging/photon_table.h"

using namespace motes;

namespace {

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments(int count, const std::function<double(int)>& value) {
  double sum = 0, sum2 = 0;
  for (int i = 0; i < count; ++i) {
    const double v = value(i);
    sum += v;
    sum2 += v * v;
  }
  const double mean = sum / count;
  return {mean, sum2 / count - mean * mean};
}

/// Chi-square of Poisson counts against their expectation, over the values expected at least ten times.
/// Returns (chi-square - degrees) / sqrt(2 degrees): about normal, mean 0, variance 1.
double poisson_misfit(double mean, int count, const std::function<std::int64_t(int)>& value) {
  std::vector<double> seen(static_cast<std::size_t>(mean + 20 * std::sqrt(mean) + 20));
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(value(i));
    REQUIRE(k < seen.size());
    ++seen[k];
  }
  double chi2 = 0, degrees = -1, rest_seen = 0, rest_expected = 0;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const double at = static_cast<double>(k);
    const double expected = count * std::exp(at * std::log(mean) - mean - std::lgamma(at + 1));
    if (expected < 10) {
      rest_seen += seen[k];
      rest_expected += expected;
      continue;
    }
    chi2 += (seen[k] - expected) * (seen[k] - expected) / expected;
    ++degrees;
  }
  if (rest_expected > 1) {
    chi2 += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    ++degrees;
  }
  return (chi2 - degrees) / std::sqrt(2 * std::max(degrees, 1.0));
}

}  // namespace

TEST_CASE("Philox gives the published known answers") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream is a pure function of seed, purpose and numbers") {
  Random a(1, RandomStream::bias, 3, 4), same(1, RandomStream::bias, 3, 4);
  const auto block = random_block(1, RandomStream::bias, 3, 4);
  for (std::size_t i = 0; i < 12; ++i) {
    const std::uint32_t word = a.bits();
    CHECK(word == same.bits());
    if (i < 4) CHECK(word == block[i]);
  }
  const std::uint32_t first = block[0];
  CHECK(first != Random(2, RandomStream::bias, 3, 4).bits());
  CHECK(first != Random(std::uint64_t{1} << 32 | 1, RandomStream::bias, 3, 4).bits());
  CHECK(first != Random(1, RandomStream::direction, 3, 4).bits());
  CHECK(first != Random(1, RandomStream::bias, 4, 3).bits());
}

TEST_CASE("uniform numbers are uniform") {
  Random random(11, RandomStream::seeding, 0, 0);
  const int count = 200000;
  std::vector<double> bins(64);
  const Moments found = moments(count, [&](int) {
    const double u = random.uniform();
    REQUIRE((u >= 0 && u < 1));
    ++bins[static_cast<std::size_t>(u * 64)];
    return u;
  });
  CHECK(std::abs(found.mean - 0.5) < 4 * std::sqrt(1.0 / 12 / count));
  CHECK(found.variance == Approx(1.0 / 12).epsilon(0.01));
  double chi2 = 0;
  for (const double seen : bins) chi2 += (seen - count / 64.0) * (seen - count / 64.0) / (count / 64.0);
  CHECK(std::abs(chi2 - 63) < 4 * std::sqrt(2 * 63.0));
}

TEST_CASE("normal numbers have the normal's moments") {
  Random random(12, RandomStream::camera, 0, 0);
  const int count = 200000;
  double sum3 = 0, sum4 = 0;
  int beyond2 = 0;
  const Moments found = moments(count, [&](int) {
    const double v = random.normal();
    sum3 += v * v * v;
    sum4 += v * v * v * v;
    beyond2 += std::abs(v) > 2;
    return v;
  });
  CHECK(std::abs(found.mean) < 4 / std::sqrt(count));
  CHECK(std::abs(found.variance - 1) < 4 * std::sqrt(2.0 / count));
  CHECK(std::abs(sum3 / count) < 4 * std::sqrt(15.0 / count));
  CHECK(std::abs(sum4 / count - 3) < 4 * std::sqrt(96.0 / count));
  CHECK(beyond2 / static_cast<double>(count) == Approx(0.0455).epsilon(0.05));
}

TEST_CASE("Poisson numbers have the Poisson distribution") {
  const double mean = GENERATE(0.01, 0.5, 3.0, 9.99, 10.0, 12.5, 60.0, 1000.0);
  CAPTURE(mean);
  Random random(13, RandomStream::photons, 7, 7);
  CHECK(std::abs(poisson_misfit(mean, 100000, [&](int) { return random.poisson(mean); })) < 4);
}

TEST_CASE("large Poisson means keep mean and variance") {
  const double mean = GENERATE(1e5, 1e9);
  CAPTURE(mean);
  Random random(14, RandomStream::photons, 7, 7);
  const int count = 50000;
  const Moments found = moments(
      count, [&](int) { return (static_cast<double>(random.poisson(mean)) - mean) / std::sqrt(mean); });
  CHECK(std::abs(found.mean) < 4 / std::sqrt(count));
  CHECK(std::abs(found.variance - 1) < 4 * std::sqrt(2.0 / count));
}

TEST_CASE("Poisson of nonsense is refused, of zero is zero") {
  Random random(1, RandomStream::photons, 0, 0);
  CHECK(random.poisson(0) == 0);
  CHECK_THROWS_AS(random.poisson(-1), std::invalid_argument);
  CHECK_THROWS_AS(random.poisson(std::nan("")), std::invalid_argument);
  CHECK_THROWS_AS(random.poisson(2e9), std::invalid_argument);
}

TEST_CASE("log_factorial agrees with the C library") {
  for (const std::int64_t k : {0, 1, 2, 5, 15, 16, 17, 30, 170, 1000, 123456789}) {
    CAPTURE(k);
    CHECK(log_factorial(k) == Approx(std::lgamma(static_cast<double>(k) + 1)).epsilon(1e-13).margin(1e-13));
  }
}

TEST_CASE("the photon table has the Poisson distribution") {
  const double mean = GENERATE(0.0, 0.3, 10.0, 200.0, 65000.0);
  CAPTURE(mean);
  sim::detail::InversionTables tables;
  tables.add_poisson(mean);
  const sim::detail::InversionView table = view_of(tables);
  if (mean == 0) {
    CHECK(sim::detail::find_number(table, 0, 0) == 0);
    CHECK(sim::detail::find_number(table, 0, 0xffffffff) == 0);
    return;
  }
  Random random(15, RandomStream::background, 0, 0);
  CHECK(std::abs(poisson_misfit(mean, 200000,
                                [&](int) { return sim::detail::find_number(table, 0, random.bits()); })) < 4);
  // Its median, and that no word falls off the table.
  CHECK(sim::detail::find_number(table, 0, 0x80000000) == Approx(mean).margin(1));
  CHECK(sim::detail::find_number(table, 0, 0) <= sim::detail::find_number(table, 0, 1));
  CHECK(sim::detail::find_number(table, 0, 0xffffffff) >= mean);
}

TEST_CASE("blocks of four normals have the normal's moments, and are independent") {
  const int count = 100000;
  double sum[4] = {}, sum2[4] = {}, cross[4][4] = {}, tail = 0;
  for (int i = 0; i < count; ++i) {
    const auto n = normals_of(random_block(3, RandomStream::diffusion, static_cast<std::uint32_t>(i), 0));
    for (std::size_t a = 0; a < 4; ++a) {
      sum[a] += n[a];
      sum2[a] += n[a] * n[a];
      tail += std::abs(n[a]) > 3;
      for (std::size_t b = 0; b < a; ++b) cross[a][b] += n[a] * n[b];
    }
  }
  for (std::size_t a = 0; a < 4; ++a) {
    CHECK(std::abs(sum[a] / count) < 4 / std::sqrt(count));
    CHECK(std::abs(sum2[a] / count - 1) < 4 * std::sqrt(2.0 / count));
    for (std::size_t b = 0; b < a; ++b) CHECK(std::abs(cross[a][b] / count) < 4 / std::sqrt(count));
  }
  CHECK(tail / (4 * count) == Approx(0.0027).epsilon(0.15));
}

TEST_CASE("exponential numbers have mean and variance one") {
  Random random(16, RandomStream::state, 0, 0);
  const int count = 200000;
  const Moments found = moments(count, [&](int) { return random.exponential(); });
  CHECK(std::abs(found.mean - 1) < 4 / std::sqrt(count));
  CHECK(std::abs(found.variance - 1) < 4 * std::sqrt(8.0 / count));
}

TEST_CASE("the bits of random numbers never change") {
  Random random(7, RandomStream::bias, 1, 2);
  CHECK(random.uniform() == 0x1.7f92effc3c51p-5);
  CHECK(random.normal() == -0x1.21e5d64357a1fp-2);
  CHECK(random.exponential() == 0x1.8f3b89d1295dap-1);
}
