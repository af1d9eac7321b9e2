#pragma once
/// Colours of drawn tracks: a perceptually even scale for numbers, and distinct hues for identities.

#include <array>
#include <cstdint>

namespace motes::app {

using Colour = std::array<std::uint8_t, 3>;

/// A scale whose lightness rises with the value, so that it works without colour vision: from dark violet
/// over blue, teal and green to yellow, lightness rising evenly; on black the scale starts lighter, on
/// white it ends darker, so that both ends stand out. `share` is clamped to [0, 1]; NaN is grey.
Colour scale_colour(double share, bool on_black);

/// The colour of the track with this number: the same in every picture, unlike those of neighbouring numbers.
Colour track_colour(std::int64_t track_id, bool on_black);

/// `colour` with `share` of `other` mixed in.
Colour mix(const Colour& colour, const Colour& other, double share);

}  // namespace motes::app
