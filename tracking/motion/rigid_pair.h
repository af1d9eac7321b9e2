#pragma once
/// The rigid motion from one frame to the next, found without links. A detection, one or two of its
/// neighbours, and others of the next frame that lie at the same distances from each other make a hypothesis;
/// the detections around, moved along, have to lie near others of the next frame. Small sets of invariant
/// distances, as in star trackers and geometric hashing.

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

/// Scales of residuals that are tried, in spacings: from 0.01 on, each twice the one before.
inline constexpr std::size_t kRigidScales = 6;
using ByScale = std::array<double, kRigidScales>;

/// Log-likelihood ratios against no partners, by scale.
struct RigidHypothesis {
  RigidMotion motion;
  ByScale gain{};
};

/// Sums of logarithms as logarithms of products, of so many factors that none overflows.
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
  /// The spans must outlive it. `density` of `to`; `flat` as in best_rotation, for two dimensions.
  RigidPairSearch(std::span<const Vec3> from, std::span<const Vec3> to, double density, double spacing,
                  int dims, int flat);

  /// The likeliest few, likeliest first. Each pays for the number of those that might have been taken.
  std::vector<RigidHypothesis> free() const { return free(cells()); }
  /// The same, where cells() are at hand; without known cells slower.
  std::vector<RigidHypothesis> free(const NearCells& cells) const;
  /// Of the next frame, for what counts as near. Not kept: they take more memory than the frame.
  NearCells cells() const;
  /// The likeliest few with a given rotation and any shift that brings a detection onto one of the next
  /// frame.
  std::vector<RigidHypothesis> shifted(const RigidMotion& motion) const;
  /// By up to 32 detections. `makers`: those that made the hypothesis have no say.
  RigidHypothesis judged(const RigidMotion& motion, std::span<const std::size_t> makers = {}) const;
  /// Moved to the middle of what its detections are near, at a scale.
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
  ByScale scale_{}, per_chance_{};  ///< 1 over what chance brings into a scale's volume
};

/// The axis along which all points lie at one place, in two dimensions; else -1.
int flat_axis(std::span<const Vec3> points, int dims);

}  // namespace motes::tracking
