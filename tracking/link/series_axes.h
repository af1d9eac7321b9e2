#pragma once
/// Axes along which particles are found where they are predicted less well than along others: as a rule z,
/// whose localisation errors are two to four times as large in microscopy, or whose steps are shorter where
/// particles move in a plane. A link's likelihood depends on the length of its residual; lengths are
/// therefore measured after each axis has been scaled so that residuals are alike along all of them.

#include <motes/tracking/geometry.h>
#include <motes/tracking/series_velocity.h>

namespace motes::tracking {

/// How the axes are to be scaled: the product of the factors is 1, so densities and likelihoods stay
/// comparable. From residuals of links over one frame, beyond the prediction and the links before: their
/// trimmed mean length along each axis. All 1 where these are alike, or where too few links tell. O(points).
Vec3 axis_factors(const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
                  double beta);

/// Scales all positions. Densities and spacing are left as they are.
void scale_axes(const Vec3& factors, SeriesPoints& points);

inline bool alike(const Vec3& factors) { return factors.x == 1 && factors.y == 1 && factors.z == 1; }

/// Positions as they were found, until its end.
class AsFound {
 public:
  AsFound(const Vec3& factors, SeriesPoints& points) : factors_(factors), points_(points) {
    scale_axes({1 / factors.x, 1 / factors.y, 1 / factors.z}, points_);
  }
  ~AsFound() { scale_axes(factors_, points_); }
  AsFound(const AsFound&) = delete;
  AsFound& operator=(const AsFound&) = delete;

 private:
  Vec3 factors_;
  SeriesPoints& points_;
};

}  // namespace motes::tracking
