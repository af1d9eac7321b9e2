#include "tracking/detect/size/spot_width.h"

#include <algorithm>
#include <cmath>

#include <motes/base/quantile.h>

#include "tracking/detect/size/response_scale.h"

namespace motes::tracking::detect {
namespace {

constexpr int kRoundsOfWidths = 4;  // most rounds of fits
constexpr double kFlatTop = 1.2;    // ratio of the scale of the largest response to a Gaussian's

/// The scale of the largest response for spots with a flat top, `sigma` for others. Spots with a flat top
/// respond most at a larger scale than their width, where one with texture would be found as several.
Sigma sigma_of_flat_tops(const Execution& execution, const VolumeFrame& frame,
                         const std::vector<FittedSpot>& fits, Sigma sigma) {
  if (sigma[0] < kResolved * std::min(frame.voxel_um.x, frame.voxel_um.y)) return sigma;
  const Filter filter = filter_of(frame, sigma);
  const double scale = response_scale(execution, frame, filter, fits);
  if (scale < kFlatTop * std::sqrt(2.0 / std::max(1, filter.dimensions))) return sigma;
  for (double& s : sigma) s *= std::max(1.0, scale);
  return sigma;
}

}  // namespace

Vec3 radius_of(const VolumeFrame& frame, const Sigma& sigma) {
  const int d = static_cast<int>(frame.shape.nx > 1) + static_cast<int>(frame.shape.ny > 1) +
                static_cast<int>(frame.shape.nz > 1);
  const double factor = std::sqrt(static_cast<double>(std::max(d, 1)));
  return {factor * sigma[0], factor * sigma[1], factor * sigma[2]};
}

Filter filter_of(const VolumeFrame& frame, const Sigma& sigma) {
  return make_filter(frame.shape, frame.voxel_um, radius_of(frame, sigma), kLeastSigma);
}

std::optional<Sigma> fitted_sigma(const Execution& execution, const VolumeFrame& frame,
                                  std::vector<FitStart> starts, Sigma sigma) {
  const std::array<double, 3> voxel{frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z};
  const double finest = std::min({voxel[0], voxel[1], voxel[2]});
  std::vector<FittedSpot> fits;
  for (int round = 0; round < kRoundsOfWidths; ++round) {
    const Filter filter = filter_of(frame, sigma);
    fits = fit_spots(execution, frame, filter, starts, {kWidthSpread, false, false, {}}).spots;
    std::vector<double> across, along;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      if (!fits[i].good) continue;
      starts[i].place = fits[i].place;
      across.push_back(fits[i].sigma[0] * voxel[0]);
      along.push_back(fits[i].sigma[2] * voxel[2]);
    }
    if (3 * across.size() < fits.size()) return std::nullopt;
    sigma[0] = sigma[1] = std::max(quantile(across, 0.5), kLeastSigma * finest);
    if (frame.shape.nz > 1)
      sigma[2] = std::clamp(quantile(along, 0.5), kLeastSigma * voxel[2],
                            std::max(kLeastSigma, static_cast<double>(frame.shape.nz) / 3) * voxel[2]);
  }
  return sigma_of_flat_tops(execution, frame, fits, sigma);
}

}  // namespace motes::tracking::detect
