// One picture: xy above xz at the same scale in um, tracks over the maximum-intensity projections. Colours
// are from a fixed palette that colour-blind people can distinguish, chosen by a hash of the track's number,
// so that a track keeps its colour from run to run.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/base/quantile.h>
#include <motes/io/png.h>
#include <motes/io/preview.h>
#include <motes/tracking/track_runs.h>

#include "io/files/text.h"
#include "io/pictures/panel.h"

namespace motes::io {
namespace {

using detail::choose_scale;
using detail::Contrast;
using detail::contrast_of;
using detail::draw_image;
using detail::draw_label;
using detail::draw_scale_bar;
using detail::Image;
using detail::kPanelMin;
using detail::kPaper;
using detail::Panel;
using detail::panel_pixels;
using detail::Raster;
using detail::Rgb;

/// After Okabe and Ito, without black; the blue is lightened to stand out on a dark background.
constexpr std::array<Rgb, 8> kPalette{{{230, 159, 0},
                                       {86, 180, 233},
                                       {0, 190, 140},
                                       {240, 228, 66},
                                       {90, 130, 255},
                                       {235, 105, 30},
                                       {224, 135, 187},
                                       {170, 225, 120}}};
constexpr int kGap = 6;  ///< pixels between the panels
constexpr double kLine = 1.5;
/// The share of the picture that lines of tracks may cover; more would hide each other, and the image.
constexpr double kMostCovered = 0.5;

/// The box that the picture shows, in um (or px).
struct Scene {
  Vec3 low, high;
  Vec3 size() const { return {high.x - low.x, high.y - low.y, high.z - low.z}; }
};

Scene scene_of(const Projection& projection) {
  const Shape3 n = projection.shape();
  const Vec3 v = projection.voxel_um();
  const Vec3 low{-0.5 * v.x, -0.5 * v.y, -0.5 * v.z};  // the origin is the first voxel's centre
  return {low,
          {low.x + static_cast<double>(n.nx) * v.x, low.y + static_cast<double>(n.ny) * v.y,
           low.z + static_cast<double>(n.nz) * v.z}};
}

/// The range of nearly all values, slightly widened, so that a few outliers do not shrink the rest to a dot.
std::pair<double, double> robust_range(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return {0.0, 1.0};
  const double low = quantile(values, 0.002), high = quantile(values, 0.998);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double slack = 0.25 * (high - low), margin = 0.02 * (high - low);
  return {std::max(*least, low - slack) - margin, std::min(*most, high + slack) + margin};
}

Scene scene_of(const TrackSet& tracks) {
  const auto [x0, x1] = robust_range(tracks.x_um);
  const auto [y0, y1] = robust_range(tracks.y_um);
  const auto [z0, z1] = robust_range(tracks.z_um);
  Scene scene{{x0, y0, z0}, {x1, y1, z1}};
  // Points on a line or in one place need an area, too.
  const double span = std::max({x1 - x0, y1 - y0, z1 - z0});
  const double least = span > 0 ? 0.05 * span : 1.0;
  const auto widen = [&](double& low, double& high) {
    const double missing = least - (high - low);
    if (missing <= 0) return;
    low -= missing / 2;
    high += missing / 2;
  };
  widen(scene.low.x, scene.high.x);
  widen(scene.low.y, scene.high.y);
  return scene;
}

Rgb track_colour(std::int64_t id) {
  // A multiplicative hash: successive numbers get different colours.
  const std::uint64_t hash = static_cast<std::uint64_t>(id) * 0x9E3779B97F4A7C15ull;
  return kPalette[static_cast<std::size_t>(hash >> 61)];
}

/// Calls draw(i, j) for the points i and j of a run that a line joins. Points less than a pixel from the last
/// one drawn are left out.
template <class Draw>
void each_line(const Panel& panel, const TrackSet& tracks, const TrackRun& run,
               const std::vector<double>& down, const Draw& draw) {
  const auto finite = [&](std::size_t i) { return std::isfinite(tracks.x_um[i]) && std::isfinite(down[i]); };
  const auto near = [&](std::size_t i, std::size_t j) {
    const double x = tracks.x_um[j] - tracks.x_um[i], y = down[j] - down[i];
    return (x * x + y * y) * panel.pixels_per_um * panel.pixels_per_um < 1;
  };
  std::size_t from = run.begin;
  for (std::size_t i = run.begin + 1; i < run.end; ++i) {
    const bool joined = finite(from) && finite(i);
    if (joined && i + 1 < run.end && near(from, i)) continue;
    if (joined) draw(from, i);
    from = i;
  }
  if (run.size() == 1 && finite(run.begin)) draw(run.begin, run.begin);
}

void draw_tracks(Raster& picture, const Panel& panel, const TrackSet& tracks,
                 const std::vector<TrackRun>& runs, const std::vector<double>& down, std::size_t step) {
  const auto x = [&](std::size_t i) { return panel.px(tracks.x_um[i]); };
  const auto y = [&](std::size_t i) { return panel.py(down[i]); };
  for (const TrackRun& run : runs) {
    if (run.track % step != 0) continue;
    const Rgb colour = track_colour(tracks.track_id[run.track]);
    const double thickness = run.size() == 1 ? 2 * kLine : kLine;
    each_line(panel, tracks, run, down, [&](std::size_t i, std::size_t j) {
      picture.line(x(i), y(i), x(j), y(j), thickness, colour, panel.area);
    });
  }
}

/// The area of all lines, in pixels; where lines cross, it counts more than once.
double area_of_lines(const Panel& panel, const TrackSet& tracks, const std::vector<TrackRun>& runs,
                     const std::vector<double>& down) {
  const double longest = panel.area.right - panel.area.left + panel.area.bottom - panel.area.top;
  double length = 0;
  for (const TrackRun& run : runs)
    each_line(panel, tracks, run, down, [&](std::size_t i, std::size_t j) {
      const double um = std::hypot(tracks.x_um[j] - tracks.x_um[i], down[j] - down[i]);
      length += std::clamp(um * panel.pixels_per_um, 1.0, longest);
    });
  return kLine * length;
}

/// Where the panels lie in the picture: xz below xy, and not at all if `flat`.
struct Layout {
  Panel xy, xz;
  bool flat;
  double width_um;
};

Layout layout_of(const TrackSet& tracks, const Projection& projection, int max_pixels) {
  max_pixels = std::max(max_pixels, kPanelMin);
  const bool image = !projection.empty();
  const Scene scene = image ? scene_of(projection) : scene_of(tracks);
  const Vec3 size = scene.size(), voxel = projection.voxel_um();
  const double native = image ? 1 / std::min(voxel.x, voxel.y) : max_pixels / size.x;
  const double scale = choose_scale(size, native, max_pixels);
  const int width = std::min(panel_pixels(size.x, scale, max_pixels), max_pixels);
  const int height = panel_pixels(size.y, scale, max_pixels);
  const bool flat = image ? projection.shape().nz <= 1 : size.z <= 0;
  const int top = height + kGap, bottom = top + panel_pixels(size.z, scale, max_pixels);
  return {{{0, 0, width, height}, scene.low.x, scene.low.y, scale},
          {{0, top, width, bottom}, scene.low.x, scene.low.z, scale},
          flat,
          size.x};
}

/// Every n-th track is drawn, so that the lines cover about kMostCovered of the picture; this is n.
std::size_t track_step(const Layout& at, const TrackSet& tracks, const std::vector<TrackRun>& runs) {
  double lines = area_of_lines(at.xy, tracks, runs, tracks.y_um);
  if (!at.flat) lines += area_of_lines(at.xz, tracks, runs, tracks.z_um);
  const double picture = 1.0 * at.xy.area.right * (at.flat ? at.xy : at.xz).area.bottom;
  const double most = std::max(1.0, static_cast<double>(tracks.tracks()));
  return static_cast<std::size_t>(std::clamp(std::ceil(lines / (kMostCovered * picture)), 1.0, most));
}

template <class T>
void raise(std::vector<float>& xy, std::vector<float>& xz, const Shape3& shape, std::span<const T> voxels) {
  const auto nx = static_cast<std::size_t>(shape.nx), ny = static_cast<std::size_t>(shape.ny);
  for (std::size_t z = 0; z < static_cast<std::size_t>(shape.nz); ++z) {
    float* const xz_row = xz.data() + z * nx;
    for (std::size_t y = 0; y < ny; ++y) {
      const T* const row = voxels.data() + (z * ny + y) * nx;
      float* const xy_row = xy.data() + y * nx;
      for (std::size_t x = 0; x < nx; ++x) {
        const auto value = static_cast<float>(row[x]);  // false for a NaN voxel
        xy_row[x] = value > xy_row[x] ? value : xy_row[x];
        xz_row[x] = value > xz_row[x] ? value : xz_row[x];
      }
    }
  }
}

}  // namespace

void Projection::add(const VolumeFrame& frame) {
  if (empty()) {
    shape_ = frame.shape;
    voxel_um_ = frame.voxel_um;
    constexpr float kNothing = -std::numeric_limits<float>::infinity();
    xy_.assign(static_cast<std::size_t>(shape_.ny * shape_.nx), kNothing);
    xz_.assign(static_cast<std::size_t>(shape_.nz * shape_.nx), kNothing);
  }
  if (!(frame.shape == shape_)) {
    throw InputError("frame " + std::to_string(frame.index) +
                     ": its shape differs from the first frame's; all frames of a series must agree");
  }
  visit_voxels(frame.voxels, [&](auto voxels) { raise(xy_, xz_, shape_, voxels); });
}

void Projection::add(std::span<const float> xy, std::span<const float> xz) {
  if (xy.size() != xy_.size() || xz.size() != xz_.size())
    throw InputError("the frames of this series differ in shape; all frames of a series must agree");
  for (std::size_t i = 0; i < xy.size(); ++i) xy_[i] = std::max(xy_[i], xy[i]);
  for (std::size_t i = 0; i < xz.size(); ++i) xz_[i] = std::max(xz_[i], xz[i]);
}

std::size_t preview_track_step(const TrackSet& tracks, const Projection& projection, int max_pixels) {
  return track_step(layout_of(tracks, projection, max_pixels), tracks,
                    cut_runs(tracks, frame_step_of(tracks)));
}

void write_preview_png(const std::filesystem::path& path, const TrackSet& tracks,
                       const Projection& projection, int max_pixels) {
  const bool image = !projection.empty();
  const auto [xy, xz, flat, width_um] = layout_of(tracks, projection, max_pixels);
  const int width = xy.area.right, height = xy.area.bottom;
  Raster picture(width, flat ? height : xz.area.bottom);

  const Shape3 n = projection.shape();
  const Vec3 voxel = projection.voxel_um();
  const Contrast contrast = image ? contrast_of(projection.xy()) : Contrast{0, 1};
  if (image) draw_image(picture, xy, Image(projection.xy(), n.nx, n.ny), voxel.x, voxel.y, contrast);
  if (image && !flat) draw_image(picture, xz, Image(projection.xz(), n.nx, n.nz), voxel.x, voxel.z, contrast);
  if (!flat) picture.box(0, height, width, height + kGap, kPaper);

  const std::vector<TrackRun> runs = cut_runs(tracks, frame_step_of(tracks));
  const std::size_t step = track_step({xy, xz, flat, width_um}, tracks, runs);
  draw_tracks(picture, xy, tracks, runs, tracks.y_um, step);
  if (!flat) draw_tracks(picture, xz, tracks, runs, tracks.z_um, step);
  draw_scale_bar(picture, xy, width_um, tracks.length_unit);
  draw_label(picture, xy, "xy");
  if (!flat) draw_label(picture, xz, "xz");
  write_png(path, {picture.width(), picture.height(), std::move(picture).bytes()},
            image ? PictureOf::images : PictureOf::lines);
}

}  // namespace motes::io
