#include "tracking/motion/rigid_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <Eigen/Dense>

namespace motes::tracking {
namespace {

using Rows = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Eigen::Vector3d vector_of(const Vec3& v) { return {v.x, v.y, v.z}; }
Vec3 vec_of(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
Eigen::Map<const Rows> matrix_of(const std::array<double, 9>& m) { return Eigen::Map<const Rows>(m.data()); }
std::array<double, 9> array_of(const Eigen::Matrix3d& m) {
  std::array<double, 9> out;
  Eigen::Map<Rows>(out.data()) = m;
  return out;
}

}  // namespace

Vec3 rotation_between(const RigidMotion& a, const RigidMotion& b) {
  const Eigen::AngleAxisd turn(Eigen::Matrix3d(matrix_of(b.rotation) * matrix_of(a.rotation).transpose()));
  return vec_of(turn.angle() * turn.axis());
}

void RigidSums::add(const Vec3& from, const Vec3& to, double weight) {
  const Eigen::Vector3d x = vector_of(from) - vector_of(origin_), y = vector_of(to) - vector_of(origin_);
  weight_ += weight;
  squares_ += weight * x.squaredNorm();
  from_ = vec_of(vector_of(from_) + weight * x);
  to_ = vec_of(vector_of(to_) + weight * y);
  product_ = array_of(matrix_of(product_) + weight * y * x.transpose());
}

RigidSums& RigidSums::operator-=(const RigidSums& other) {
  weight_ -= other.weight_;
  squares_ -= other.squares_;
  from_ = vec_of(vector_of(from_) - vector_of(other.from_));
  to_ = vec_of(vector_of(to_) - vector_of(other.to_));
  for (std::size_t k = 0; k < 9; ++k) product_[k] -= other.product_[k];
  return *this;
}

Vec3 RigidSums::mean(const Vec3& sum) const {
  if (!(weight_ > 0)) return origin_;
  return vec_of(vector_of(sum) / weight_ + vector_of(origin_));
}

std::array<double, 9> RigidSums::covariance() const {
  if (!(weight_ > 0)) return {};
  return array_of(matrix_of(product_) - vector_of(to_) * vector_of(from_).transpose() / weight_);
}

double RigidSums::spread() const {
  return weight_ > 0 ? std::max(0.0, squares_ - vector_of(from_).squaredNorm() / weight_) : 0;
}

std::array<double, 9> best_rotation(const std::array<double, 9>& covariance, int flat) {
  Eigen::Matrix3d spread = matrix_of(covariance);
  if (flat >= 0) spread(flat, flat) += 1 + 10 * spread.norm();
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(spread, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d proper = Eigen::Matrix3d::Identity();
  proper(2, 2) = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  return array_of(svd.matrixU() * proper * svd.matrixV().transpose());
}

RigidMotion fit_rigid(const RigidSums& sums, int flat, const RigidPrior& prior) {
  if (!(sums.weight() > 0)) return prior.motion;
  std::array<double, 9> spread = sums.covariance();
  for (std::size_t k = 0; k < 9; ++k) spread[k] += prior.rotations * prior.motion.rotation[k];
  RigidMotion out{best_rotation(spread, flat), {}};
  const double own = sums.weight(), known = prior.shifts, f = 1 / (own + known);
  const Vec3 from = sums.mean_from(), to = sums.mean_to(), expected = prior.motion.of(from),
             turned = out.turned(from);
  out.shift = {f * (own * to.x + known * expected.x) - turned.x,
               f * (own * to.y + known * expected.y) - turned.y,
               f * (own * to.z + known * expected.z) - turned.z};
  return out;
}

}  // namespace motes::tracking
