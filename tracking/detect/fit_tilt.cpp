/// A box makes centred coordinates orthogonal to each other and to the constant, even where the frame cuts
/// it, so slopes follow from sums over the voxels without a system of equations.

#include "tracking/detect/fit_tilt.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tracking/detect/fit_window.h"

namespace motes::tracking::detect {
namespace {

/// The spot's profile along one axis of the box, and its sums with the centred coordinate c.
struct Axis {
  std::int64_t first = 0;
  std::vector<double> g, c;
  double n = 1, sum_g = 0, gg = 0, gc = 0, cc = 0;
};

Index3 centre_of(const Source& source, const SpotModel& spot) {
  Index3 centre{};
  for (std::size_t a = 0; a < 3; ++a)
    centre[a] = std::clamp<std::int64_t>(std::lround(spot.place[a]), 0, source.size[a] - 1);
  return centre;
}

Axis axis_of(const Source& source, const SpotModel& spot, const Index3& centre, const Index3& half,
             std::size_t a) {
  Axis axis;
  axis.first = std::max<std::int64_t>(0, centre[a] - half[a]);
  const std::int64_t last = std::min<std::int64_t>(source.size[a] - 1, centre[a] + half[a]);
  const double middle = 0.5 * static_cast<double>(axis.first + last);
  axis.n = static_cast<double>(last - axis.first + 1);
  for (std::int64_t i = axis.first; i <= last; ++i) {
    const double u = spot.sigma[a] > 0 ? (static_cast<double>(i) - spot.place[a]) / spot.sigma[a] : 0;
    const double g = std::exp(-0.5 * u * u), c = static_cast<double>(i) - middle;
    axis.g.push_back(g);
    axis.c.push_back(c);
    axis.sum_g += g;
    axis.gg += g * g;
    axis.gc += g * c;
    axis.cc += c * c;
  }
  return axis;
}

}  // namespace

double sigmas_between(const SpotModel& a, const SpotModel& b) {
  double square = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!(a.sigma[k] > 0)) continue;
    const double sigmas = (a.place[k] - b.place[k]) / a.sigma[k];
    square += sigmas * sigmas;
  }
  return std::sqrt(square);
}

Tilt tilt_around(const Source& source, const SpotModel& spot, std::span<const SpotModel> neighbours,
                 const Index3& half, double errors) {
  const Index3 centre = centre_of(source, spot);
  const auto axes_of = [&](const SpotModel& s) {
    return std::array<Axis, 3>{axis_of(source, s, centre, half, 0), axis_of(source, s, centre, half, 1),
                               axis_of(source, s, centre, half, 2)};
  };
  const std::array<Axis, 3> axis = axes_of(spot);
  std::vector<std::array<Axis, 3>> others;
  for (const SpotModel& other : neighbours) others.push_back(axes_of(other));
  std::vector<double> values(axis[0].g.size());
  double y = 0, yy = 0, yg = 0;
  std::array<double, 3> yc{};
  source.read([&](const auto* voxels) {
    const auto offset = static_cast<double>(
        voxels[(axis[2].first * source.size[1] + axis[1].first) * source.size[0] + axis[0].first]);
    for (std::size_t k = 0; k < axis[2].g.size(); ++k)
      for (std::size_t j = 0; j < axis[1].g.size(); ++j) {
        const auto* row = voxels +
                          ((axis[2].first + static_cast<std::int64_t>(k)) * source.size[1] + axis[1].first +
                           static_cast<std::int64_t>(j)) *
                              source.size[0] +
                          axis[0].first;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(row[i]) - offset;
        for (std::size_t m = 0; m < others.size(); ++m) {
          const double height = neighbours[m].height * others[m][1].g[j] * others[m][2].g[k];
          for (std::size_t i = 0; i < values.size(); ++i) values[i] -= height * others[m][0].g[i];
        }
        double sum = 0, square = 0, along = 0, spots = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double v = values[i];
          sum += v;
          square += v * v;
          along += v * axis[0].c[i];
          spots += v * axis[0].g[i];
        }
        y += sum;
        yy += square;
        yg += spots * axis[1].g[j] * axis[2].g[k];
        yc[0] += along;
        yc[1] += sum * axis[1].c[j];
        yc[2] += sum * axis[2].c[k];
      }
  });
  const double n = axis[0].n * axis[1].n * axis[2].n;
  const double sum_g = axis[0].sum_g * axis[1].sum_g * axis[2].sum_g;
  double gg = axis[0].gg * axis[1].gg * axis[2].gg - sum_g * sum_g / n;
  yy -= y * y / n;
  yg -= y * sum_g / n;
  std::array<double, 3> cc{}, gc{};
  double dof = n - 2;
  for (std::size_t a = 0; a < 3; ++a) {
    const Axis &b = axis[(a + 1) % 3], &c = axis[(a + 2) % 3];
    cc[a] = axis[a].cc * b.n * c.n;
    gc[a] = axis[a].gc * b.sum_g * c.sum_g;
    if (!(cc[a] > 0)) continue;
    dof -= 1;
    gg -= gc[a] * gc[a] / cc[a];
    yg -= yc[a] * gc[a] / cc[a];
    yy -= yc[a] * yc[a] / cc[a];
  }
  Tilt tilt;
  tilt.place = spot.place;
  if (!(gg > 0) || !(dof > 0)) return tilt;
  const double height = yg / gg, variance = std::max(0.0, yy - yg * height) / dof;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(cc[a] > 0)) continue;
    const double slope = (yc[a] - height * gc[a]) / cc[a];
    const double error = std::sqrt(variance * (1 + gc[a] * gc[a] / (cc[a] * gg)) / cc[a]);
    if (std::abs(slope) > errors * error) tilt.slope[a] = slope;
  }
  return tilt;
}

void take_off(Window& w, const Tilt& tilt) {
  if (tilt.slope == std::array<double, 3>{}) return;
  const auto rise = [&](std::size_t a, std::int64_t i) {
    return tilt.slope[a] * (static_cast<double>(w.first[a] + i) - tilt.place[a]);
  };
  std::size_t row = 0;
  for (std::int64_t k = 0; k < w.count[2]; ++k)
    for (std::int64_t j = 0; j < w.count[1]; ++j, row += static_cast<std::size_t>(w.width))
      for (std::int64_t i = 0; i < w.lanes; ++i) {
        const auto light = static_cast<float>(rise(0, i) + rise(1, j) + rise(2, k));
        w.light[row + static_cast<std::size_t>(i)] += light;
        w.values[row + static_cast<std::size_t>(i)] -= light;
      }
}

}  // namespace motes::tracking::detect
