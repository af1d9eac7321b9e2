#pragma once
/// A camera in front of a box: the projection of points to the picture. Plain arithmetic, so that axes and
/// labels are laid out without a graphics library.

#include <array>

#include <motes/tracking/geometry.h>

namespace motes::app {

struct Box3 {
  Vec3 low, high;
  Vec3 centre() const { return {(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2}; }
  /// Corner i has the high x where bit 0 is set, y: bit 1, z: bit 2.
  Vec3 corner(int i) const {
    return {i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z};
  }
};

/// Pixels, counted from the picture's lower left corner.
struct Rect {
  double left = 0, bottom = 0, width = 0, height = 0;
};

struct Pixel {
  double x = 0, y = 0;
};

/// A perspective camera at `eye` that looks along `forward`. A point at distances `right`, `up` and `depth`
/// from the eye is projected to the pixel centre + pixels * (right, up) / depth.
struct View {
  Vec3 eye, right, up, forward;  ///< unit vectors, except for the eye
  double pixels = 1;
  Pixel centre;
  double near = 0, far = 1;  ///< depths of the box's nearest and farthest corner

  double depth(const Vec3& point) const;
  Pixel project(const Vec3& point) const;
};

/// The camera that shows the whole box as large as possible in the middle of `room`. At azimuth 0 and
/// elevation 0 (degrees), x points to the right, y away and z up. A growing azimuth moves the camera around z
/// towards +x, a growing elevation lifts it; at elevation 90 it looks down on xy.
View fit_view(const Box3& box, double azimuth_deg, double elevation_deg, const Rect& room);

}  // namespace motes::app
