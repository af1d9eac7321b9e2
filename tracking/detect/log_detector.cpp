/// Laplacian of Gaussian -> local maxima -> those that are spots -> positions.
/// Each step is in its own file: response, maxima, choice (evidence, selection), refine, gaussian_fit.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice.h"
#include "tracking/detect/gaussian_fit.h"
#include "tracking/detect/hot_voxels.h"
#include "tracking/detect/maxima.h"
#include "tracking/detect/refine.h"
#include "tracking/detect/response.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking {
namespace {

using detect::Peak;

void check_options(const DetectionOptions& options) {
  if (options.threshold && !std::isfinite(*options.threshold))
    throw UsageError("detection.threshold must be a finite number");
  if (options.max_count < 0) throw UsageError("detection.max_count must be 0 (all) or more");
  const double rate = options.false_positives_per_frame.value_or(1);
  if (!(rate > 0) || !std::isfinite(rate))
    throw UsageError("detection.false_positives_per_frame must be a finite number over 0");
}

bool automatic(const DetectionOptions& options) { return !options.threshold && options.max_count == 0; }

constexpr double kFittedUpTo = 3;  // voxels of sigma, by Refine::automatic

/// The options with Refine::automatic decided.
DetectionOptions decided(DetectionOptions options, const detect::Filter& filter) {
  const bool small =
      std::all_of(filter.sigma.begin(), filter.sigma.end(), [](double s) { return s <= kFittedUpTo; });
  if (options.refine == Refine::automatic) options.refine = small ? Refine::fit : Refine::parabola;
  return options;
}

/// A frame's response and its maxima over rounding errors.
struct Scan {
  Scan(const Execution& execution, const VolumeFrame& frame, const detect::Filter& filter, Polarity polarity,
       detect::ValueRange range)
      : response(execution, frame, filter, polarity, range.low),
        floor(detect::rounding_floor(filter, range)),
        maxima(detect::local_maxima(execution, response, floor)) {}

  detect::Response response;
  float floor;
  std::vector<detect::Voxel> maxima;
};

/// What is left of the maxima, refined, with scores (empty unless they were asked for).
struct Spots {
  std::vector<Peak> peaks;
  std::vector<double> scores;
};

/// Indices of the `count` best peaks (the first ones among equals), in increasing order.
std::vector<std::size_t> best_of(const std::vector<Peak>& peaks, std::size_t count) {
  std::vector<std::size_t> order(peaks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (count < order.size()) {
    const auto better = [&](std::size_t a, std::size_t b) {
      return peaks[a].quality != peaks[b].quality ? peaks[a].quality > peaks[b].quality : a < b;
    };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), better);
    order.resize(count);
    std::sort(order.begin(), order.end());
  }
  return order;
}

std::vector<Peak> refine_all(const Execution& execution, const detect::Response& response,
                             const detect::Filter& filter, const std::vector<detect::Voxel>& maxima) {
  std::vector<Peak> peaks(maxima.size());
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < maxima.size(); ++i) peaks[i] = detect::refine(response, filter, maxima[i]);
  return peaks;
}

Spots spots_over(const Execution& execution, const Scan& scan, const detect::Filter& filter,
                 const DetectionOptions& options, DetectionReport& report) {
  const double threshold = std::max(options.threshold.value_or(0), static_cast<double>(scan.floor));
  report.threshold = threshold;
  // A refined quality is at most twice its voxel's response, so the rest need no refinement.
  std::vector<detect::Voxel> maxima = scan.maxima;
  std::erase_if(maxima,
                [&](const detect::Voxel& v) { return 2.0 * scan.response.at(v.z, v.y, v.x) < threshold; });
  Spots spots{refine_all(execution, scan.response, filter, maxima), {}};
  std::erase_if(spots.peaks, [&](const Peak& peak) { return peak.quality < threshold; });
  if (options.max_count > 0) {
    std::vector<Peak> best;
    for (const std::size_t i : best_of(spots.peaks, static_cast<std::size_t>(options.max_count)))
      best.push_back(spots.peaks[i]);
    spots.peaks = std::move(best);
  }
  return spots;
}

Spots spots_by_evidence(const Execution& execution, const Scan& scan, const detect::Filter& filter,
                        const detect::Choice& choice) {
  std::vector<detect::Voxel> voxels;
  Spots spots;
  for (const detect::ChosenSpot& spot : choice.spots) {
    voxels.push_back(spot.voxel);
    spots.scores.push_back(spot.score);
  }
  spots.peaks = refine_all(execution, scan.response, filter, voxels);
  return spots;
}

/// The columns that every frame of these options has, even one without spots.
void add_columns(const DetectionOptions& options, Detections& found) {
  if (automatic(options)) found.properties.push_back({"score", {}});
  if (options.refine == Refine::fit)
    for (const char* name : {"error_x_um", "error_y_um", "error_z_um", "fitted"})
      found.properties.push_back({name, {}});
}

std::vector<detect::FittedSpot> fit_all(const Execution& execution, const VolumeFrame& frame,
                                        const detect::Filter& filter, Polarity polarity,
                                        const std::vector<Peak>& peaks) {
  // A Gaussian spot of the filter's own sigma, of height 1, has a response of d / 2 * 2^(-d / 2).
  const double d = filter.dimensions;
  const double height = std::exp2(0.5 * d) * 2 / d * (polarity == Polarity::bright ? 1 : -1);
  std::vector<detect::FitStart> starts;
  for (const Peak& peak : peaks) starts.push_back({{peak.x, peak.y, peak.z}, height * peak.quality});
  return detect::fit_spots(execution, frame, filter, starts);
}

/// Geometric mean over the axes of sqrt(d) times the fitted sigma.
double radius_of(const detect::FittedSpot& fit, const detect::Filter& filter, const Vec3& voxel_um) {
  const double voxel[3] = {voxel_um.x, voxel_um.y, voxel_um.z};
  double product = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (filter.sigma[a] > 0) product *= fit.sigma[a] * voxel[a];
  const double d = filter.dimensions;
  return std::sqrt(d) * std::pow(product, 1 / d);
}

Detections write_down(const Execution& execution, const VolumeFrame& frame, const detect::Filter& filter,
                      const detect::Response& response, const DetectionOptions& options, const Spots& spots,
                      Detections found) {
  const Vec3& voxel = frame.voxel_um;
  const std::size_t n = spots.peaks.size();
  std::vector<detect::FittedSpot> fits;
  if (options.refine == Refine::fit) fits = fit_all(execution, frame, filter, options.polarity, spots.peaks);
  for (auto* column :
       {&found.x_um, &found.y_um, &found.z_um, &found.radius_um, &found.intensity, &found.quality})
    column->resize(n);
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    const bool fitted = !fits.empty() && fits[i].good;
    const Peak peak = fitted ? spots.peaks[i] : detect::correct_bias(response, filter, spots.peaks[i]);
    found.x_um[i] = (fitted ? fits[i].place[0] : peak.x) * voxel.x;
    found.y_um[i] = (fitted ? fits[i].place[1] : peak.y) * voxel.y;
    found.z_um[i] = (fitted ? fits[i].place[2] : peak.z) * voxel.z;
    found.radius_um[i] =
        fitted ? radius_of(fits[i], filter, voxel) : detect::fitted_radius_um(response, filter, voxel, peak);
    found.intensity[i] = response.smoothed(peak.z, peak.y, peak.x);
    found.quality[i] = peak.quality;
  }
  std::size_t column = 0;
  if (automatic(options)) found.properties[column++].values = spots.scores;
  for (const detect::FittedSpot& fit : fits) {
    found.properties[column].values.push_back(fit.error[0] * voxel.x);
    found.properties[column + 1].values.push_back(fit.error[1] * voxel.y);
    found.properties[column + 2].values.push_back(fit.error[2] * voxel.z);
    found.properties[column + 3].values.push_back(fit.good ? 1 : 0);
  }
  return found;
}

Detections detect_by_evidence(const Execution& execution, const VolumeFrame& frame,
                              const detect::Filter& filter, const DetectionOptions& options,
                              detect::ValueRange range, bool repair, DetectionReport& report,
                              Detections found) {
  const Scan scan(execution, frame, filter, options.polarity, range);
  report.local_maxima = static_cast<std::int64_t>(scan.maxima.size());
  const detect::Choice choice =
      detect::choose_spots(execution, frame, filter, scan.response, options.polarity, scan.floor, scan.maxima,
                           options.false_positives_per_frame);
  if (repair && choice.hot_voxels) {
    const std::optional<VolumeFrame> clean = detect::without_hot_voxels(execution, frame, options.polarity);
    if (clean)
      return detect_by_evidence(execution, *clean, filter, options, detect::check_frame(execution, *clean),
                                false, report, std::move(found));
  }
  report.threshold = choice.level;
  report.warnings = choice.warnings;
  return write_down(execution, frame, filter, scan.response, options,
                    spots_by_evidence(execution, scan, filter, choice), std::move(found));
}

}  // namespace

Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& given,
                        DetectionReport* report) {
  check_options(given);
  const detect::ValueRange range = detect::check_frame(execution, frame);
  const detect::Filter filter = detect::make_filter(frame.shape, frame.voxel_um, given.radius_um);
  const DetectionOptions options = decided(given, filter);
  Detections found;
  found.frame = frame.index;
  found.time_s = frame.time_s;
  add_columns(options, found);
  DetectionReport own;
  DetectionReport& told = report != nullptr ? *report : own;
  told = {options.threshold.value_or(0), 0, {}};
  if (!(range.high > range.low)) return found;
  if (automatic(options))
    return detect_by_evidence(execution, frame, filter, options, range, true, told, std::move(found));
  const Scan scan(execution, frame, filter, options.polarity, range);
  told.local_maxima = static_cast<std::int64_t>(scan.maxima.size());
  return write_down(execution, frame, filter, scan.response, options,
                    spots_over(execution, scan, filter, options, told), std::move(found));
}

}  // namespace motes::tracking
