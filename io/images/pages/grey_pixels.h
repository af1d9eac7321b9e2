#pragma once
/// Grey values of pixels that are stored as colours or with transparency.

#include <cstddef>
#include <cstdint>
#include <string>

namespace motes::io::detail {

/// The first pixel that is not an opaque grey.
struct OddPixel {
  enum class Kind { none, colour, transparent } kind = Kind::none;
  std::int64_t x = 0, y = 0;
};

/// Copies the grey values of row `y`: `width` pixels of `channels` samples (1: grey; 3: red, green and blue;
/// 2 and 4: these, then alpha) of `sample_bytes` (1, 2, 4 or 8). Alpha is opaque at its largest integer.
/// Notes the first odd pixel in `odd`, which keeps an earlier one. The buffers need no alignment.
void copy_greys(const std::byte* row, int channels, int sample_bytes, std::int64_t width, std::int64_t y,
                std::byte* out, OddPixel& odd);

/// What is wrong with the pixel, and what to do: "is in colour: red, ...; save ...".
std::string to_string(const OddPixel& odd);

}  // namespace motes::io::detail
