#pragma once
/// Colours of drawn tracks: a perceptually even scale for numbers, and distinct hues for identities.

#include <array>
#include <cstdint>

namespace motes::app {

using Colour = std::array<std::uint8_t, 3>;

/// A scale from dark violet over blue, teal and green to yellow. Lightness rises evenly with the value, so
/// that the scale works without colour vision. On black it starts lighter, on white it ends darker, so that
/// both ends stand out. `share` is clamped to [0, 1]; NaN is grey.
Colour scale_colour(double share, bool on_black);

/// The colour of the track with this number: the same in every picture, and unlike that of successive
/// numbers.
Colour track_colour(std::int64_t track_id, bool on_black);

/// `colour` with `share` of `other` mixed in.
Colour mix(const Colour& colour, const Colour& other, double share);

}  // namespace motes::app
