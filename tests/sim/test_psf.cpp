#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/sim/imaging.h>

#include "sim/imaging/psf.h"
#include "tests/sim/imaging_cases.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

ImagingOptions optics(Psf psf) {
  ImagingOptions imaging;
  imaging.psf = psf;
  imaging.photons = 1000;
  return imaging;
}

/// The index of the first local minimum.
std::size_t first_dark(const std::vector<double>& light) {
  std::size_t i = 1;
  while (i + 1 < light.size() && light[i + 1] < light[i]) ++i;
  return i;
}

std::vector<double> steps(double first, double step, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(first + i * step);
  return out;
}

}  // namespace

TEST_CASE("the tabulated integral of the Gaussian is that of the error function") {
  const auto nodes = detail::cumulative_gaussian_nodes();
  double worst = 0;
  for (double u = -9; u < 9; u += 0.00137)
    worst = std::max(worst, std::abs(detail::cumulative_gaussian(nodes.data(), u) -
                                     0.5 * std::erfc(-u / std::numbers::sqrt2)));
  CHECK(worst < 1e-9);
  CHECK(detail::cumulative_gaussian(nodes.data(), -1e300) == 0);
  CHECK(detail::cumulative_gaussian(nodes.data(), 1e300) == 1);
}

TEST_CASE("the expected photons of a spot sum to what was asked, wherever it lies") {
  ImagingOptions imaging = optics(GENERATE(Psf::gaussian, Psf::gibson_lanni, Psf::gaussian_beam));
  imaging.voxel_um = GENERATE(Vec3{0.1, 0.1, 0.2}, Vec3{0.07, 0.13, 0.45}, Vec3{0.25, 0.25, 0.25});
  if (imaging.psf == Psf::gibson_lanni) imaging.sample_index = GENERATE(1.33, 1.4);
  const Vec3 at = GENERATE(Vec3{5, 5, 4}, Vec3{5.043, 4.981, 4.09}, Vec3{4.95, 5.125, 3.91});
  const double radius_factor = GENERATE(0.4, 1.0);
  const MotionOptions motion = box_of({10, 10, 8});
  TrackSet truth = spots_at({at});
  const double radius = imaging.psf == Psf::gaussian ? std::sqrt(3.0) * 0.15 : 0.0;
  if (imaging.psf == Psf::gaussian)
    truth.point_properties.push_back({kRadiusProperty, {radius * radius_factor}});
  else if (radius_factor != 1)
    return;
  const double sum = sum_of(expected(truth, motion, imaging));
  CAPTURE(name_of(imaging.psf), imaging.voxel_um.x, imaging.voxel_um.y, imaging.voxel_um.z, at.x, at.y, at.z,
          radius_factor);
  CHECK(sum == Approx(1000).epsilon(1e-3));
}

TEST_CASE("a spot on a voxel's centre is symmetric, and brightest there") {
  ImagingOptions imaging = optics(GENERATE(Psf::gaussian, Psf::gibson_lanni, Psf::gaussian_beam));
  const MotionOptions motion = box_of({4, 4, 4});
  const auto light = expected(spots_at({{2, 2, 2}}), motion, imaging);
  const Shape3 shape = frame_shape(motion, imaging);
  REQUIRE(shape == Shape3{21, 41, 41});
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<double>(light[static_cast<std::size_t>((z * 41 + y) * 41 + x)]);
  };
  const double peak = at(10, 20, 20);
  CAPTURE(name_of(imaging.psf), peak);
  // Each half is rounded on its own.
  const double room = 1e-5 * peak;
  double worst = 0;
  for (std::int64_t z = 0; z < 21; ++z)
    for (std::int64_t y = 0; y < 41; ++y)
      for (std::int64_t x = 0; x < 41; ++x) {
        const double here = at(z, y, x);
        REQUIRE(here <= peak);
        for (const double other : {at(20 - z, y, x), at(z, 40 - y, x), at(z, y, 40 - x), at(z, x, y)})
          worst = std::max(worst, std::abs(here - other));
      }
  CHECK(worst <= room);
  // Away from the spot it gets darker; diffraction has rings beyond the first dark one.
  const std::int64_t reach = imaging.psf == Psf::gibson_lanni ? 2 : 20;
  for (std::int64_t d = 0; d < reach; ++d) CHECK(at(10, 20, 20 + d + 1) <= at(10, 20, 20 + d));
  for (std::int64_t d = 0; d < (imaging.psf == Psf::gibson_lanni ? 2 : 10); ++d)
    CHECK(at(10 + d + 1, 20, 20) <= at(10 + d, 20, 20));
}

TEST_CASE("spot_light gives the peak that the SNR asks for") {
  ImagingOptions imaging;
  imaging.psf = GENERATE(Psf::gaussian, Psf::gibson_lanni, Psf::gaussian_beam);
  imaging.snr = 5.0;
  const MotionOptions motion = box_of({4, 4, 4});
  const SpotLight light = spot_light(motion, imaging);
  const double peak = peak_for_snr(5, imaging.background);
  CHECK(light.photons * light.centre_share == Approx(peak).epsilon(1e-6));
  const auto voxels = expected(spots_at({{2, 2, 2}}), motion, imaging);
  CHECK(voxels[(10 * 41 + 20) * 41 + 20] == Approx(peak).epsilon(1e-4));
  imaging.snr.reset();
  imaging.photons = 321.0;
  CHECK(spot_light(motion, imaging).photons == 321);
}

TEST_CASE("Gibson-Lanni without mismatch has the Airy disc's radius and the known axial zero") {
  ImagingOptions imaging;
  imaging.na = GENERATE(0.3, 0.8, 1.2);
  imaging.wavelength_um = GENERATE(0.45, 0.6);
  const double airy = 0.61 * imaging.wavelength_um / imaging.na;
  const auto lateral = detail::gibson_lanni({1}, imaging, 0, {0.0}, steps(0, airy / 100, 150));
  CAPTURE(imaging.na, imaging.wavelength_um);
  CHECK(first_dark(lateral) == Approx(100).margin(1));  // 0.6098 lambda / NA
  CHECK(lateral[first_dark(lateral)] < 1e-4 * lateral[0]);
  // Half of the maximum at 0.257 lambda / NA.
  std::size_t half = 0;
  while (lateral[half] > 0.5 * lateral[0]) ++half;
  CHECK(static_cast<double>(half) * airy / 100 ==
        Approx(0.257 * imaging.wavelength_um / imaging.na).epsilon(0.03));

  // On the axis the defocus phase is k n z (1 - cos); the first zero is about where it spans 2 pi.
  const double cosine = std::sqrt(1 - std::pow(imaging.na / imaging.refractive_index, 2));
  const double zero = imaging.wavelength_um / imaging.refractive_index / (1 - cosine);
  const auto axial = detail::gibson_lanni({1}, imaging, 0, steps(0, zero / 100, 150), {0.0});
  CHECK(first_dark(axial) == Approx(100).margin(imaging.na > 1 ? 12 : 3));
}

TEST_CASE("an index mismatch makes Gibson-Lanni lopsided in z, the more the deeper") {
  ImagingOptions imaging;
  imaging.na = 1.3;
  imaging.refractive_index = 1.515;
  const auto z = steps(-1.5, 0.05, 61);
  const auto lopsided = [&](double depth) {
    const auto light = detail::gibson_lanni({1}, imaging, depth, z, {0.0});
    double difference = 0, sum = 0;
    for (std::size_t i = 0; i < light.size(); ++i) {
      difference += std::abs(light[i] - light[light.size() - 1 - i]);
      sum += light[i];
    }
    return difference / sum;
  };
  CHECK(lopsided(10) < 1e-9);  // no mismatch
  imaging.sample_index = 1.38;
  CHECK(lopsided(2) > 0.01);
  CHECK(lopsided(10) > lopsided(2));
  const auto peak = [&](double depth) {
    const auto light = detail::gibson_lanni({1}, imaging, depth, z, {0.0});
    return *std::max_element(light.begin(), light.end());
  };
  CHECK(peak(10) < peak(0));

  // Depth changes along the box: the same spot is drawn differently at the bottom and at the top.
  imaging.psf = Psf::gibson_lanni;
  imaging.photons = 1e5;
  const MotionOptions motion = box_of({4, 4, 8});
  const auto brightest = [&](double at_z) {
    const auto light = expected(spots_at({{2, 2, at_z}}), motion, imaging);
    return *std::max_element(light.begin(), light.end());
  };
  CHECK(brightest(7) < 0.9F * brightest(1));
}

TEST_CASE("a Gaussian beam widens as beams do, with the same light in every plane") {
  ImagingOptions imaging = optics(Psf::gaussian_beam);
  imaging.na = 0.5;
  imaging.voxel_um = {0.1, 0.1, 0.1};
  const double waist = imaging.wavelength_um / (std::numbers::pi * imaging.na);
  const double rayleigh = std::numbers::pi * waist * waist * 1.33 / imaging.wavelength_um;
  const MotionOptions motion = box_of({14, 14, 8});
  const auto light = expected(spots_at({{7, 7, 4}}), motion, imaging);
  const auto plane = [&](std::int64_t z) {
    double sum = 0, square = 0;
    for (std::int64_t y = 0; y < 141; ++y)
      for (std::int64_t x = 0; x < 141; ++x) {
        const double value = light[static_cast<std::size_t>((z * 141 + y) * 141 + x)];
        sum += value;
        square += value * std::pow(0.1 * static_cast<double>(x - 70), 2);
      }
    return std::pair{sum, square / sum};
  };
  const double centre = plane(40).first;
  for (const std::int64_t away : {0, 5, 15, 30}) {
    const double z = 0.1 * static_cast<double>(away);
    const double variance = waist * waist / 4 * (1 + z * z / (rayleigh * rayleigh)) + 0.01 / 12;
    CAPTURE(away);
    CHECK(plane(40 + away).second == Approx(variance).epsilon(0.04));
    CHECK(plane(40 + away).first == Approx(centre).epsilon(0.002));
    CHECK(plane(40 - away).first == Approx(centre).epsilon(0.002));
  }
}

TEST_CASE("defocus widens a Gaussian spot with its distance from the focal plane, and keeps its light") {
  ImagingOptions imaging = optics(Psf::gaussian);
  imaging.defocus_um = 1.0;
  imaging.focal_plane_um = 2.0;
  const MotionOptions motion = box_of({8, 8, 8});
  const auto width = [&](double z) {
    const auto light = expected(spots_at({{4, 4, z}}), motion, imaging);
    CHECK(sum_of(light) == Approx(1000).epsilon(1e-3));
    double square = 0;
    for (std::size_t i = 0; i < light.size(); ++i)
      square += light[i] * std::pow(0.1 * static_cast<double>(i % 81) - 4, 2) / 1000;
    return std::sqrt(square - 0.01 / 12);
  };
  CHECK(width(2) == Approx(0.15).epsilon(0.01));
  CHECK(width(3) == Approx(0.15 * std::sqrt(2.0)).epsilon(0.01));
  CHECK(width(5) == Approx(0.15 * std::sqrt(10.0)).epsilon(0.01));
}

TEST_CASE("a table too large for its range is refused by its key") {
  ImagingOptions imaging = optics(Psf::gibson_lanni);
  imaging.psf_range_um = 1e5;
  CHECK_THROWS_WITH(Renderer({1, Backend::cpu}, small_box(), imaging),
                    Catch::StartsWith("imaging.psf_range_um: "));
}
