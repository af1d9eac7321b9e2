#pragma once
/// How much higher maxima of skewed noise score than those of noise as far below its mean as above.

#include <span>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// The factor by which the scores of this frame's noise exceed those of selection.h's table, 1 or more, if
/// its voxels are drawn at random from the frame's own finest detail (a voxel less the mean of those beside
/// it). So it sees skew (clipped frames, background taken off, gain registers, few photons), and neither
/// spots, which are smooth, nor noise that neighbours share. 1 for filters wider than 3 voxels, whose
/// responses are sums of too many voxels to be skewed, and for frames of fewer than 4096 voxels. The same for
/// any number of threads and voxel type. O(1): up to 2^17 voxels are searched.
double skew_of_noise(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                     Polarity polarity);

/// What was clipped at the lowest value between the spots of a frame; of smoothed noise specks are left, and
/// many maxima score 0.
enum class Clipping { none, noise, smoothed_noise };

/// Whether the frame was clipped from below between its spots, as filters that take a background off do. Its
/// minima are shallow then: maxima, though most are noise, score higher beside minima than on any other
/// noise. `maxima`, `minima`: scores of the round ones, those of maxima in ascending order.
Clipping clipping_of(const VolumeFrame& frame, std::span<const double> maxima,
                     std::span<const double> minima);

/// Whether the levels take half of `maxima` [n] (all of a frame) or more, and these respond too much alike
/// for noise: most maxima are spots, and responses do not show the noise. O(n log n).
bool spots_are_most(std::span<const LikelySpot> maxima, const Levels& levels, int dimensions);

}  // namespace motes::tracking::detect
