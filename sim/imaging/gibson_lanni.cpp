/// The scalar diffraction model of Gibson and Lanni (J. Opt. Soc. Am. A 9, 154, 1992): the light of a point
/// at depth d under the cover slip, focused by an objective that was designed for its immersion medium down
/// to the focus. Cover slip and immersion layer are as designed, so the optical path difference is only that
/// of the sample,
///
///     W(rho) = ns d sqrt(1 - (NA rho / ns)^2) - ni f sqrt(1 - (NA rho / ni)^2)
///
/// with f the nominal depth of focus. Planes are at their paraxial focus, f = (d + z) ni / ns, so volumes are
/// in microns of the sample, and only the aberration of the mismatch remains. Light beyond the sample's
/// critical angle does not leave the sample: rho ends at min(1, ns / NA).
///
/// The integral is computed by Simpson's rule, with about six nodes per radian of the fastest phase.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <motes/base/exact_math.h>
#include <motes/base/parallel_for.h>

#include "sim/imaging/psf.h"

namespace motes::sim::detail {
namespace {

/// J0 by the backward recurrence of Miller: J(n-1) = 2n/x J(n) - J(n+1), scaled by J0 + 2 J2 + 2 J4 ... = 1.
double bessel_j0(double x) {
  if (x < 1e-8) return 1;
  int n = 2 * static_cast<int>(x / 2 + 20 + 2 * std::sqrt(x));
  const double twice_inverse = 2 / x;
  double above = 0, here = 1e-30, even = 0;
  for (; n > 0; --n) {
    if (n % 2 == 0) even += here;
    const double below = n * twice_inverse * here - above;
    above = here;
    here = below;
    if (std::abs(here) > 1e200) {
      above *= 1e-200;
      here *= 1e-200;
      even *= 1e-200;
    }
  }
  return here / (here + 2 * even);
}

}  // namespace

std::vector<double> gibson_lanni(const Execution& execution, const ImagingOptions& imaging,
                                 double spot_depth_um, const std::vector<double>& z_um,
                                 const std::vector<double>& r_um) {
  const double ni = imaging.refractive_index, ns = imaging.sample_index.value_or(ni), na = imaging.na;
  const double edge = std::min(1.0, ns / na);
  const double waves = 1 / imaging.wavelength_um;
  const auto cosine = [&](double n, double rho) {
    return std::sqrt(std::max(0.0, 1 - na * rho / n * (na * rho / n)));
  };
  const auto path = [&](double z, double rho) {
    return ns * spot_depth_um * (cosine(ns, rho) - 1) -
           ni * ni / ns * (spot_depth_um + z) * (cosine(ni, rho) - 1);
  };
  const double furthest = std::max(std::abs(z_um.front()), std::abs(z_um.back()));
  const double turns =
      (std::max(std::abs(path(furthest, edge)), std::abs(path(-furthest, edge))) + na * edge * r_um.back()) *
      waves;
  const int cells = 2 * static_cast<int>(std::ceil(6 * std::numbers::pi * std::min(turns, 1000.0) + 32));

  std::vector<double> rho, weight;
  for (int i = 0; i <= cells; ++i) {
    rho.push_back(edge * i / cells);
    weight.push_back((i == 0 || i == cells ? 1.0
                      : i % 2 == 1         ? 4.0
                                           : 2.0) *
                     rho.back() * edge / (3.0 * cells));
  }
  const std::size_t nodes = rho.size(), radii = r_um.size();
  std::vector<double> bessel(nodes * radii);  // [rho * r]
  parallel_for(thread_count(execution), static_cast<std::int64_t>(nodes), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    for (std::size_t k = 0; k < radii; ++k)
      bessel[at * radii + k] = weight[at] * bessel_j0(2 * std::numbers::pi * waves * na * rho[at] * r_um[k]);
  });
  std::vector<double> light(z_um.size() * radii);
  parallel_for(thread_count(execution), static_cast<std::int64_t>(z_um.size()), [&](std::int64_t j) {
    std::vector<double> real(radii), imaginary(radii);
    for (std::size_t i = 0; i < nodes; ++i) {
      const SinCos phase = exact_sin_cos_turns(path(z_um[static_cast<std::size_t>(j)], rho[i]) * waves);
      for (std::size_t k = 0; k < radii; ++k) {
        real[k] += phase.cos * bessel[i * radii + k];
        imaginary[k] += phase.sin * bessel[i * radii + k];
      }
    }
    for (std::size_t k = 0; k < radii; ++k)
      light[static_cast<std::size_t>(j) * radii + k] = real[k] * real[k] + imaginary[k] * imaginary[k];
  });
  return light;
}

}  // namespace motes::sim::detail
