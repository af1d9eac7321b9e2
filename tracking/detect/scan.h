#pragma once
/// The search of a frame at one scale.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/fit/refine_rules.h"
#include "tracking/detect/search.h"

namespace motes::tracking::detect {

/// The maxima that are spots, in storage order of their voxels.
struct Spots {
  std::vector<Peak> peaks;
  std::vector<double> scores;  ///< empty if a threshold or a count was given
  double threshold = 0;        ///< the one used
  bool hot_voxels = false;
  bool blends = false;
  bool faint = false;
  bool crowd = false, solid = false, missing = false;  ///< as in Choice
  std::vector<std::string> warnings;
};

/// Whether spots are chosen by evidence: if neither a threshold nor a count was given.
bool by_evidence(const DetectionOptions& options);

/// Indices of the `count` peaks of highest quality (of equals the first ones), in increasing order.
std::vector<std::size_t> best_of(std::span<const Peak> peaks, std::size_t count);

/// The maxima found by `search` that are spots under `options`, refined. O(maxima * voxels of a
/// window).
Spots spots_of(SpotSearch& search, const DetectionOptions& options);

}  // namespace motes::tracking::detect
