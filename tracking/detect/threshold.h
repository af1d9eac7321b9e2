#pragma once
/// The automatic threshold; docs/method/detection.md states it for users.

#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// Level u (in standard deviations of the response to noise) above which pure white noise is expected to have
/// `false_spots` local maxima in the whole frame. Between 3 and 9; falls with fewer voxels or a wider filter.
double noise_level(const Filter& filter, const Shape3& shape, double false_spots);

/// Standard deviation of the response where there is only noise, robust to sparse and to dense spots: the
/// smaller of (1) 1.4826 times the median absolute response and (2) 1.5 times what white noise as strong as
/// the frame's finest detail gives, times `margin` (over 1 where the noise is not white). 0 for a noise-free
/// frame. Works on a fixed sample of at most some 10^5 voxels.
double noise_deviation(const Execution& execution, const Response& response, const VolumeFrame& frame,
                       const Filter& filter, double margin = 1);

/// The same in two parts: what is seen of the noise, and the deviation told from that.
struct NoiseSeen {
  double response = 0;  ///< (1)
  double voxel = 0;     ///< the deviation of white noise as strong as the finest detail; infinite: untold
};
NoiseSeen noise_seen(const Execution& execution, const Response& response, const VolumeFrame& frame);
double noise_deviation(const NoiseSeen& seen, const Filter& filter, double margin);

/// From the medians, over noise_sample_rules.h's sample, of absolute responses and of absolute details.
NoiseSeen noise_of_medians(const Shape3& shape, double response, double detail);

/// Responses up to this may be rounding errors of a noise-free frame whose values span `range`.
float rounding_floor(const Filter& filter, ValueRange range);

}  // namespace motes::tracking::detect
