// Only populations that differ beyond doubt may be told apart.

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "tracking/detect/populations.h"

using motes::tracking::detect::split_populations;

namespace {

std::vector<double> log_normal(std::mt19937_64& rng, std::size_t n, double median, double spread) {
  std::normal_distribution<> normal(std::log(median), spread);
  std::vector<double> out(n);
  for (double& q : out) q = std::exp(normal(rng));
  return out;
}

}  // namespace

TEST_CASE("texture a hundred times weaker than spots is split off") {
  std::mt19937_64 rng(1);
  for (const std::size_t spots : {40, 300}) {
    auto q = log_normal(rng, 250, 0.2, 0.4);
    const auto bright = log_normal(rng, spots, 30, 0.5);
    q.insert(q.end(), bright.begin(), bright.end());
    const double split = split_populations(q);
    CHECK(split > 0.5);
    CHECK(split < 15);
  }
}

TEST_CASE("one population stays whole, however broad") {
  std::mt19937_64 rng(2);
  for (const double spread : {0.1, 0.5, 1.5, 3.0})
    CHECK(split_populations(log_normal(rng, 500, 10, spread)) == 0);
  std::vector<double> flat;
  for (int k = 0; k < 400; ++k) flat.push_back(std::exp(0.03 * k));
  CHECK(split_populations(flat) == 0);
}

TEST_CASE("dim spots beside bright ones, hot pixels and few spots are kept") {
  std::mt19937_64 rng(3);
  auto q = log_normal(rng, 100, 5, 0.3);
  auto bright = log_normal(rng, 100, 60, 0.3);
  q.insert(q.end(), bright.begin(), bright.end());
  CHECK(split_populations(q) == 0);
  q = log_normal(rng, 200, 5, 0.3);
  q.push_back(5000), q.push_back(6000);
  CHECK(split_populations(q) == 0);
  CHECK(split_populations(std::vector<double>{}) == 0);
  CHECK(split_populations(std::vector<double>{1, 1, 1, 1000}) == 0);
  CHECK(split_populations(std::vector<double>(50, 7.0)) == 0);
}
