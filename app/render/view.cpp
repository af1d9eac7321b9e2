/// Projection of points, and a camera that shows a whole box.

#include "app/render/view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace motes::app {
namespace {

/// Distance of the camera in diagonals of the box: near enough for perspective, far enough that near tracks
/// are not much larger.
constexpr double kDistance = 2.2;

}  // namespace

double View::depth(const Vec3& point) const { return dot(point - eye, forward); }

Pixel View::project(const Vec3& point) const {
  const Vec3 offset = point - eye;
  const double scale = pixels / dot(offset, forward);
  return {centre.x + scale * dot(offset, right), centre.y + scale * dot(offset, up)};
}

View fit_view(const Box3& box, double azimuth_deg, double elevation_deg, const Rect& room) {
  const double azimuth = azimuth_deg * std::numbers::pi / 180;
  const double elevation = elevation_deg * std::numbers::pi / 180;
  const double sa = std::sin(azimuth), ca = std::cos(azimuth);
  const double se = std::sin(elevation), ce = std::cos(elevation);
  View view;
  view.forward = {-ce * sa, ce * ca, -se};
  view.up = {-se * sa, se * ca, ce};
  view.right = {ca, sa, 0};
  const Vec3 middle = box.centre(), size = box.high - box.low;
  const double away = kDistance * std::sqrt(dot(size, size));
  view.eye = middle - away * view.forward;

  // Projects the corners at one pixel per unit of tangent, then scales and moves everything into the room.
  constexpr double kFar = std::numeric_limits<double>::infinity();
  Pixel low{kFar, kFar}, high{-kFar, -kFar};
  view.near = kFar;
  view.far = -kFar;
  for (int i = 0; i < 8; ++i) {
    const Pixel p = view.project(box.corner(i));
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    view.near = std::min(view.near, view.depth(box.corner(i)));
    view.far = std::max(view.far, view.depth(box.corner(i)));
  }
  view.pixels = std::min(room.width / (high.x - low.x), room.height / (high.y - low.y));
  view.centre = {room.left + room.width / 2 - view.pixels * (low.x + high.x) / 2,
                 room.bottom + room.height / 2 - view.pixels * (low.y + high.y) / 2};
  return view;
}

}  // namespace motes::app
