// Colours are made in OKLCh (Ottosson 2020), where equal steps of lightness look equal and the hue can change
// at equal lightness. The saturation of colours that a screen cannot show is reduced until it can.

#include "app/render/colours.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace motes::app {
namespace {

using Linear = std::array<double, 3>;

Linear linear_rgb(double lightness, double chroma, double hue_deg) {
  const double hue = hue_deg * std::numbers::pi / 180;
  const double a = chroma * std::cos(hue), b = chroma * std::sin(hue);
  const auto cube = [](double v) { return v * v * v; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

std::uint8_t screen(double linear) {
  const double v = std::clamp(linear, 0.0, 1.0);
  const double coded = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * coded));
}

Colour from_lch(double lightness, double chroma, double hue_deg) {
  const auto shows = [](const Linear& rgb) {
    return std::all_of(rgb.begin(), rgb.end(), [](double v) { return v >= -1e-4 && v <= 1 + 1e-4; });
  };
  if (!shows(linear_rgb(lightness, chroma, hue_deg))) {
    double low = 0;  // grey can always be shown
    for (int i = 0; i < 30; ++i) {
      const double half = (low + chroma) / 2;
      (shows(linear_rgb(lightness, half, hue_deg)) ? low : chroma) = half;
    }
    chroma = low;
  }
  const Linear rgb = linear_rgb(lightness, chroma, hue_deg);
  return {screen(rgb[0]), screen(rgb[1]), screen(rgb[2])};
}

}  // namespace

Colour scale_colour(double share, bool on_black) {
  if (std::isnan(share)) return {128, 128, 128};
  share = std::clamp(share, 0.0, 1.0);
  const double dark = on_black ? 0.42 : 0.30, light = on_black ? 0.93 : 0.86;
  constexpr double kViolet = 305, kYellow = 100;
  return from_lch(dark + share * (light - dark), 0.15, kViolet + share * (kYellow - kViolet));
}

Colour track_colour(std::int64_t track_id, bool on_black) {
  // Multiples of the golden ratio spread evenly over the circle, and successive ones are far apart.
  const std::uint64_t hash = static_cast<std::uint64_t>(track_id) * 0x9E3779B97F4A7C15ull;
  const double hue = static_cast<double>(hash >> 11) * 0x1p-53 * 360;
  const auto level = static_cast<double>(static_cast<std::uint64_t>(track_id) % 3);
  return from_lch((on_black ? 0.66 : 0.48) + 0.08 * level, 0.17, hue);
}

Colour mix(const Colour& colour, const Colour& other, double share) {
  Colour mixed;
  for (std::size_t i = 0; i < 3; ++i) {
    mixed[i] = static_cast<std::uint8_t>(std::lround(colour[i] + share * (other[i] - colour[i])));
  }
  return mixed;
}

}  // namespace motes::app
