#pragma once
/// How much higher maxima score in skewed noise than in symmetric noise.

#include <span>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"

namespace motes::tracking::detect {

/// The ratio, at least 1, of the scores of skewed noise to those of the table in selection.cpp. The noise is
/// drawn at random from the frame's finest detail (a voxel minus the mean of its neighbours). This shows skew
/// (clipped frames, subtracted background, gain registers, few photons), but neither spots, which are smooth,
/// nor correlation between neighbours. 1 for filters wider than 3 voxels, whose responses are sums of too
/// many voxels to be skewed, and for frames of fewer than 4096 voxels. The same for any number of threads and
/// voxel type. O(1): up to 2^17 voxels are searched.
double skew_of_noise(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                     Polarity polarity);

/// What was clipped at the lowest value between the spots of a frame. Clipped smoothed noise consists of
/// specks, and many of its maxima score 0.
enum class Clipping { none, noise, smoothed_noise };

/// Whether the frame was clipped from below between its spots, as by filters that subtract a background. Then
/// minima are shallow, and maxima score higher, relative to minima, than in any other noise. `maxima`,
/// `minima`: scores of the round ones, those of maxima in ascending order.
Clipping clipping_of(const VolumeFrame& frame, std::span<const double> maxima,
                     std::span<const double> minima);

/// Whether most of `maxima` [n] (all of a frame) are spots, so that responses do not show the noise: their
/// responses are too similar for noise, or those of at least half of them, which the levels take.
/// O(n log n).
bool spots_are_most(std::span<const LikelySpot> maxima, const Levels& levels, int dimensions);

}  // namespace motes::tracking::detect
