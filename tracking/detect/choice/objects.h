#pragma once
/// Objects on an empty ground, as in masks and in frames in which a threshold set the background to one
/// value.

#include <optional>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice/choice.h"

namespace motes::tracking::detect {

/// All maxima that are objects, if the frame has no noise between them; none otherwise. A score compares a
/// maximum with a Gaussian spot, which masks do not resemble. Without noise, voxels over the lowest value lie
/// side by side, and hardly any maximum responds less than half as much as most do. (Responses of specks left
/// of clipped noise are exponentially distributed; labels have many values.) None for dark spots, while
/// scales are compared, and if the number of false spots is given. O(maxima log maxima).
std::optional<Choice> objects_on_empty_ground(const VolumeFrame& frame, const ScoredMaxima& maxima,
                                              const ChoiceOptions& options);

}  // namespace motes::tracking::detect
