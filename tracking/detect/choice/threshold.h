#pragma once
/// Levels of responses to noise; docs/method/detection.md describes their use for users.

#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// The level, in standard deviations of the response to noise, above which white noise is expected to have
/// `false_spots` local maxima in the whole frame. Between 3 and 9; lower for fewer voxels and for wider
/// filters.
double noise_level(const Filter& filter, const Shape3& shape, double false_spots);

/// Standard deviation of the response to noise, robust to sparse and dense spots: the smaller of (1) 1.4826
/// times the median absolute response and (2) 1.5 times the response to white noise as strong as the frame's
/// finest detail, times `margin` (over 1 if the noise is not white). 0 for a noise-free frame. Uses a fixed
/// sample of at most about 10^5 voxels.
double noise_deviation(const Execution& execution, const Response& response, const VolumeFrame& frame,
                       const Filter& filter, double margin = 1);

/// The same in two parts: the measured noise, and the deviation computed from it.
struct NoiseSeen {
  double response = 0;  ///< (1)
  double voxel = 0;     ///< deviation of white noise as strong as the finest detail; infinite: unknown
};
NoiseSeen noise_seen(const Execution& execution, const Response& response, const VolumeFrame& frame);
double noise_deviation(const NoiseSeen& seen, const Filter& filter, double margin);

/// From the medians of absolute responses and of absolute finest details over the sample of
/// noise_sample_rules.h.
NoiseSeen noise_of_medians(const Shape3& shape, double response, double detail);

/// Responses up to this may be rounding errors of a noise-free frame with values in `range`.
float rounding_floor(const Filter& filter, ValueRange range);

}  // namespace motes::tracking::detect
