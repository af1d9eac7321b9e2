/// Levenberg-Marquardt on seven parameters: height, background, x, y, z, ln width in xy, ln width in z.
///
/// Weights. Shot noise grows with the light. The first sweep has equal weights and fixed widths. The squares
/// of its residuals, in bins of the expected value, give the variance as a line over the expected value (its
/// slope is the camera's gain). This line gives the weights from then on. So the fit is that of maximum
/// likelihood to first order, and the inverse of its normal equations is the covariance.
///
/// Crowds. Each sweep fits every spot to the voxels minus the models of its neighbours from the sweep before.
/// The fixed point is the joint least-squares fit.
///
/// Pairs. Two spots closer than about two widths have one maximum. Their second moments exceed the typical
/// spot's along one axis. If they do so significantly, two typical spots are fitted. They replace the one
/// spot if they explain the voxels far better, and no worse than one elongated spot. If many spots differ
/// from the typical one, shapes vary, and none is split.
///
/// The rules for one spot are in fit_rules.h and fit_pair_rules.h.

#include "tracking/detect/fit/gaussian_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tracking/detect/fit/fit_steps.h"
#include "tracking/detect/fit/fit_window_rules.h"

namespace motes::tracking::detect {
namespace {

constexpr int kSweeps = 10;
constexpr double kMedianGain = 5.35;  // median gain of six moments by chance

void settle(FitSteps& steps, const Noise& noise) {
  for (int s = 1; s < kSweeps && steps.sweep(noise, false); ++s) {
  }
}

}  // namespace

WindowSize window_size(const Source& source) {
  WindowSize window;
  for (std::size_t a = 0; a < 3; ++a)
    window.half[a] = source.sigma[a] > 0 ? std::clamp(static_cast<int>(std::lround(kReach * source.sigma[a])),
                                                      2, rules::kMostLanes / 2 - 1)
                                         : 0;
  window.width = window.half[0] <= 3 ? 8 : 16;
  return window;
}

FittedSpots fit_together(FitSteps& steps, std::size_t starts, const FitOptions& options) {
  FitAll all;
  steps.find_neighbours();
  steps.begin();
  steps.sweep(Noise{}, true);
  const NoiseSums noise = steps.noise(options.leverage);
  all.noise = noise_line(noise, options.camera);
  settle(steps, all.noise);
  all.typical = steps.typical_widths();
  // Noise that is not white and spots that are not Gaussian increase all gains.
  all.excess = std::max(1.0, steps.tell_shapes(all) / kMedianGain);
  if (options.split && steps.split_pairs(all)) {
    steps.find_neighbours();
    settle(steps, all.noise);
  }
  std::vector<FittedSpot> fitted = steps.results(all);
  std::size_t kept = std::min(starts, fitted.size());
  for (std::size_t i = kept; i < fitted.size(); ++i)
    if (fitted[i].good) fitted[kept++] = fitted[i];
  fitted.resize(kept);
  return {std::move(fitted), noise};
}

FittedSpots fit_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                      std::span<const FitStart> starts, const FitOptions& options) {
  if (starts.empty()) return {};
  const std::unique_ptr<FitSteps> steps = fit_on_host(execution, frame, filter, starts, options);
  return fit_together(*steps, starts.size(), options);
}

}  // namespace motes::tracking::detect
