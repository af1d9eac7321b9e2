#include "tracking/detect/fit_pair.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace motes::tracking::detect {
namespace {

constexpr int kPairParameters = 9;  // background; height, x, y, z of each
constexpr int kSteps = 25;
constexpr double kStill = 1e-3;  // blocks
constexpr double kNearest = 0.8, kFarthest = 4, kLeastShare = 0.15;

using PairVector = Eigen::Matrix<double, kPairParameters, 1>;
using PairMatrix = Eigen::Matrix<double, kPairParameters, kPairParameters>;

struct PairNormal {
  PairMatrix matrix = PairMatrix::Zero();
  PairVector slope = PairVector::Zero();
  double cost = 0;
};

SpotModel spot_of(const PairVector& p, int which, const SpotModel& typical) {
  SpotModel spot = typical;
  const int first = 1 + 4 * which;
  spot.background = p[0];
  spot.height = p[first];
  for (std::size_t a = 0; a < 3; ++a) spot.place[a] = p[first + 1 + static_cast<int>(a)];
  return spot;
}

PairNormal normal_of(const Window& w, const PairVector& p, const SpotModel& typical) {
  const std::array<SpotModel, 2> spots{spot_of(p, 0, typical), spot_of(p, 1, typical)};
  const std::array<Profiles3, 2> g{profiles_of(w, spots[0]), profiles_of(w, spots[1])};
  PairNormal normal;
  PairVector d;
  d[0] = 1;
  std::size_t row = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(w.count[2]); ++k)
    for (std::size_t j = 0; j < static_cast<std::size_t>(w.count[1]);
         ++j, row += static_cast<std::size_t>(w.width))
      for (std::size_t i = 0; i < static_cast<std::size_t>(w.lanes); ++i) {
        double residual = static_cast<double>(w.values[row + i]) - p[0];
        for (int s = 0; s < 2; ++s) {
          const Profiles3& q = g[static_cast<std::size_t>(s)];
          const double gx = static_cast<double>(q[0].g[i]), gy = static_cast<double>(q[1].g[j]),
                       gz = static_cast<double>(q[2].g[k]), h = p[1 + 4 * s];
          d[1 + 4 * s] = gx * gy * gz;
          d[2 + 4 * s] = h * static_cast<double>(q[0].d1[i]) * gy * gz;
          d[3 + 4 * s] = h * gx * static_cast<double>(q[1].d1[j]) * gz;
          d[4 + 4 * s] = h * gx * gy * static_cast<double>(q[2].d1[k]);
          residual -= h * d[1 + 4 * s];
        }
        const double weight = static_cast<double>(w.weights[row + i]);
        normal.cost += weight * residual * residual;
        normal.slope += (weight * residual) * d;
        for (int a = 0; a < kPairParameters; ++a)
          for (int b = 0; b <= a; ++b) normal.matrix(a, b) += weight * d[a] * d[b];
      }
  normal.matrix.triangularView<Eigen::StrictlyUpper>() = normal.matrix.transpose();
  for (int a = 0; a < kPairParameters; ++a)
    if (!(normal.matrix(a, a) > 0)) normal.matrix(a, a) = 1;  // no such axis
  return normal;
}

PairVector beginning(const SpotModel& typical, const Eigen::Matrix3d& moments) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes(moments);
  const Eigen::Vector3d along = axes.eigenvectors().col(2);
  const double half = std::clamp(std::sqrt(std::max(0.0, axes.eigenvalues()[2])), 0.7, 1.5);
  PairVector p;
  p[0] = typical.background;
  for (int s = 0; s < 2; ++s) {
    p[1 + 4 * s] = 0.6 * typical.height;
    for (std::size_t a = 0; a < 3; ++a)
      p[2 + 4 * s + static_cast<int>(a)] =
          typical.place[a] + (s == 0 ? -half : half) * along[static_cast<int>(a)] * typical.sigma[a];
  }
  return p;
}

bool is_sound(const Window& w, const PairVector& p, const SpotModel& typical) {
  if (!p.allFinite()) return false;
  const double sum = p[1] + p[5];
  if (!(sum * typical.height > 0)) return false;
  for (const int h : {1, 5})
    if (!(p[h] / sum >= kLeastShare)) return false;
  double square = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(typical.sigma[a] > 0)) continue;
    const int i = static_cast<int>(a);
    square += std::pow((p[2 + i] - p[6 + i]) / typical.sigma[a], 2);
    for (const int s : {2, 6})
      if (p[s + i] < static_cast<double>(w.first[a]) - 0.75 ||
          p[s + i] > static_cast<double>(w.first[a] + w.count[a] - 1) + 0.75)
        return false;
  }
  return square >= kNearest * kNearest && square <= kFarthest * kFarthest;
}

Place error_factor(const PairMatrix& matrix, const PairMatrix& covariance, int which) {
  // With the other spot known, its four rows are left out.
  const std::array<int, 5> own{0, 1 + 4 * which, 2 + 4 * which, 3 + 4 * which, 4 + 4 * which};
  Eigen::Matrix<double, 5, 5> part;
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 5; ++b)
      part(a, b) = matrix(own[static_cast<std::size_t>(a)], own[static_cast<std::size_t>(b)]);
  const Eigen::Matrix<double, 5, 5> alone = part.llt().solve(Eigen::Matrix<double, 5, 5>::Identity());
  Place factor{};
  for (std::size_t a = 0; a < 3; ++a) {
    const int i = 2 + static_cast<int>(a), all = own[static_cast<std::size_t>(i)];
    factor[a] = std::sqrt(std::max(1.0, covariance(all, all) / alone(i, i)));
  }
  return factor;
}

}  // namespace

std::optional<FittedPair> fit_pair(const Window& window, const SpotModel& typical,
                                   const Eigen::Matrix3d& moments) {
  PairVector p = beginning(typical, moments);
  PairNormal here = normal_of(window, p, typical);
  double damping = 1e-2;
  for (int step = 0; step < kSteps; ++step) {
    PairMatrix damped = here.matrix;
    damped.diagonal() *= 1 + damping;
    PairVector move = damped.llt().solve(here.slope);
    if (!move.allFinite()) return std::nullopt;
    for (std::size_t a = 0; a < 3; ++a)
      for (const int s : {2, 6}) {
        double& m = move[s + static_cast<int>(a)];
        m = std::clamp(m, -0.5 * typical.sigma[a], 0.5 * typical.sigma[a]);
      }
    const PairNormal there = normal_of(window, p + move, typical);
    if (!(there.cost <= here.cost * (1 + 1e-9))) {
      damping = std::max(10 * damping, 0.1);
      continue;
    }
    p += move;
    here = there;
    damping *= 0.2;
    if (std::max(move.segment<3>(2).cwiseAbs().maxCoeff(), move.segment<3>(6).cwiseAbs().maxCoeff()) < kStill)
      break;
  }
  if (!is_sound(window, p, typical)) return std::nullopt;
  FittedPair pair;
  pair.cost = here.cost;
  const PairMatrix covariance = here.matrix.llt().solve(PairMatrix::Identity());
  if (!covariance.allFinite()) return std::nullopt;
  for (int s = 0; s < 2; ++s) {
    pair.spots[static_cast<std::size_t>(s)] = spot_of(p, s, typical);
    pair.error_factor[static_cast<std::size_t>(s)] = error_factor(here.matrix, covariance, s);
  }
  return pair;
}

}  // namespace motes::tracking::detect
