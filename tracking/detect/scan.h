#pragma once
/// One look at a frame at one scale: response, maxima, and which of them are spots.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/maxima.h"
#include "tracking/detect/refine.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// A frame's response at one scale and its maxima over rounding errors, those outside the mask left out.
struct Scan {
  /// `mask` [voxels]: 0 where no spot is looked for; empty: look everywhere.
  Scan(const Execution& execution, const VolumeFrame& frame, const Filter& filter, Polarity polarity,
       ValueRange range, std::span<const std::uint8_t> mask = {});

  Response response;
  float floor;
  std::vector<Voxel> maxima;
};

/// The maxima that are spots, in storage order of their voxels.
struct Spots {
  std::vector<Peak> peaks;
  std::vector<double> scores;  ///< empty where a threshold or a count was given
  double threshold = 0;        ///< the one used
  bool hot_voxels = false;
  bool blends = false;
  std::vector<std::string> warnings;
};

/// Whether spots are told by evidence: no threshold and no count was given.
bool by_evidence(const DetectionOptions& options);

/// Indices of the `count` best peaks (the first ones among equals), in increasing order.
std::vector<std::size_t> best_of(std::span<const Peak> peaks, std::size_t count);

/// Which maxima are spots under `options`, refined. O(maxima * voxels of a window).
Spots spots_of(const Execution& execution, const VolumeFrame& frame, const Filter& filter, const Scan& scan,
               const DetectionOptions& options);

}  // namespace motes::tracking::detect
