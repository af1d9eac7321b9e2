/// Laplacian of Gaussian -> local maxima -> quadratic refinement -> the best ones.
/// Each step is in its own file: response, maxima, refine, threshold.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <motes/base/errors.h>
#include <motes/tracking/log_detector.h>
#include "tracking/detect/response.h"

#include "tracking/detect/maxima.h"
#include "tracking/detect/populations.h"
#include "tracking/detect/refine.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking {
namespace {

using detect::Peak;

constexpr double kFalseSpots = 0.1;  // expected in a frame of pure white noise

void check_options(const DetectionOptions& options) {
  if (options.threshold && !std::isfinite(*options.threshold))
    throw UsageError("detection.threshold must be a finite number");
  if (options.max_count < 0) throw UsageError("detection.max_count must be 0 (all) or more");
}

double threshold_for(const DetectionOptions& options, const detect::Response& response,
                     const VolumeFrame& frame, const detect::Filter& filter, float floor) {
  if (options.threshold) return std::max(*options.threshold, static_cast<double>(floor));
  if (options.max_count > 0) return static_cast<double>(floor);
  const double level = detect::noise_level(filter, frame.shape, kFalseSpots);
  return std::max(level * detect::noise_deviation(response, frame, filter), static_cast<double>(floor));
}

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

}  // namespace

Detections detect_spots(const Execution& execution, const VolumeFrame& frame, const DetectionOptions& options,
                        DetectionReport* report) {
  check_options(options);
  const detect::ValueRange range = detect::check_frame(execution, frame);
  const detect::Filter filter = detect::make_filter(frame.shape, frame.voxel_um, options.radius_um);
  Detections found;
  found.frame = frame.index;
  found.time_s = frame.time_s;
  if (report != nullptr) *report = {options.threshold.value_or(0), 0};
  if (!(range.high > range.low)) return found;

  const detect::Response response(execution, frame, filter, options.polarity, range.low);
  const float floor = detect::rounding_floor(filter, range);
  std::vector<detect::Voxel> maxima = detect::local_maxima(execution, response, floor);
  double threshold = threshold_for(options, response, frame, filter, floor);
  if (report != nullptr) *report = {threshold, static_cast<std::int64_t>(maxima.size())};

  // A refined quality is at most twice its voxel's response, so the rest need no refinement.
  std::erase_if(maxima, [&](const detect::Voxel& v) { return 2.0 * response.at(v.z, v.y, v.x) < threshold; });
  std::vector<Peak> peaks = refine_all(execution, response, filter, maxima);
  std::erase_if(peaks, [&](const Peak& peak) { return peak.quality < threshold; });
  if (!options.threshold && options.max_count == 0) {
    std::vector<double> qualities;
    for (const Peak& peak : peaks) qualities.push_back(peak.quality);
    threshold = std::max(threshold, detect::split_populations(qualities));
    std::erase_if(peaks, [&](const Peak& peak) { return peak.quality < threshold; });
    if (report != nullptr) report->threshold = threshold;
  }

  const std::size_t wanted =
      options.max_count > 0 ? static_cast<std::size_t>(options.max_count) : peaks.size();
  for (const std::size_t i : best_of(peaks, wanted)) {
    const Peak peak = detect::correct_bias(response, filter, peaks[i]);
    found.x_um.push_back(peak.x * frame.voxel_um.x);
    found.y_um.push_back(peak.y * frame.voxel_um.y);
    found.z_um.push_back(peak.z * frame.voxel_um.z);
    found.radius_um.push_back(detect::fitted_radius_um(response, filter, frame.voxel_um, peak));
    found.intensity.push_back(response.smoothed(peak.z, peak.y, peak.x));
    found.quality.push_back(peak.quality);
  }
  return found;
}

}  // namespace motes::tracking
