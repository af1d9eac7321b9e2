#include <cmath>
#include <limits>
#include <numeric>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/simulation.h>

#include "tests/sim/imaging_cases.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

void check_refused(const std::string& key, const ImagingOptions& imaging) {
  CAPTURE(key);
  CHECK_THROWS_AS(render_frame({}, {}, 0, {}, imaging), UsageError);
  CHECK_THROWS_WITH(render_frame({}, {}, 0, {}, imaging), Catch::StartsWith(key + ": "));
}

}  // namespace

TEST_CASE("peak_for_snr solves the challenge's definition") {
  for (const double snr : {0.5, 1.0, 2.0, 4.0, 7.0, 100.0})
    for (const double background : {0.0, 1.0, 10.0, 1000.0}) {
      const double peak = peak_for_snr(snr, background);
      CHECK(peak / std::sqrt(peak + background) == Approx(snr));
    }
}

TEST_CASE("a frame has the box's shape, and says where and when it is") {
  MotionOptions motion;
  motion.box_um = {12.8, 6.4, 2};
  motion.dt_s = 0.5;
  ImagingOptions imaging;
  imaging.voxel_um = {0.1, 0.1, 0.3};
  const VolumeFrame frame = render_frame({}, {}, 3, motion, imaging);
  CHECK(frame.shape == Shape3{7, 65, 129});
  CHECK(frame.shape == frame_shape(motion, imaging));
  CHECK(frame.index == 3);
  CHECK(frame.time_s == 1.5);
  CHECK(frame.voxel_um == imaging.voxel_um);
  CHECK(voxels_of(frame).size() == static_cast<std::size_t>(frame.shape.voxels()));
}

TEST_CASE("the same seed gives the same voxels for any thread count") {
  MotionOptions motion = small_box();
  motion.particles = 60;
  const TrackSet truth = simulate_motion({}, motion);
  ImagingOptions imaging;
  imaging.read_noise = GENERATE(0.0, 2.0);
  const VolumeFrame one = render_frame({1}, truth, 2, motion, imaging);
  CHECK(one.voxels == render_frame({2}, truth, 2, motion, imaging).voxels);
  CHECK(one.voxels == render_frame({5}, truth, 2, motion, imaging).voxels);
  CHECK(one.voxels != render_frame({1}, truth, 3, motion, imaging).voxels);
  motion.seed = 99;
  CHECK(one.voxels != render_frame({1}, truth, 2, motion, imaging).voxels);
}

TEST_CASE("an empty frame is background, offset and read noise") {
  ImagingOptions imaging;
  imaging.background = GENERATE(0.0, 0.7, 10.0, 400.0);
  imaging.read_noise = GENERATE(0.0, 3.0);
  MotionOptions motion = small_box();
  const VolumeFrame frame = render_frame({}, {}, 0, motion, imaging);
  const auto& voxels = voxels_of(frame);
  const double count = static_cast<double>(voxels.size());
  double sum = 0, sum2 = 0;
  for (const std::uint16_t v : voxels) {
    sum += v - imaging.offset;
    sum2 += (v - imaging.offset) * (v - imaging.offset);
  }
  const double mean = sum / count, variance = sum2 / count - mean * mean;
  const double rounding = imaging.read_noise > 0 ? 1.0 / 12 : 0;
  const double expected = imaging.background + imaging.read_noise * imaging.read_noise + rounding;
  CAPTURE(imaging.background, imaging.read_noise, mean, variance);
  CHECK(std::abs(mean - imaging.background) <= 4 * std::sqrt(expected / count));
  CHECK(variance == Approx(expected).epsilon(0.05));
}

TEST_CASE("a spot's photons sum to the Gaussian's volume") {
  ImagingOptions imaging;
  imaging.background = 0;
  imaging.offset = 0;
  imaging.snr = 150;  // many photons, so that the noise of the sum is small
  // Centred on a voxel or not, the sum is the same: the Gaussian is integrated over the voxels.
  const Vec3 at = GENERATE(Vec3{2, 1.5, 2}, Vec3{2.03, 1.47, 2.09});
  const VolumeFrame frame = render_frame({}, spots_at({at}), 0, small_box(), imaging);
  const auto& voxels = voxels_of(frame);
  const double sum = std::accumulate(voxels.begin(), voxels.end(), 0.0);
  const auto share = [](double voxel, double sigma) {
    return std::erf(0.5 * voxel / (sigma * std::sqrt(2.0)));
  };
  const double expected = peak_for_snr(150, 0) / (share(0.1, 0.15) * share(0.1, 0.15) * share(0.2, 0.3));
  CHECK(sum == Approx(expected).epsilon(0.003));  // 0.11 % lie outside the ellipsoid of four sigma

  double x = 0, y = 0, z = 0;
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const auto nx = static_cast<std::size_t>(frame.shape.nx), ny = static_cast<std::size_t>(frame.shape.ny);
    x += voxels[i] * static_cast<double>(i % nx) * 0.1;
    y += voxels[i] * static_cast<double>(i / nx % ny) * 0.1;
    z += voxels[i] * static_cast<double>(i / nx / ny) * 0.2;
  }
  CHECK(x / sum == Approx(at.x).margin(0.002));
  CHECK(y / sum == Approx(at.y).margin(0.002));
  CHECK(z / sum == Approx(at.z).margin(0.004));
}

TEST_CASE("spots on voxel centres have the SNR asked for, in the rendered image") {
  ImagingOptions imaging;
  imaging.psf = GENERATE(Psf::gaussian, Psf::gibson_lanni, Psf::gaussian_beam);
  const double snr = GENERATE(1.0, 2.0, 4.0, 7.0);
  imaging.snr = snr;
  imaging.background = GENERATE(1.0, 10.0);
  imaging.psf_range_um = imaging.psf == Psf::gaussian ? std::nullopt : std::optional<double>(0.3);
  imaging.psf_sigma_um = {0.1, 0.1, 0.2};
  // A mean over 5000 spots; neighbours are out of reach of each other, or nearly.
  const MotionOptions motion = box_of({13, 13, 16});
  const Shape3 shape = frame_shape(motion, imaging);
  const std::vector<Vec3> at =
      grid_of_centres(shape, imaging.voxel_um, imaging.psf == Psf::gaussian ? 8 : 11);
  const VolumeFrame frame = render_frame({}, spots_at(at), 0, motion, imaging);
  double sum = 0, sum2 = 0;
  for (const Vec3& p : at) {
    const auto voxel = [](double um, double size) {
      return static_cast<std::int64_t>(std::round(um / size));
    };
    const std::int64_t i = (voxel(p.z, 0.2) * shape.ny + voxel(p.y, 0.1)) * shape.nx + voxel(p.x, 0.1);
    const double peak = voxels_of(frame)[static_cast<std::size_t>(i)] - imaging.offset;
    sum += peak;
    sum2 += peak * peak;
  }
  const auto count = static_cast<double>(at.size());
  const double mean = sum / count, deviation = std::sqrt(sum2 / count - mean * mean);
  CAPTURE(name_of(imaging.psf), snr, imaging.background, mean, deviation, count);
  // Three per cent, and what the mean of so few spots may be off by chance.
  const double chance = 4 * deviation / std::sqrt(count);
  CHECK(std::abs(mean - imaging.background - snr * std::sqrt(mean)) <= 0.03 * snr * std::sqrt(mean) + chance);
  CHECK(deviation == Approx(std::sqrt(mean)).epsilon(0.03 + 4 / std::sqrt(2 * count)));
}

TEST_CASE("touching spots add up, and order does not matter in the mean") {
  ImagingOptions imaging;
  imaging.background = 0;
  imaging.snr = 50;
  const auto total = [&](const std::vector<Vec3>& at) {
    const VolumeFrame frame = render_frame({}, spots_at(at), 0, small_box(), imaging);
    const auto& voxels = voxels_of(frame);
    return std::accumulate(voxels.begin(), voxels.end(), 0.0) - 100.0 * static_cast<double>(voxels.size());
  };
  const double one = total({{2, 1.5, 2}});
  CHECK(total({{2, 1.5, 2}, {2.1, 1.6, 2}}) == Approx(2 * one).epsilon(0.02));
}

TEST_CASE("spots at and beyond the walls are cut, not wrapped") {
  ImagingOptions imaging;
  imaging.background = 0;
  imaging.snr = 100;
  const auto brightest = [&](const Vec3& at) {
    const VolumeFrame frame = render_frame({}, spots_at({at}), 0, small_box(), imaging);
    return *std::max_element(voxels_of(frame).begin(), voxels_of(frame).end());
  };
  CHECK(brightest({0, 0, 0}) == Approx(100 + 1e4).epsilon(0.05));
  CHECK(brightest({4, 3, 4}) == Approx(100 + 1e4).epsilon(0.05));
  CHECK(brightest({-5, 1, 1}) == 100);
  CHECK(brightest({1e300, 1, 1}) == 100);
  CHECK_THROWS_AS(brightest({std::nan(""), 1, 1}), InputError);
}

TEST_CASE("grey levels saturate instead of wrapping") {
  ImagingOptions imaging;
  imaging.snr = 250;
  const std::vector<Vec3> pile(20, Vec3{2, 1.5, 2});
  const VolumeFrame frame = render_frame({}, spots_at(pile), 0, small_box(), imaging);
  CHECK(*std::max_element(voxels_of(frame).begin(), voxels_of(frame).end()) == 65535);
  imaging.offset = 0;
  imaging.background = 1;
  imaging.read_noise = 50;
  const VolumeFrame dark = render_frame({}, {}, 0, small_box(), imaging);
  CHECK(*std::min_element(voxels_of(dark).begin(), voxels_of(dark).end()) == 0);
  CHECK(*std::max_element(voxels_of(dark).begin(), voxels_of(dark).end()) < 1000);
}

TEST_CASE("imaging options that make no sense are refused by their key") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [](auto change) {
    ImagingOptions options;
    change(options);
    return options;
  };
  check_refused("imaging.voxel_um", with([](auto& o) { o.voxel_um.x = 0; }));
  check_refused("imaging.voxel_um", with([](auto& o) { o.voxel_um = {1e-4, 1e-4, 1e-4}; }));
  check_refused("imaging.voxel_um", with([](auto& o) { o.voxel_um.y = 1e-320; }));
  check_refused("imaging.psf_sigma_um", with([](auto& o) { o.psf_sigma_um.z = -1; }));
  check_refused("imaging.psf_sigma_um", with([&](auto& o) { o.psf_sigma_um.z = nan; }));
  check_refused("imaging.background", with([](auto& o) { o.background = -1; }));
  check_refused("imaging.background", with([](auto& o) { o.background = 66000; }));
  check_refused("imaging.snr", with([](auto& o) { o.snr = 0; }));
  check_refused("imaging.snr", with([](auto& o) { o.snr = 300; }));
  check_refused("imaging.offset", with([](auto& o) { o.offset = -1; }));
  check_refused("imaging.read_noise", with([&](auto& o) { o.read_noise = nan; }));
  check_refused("imaging.snr", with([](auto& o) {
                  o.bit_depth = 8;
                  o.snr = 30.0;
                }));
  check_refused("imaging.background", with([](auto& o) {
                  o.bit_depth = 8;
                  o.offset = 250;
                }));
  check_refused("imaging.photons", with([](auto& o) {
                  o.photons = 100.0;
                  o.snr = 7.0;
                }));
  check_refused("imaging.photons", with([](auto& o) { o.photons = -100.0; }));
  check_refused("imaging.photons", with([&](auto& o) { o.photons = nan; }));
  check_refused("imaging.bit_depth", with([](auto& o) { o.bit_depth = 10; }));
  check_refused("imaging.gain", with([](auto& o) { o.gain = 0; }));
  check_refused("imaging.read_noise", with([](auto& o) { o.read_noise = 1e6; }));
  check_refused("imaging.intensity_spread", with([&](auto& o) { o.intensity_spread = nan; }));
  check_refused("imaging.radius_spread", with([](auto& o) { o.radius_spread = -0.1; }));
  check_refused("imaging.bleaching_s", with([](auto& o) { o.bleaching_s = 0.0; }));
  check_refused("imaging.psf_sigma_um", with([](auto& o) { o.psf_sigma_um.x = 100; }));
  check_refused("imaging.na", with([](auto& o) { o.na = 1.33; }));
  check_refused("imaging.na", with([&](auto& o) { o.na = nan; }));
  check_refused("imaging.wavelength_um", with([](auto& o) { o.wavelength_um = 520; }));
  check_refused("imaging.refractive_index", with([](auto& o) { o.refractive_index = 0.5; }));
  check_refused("imaging.sample_index", with([](auto& o) { o.sample_index = 1.4; }));  // a Gaussian has none
  check_refused("imaging.sample_index", with([](auto& o) {
                  o.psf = Psf::gibson_lanni;
                  o.sample_index = 0.9;
                }));
  check_refused("imaging.psf_range_um", with([](auto& o) { o.psf_range_um = 1.0; }));
  check_refused("imaging.depth_um", with([](auto& o) { o.depth_um = -1; }));
  check_refused("imaging.defocus_um", with([](auto& o) { o.defocus_um = 0.0; }));
  check_refused("imaging.defocus_um", with([](auto& o) {
                  o.psf = Psf::gaussian_beam;
                  o.defocus_um = 1.0;
                }));
  check_refused("imaging.focal_plane_um", with([](auto& o) { o.focal_plane_um = 1.0; }));
  MotionOptions motion;
  motion.dt_s = -1;
  CHECK_THROWS_WITH(render_frame({}, {}, 0, motion, {}), Catch::StartsWith("simulation.dt_s: "));
}
