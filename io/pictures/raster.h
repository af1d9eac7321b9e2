#pragma once
/// A small software rasteriser: lines, boxes and a few letters into an RGB picture.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace motes::io::detail {

using Rgb = std::array<float, 3>;  ///< 0 to 255

/// Pixels in rows from the top. Pixel (x, y) covers [x, x+1) x [y, y+1).
class Raster {
 public:
  Raster(int width, int height) : width_(width), height_(height), pixels_(pixel_count() * 3, 0) {}
  int width() const { return width_; }
  int height() const { return height_; }
  Rgb pixel(int x, int y) const;
  void blend(int x, int y, const Rgb& colour, float alpha);  ///< outside the picture: does nothing

  /// An anti-aliased line with round ends, clipped to the rectangle [left, right) x [top, bottom).
  struct Clip {
    int left, top, right, bottom;
  };
  void line(double x0, double y0, double x1, double y1, double thickness, const Rgb& colour,
            const Clip& clip);
  void box(int left, int top, int right, int bottom, const Rgb& colour);
  /// Digits, point, sign, e, n, q, r, the letters of "um" and "px", x, y, z: 5 x 7 dots of `scale` pixels;
  /// the letter u is drawn as a micro sign. Other characters are blank.
  void text(int left, int top, std::string_view text, int scale, const Rgb& colour);
  static int text_width(std::string_view text, int scale);

  const std::vector<std::uint8_t>& bytes() const& { return pixels_; }  ///< [height * width * 3]
  std::vector<std::uint8_t> bytes() && { return std::move(pixels_); }

 private:
  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  }
  std::size_t index(int x, int y) const {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)) * 3;
  }
  int width_, height_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace motes::io::detail
