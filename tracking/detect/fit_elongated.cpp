/// The Gaussian is exp(-u' P u / 2), u the distance from its place in the typical spot's widths. Fitted are
/// height, background, place and the six numbers of P.

#include "tracking/detect/fit_elongated.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace motes::tracking::detect {
namespace {

constexpr int kCount = 11;  // height, background, x, y, z, P: xx, yy, zz, xy, xz, yz
constexpr int kSteps = 20;
constexpr double kLeastVariance = 0.3, kMostVariance = 8;  // of the start, over the typical one
constexpr double kLeastPrecision = 0.03;
constexpr std::array<std::array<int, 2>, 6> kElements{{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

using Parameters = Eigen::Matrix<double, kCount, 1>;
using Equations = Eigen::Matrix<double, kCount, kCount>;

Eigen::Matrix3d precision_of(const Parameters& p) {
  Eigen::Matrix3d precision;
  for (int e = 0; e < 6; ++e) {
    const auto [a, b] = kElements[static_cast<std::size_t>(e)];
    precision(a, b) = precision(b, a) = p[5 + e];
  }
  return precision;
}

struct System {
  Equations matrix = Equations::Zero();
  Parameters slope = Parameters::Zero();
  double cost = 0;
};

System system_at(const Window& w, const Parameters& p, const SpotModel& typical) {
  const Eigen::Matrix3d precision = precision_of(p);
  System system;
  Parameters d;
  Eigen::Vector3d u, per;  // per: widths' inverses, 0 along axes of one voxel
  for (int a = 0; a < 3; ++a) {
    const double sigma = typical.sigma[static_cast<std::size_t>(a)];
    per[a] = sigma > 0 ? 1 / sigma : 0;
  }
  std::size_t row = 0;
  for (std::int64_t k = 0; k < w.count[2]; ++k)
    for (std::int64_t j = 0; j < w.count[1]; ++j, row += static_cast<std::size_t>(w.width))
      for (std::int64_t i = 0; i < w.count[0]; ++i) {
        const Eigen::Vector3d at(static_cast<double>(w.first[0] + i), static_cast<double>(w.first[1] + j),
                                 static_cast<double>(w.first[2] + k));
        u = (at - p.segment<3>(2)).cwiseProduct(per);
        const Eigen::Vector3d pu = precision * u;
        const double g = std::exp(-0.5 * u.dot(pu));
        d[0] = g;
        d[1] = 1;
        d.segment<3>(2) = p[0] * g * pu.cwiseProduct(per);
        for (int e = 0; e < 6; ++e) {
          const auto [a, b] = kElements[static_cast<std::size_t>(e)];
          d[5 + e] = (a == b ? -0.5 : -1) * p[0] * g * u[a] * u[b];
        }
        const std::size_t voxel = row + static_cast<std::size_t>(i);
        const double weight = static_cast<double>(w.weights[voxel]);
        const double residual = static_cast<double>(w.values[voxel]) - p[1] - p[0] * g;
        system.cost += weight * residual * residual;
        system.slope += (weight * residual) * d;
        system.matrix.selfadjointView<Eigen::Lower>().rankUpdate(d, weight);
      }
  system.matrix.triangularView<Eigen::StrictlyUpper>() = system.matrix.transpose();
  for (int a = 0; a < kCount; ++a)
    if (!(system.matrix(a, a) > 0)) system.matrix(a, a) = 1;  // no such axis
  return system;
}

Parameters beginning(const SpotModel& typical, const Eigen::Matrix3d& moments) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes(Eigen::Matrix3d::Identity() + moments);
  const Eigen::Vector3d variances = axes.eigenvalues().cwiseMax(kLeastVariance).cwiseMin(kMostVariance);
  const Eigen::Matrix3d precision =
      axes.eigenvectors() * variances.cwiseInverse().asDiagonal() * axes.eigenvectors().transpose();
  Parameters p;
  p[0] = typical.height;
  p[1] = typical.background;
  for (int a = 0; a < 3; ++a) p[2 + a] = typical.place[static_cast<std::size_t>(a)];
  for (int e = 0; e < 6; ++e) {
    const auto [a, b] = kElements[static_cast<std::size_t>(e)];
    p[5 + e] = precision(a, b);
  }
  return p;
}

bool is_gaussian(const Parameters& p) {
  if (!p.allFinite()) return false;
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(precision_of(p)).eigenvalues()[0] > kLeastPrecision;
}

}  // namespace

double elongated_cost(const Window& window, const SpotModel& typical, const Eigen::Matrix3d& moments) {
  Parameters p = beginning(typical, moments);
  System here = system_at(window, p, typical);
  double damping = 1e-2;
  for (int step = 0; step < kSteps; ++step) {
    Equations damped = here.matrix;
    damped.diagonal() *= 1 + damping;
    const Parameters next = p + damped.llt().solve(here.slope);
    System there;
    if (is_gaussian(next)) there = system_at(window, next, typical);
    if (!is_gaussian(next) || !(there.cost <= here.cost)) {
      damping = std::max(10 * damping, 0.1);
      continue;
    }
    const bool still = here.cost - there.cost < 0.01;
    p = next;
    here = there;
    damping *= 0.2;
    if (still) break;
  }
  return here.cost;
}

}  // namespace motes::tracking::detect
