/// Lays out and draws the panels.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include <motes/io/parameter_preview.h>
#include <motes/io/png.h>

#include "io/pictures/panel.h"

namespace motes::io {
namespace {

using namespace detail;

constexpr int kPanelGap = 6;  // pixels between panels
constexpr Rgb kCircle{255, 190, 0};
constexpr double kThickness = 1.5;
constexpr int kSides = 20;          // sides of a circle's polygon
constexpr double kLeastPixels = 4;  // smallest radius of a circle

void draw_circle(Raster& picture, const Panel& panel, double x_um, double y_um, double radius_um) {
  const double radius = std::max(kLeastPixels, radius_um * panel.pixels_per_um);
  const double x = panel.px(x_um), y = panel.py(y_um);
  for (int i = 0; i < kSides; ++i) {
    const double from = 2 * std::numbers::pi * i / kSides, to = 2 * std::numbers::pi * (i + 1) / kSides;
    picture.line(x + radius * std::cos(from), y + radius * std::sin(from), x + radius * std::cos(to),
                 y + radius * std::sin(to), kThickness, kCircle, panel.area);
  }
}

std::string label_of(const ParameterPanel& panel) {
  char text[96];
  if (panel.threshold < 0)
    std::snprintf(text, sizeof text, "r %.3g  n %zu", panel.radius_um, panel.count);
  else
    std::snprintf(text, sizeof text, "r %.3g  q %.3g  n %zu", panel.radius_um, panel.threshold, panel.count);
  return text;
}

}  // namespace

void write_parameter_preview_png(const std::filesystem::path& path, const Projection& ground,
                                 const std::vector<std::vector<ParameterPanel>>& rows, int max_pixels) {
  std::size_t columns = 1;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  const Shape3 n = ground.shape();
  const Vec3 voxel = ground.voxel_um();
  const Vec3 size{static_cast<double>(n.nx) * voxel.x, static_cast<double>(n.ny) * voxel.y, 0};
  const int wide = (max_pixels - kPanelGap * static_cast<int>(columns - 1)) / static_cast<int>(columns);
  const double scale = choose_scale(size, 1 / std::min(voxel.x, voxel.y), std::max(wide, kPanelMin));
  const int width = panel_pixels(size.x, scale, wide), height = panel_pixels(size.y, scale, wide);
  Raster picture(static_cast<int>(columns) * (width + kPanelGap) - kPanelGap,
                 static_cast<int>(rows.size()) * (height + kPanelGap) - kPanelGap);
  const Contrast contrast = contrast_of(ground.xy());
  for (std::size_t j = 0; j < rows.size(); ++j)
    for (std::size_t i = 0; i < rows[j].size(); ++i) {
      const int left = static_cast<int>(i) * (width + kPanelGap),
                top = static_cast<int>(j) * (height + kPanelGap);
      const Panel panel{{left, top, left + width, top + height}, -0.5 * voxel.x, -0.5 * voxel.y, scale};
      draw_image(picture, panel, Image(ground.xy(), n.nx, n.ny), voxel.x, voxel.y, contrast);
      const Detections& found = rows[j][i].drawn;
      for (std::size_t k = 0; k < found.size(); ++k)
        draw_circle(picture, panel, found.x_um[k], found.y_um[k], rows[j][i].radius_um);
      const std::string label = label_of(rows[j][i]);
      picture.box(left, top, left + Raster::text_width(label, 2) + 14, top + 24, kPaper);
      draw_label(picture, panel, label);
      draw_scale_bar(picture, panel, size.x, "um");
    }
  write_png(path, {picture.width(), picture.height(), std::move(picture).bytes()});
}

}  // namespace motes::io
