#include "io/images/pages/grey_pixels.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace motes::io::detail {
namespace {

template <class T>
void copy_greys_of(const std::byte* row, int channels, std::int64_t width, std::int64_t y, std::byte* out,
                   OddPixel& odd) {
  const bool coloured = channels >= 3, alpha = channels % 2 == 0;
  std::array<T, 4> pixel{};
  const auto samples = static_cast<std::size_t>(channels);
  for (std::int64_t x = 0; x < width; ++x) {
    std::memcpy(pixel.data(), row + static_cast<std::size_t>(x) * samples * sizeof(T), samples * sizeof(T));
    std::memcpy(out + static_cast<std::size_t>(x) * sizeof(T), pixel.data(), sizeof(T));
    if (odd.kind != OddPixel::Kind::none) continue;
    if (alpha && pixel[samples - 1] != static_cast<T>(~T{0})) odd = {OddPixel::Kind::transparent, x, y};
    if (coloured && (pixel[0] != pixel[1] || pixel[0] != pixel[2])) odd = {OddPixel::Kind::colour, x, y};
  }
}

}  // namespace

void copy_greys(const std::byte* row, int channels, int sample_bytes, std::int64_t width, std::int64_t y,
                std::byte* out, OddPixel& odd) {
  if (channels == 1) {
    std::memcpy(out, row, static_cast<std::size_t>(width) * static_cast<std::size_t>(sample_bytes));
  } else if (sample_bytes == 1) {
    copy_greys_of<std::uint8_t>(row, channels, width, y, out, odd);
  } else if (sample_bytes == 2) {
    copy_greys_of<std::uint16_t>(row, channels, width, y, out, odd);
  } else if (sample_bytes == 4) {
    copy_greys_of<std::uint32_t>(row, channels, width, y, out, odd);
  } else {
    copy_greys_of<std::uint64_t>(row, channels, width, y, out, odd);
  }
}

std::string to_string(const OddPixel& odd) {
  if (odd.kind == OddPixel::Kind::transparent)
    return fmt::format("is transparent at x {}, y {}; save it without transparency", odd.x, odd.y);
  return fmt::format(
      "is in colour: red, green and blue differ at x {}, y {}; save one channel of it, or its grey values "
      "(in "
      "Fiji: Image > Type > 8-bit)",
      odd.x, odd.y);
}

}  // namespace motes::io::detail
