#include "tracking/detect/scan.h"

#include <algorithm>
#include <numeric>

namespace motes::tracking::detect {
namespace {

Spots spots_over_threshold(SpotSearch& search, const DetectionOptions& options) {
  Spots spots;
  spots.threshold = std::max(options.threshold.value_or(0), static_cast<double>(search.floor()));
  spots.peaks = search.peaks_from(spots.threshold);
  std::erase_if(spots.peaks, [&](const Peak& peak) { return peak.quality < spots.threshold; });
  if (options.max_count > 0) {
    std::vector<Peak> best;
    for (const std::size_t i : best_of(spots.peaks, static_cast<std::size_t>(options.max_count)))
      best.push_back(spots.peaks[i]);
    spots.peaks = std::move(best);
  }
  return spots;
}

Spots spots_by_evidence(SpotSearch& search) {
  const Choice choice = search.choose();
  Spots spots;
  spots.threshold = choice.level;
  spots.hot_voxels = choice.hot_voxels;
  spots.blends = choice.blends;
  spots.faint = choice.faint;
  spots.crowd = choice.crowd;
  spots.solid = choice.solid;
  spots.missing = choice.missing;
  spots.warnings = choice.warnings;
  for (const ChosenSpot& spot : choice.spots) spots.scores.push_back(spot.score);
  spots.peaks = search.refined(choice.spots);
  return spots;
}

}  // namespace

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

Spots spots_of(SpotSearch& search, const DetectionOptions& options) {
  return by_evidence(options) ? spots_by_evidence(search) : spots_over_threshold(search, options);
}

}  // namespace motes::tracking::detect
