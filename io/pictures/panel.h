#pragma once
/// Panels of pictures that show frames: a projection with a scale bar and a label.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <motes/tracking/geometry.h>

#include "io/pictures/raster.h"

namespace motes::io::detail {

constexpr Rgb kWhite{255, 255, 255};
constexpr Rgb kPaper{38, 38, 38};
constexpr int kPanelMin = 8;  ///< smallest side in pixels, so that flat data are visible

/// One projection in the picture: `across` is always x, `down` is y or z.
struct Panel {
  Raster::Clip area;
  double left_um, top_um, pixels_per_um;
  double px(double x_um) const { return area.left + (x_um - left_um) * pixels_per_um; }
  double py(double v_um) const { return area.top + (v_um - top_um) * pixels_per_um; }
};

/// Grey levels between the 0.5th and 99.8th percentile.
struct Contrast {
  float low, high;
  float grey(float value) const { return std::clamp((value - low) / (high - low), 0.0f, 1.0f) * 255.0f; }
};

Contrast contrast_of(const std::vector<float>& image);

/// A projection as an image with `columns` values per row, sampled at any position.
class Image {
 public:
  Image(const std::vector<float>& values, std::int64_t columns, std::int64_t rows)
      : values_(values), columns_(columns), rows_(rows) {}

  /// The value over [x0, x1) x [y0, y1) in voxels: the brightest voxel if there are several (so spots stay
  /// visible), else interpolated at the middle.
  float sample(double x0, double x1, double y0, double y1) const {
    const double x = (x0 + x1) / 2 - 0.5, y = (y0 + y1) / 2 - 0.5;
    if (x1 - x0 <= 1 && y1 - y0 <= 1) return interpolated(x, y);
    float brightest = -std::numeric_limits<float>::infinity();
    const std::int64_t right = std::max(clamp(x0, columns_), clamp(std::ceil(x1) - 1, columns_));
    const std::int64_t bottom = std::max(clamp(y0, rows_), clamp(std::ceil(y1) - 1, rows_));
    for (std::int64_t j = clamp(y0, rows_); j <= bottom; ++j) {
      for (std::int64_t i = clamp(x0, columns_); i <= right; ++i) brightest = std::max(brightest, at(i, j));
    }
    return brightest;
  }

 private:
  static std::int64_t clamp(double value, std::int64_t count) {
    return std::clamp(static_cast<std::int64_t>(std::floor(value)), std::int64_t{0}, count - 1);
  }
  float at(std::int64_t i, std::int64_t j) const {
    return values_[static_cast<std::size_t>(j * columns_ + i)];
  }
  float interpolated(double x, double y) const {
    const std::int64_t i = clamp(x, columns_), j = clamp(y, rows_);
    const std::int64_t i1 = std::min(i + 1, columns_ - 1), j1 = std::min(j + 1, rows_ - 1);
    const auto fx = static_cast<float>(std::clamp(x - static_cast<double>(i), 0.0, 1.0));
    const auto fy = static_cast<float>(std::clamp(y - static_cast<double>(j), 0.0, 1.0));
    const float top = at(i, j) + fx * (at(i1, j) - at(i, j));
    const float bottom = at(i, j1) + fx * (at(i1, j1) - at(i, j1));
    return top + fy * (bottom - top);
  }

  const std::vector<float>& values_;
  std::int64_t columns_, rows_;
};

/// Pixels per um: native resolution if the picture then has a suitable size; small volumes are enlarged,
/// large ones reduced.
double choose_scale(const Vec3& size, double native, int max_pixels);

int panel_pixels(double length_um, double scale, int max_pixels);

void draw_image(Raster& picture, const Panel& panel, const Image& image, double voxel_x, double voxel_v,
                const Contrast& contrast);

/// Draws it at the panel's lower right, with its length.
void draw_scale_bar(Raster& picture, const Panel& panel, double width_um, const std::string& unit);

/// Draws it at the panel's upper left.
void draw_label(Raster& picture, const Panel& panel, std::string_view label);

}  // namespace motes::io::detail
