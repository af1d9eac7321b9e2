#pragma once
/// Scales axes whose residuals differ from those of others. Usually this is z: in microscopy its localisation
/// errors are two to four times as large, and its steps are shorter if particles move in a plane. The
/// likelihood of a link depends on the length of its residual. So each axis is scaled first, to make
/// residuals equally long along all axes.

#include <motes/tracking/geometry.h>
#include <motes/tracking/series_velocity.h>

namespace motes::tracking {

/// Factors for the axes. Their product is 1, so that densities and likelihoods stay comparable. They come
/// from the trimmed mean residual along each axis of links over one frame, after the prediction and the link
/// before are subtracted. All are 1 if these means do not differ significantly. `beta`: regression on the
/// link before. O(points).
Vec3 axis_factors(const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
                  double beta);

/// Multiplies all positions. Densities and spacing do not change.
void scale_axes(const Vec3& factors, SeriesPoints& points);

inline bool alike(const Vec3& factors) { return factors.x == 1 && factors.y == 1 && factors.z == 1; }

/// Restores the original positions during its lifetime.
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
