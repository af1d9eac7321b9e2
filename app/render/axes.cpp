// A box seen from outside shows up to three faces; tracks are read against the other ones. Edges between a
// visible and an invisible face form the outline. Numbers stand outside along it, where tracks cannot cover
// them.

#include "app/render/axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace motes::app {
namespace {

constexpr double kTickLength = 0.4, kTickGap = 0.3;  ///< in sizes of the letters
constexpr double kLetterWidth = 0.55;
constexpr double kPixelsPerTick = 4.5;  ///< in sizes of the letters

/// Axis 0 is x, 1 is y, 2 is z.
double& part(Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
double part(const Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/// Whether the face across `axis`, at its high or low end, is visible from outside.
bool seen(const View& view, const Box3& box, int axis, bool high) {
  return high ? part(view.eye, axis) > part(box.high, axis) : part(view.eye, axis) < part(box.low, axis);
}

/// One of the four edges along an axis.
struct Edge {
  int axis;
  Vec3 from, to;
};

Edge edge_along(const Box3& box, int axis, bool high_b, bool high_c) {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  Edge edge{axis, box.low, box.low};
  part(edge.from, b) = part(edge.to, b) = part(high_b ? box.high : box.low, b);
  part(edge.from, c) = part(edge.to, c) = part(high_c ? box.high : box.low, c);
  part(edge.to, axis) = part(box.high, axis);
  return edge;
}

double length(const Pixel& a, const Pixel& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// The edge of the outline along `axis` for its numbers: x and y below the box, z at its left. None if the
/// axis points at the eye.
std::optional<Edge> written_edge(const View& view, const Box3& box, int axis, double size) {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  std::optional<Edge> best;
  double best_place = 0;
  for (const bool high_b : {false, true}) {
    for (const bool high_c : {false, true}) {
      if (seen(view, box, b, high_b) == seen(view, box, c, high_c)) continue;
      const Edge edge = edge_along(box, axis, high_b, high_c);
      const Pixel from = view.project(edge.from), to = view.project(edge.to);
      if (length(from, to) < 3 * size) continue;
      // Seen from above, the edges along y are equally low; the left one is used.
      const double left = (from.x + to.x) / 2, down = (from.y + to.y) / 2;
      const double place = axis == 2 ? left + 0.01 * down : down + 0.01 * left;
      if (!best || place < best_place) {
        best = edge;
        best_place = place;
      }
    }
  }
  return best;
}

Pixel outward_from(const View& view, const Box3& box, const Pixel& from, const Pixel& to) {
  const Pixel middle = view.project(box.centre());
  const double span = length(from, to);
  Pixel normal{(to.y - from.y) / span, (from.x - to.x) / span};
  const double side =
      ((from.x + to.x) / 2 - middle.x) * normal.x + ((from.y + to.y) / 2 - middle.y) * normal.y;
  return side < 0 ? Pixel{-normal.x, -normal.y} : normal;
}

Pixel along(const Pixel& from, const Pixel& way, double pixels) {
  return {from.x + pixels * way.x, from.y + pixels * way.y};
}

/// The side of a text that faces the axis, from the direction (axis to text): -1 its start, 1 its end.
int facing(double way) { return way > 0.4 ? -1 : way < -0.4 ? 1 : 0; }

/// Roughly the pixels that a level text covers, with some room beside it.
Rect covered(const Overlay::Text& text) {
  const double width = text_width(text.words, text.size), beside = 0.5 * text.size;
  return {text.at.x - width * (text.across + 1) / 2 - beside, text.at.y - text.size * (text.up + 1) / 2,
          width + 2 * beside, text.size};
}

bool overlap(const Rect& a, const Rect& b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.bottom < b.bottom + b.height &&
         b.bottom < a.bottom + a.height;
}

/// Adds the text unless it would cover another one, as near the corner of two axes.
void add_where_free(Overlay& overlay, const Overlay::Text& text) {
  const auto covers = [&](const Overlay::Text& other) {
    return !other.upright && overlap(covered(text), covered(other));
  };
  if (std::none_of(overlay.texts.begin(), overlay.texts.end(), covers)) overlay.texts.push_back(text);
}

void write_axis(const View& view, Overlay& overlay, const Box3& box, const Edge& edge,
                const std::string& unit, double size) {
  static constexpr std::array kNames{"x", "y", "z"};
  const Pixel from = view.project(edge.from), to = view.project(edge.to);
  const Pixel out = outward_from(view, box, from, to);
  const double low = part(edge.from, edge.axis), high = part(edge.to, edge.axis);
  const int most = std::max(1, static_cast<int>(length(from, to) / (kPixelsPerTick * size)));
  const Ticks ticks = ticks_between(low, high, most);
  double widest = 0;
  for (std::size_t i = 0; i < ticks.values.size(); ++i) {
    Vec3 place = edge.from;
    part(place, edge.axis) = ticks.values[i];
    const Pixel at = view.project(place);
    const Pixel end = along(at, out, kTickLength * size);
    overlay.lines.push_back({at, end});
    add_where_free(overlay,
                   {along(end, out, kTickGap * size), ticks.labels[i], size, facing(out.x), facing(out.y)});
    widest = std::max(widest, text_width(ticks.labels[i], size));
  }
  // The name is beyond the numbers, at any slope of the axis.
  const double numbers = std::abs(out.x) * widest + std::abs(out.y) * size;
  const Pixel name = along({(from.x + to.x) / 2, (from.y + to.y) / 2}, out,
                           (kTickLength + 2 * kTickGap + 0.2) * size + numbers);
  const std::string words =
      fmt::format("{} ({})", kNames[static_cast<std::size_t>(edge.axis)], unit_text(unit));
  const bool upright = std::abs(out.x) > 0.9;
  // Upright text is wide along its height.
  overlay.texts.push_back({name, words, size, upright ? (out.x < 0 ? 1 : -1) : facing(out.x),
                           upright ? 0 : facing(out.y), upright});
}

/// Grid lines across the far face at one end of `axis`.
void add_grid(Panel& panel, const Box3& box, int axis, bool high, double size) {
  for (const int other : {(axis + 1) % 3, (axis + 2) % 3}) {
    const int third = 3 - axis - other;
    const Edge edge = edge_along(box, other, false, false);
    const double pixels = length(panel.view.project(edge.from), panel.view.project(edge.to));
    const int most = std::max(1, static_cast<int>(pixels / (kPixelsPerTick * size)));
    for (const double value : ticks_between(part(box.low, other), part(box.high, other), most).values) {
      Vec3 from = box.low;
      part(from, axis) = part(high ? box.high : box.low, axis);
      part(from, other) = value;
      Vec3 to = from;
      part(to, third) = part(box.high, third);
      panel.grid.emplace_back(from, to);
    }
  }
}

std::string number_label(double value, double step) {
  if (std::abs(value) < step / 2) return "0";
  const double decimals = std::max(0.0, -std::floor(std::log10(step) + 1e-9));
  if (decimals > 4 || std::abs(value) >= 1e6) return fmt::format("{:g}", value);
  return fmt::format("{:.{}f}", value, static_cast<int>(decimals));
}

}  // namespace

Ticks ticks_between(double low, double high, int most) {
  const double rough = (high - low) / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  Ticks ticks;
  ticks.step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough * (1 - 1e-9)) ticks.step = factor * power;
  }
  const double slack = 1e-6 * (high - low);
  const double first = std::ceil((low - slack) / ticks.step), last = std::floor((high + slack) / ticks.step);
  for (double i = first; i <= last; ++i) {
    ticks.values.push_back(std::clamp(i * ticks.step, low, high));
    ticks.labels.push_back(number_label(i * ticks.step, ticks.step));
  }
  return ticks;
}

void add_axes(Panel& panel, Overlay& overlay, const Box3& box, const std::string& unit, double size) {
  for (int axis = 0; axis < 3; ++axis) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (const bool high : {false, true}) {
      if (!seen(panel.view, box, axis, high)) add_grid(panel, box, axis, high, size);
      for (const bool other : {false, true}) {
        // An edge between two visible faces would lie in front of the tracks.
        if (seen(panel.view, box, b, high) && seen(panel.view, box, c, other)) continue;
        const Edge edge = edge_along(box, axis, high, other);
        panel.edges.emplace_back(edge.from, edge.to);
      }
    }
    if (const auto edge = written_edge(panel.view, box, axis, size)) {
      write_axis(panel.view, overlay, box, *edge, unit, size);
    }
  }
}

void add_colour_bar(Overlay& overlay, const Rect& area, std::pair<double, double> range,
                    const std::string& name, double size, bool on_black) {
  constexpr int kSteps = 200;
  const double step = area.height / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    overlay.swatches.push_back(
        {{area.left, area.bottom + i * step, area.width, step}, scale_colour((i + 0.5) / kSteps, on_black)});
  }
  const double right = area.left + area.width, top = area.bottom + area.height;
  const std::array<Pixel, 5> frame{{{area.left, area.bottom},
                                    {right, area.bottom},
                                    {right, top},
                                    {area.left, top},
                                    {area.left, area.bottom}}};
  for (std::size_t i = 0; i < 4; ++i) overlay.lines.push_back({frame[i], frame[i + 1]});

  const int most = std::max(1, static_cast<int>(area.height / (3 * size)));
  const Ticks ticks = ticks_between(range.first, range.second, most);
  double widest = 0;
  for (std::size_t i = 0; i < ticks.values.size(); ++i) {
    const double share = (ticks.values[i] - range.first) / (range.second - range.first);
    const Pixel at{right, area.bottom + share * area.height};
    overlay.lines.push_back({at, along(at, {1, 0}, kTickLength * size)});
    overlay.texts.push_back(
        {along(at, {1, 0}, (kTickLength + kTickGap) * size), ticks.labels[i], size, -1, 0});
    widest = std::max(widest, text_width(ticks.labels[i], size));
  }
  overlay.texts.push_back(
      {{right + (kTickLength + 2 * kTickGap + 0.3) * size + widest, (area.bottom + top) / 2},
       name,
       size,
       -1,
       0,
       true});
}

double text_width(const std::string& words, double size) {
  return kLetterWidth * size * static_cast<double>(words.size());
}

std::string unit_text(const std::string& unit) { return unit == "um" ? "\xC2\xB5m" : unit; }

}  // namespace motes::app
