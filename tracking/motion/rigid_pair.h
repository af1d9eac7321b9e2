#pragma once
/// Finds the rigid motion from one frame to the next without links. A hypothesis comes from a detection with
/// one or two of its neighbours, and detections of the next frame at the same distances from each other. It
/// is judged by whether the detections around, moved with it, lie near detections of the next frame. Star
/// trackers and geometric hashing use such small sets of invariant distances, too.

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tracking/motion/near_cells.h"
#include "tracking/motion/near_points.h"
#include "tracking/motion/rigid_fit.h"

namespace motes::tracking {

/// Number of trial scales of residuals: 0.01 spacings, and each twice the one before.
inline constexpr std::size_t kRigidScales = 6;
using ByScale = std::array<double, kRigidScales>;

/// A motion with its log-likelihood ratios against chance, for each scale.
struct RigidHypothesis {
  RigidMotion motion;
  ByScale gain{};
};

/// Adds logarithms as logarithms of products; the number of factors is limited so that products do not
/// overflow.
class LikelihoodRatios {
 public:
  void times(std::size_t scale, double ratio) { product_[scale] *= ratio; }
  void next(ByScale& gain) {
    if (++factors_ % kFactors == 0) add(gain);
  }
  void add(ByScale& gain) {
    for (std::size_t s = 0; s < kRigidScales; ++s) gain[s] += std::log(product_[s]), product_[s] = 1;
  }

 private:
  static constexpr int kFactors = 16;
  int factors_ = 0;
  ByScale product_{1, 1, 1, 1, 1, 1};
};

class RigidPairSearch {
 public:
  /// The spans must outlive the search. `density`: of `to`, per unit volume; `flat`: as in best_rotation, for
  /// two dimensions.
  RigidPairSearch(std::span<const Vec3> from, std::span<const Vec3> to, double density, double spacing,
                  int dims, int flat);

  /// The most likely motions, most likely first. Their gains are reduced by the logarithm of the number of
  /// alternatives.
  std::vector<RigidHypothesis> free() const { return free(cells()); }
  /// The same with cells() of the caller; slower if these are not known.
  std::vector<RigidHypothesis> free(const NearCells& cells) const;
  /// Cells of the next frame, for distances that count as near. Not stored here, since they take more memory
  /// than the frame.
  NearCells cells() const;
  /// The most likely motions with the rotation of `motion` and a shift that moves a detection onto one of the
  /// next frame.
  std::vector<RigidHypothesis> shifted(const RigidMotion& motion) const;
  /// The motion with its gains, by up to 32 detections. `makers`: detections that made the hypothesis and are
  /// not counted.
  RigidHypothesis judged(const RigidMotion& motion, std::span<const std::size_t> makers = {}) const;
  /// The motion, fitted to the detections of the next frame that are near, at a scale.
  RigidMotion refined(RigidMotion motion, std::size_t scale, int rounds = 2) const;

 private:
  struct Group;
  void of_group(const Group& group, std::span<const std::size_t> makers,
                std::vector<RigidHypothesis>& out) const;
  double agreement(const Group& group, std::span<const std::size_t> makers, const RigidMotion& motion,
                   bool quick) const;
  bool may_agree(const Group& group, std::span<const std::size_t> makers, const RigidMotion& motion,
                 double least) const;
  RigidMotion grown(RigidMotion motion, const Group& group) const;
  RigidMotion closer(const RigidMotion& motion, std::span<const std::size_t> points, double scale,
                     double stiff, const NearCells& cells, double* share_near = nullptr) const;
  std::vector<std::size_t> spread(std::size_t most) const;
  std::vector<std::size_t> anchors() const;
  double off(const Vec3& place) const;
  double off_if_near(const NearCells& cells, const Vec3& place) const;

  std::span<const Vec3> from_, to_;
  NearPoints near_from_, near_;
  double spacing_;
  int dims_, flat_;
  ByScale scale_{}, per_chance_{};  ///< 1 / (expected number of detections by chance within a scale's volume)
};

/// In two dimensions, the axis along which all points have the same coordinate; otherwise -1.
int flat_axis(std::span<const Vec3> points, int dims);

}  // namespace motes::tracking
