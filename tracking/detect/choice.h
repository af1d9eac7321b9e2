#pragma once
/// Which maxima of a response are spots, without any threshold given; docs/method/detection.md states it for
/// users.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/maxima.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// A maximum taken as a spot, with the evidence for it.
struct ChosenSpot {
  Voxel voxel;
  double score = 0;      ///< detect::Evidence's
  double amplitude = 0;  ///< height above background, positive
};

struct Choice {
  std::vector<ChosenSpot> spots;      ///< in the order of the maxima
  double level = 0;                   ///< least score of a round spot
  double noise_stretch = 1;           ///< how much wider the scores of noise are than those of white noise
  bool hot_voxels = false;            ///< some maxima are single voxels far over the noise
  bool blends = false;                ///< what stands out goes on from the noise without a gap
  std::vector<std::string> warnings;  ///< one line each
};

struct ChoiceOptions {
  /// How many extrema of noise may pass in a frame; none: at most one spot in twenty is expected to be false,
  /// and none is found in a frame of noise.
  std::optional<double> false_spots;
  std::span<const std::uint8_t> mask;  ///< as in DetectionOptions
  bool keep_blending = false;          ///< as in DetectionOptions
  /// Scales are being compared: parts of spots lie side by side at small ones, so nothing is made of crowds.
  bool comparing = false;
};

/// `floor`: responses that may be rounding errors. The same for any thread count. O(maxima * voxels of a
/// window).
Choice choose_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                    const Response& response, Polarity polarity, float floor,
                    const std::vector<Voxel>& maxima, const ChoiceOptions& options = {});

}  // namespace motes::tracking::detect
