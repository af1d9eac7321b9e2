/// Densities of displacements, estimated from few of them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/tracking/radial_density.h>

#include "tracking/motion/scale_mixture.h"

using namespace motes::tracking;

namespace {

double gaussian_log_density(double u, double sigma, int dims) {
  return -u * u / (2 * sigma * sigma) - dims * std::log(std::sqrt(2 * std::numbers::pi) * sigma);
}

/// Lengths of displacements with one of two standard deviations along each axis.
std::vector<double> lengths_of_two(std::mt19937_64& rng, int n, int dims, double first, double second,
                                   double share) {
  std::normal_distribution<> normal;
  std::vector<double> out;
  for (int k = 0; k < n; ++k) {
    const double sigma = std::uniform_real_distribution<>(0, 1)(rng) < share ? second : first;
    double squared = 0;
    for (int axis = 0; axis < dims; ++axis) squared += std::pow(sigma * normal(rng), 2);
    out.push_back(std::sqrt(squared));
  }
  return out;
}

}  // namespace

TEST_CASE("tabulated_place gives the place of a length in the table") {
  const std::vector<double>& lengths = tabulated_lengths();
  CHECK(lengths.front() == 0);
  CHECK(lengths.back() >= RadialDensity::kMostReach);
  for (std::size_t k = 0; k + 1 < lengths.size(); ++k) {
    CHECK(tabulated_place(lengths[k]) == Approx(static_cast<double>(k)).margin(1e-6));
    CHECK(tabulated_place((lengths[k] + lengths[k + 1]) / 2) ==
          Approx(static_cast<double>(k) + 0.5).margin(0.02));
  }
  CHECK(tabulated_place(1e9) == static_cast<double>(lengths.size() - 1));
}

TEST_CASE("few lengths of Gaussian steps give nearly the right Gaussian") {
  const int dims = GENERATE(1, 2, 3);
  double sum = 0, count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 rng(seed);
    const std::vector<double> lengths = lengths_of_two(rng, 80, dims, 1, 1, 0);
    const RadialDensity density(lengths, dims, 4);
    // Only differences of costs matter, at lengths that most steps have.
    const double shift = density.log_density(1) - gaussian_log_density(1, 1, dims);
    for (double u = 0.3; u <= 2.2; u += 0.1)
      sum += std::abs(density.log_density(u) - gaussian_log_density(u, 1, dims) - shift), count += 1;
  }
  CHECK(sum / count < 0.15);
}

TEST_CASE("slow and fast particles are both in the density") {
  const int dims = GENERATE(2, 3);
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2, 3)));
  const double fast = GENERATE(5.0, 30.0);
  const std::vector<double> lengths = lengths_of_two(rng, 400, dims, 1, fast, 0.3);
  const RadialDensity density(lengths, dims, *std::max_element(lengths.begin(), lengths.end()));
  const std::vector<double> mixture = scale_mixture_density(lengths, dims);
  for (const double u : {0.5, 1.0, 2.0, 1.0 * fast, 2.0 * fast}) {
    const double truth = std::log(0.7 * std::exp(gaussian_log_density(u, 1, dims)) +
                                  0.3 * std::exp(gaussian_log_density(u, fast, dims)));
    CHECK(density.log_density(u) == Approx(truth).margin(0.6));
    const double tabulated = mixture[static_cast<std::size_t>(std::lround(tabulated_place(u)))];
    CHECK(std::log(tabulated) == Approx(truth).margin(0.6));
  }
}

TEST_CASE("particles of one speed are not taken for slow and fast ones") {
  const int dims = GENERATE(2, 3);
  std::mt19937_64 rng(static_cast<std::uint64_t>(GENERATE(1, 2, 3)));
  std::vector<double> lengths;
  for (int k = 0; k < 150; ++k) lengths.push_back(std::normal_distribution<>(1.5, 0.15)(rng));
  const RadialDensity density(lengths, dims, 4);
  CHECK(density.log_density(1.5) > density.log_density(0.75) + 1);
}

TEST_CASE("no displacement between rounded positions is likelier than one of a pixel") {
  // Spread over a pixel, few of the many displacements of 0 fall near 0, where the density is asked for.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<> normal(0, 0.75);
    std::uniform_real_distribution<> even(-0.5, 0.5);
    std::vector<double> lengths;
    for (int k = 0; k < 3600; ++k) {
      double squared = 0;
      for (int axis = 0; axis < 3; ++axis) squared += std::pow(std::round(normal(rng)) + even(rng), 2);
      lengths.push_back(std::sqrt(squared) / 0.6);
    }
    const RadialDensity density(lengths, 3, 4);
    CHECK(density.log_density(0) > density.log_density(1 / 0.6));
  }
}
