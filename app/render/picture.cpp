/// The layout of panels, legends and colour bars.

#include "app/render/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <motes/base/errors.h>
#include <motes/tracking/track_runs.h>

#include "app/options/nearest.h"
#include "app/render/axes.h"

namespace motes::app {
namespace {

constexpr double kLeastPanel = 120;  ///< pixels per side
constexpr double kFading = 0.55;     ///< share of the background in the colour of the farthest tracks
constexpr double kFlatSide = 0.05;   ///< smallest side of a box, relative to its longest side
constexpr double kThickness = 1e-3;  ///< of a plane along z: thicker ones are seen as two frames

Vec3 point_of(const TrackSet& tracks, std::size_t p) {
  return {tracks.x_um[p], tracks.y_um[p], tracks.z_um[p]};
}

bool finite(const Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

/// Extends a side to round numbers if these are near, and gives it a length, at least `least`.
void round_side(double& low, double& high, double least) {
  if (high - low < least) {
    const double middle = (low + high) / 2;
    low = middle - least / 2;
    high = middle + least / 2;
    return;
  }
  const double step = ticks_between(low, high, 5).step, slack = 0.03 * (high - low);
  const double below = std::floor(low / step) * step, above = std::ceil(high / step) * step;
  if (low - below < slack) low = below;
  if (above - high < slack) high = above;
}

struct Bounds {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// The number that colours each point.
std::vector<double> point_values(const RenderInput& input, const std::string& colour) {
  const TrackSet& tracks = input.tracks;
  if (colour == "time") {
    if (tracks.dt_s) return tracks.time_s;
    return {tracks.frame.begin(), tracks.frame.end()};
  }
  if (colour == "speed") {
    const auto speeds = point_speeds(tracks, cut_runs(tracks, frame_step_of(tracks)));
    return {speeds.begin(), speeds.end()};
  }
  std::vector<std::string> known{"track", "time", "speed"};
  for (const PropertyColumn& column : tracks.point_properties) {
    if (column.name == colour) return column.values;
    known.push_back(column.name);
  }
  for (const PropertyColumn& column : tracks.track_properties) {
    known.push_back(column.name);
    if (column.name != colour) continue;
    std::vector<double> values(tracks.points());
    for (std::size_t t = 0; t < tracks.tracks(); ++t) {
      std::fill(values.begin() + tracks.track_offsets[t], values.begin() + tracks.track_offsets[t + 1],
                column.values[t]);
    }
    return values;
  }
  throw UsageError("--color: " + input.path + " has no property '" + colour + "'" +
                   did_you_mean(colour, known, fmt::format("; it has {}", fmt::join(known, ", "))));
}

std::string value_name(const std::string& colour, const TrackSet& tracks) {
  if (colour == "time") return tracks.dt_s ? "time (s)" : "frame";
  if (colour == "speed")
    return fmt::format("speed ({}/{})", unit_text(tracks.length_unit), tracks.dt_s ? "s" : "frame");
  return colour;
}

std::pair<double, double> range_of(const std::vector<std::vector<double>>& values,
                                   const std::string& colour) {
  Bounds bounds;
  for (const auto& panel : values) {
    for (const double value : panel) bounds.add(value);
  }
  if (bounds.low > bounds.high)
    throw InputError("--color " + colour + ": no point has a value; choose another property");
  if (bounds.low == bounds.high) return {bounds.low - 0.5, bounds.high + 0.5};
  return {bounds.low, bounds.high};
}

/// The areas of the panels in rows from the top, with the number of columns that makes panels of 4:3 largest.
std::vector<Rect> tile(const Rect& room, std::size_t count) {
  std::size_t columns = 1;
  double best = 0;
  for (std::size_t c = 1; c <= count; ++c) {
    const double width = room.width / static_cast<double>(c);
    const double height = room.height / static_cast<double>((count + c - 1) / c);
    const double size = std::min(width, height * 4 / 3);
    if (size > best * (1 + 1e-9)) {
      best = size;
      columns = c;
    }
  }
  const std::size_t rows = (count + columns - 1) / columns;
  const double width = std::floor(room.width / static_cast<double>(columns));
  const double height = std::floor(room.height / static_cast<double>(rows));
  std::vector<Rect> areas;
  for (std::size_t i = 0; i < count; ++i) {
    const auto column = static_cast<double>(i % columns), row = static_cast<double>(i / columns);
    areas.push_back(
        {room.left + column * width, room.bottom + room.height - (row + 1) * height, width, height});
  }
  return areas;
}

/// Adds the visible points of the input, as lines, and the marks.
void add_tracks(Panel& panel, const RenderOptions& options, const RenderInput& input,
                const std::vector<Colour>& colours) {
  const TrackSet& tracks = input.tracks;
  const std::int64_t last = options.until.value_or(std::numeric_limits<std::int32_t>::max());
  std::int64_t first = std::numeric_limits<std::int32_t>::min();
  if (options.tail && tracks.points() > 0) {
    const std::int64_t newest = *std::max_element(tracks.frame.begin(), tracks.frame.end());
    first = std::min(last, newest) - *options.tail + 1;
  }
  const auto visible = [&](std::size_t p) {
    return tracks.frame[p] >= first && tracks.frame[p] <= last && finite(point_of(tracks, p));
  };
  std::size_t track = tracks.tracks();
  for (const TrackRun& run : cut_runs(tracks, frame_step_of(tracks))) {
    std::size_t begin = panel.points.size();
    for (std::size_t p = run.begin; p < run.end; ++p) {
      if (!visible(p)) {
        if (panel.points.size() > begin) panel.lines.emplace_back(begin, panel.points.size());
        begin = panel.points.size();
        continue;
      }
      panel.points.push_back(point_of(tracks, p));
      panel.colours.push_back(colours[p]);
      if (!options.points) continue;
      if (track != run.track) panel.marks.push_back(0);
      track = run.track;
      panel.marks.back() = panel.points.size() - 1;
    }
    if (panel.points.size() > begin) panel.lines.emplace_back(begin, panel.points.size());
  }
}

/// Fades far tracks into the background, to show which of two crossing lines is in front.
void fade(Panel& panel, const Colour& background) {
  const double span = panel.view.far - panel.view.near;
  for (std::size_t p = 0; p < panel.points.size(); ++p) {
    const double share = (panel.view.depth(panel.points[p]) - panel.view.near) / span;
    panel.colours[p] = mix(panel.colours[p], background, kFading * std::clamp(share, 0.0, 1.0));
  }
}

/// One colour per point: that of its track if `range` is null, else that of its value.
std::vector<Colour> point_colours(const TrackSet& tracks, const std::vector<double>& values,
                                  const std::optional<std::pair<double, double>>& range, bool on_black) {
  std::vector<Colour> colours(tracks.points());
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    for (auto p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p) {
      const auto at = static_cast<std::size_t>(p);
      colours[at] = range
                        ? scale_colour((values[at] - range->first) / (range->second - range->first), on_black)
                        : track_colour(tracks.track_id[t], on_black);
    }
  }
  return colours;
}

/// Adds the panel of one input, with its axes and title in the picture's overlay. `size`: of letters, in
/// pixels.
void add_panel(Picture& picture, const RenderOptions& options, const RenderInput& input,
               const std::vector<double>& values, const Rect& area, double size) {
  Panel panel;
  panel.area = area;
  const double head = input.title.empty() ? 0 : 2 * size, side = options.axes ? 4.5 * size : size;
  const double foot = options.axes ? 3.5 * size : size;
  panel.view = fit_view(
      picture.box, options.azimuth_deg, options.elevation_deg,
      {area.left + side, area.bottom + foot, area.width - 2 * side, area.height - foot - head - size});
  add_tracks(panel, options, input, point_colours(input.tracks, values, picture.range, options.on_black));
  if (!picture.range) fade(panel, picture.background);
  if (options.axes) add_axes(panel, picture.overlay, picture.box, input.tracks.length_unit, size);
  if (!input.title.empty()) {
    picture.overlay.texts.push_back({{area.left + area.width / 2, area.bottom + area.height - 0.6 * size},
                                     input.title,
                                     1.15 * size,
                                     0,
                                     1});
  }
  picture.panels.push_back(std::move(panel));
}

void require_same_unit(std::span<const RenderInput> inputs) {
  for (const RenderInput& input : inputs) {
    if (input.tracks.length_unit == inputs.front().tracks.length_unit) continue;
    throw UsageError(
        "lengths differ: " + inputs.front().path + " is in " + inputs.front().tracks.length_unit + ", " +
        input.path + " in " + input.tracks.length_unit +
        "; give the size of a pixel with --set input.voxel_um=[z, y, x], in um, or draw them apart");
  }
}

}  // namespace

Box3 box_of(std::span<const RenderInput> inputs, const std::optional<Box3>& contents) {
  std::array<Bounds, 3> sides;
  const auto add = [&](const Vec3& v) {
    if (!finite(v)) return;
    sides[0].add(v.x);
    sides[1].add(v.y);
    sides[2].add(v.z);
  };
  for (const RenderInput& input : inputs) {
    for (std::size_t p = 0; p < input.tracks.points(); ++p) add(point_of(input.tracks, p));
  }
  if (sides[0].low > sides[0].high) {
    throw InputError(inputs.front().path + ": has no tracks with positions, so there is nothing to draw");
  }
  if (contents) {
    add(contents->low);
    add(contents->high);
  }
  double longest = 0;
  for (const Bounds& side : sides) longest = std::max(longest, side.high - side.low);
  const double unit = longest > 0 ? longest : 1 / kFlatSide;
  for (std::size_t axis = 0; axis < 3; ++axis)
    round_side(sides[axis].low, sides[axis].high, (axis == 2 ? kThickness : kFlatSide) * unit);
  return {{sides[0].low, sides[1].low, sides[2].low}, {sides[0].high, sides[1].high, sides[2].high}};
}

Picture lay_out(const RenderOptions& options, std::span<const RenderInput> inputs,
                const std::optional<Box3>& contents) {
  require_same_unit(inputs);
  Picture picture;
  picture.width = options.width;
  picture.height = options.height;
  picture.on_black = options.on_black;
  picture.line_width = options.line_width;
  picture.background = options.on_black ? Colour{0, 0, 0} : Colour{255, 255, 255};
  picture.ink = options.on_black ? Colour{220, 220, 220} : Colour{50, 50, 50};
  picture.faint = mix(picture.ink, picture.background, 0.78);
  picture.box = box_of(inputs, contents);

  std::vector<std::vector<double>> values(inputs.size());
  if (options.colour != "track") {
    for (std::size_t i = 0; i < inputs.size(); ++i) values[i] = point_values(inputs[i], options.colour);
    picture.range = options.range ? *options.range : range_of(values, options.colour);
  }

  // The size of the letters is proportional to the panels, but legible in the whole picture.
  const double whole = std::min(options.width, options.height);
  Rect room{0, 0, static_cast<double>(options.width), static_cast<double>(options.height)};
  const Rect sample = tile(room, inputs.size()).front();
  const double size = std::max({8.0, 0.022 * std::min(sample.width, sample.height), 0.014 * whole});
  if (picture.range) {
    const double strip = 8.5 * size;
    room.width -= strip;
    add_colour_bar(picture.overlay, {room.width + 0.8 * size, 0.2 * room.height, size, 0.6 * room.height},
                   *picture.range, value_name(options.colour, inputs.front().tracks), size, options.on_black);
  }
  const std::vector<Rect> areas = tile(room, inputs.size());
  if (std::min(areas.front().width, areas.front().height) < kLeastPanel) {
    throw UsageError(
        fmt::format("--size: {}x{} leaves less than {:g} pixels per side for each of {} panels; give more",
                    options.width, options.height, kLeastPanel, inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    add_panel(picture, options, inputs[i], values[i], areas[i], size);
  return picture;
}

}  // namespace motes::app
