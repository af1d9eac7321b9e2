/// Draws lines, boxes and letters in pixels.

#include "io/pictures/raster.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace motes::io::detail {
namespace {

constexpr int kGlyphWidth = 5, kGlyphHeight = 7, kGlyphAdvance = 6;

struct Glyph {
  char letter;
  std::array<std::uint8_t, kGlyphHeight> rows;  ///< bit 4 is the leftmost dot
};

constexpr std::array<Glyph, 23> kGlyphs{{
    {'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
    {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'2', {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111}},
    {'3', {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110}},
    {'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
    {'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
    {'6', {0b01110, 0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
    {'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b00100, 0b01000, 0b01000}},
    {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
    {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b01110}},
    {'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100}},
    {'u', {0b00000, 0b10001, 0b10001, 0b10001, 0b10011, 0b11101, 0b10000}},
    {'m', {0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101}},
    {'p', {0b00000, 0b00000, 0b11110, 0b10001, 0b11110, 0b10000, 0b10000}},
    {'x', {0b00000, 0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001}},
    {'y', {0b00000, 0b00000, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110}},
    {'r', {0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000}},
    {'q', {0b00000, 0b00000, 0b01111, 0b10001, 0b01111, 0b00001, 0b00001}},
    {'n', {0b00000, 0b00000, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001}},
    {'e', {0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110}},
    {'+', {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000}},
    {'-', {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000}},
    {'z', {0b00000, 0b00000, 0b11111, 0b00010, 0b00100, 0b01000, 0b11111}},
}};

/// Squared distance of the point (px, py), relative to the segment's start, from the segment (dx, dy).
float squared_distance(float px, float py, float dx, float dy, float inverse_length2) {
  const float along = std::clamp((px * dx + py * dy) * inverse_length2, 0.0f, 1.0f);
  const float ex = px - along * dx, ey = py - along * dy;
  return ex * ex + ey * ey;
}

/// Shortens the segment to the part near the rectangle (Liang-Barsky); false if there is none.
bool clip_segment(double& x0, double& y0, double& x1, double& y1, const Raster::Clip& clip, double margin) {
  double enter = 0, leave = 1;
  const double dx = x1 - x0, dy = y1 - y0;
  const std::array<std::pair<double, double>, 4> sides{{{-dx, x0 - (clip.left - margin)},
                                                        {dx, clip.right + margin - x0},
                                                        {-dy, y0 - (clip.top - margin)},
                                                        {dy, clip.bottom + margin - y0}}};
  for (const auto& [direction, room] : sides) {
    if (direction == 0) {
      if (room < 0) return false;
    } else if (direction < 0) {
      enter = std::max(enter, room / direction);
    } else {
      leave = std::min(leave, room / direction);
    }
  }
  if (!(enter <= leave)) return false;
  x1 = x0 + leave * dx;
  y1 = y0 + leave * dy;
  x0 += enter * dx;
  y0 += enter * dy;
  return true;
}

}  // namespace

Rgb Raster::pixel(int x, int y) const {
  const std::size_t at = index(x, y);
  const auto value = [&](std::size_t c) { return static_cast<float>(pixels_[at + c]); };
  return {value(0), value(1), value(2)};
}

void Raster::blend(int x, int y, const Rgb& colour, float alpha) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  const std::size_t at = index(x, y);
  for (std::size_t c = 0; c < 3; ++c) {
    const auto before = static_cast<float>(pixels_[at + c]);
    const float value = before + alpha * (colour[c] - before);
    pixels_[at + c] = static_cast<std::uint8_t>(value > 0 ? std::min(value, 255.0F) + 0.5F : 0.0F);  // NaN: 0
  }
}

void Raster::line(double x0, double y0, double x1, double y1, double thickness, const Rgb& colour,
                  const Clip& clip) {
  const double reach = thickness / 2 + 0.5;  // coverage is 0 beyond this distance
  if (!clip_segment(x0, y0, x1, y1, clip, reach)) return;
  const double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  const auto run = static_cast<float>(dx), rise = static_cast<float>(dy),
             inverse_length2 = static_cast<float>(length2 > 0 ? 1 / length2 : 0),
             end = static_cast<float>(reach), full = std::max(end - 1, 0.0F);
  // Walk along the longer axis; on the other one only pixels whose centres the line can reach are visited.
  const bool steep = std::abs(dy) > std::abs(dx);
  const auto [major0, major1] = steep ? std::minmax(y0, y1) : std::minmax(x0, x1);
  const double slope = steep ? dx / dy : (dx == 0 ? 0.0 : dy / dx);
  const double half = reach * std::sqrt(1 + slope * slope) + 1e-3;
  for (int major = static_cast<int>(std::floor(major0 - reach)); major <= static_cast<int>(major1 + reach);
       ++major) {
    const double at = std::clamp(major + 0.5, major0, major1);
    const double centre = steep ? x0 + (at - y0) * slope : y0 + (at - x0) * slope;
    const auto last = static_cast<int>(std::floor(centre - 0.5 + half));
    for (auto minor = static_cast<int>(std::ceil(centre - 0.5 - half)); minor <= last; ++minor) {
      const int x = steep ? minor : major, y = steep ? major : minor;
      if (x < clip.left || x >= clip.right || y < clip.top || y >= clip.bottom) continue;
      const float squared = squared_distance(static_cast<float>(x + 0.5 - x0),
                                             static_cast<float>(y + 0.5 - y0), run, rise, inverse_length2);
      if (squared >= end * end) continue;
      blend(x, y, colour, squared <= full * full ? 1.0F : end - std::sqrt(squared));
    }
  }
}

void Raster::box(int left, int top, int right, int bottom, const Rgb& colour) {
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) blend(x, y, colour, 1.0f);
  }
}

void Raster::text(int left, int top, std::string_view text, int scale, const Rgb& colour) {
  for (const char letter : text) {
    const auto glyph = std::find_if(kGlyphs.begin(), kGlyphs.end(),
                                    [&](const Glyph& known) { return known.letter == letter; });
    for (int y = 0; y < kGlyphHeight && glyph != kGlyphs.end(); ++y) {
      for (int x = 0; x < kGlyphWidth; ++x) {
        if ((glyph->rows[static_cast<std::size_t>(y)] >> (kGlyphWidth - 1 - x) & 1) == 0) continue;
        box(left + x * scale, top + y * scale, left + (x + 1) * scale, top + (y + 1) * scale, colour);
      }
    }
    left += kGlyphAdvance * scale;
  }
}

int Raster::text_width(std::string_view text, int scale) {
  return (static_cast<int>(text.size()) * kGlyphAdvance - (kGlyphAdvance - kGlyphWidth)) * scale;
}

}  // namespace motes::io::detail
