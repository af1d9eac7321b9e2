#include "tracking/detect/scan.h"

#include <algorithm>
#include <numeric>

#include "tracking/detect/choice.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking::detect {
namespace {

std::vector<Peak> refine_all(const Execution& execution, const Response& response, const Filter& filter,
                             const std::vector<Voxel>& maxima) {
  std::vector<Peak> peaks(maxima.size());
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static)
  for (std::size_t i = 0; i < maxima.size(); ++i) peaks[i] = refine(response, filter, maxima[i]);
  return peaks;
}

Spots spots_over_threshold(const Execution& execution, const Filter& filter, const Scan& scan,
                           const DetectionOptions& options) {
  Spots spots;
  spots.threshold = std::max(options.threshold.value_or(0), static_cast<double>(scan.floor));
  // A refined quality is at most twice its voxel's response, so the rest need no refinement.
  std::vector<Voxel> maxima = scan.maxima;
  std::erase_if(maxima,
                [&](const Voxel& v) { return 2.0 * scan.response.at(v.z, v.y, v.x) < spots.threshold; });
  spots.peaks = refine_all(execution, scan.response, filter, maxima);
  std::erase_if(spots.peaks, [&](const Peak& peak) { return peak.quality < spots.threshold; });
  if (options.max_count > 0) {
    std::vector<Peak> best;
    for (const std::size_t i : best_of(spots.peaks, static_cast<std::size_t>(options.max_count)))
      best.push_back(spots.peaks[i]);
    spots.peaks = std::move(best);
  }
  return spots;
}

Spots spots_by_evidence(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                        const Scan& scan, const DetectionOptions& options) {
  const Choice choice =
      choose_spots(execution, frame, filter, scan.response, options.polarity, scan.floor, scan.maxima,
                   {options.false_positives_per_frame, options.mask, options.keep_blending});
  Spots spots;
  spots.threshold = choice.level;
  spots.hot_voxels = choice.hot_voxels;
  spots.blends = choice.blends;
  spots.warnings = choice.warnings;
  std::vector<Voxel> voxels;
  for (const ChosenSpot& spot : choice.spots) {
    voxels.push_back(spot.voxel);
    spots.scores.push_back(spot.score);
  }
  spots.peaks = refine_all(execution, scan.response, filter, voxels);
  return spots;
}

}  // namespace

Scan::Scan(const Execution& execution, const VolumeFrame& frame, const Filter& filter, Polarity polarity,
           ValueRange range, std::span<const std::uint8_t> mask)
    : response(execution, frame, filter, polarity, range.low),
      floor(rounding_floor(filter, range)),
      maxima(local_maxima(execution, response, floor)) {
  erase_outside(mask, frame.shape, maxima);
}

bool by_evidence(const DetectionOptions& options) { return !options.threshold && options.max_count == 0; }

std::vector<std::size_t> best_of(std::span<const Peak> peaks, std::size_t count) {
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

Spots spots_of(const Execution& execution, const VolumeFrame& frame, const Filter& filter, const Scan& scan,
               const DetectionOptions& options) {
  return by_evidence(options) ? spots_by_evidence(execution, frame, filter, scan, options)
                              : spots_over_threshold(execution, filter, scan, options);
}

}  // namespace motes::tracking::detect
