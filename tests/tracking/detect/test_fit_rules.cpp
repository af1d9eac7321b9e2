// The arithmetic of fits that CPU and GPU share.

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "tracking/detect/fit/fit_team.h"
#include "tracking/detect/fit/small_matrix_rules.h"

using namespace motes::tracking::detect;

namespace {

constexpr int kRows = 7;

rules::Symmetric<kRows> random_definite(std::mt19937& rng) {
  std::normal_distribution<double> any;
  double a[kRows][kRows];
  for (auto& row : a)
    for (double& v : row) v = any(rng);
  rules::Symmetric<kRows> m{};
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j <= i; ++j) {
      for (int k = 0; k < kRows; ++k) m.at(i, j) += a[i][k] * a[j][k];
      if (i == j) m.at(i, j) += 0.1;
    }
  return m;
}

double element(const rules::Symmetric<kRows>& m, int i, int j) { return i < j ? m.at(j, i) : m.at(i, j); }

template <int Width>
std::vector<float> exponentials(const std::vector<float>& x) {
  const VectorTeam<Width> team;
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i + Width <= x.size(); i += Width) {
    typename VectorTeam<Width>::Floats lanes;
    team.load(&x[i], lanes);
    rules::exp_lanes<VectorTeam<Width>>(lanes);
    team.store(&y[i], lanes);
  }
  return y;
}

}  // namespace

TEST_CASE("small systems are solved, and those without a solution are reported", "[detect]") {
  std::mt19937 rng(3);
  for (int round = 0; round < 200; ++round) {
    const rules::Symmetric<kRows> m = random_definite(rng);
    rules::Symmetric<kRows> factor = m;
    REQUIRE(rules::factorise(factor));
    for (int column = 0; column < kRows; ++column) {
      double x[kRows] = {};
      x[column] = 1;
      rules::solve_factored(factor, x);
      CHECK(rules::inverse_diagonal(factor, column) == Approx(x[column]).epsilon(1e-9));
      for (int i = 0; i < kRows; ++i) {
        double product = 0;
        for (int j = 0; j < kRows; ++j) product += element(m, i, j) * x[j];
        CHECK(product == Approx(i == column ? 1 : 0).margin(1e-9));
      }
    }
  }
  rules::Symmetric<2> indefinite{{1, 2, 1}};
  CHECK_FALSE(rules::factorise(indefinite));
  rules::Symmetric<2> unknown{{std::nan(""), 0, 1}};
  CHECK_FALSE(rules::factorise(unknown));
}

TEST_CASE("axes of symmetric matrices are found, and one that is not coupled to others stays", "[detect]") {
  std::mt19937 rng(4);
  std::normal_distribution<double> any;
  for (int round = 0; round < 500; ++round) {
    rules::Matrix3 m{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j <= i; ++j) m[i][j] = m[j][i] = round % 3 == 0 && i != j ? 1e-9 : any(rng);
    const rules::Axes3 axes = rules::axes_of(m);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t i = 0; i < 3; ++i) {
        double turned = 0, length = 0;
        for (std::size_t j = 0; j < 3; ++j) {
          turned += m[i][j] * axes.vectors[j][a];
          length += axes.vectors[j][a] * axes.vectors[j][a];
        }
        CHECK(turned == Approx(axes.values[a] * axes.vectors[i][a]).margin(1e-12));
        CHECK(length == Approx(1));
      }
  }
  const rules::Axes3 flat = rules::axes_of({{{2, 1, 0}, {1, 2, 0}, {0, 0, 5}}});
  CHECK(flat.values[2] == 5);
  CHECK(flat.values[0] + flat.values[1] == Approx(4));
}

TEST_CASE("exponentials of lanes are right for any number of lanes", "[detect]") {
  std::vector<float> x;
  for (int i = 0; i < 16'000; ++i) x.push_back(-86.0F * static_cast<float>(i) / 16'000);
  const std::vector<float> y = exponentials<16>(x);
  CHECK(y == exponentials<8>(x));
  CHECK(y[0] == 1);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double right = std::exp(static_cast<double>(x[i]));
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) / right - 1));
  }
  CHECK(worst < 3e-7);
  CHECK(exponentials<8>(std::vector<float>(8, -1e6F))[0] < 1e-37F);
}
