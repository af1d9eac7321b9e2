#pragma once
/// Fits the rigid motion (rotation and shift) between pairs of points by least squares.

#include <array>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

/// x -> rotation x + shift; the rotation row by row.
struct RigidMotion {
  std::array<double, 9> rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Vec3 shift;

  Vec3 turned(const Vec3& p) const {
    const auto& r = rotation;
    return {r[0] * p.x + r[1] * p.y + r[2] * p.z, r[3] * p.x + r[4] * p.y + r[5] * p.z,
            r[6] * p.x + r[7] * p.y + r[8] * p.z};
  }
  Vec3 of(const Vec3& p) const { return turned(p) + shift; }
};

/// The rotation vector (axis times angle, radians) from a's rotation to b's.
Vec3 rotation_between(const RigidMotion& a, const RigidMotion& b);

/// Weighted sums over pairs of points that a fit needs. Sums of pairs can be subtracted again.
class RigidSums {
 public:
  /// `origin`: a place near the points, to reduce rounding errors.
  explicit RigidSums(const Vec3& origin = {}) : origin_(origin) {}
  void add(const Vec3& from, const Vec3& to, double weight);
  RigidSums& operator-=(const RigidSums& other);
  double weight() const { return weight_; }
  Vec3 mean_from() const { return mean(from_); }
  Vec3 mean_to() const { return mean(to_); }
  /// Sum of weight (to - mean)(from - mean)^T, row by row.
  std::array<double, 9> covariance() const;
  /// Sum of weight |from - mean|^2.
  double spread() const;
  const Vec3& origin() const { return origin_; }

 private:
  Vec3 mean(const Vec3& sum) const;
  Vec3 origin_, from_, to_;
  double weight_ = 0, squares_ = 0;
  std::array<double, 9> product_{};
};

/// The prior: a motion, with its weight for the rotation (in units of weight * area) and for the shift (in
/// units of weight). For a rotation of variance v about each axis and residuals of variance s, the weight is
/// s / (2 v).
struct RigidPrior {
  RigidMotion motion;
  double rotations = 0, shifts = 0;
};

/// The rotation R of largest trace of R^T `covariance`, which is the least-squares rotation; Kabsch (1976).
/// No reflection. `flat`: an axis (0 to 2) along which nothing moves and which is kept; -1: none.
std::array<double, 9> best_rotation(const std::array<double, 9>& covariance, int flat);

/// The motion that minimises the weighted sum of squares, with a von Mises-Fisher prior for the rotation and
/// a normal prior for the displacement of the mean. O(1).
RigidMotion fit_rigid(const RigidSums& sums, int flat, const RigidPrior& prior = {});

}  // namespace motes::tracking
