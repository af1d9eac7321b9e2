/// Draws projections, scale bars and labels.

#include "io/pictures/panel.h"

#include <cstdio>
#include <iterator>

#include <motes/base/quantile.h>

namespace motes::io::detail {
namespace {

constexpr int kMinPixels = 600;

/// The largest of 1, 2, 5 times a power of ten that is at most a quarter of the width.
double scale_bar_length(double width_um) {
  const double limit = width_um / 4;
  const double power = std::pow(10.0, std::floor(std::log10(limit)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= limit) return factor * power;
  }
  return power;
}

std::string length_text(double length, const std::string& unit) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", length);
  return std::string(digits) + ' ' + unit;
}

}  // namespace

double choose_scale(const Vec3& size, double native, int max_pixels) {
  const int least = std::min(kMinPixels, max_pixels);
  const double width = size.x * native;
  double scale = native;
  if (width < least) scale = native * std::min(std::ceil(least / width), max_pixels / width);
  if (size.x * scale > max_pixels) scale = max_pixels / size.x;
  const double height = (size.y + size.z) * scale;
  const double max_height = 2.0 * max_pixels;
  return height > max_height ? scale * max_height / height : scale;
}

int panel_pixels(double length_um, double scale, int max_pixels) {
  return std::clamp(static_cast<int>(std::lround(length_um * scale)), kPanelMin, 2 * max_pixels);
}

Contrast contrast_of(const std::vector<float>& image) {
  std::vector<float> values;
  std::copy_if(image.begin(), image.end(), std::back_inserter(values),
               [](float v) { return std::isfinite(v); });
  if (values.empty()) return {0, 1};
  const float low = quantile(values, 0.005), high = quantile(values, 0.998);
  return {low, high > low ? high : low + 1};
}

void draw_image(Raster& picture, const Panel& panel, const Image& image, double voxel_x, double voxel_v,
                const Contrast& contrast) {
  const double step_x = 1 / (panel.pixels_per_um * voxel_x), step_v = 1 / (panel.pixels_per_um * voxel_v);
  for (int y = panel.area.top; y < panel.area.bottom; ++y) {
    const double v = (y - panel.area.top) * step_v;
    for (int x = panel.area.left; x < panel.area.right; ++x) {
      const double u = (x - panel.area.left) * step_x;
      const float grey = contrast.grey(image.sample(u, u + step_x, v, v + step_v));
      picture.blend(x, y, {grey, grey, grey}, 1.0f);
    }
  }
}

void draw_scale_bar(Raster& picture, const Panel& panel, double width_um, const std::string& unit) {
  constexpr int kScale = 2, kInset = 12, kThickness = 4, kTextHeight = 7 * kScale;
  const double length = scale_bar_length(width_um);
  const std::string label = length_text(length, unit);
  const int bar = static_cast<int>(std::lround(length * panel.pixels_per_um));
  const int wide = std::max(bar, Raster::text_width(label, kScale));
  const int right = panel.area.right - kInset, bottom = panel.area.bottom - kInset;
  if (right - wide < panel.area.left || bottom - kThickness - kTextHeight - 4 < panel.area.top) return;
  const int middle = right - wide / 2;
  const auto label_at = [&](int dx, int dy, const Rgb& colour) {
    picture.text(middle - Raster::text_width(label, kScale) / 2 + dx,
                 bottom - kThickness - 4 - kTextHeight + dy, label, kScale, colour);
  };
  picture.box(middle - bar / 2 - 1, bottom - kThickness - 1, middle - bar / 2 + bar + 1, bottom + 1, kPaper);
  picture.box(middle - bar / 2, bottom - kThickness, middle - bar / 2 + bar, bottom, kWhite);
  label_at(1, 1, kPaper);
  label_at(0, 0, kWhite);
}

void draw_label(Raster& picture, const Panel& panel, std::string_view label) {
  constexpr int kScale = 2, kInset = 6;
  if (panel.area.bottom - panel.area.top < 7 * kScale + 2 * kInset) return;
  picture.text(panel.area.left + kInset + 1, panel.area.top + kInset + 1, label, kScale, kPaper);
  picture.text(panel.area.left + kInset, panel.area.top + kInset, label, kScale, kWhite);
}

}  // namespace motes::io::detail
