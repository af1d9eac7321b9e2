#pragma once
/// Finds the nearest of a set of points.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>

#include <nanoflann.hpp>

#include <motes/tracking/geometry.h>

namespace motes::tracking {

/// A k-d tree over points that must outlive it.
class NearPoints {
 public:
  explicit NearPoints(std::span<const Vec3> points) : cloud_{points}, tree_(3, cloud_, {10}) {}
  NearPoints(const NearPoints&) = delete;

  /// Finds the `count` points nearest to `p`, nearest first: their indices and squared distances. Returns
  /// their number, which is lower if the set has fewer points.
  std::size_t nearest(const Vec3& p, std::size_t count, std::size_t* index, double* squared) const {
    const std::array<double, 3> query{p.x, p.y, p.z};
    return tree_.knnSearch(query.data(), count, index, squared);
  }

  /// The squared distance from `p` to the nearest point if that is below `most` (squared); otherwise
  /// infinity.
  double nearest_squared(const Vec3& p, double most) const {
    const std::array<double, 3> query{p.x, p.y, p.z};
    NearestWithin found{most};
    tree_.findNeighbors(found, query.data(), {});
    return found.least < most ? found.least : std::numeric_limits<double>::infinity();
  }

 private:
  /// The interface of result sets in nanoflann; versions from 1.7 on need DistanceType and sort.
  struct NearestWithin {
    using DistanceType = double;
    double least;
    double worstDist() const { return least; }
    bool full() const { return true; }
    void sort() {}
    bool addPoint(double squared, std::size_t) {
      least = std::min(least, squared);
      return true;
    }
  };
  struct Cloud {
    std::span<const Vec3> points;
    std::size_t kdtree_get_point_count() const { return points.size(); }
    double kdtree_get_pt(std::size_t k, std::size_t axis) const {
      return axis == 0 ? points[k].x : axis == 1 ? points[k].y : points[k].z;
    }
    template <class Box>
    bool kdtree_get_bbox(Box&) const {
      return false;
    }
  };
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, 3, std::size_t>;
  Cloud cloud_;
  Tree tree_;
};

}  // namespace motes::tracking
