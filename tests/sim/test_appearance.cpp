#include <cmath>
#include <string_view>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/imaging.h>
#include <motes/tracking/log_detector.h>

#include "tests/sim/imaging_cases.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

const std::vector<double>& column(const TrackSet& truth, std::string_view name) {
  for (const PropertyColumn& c : truth.point_properties)
    if (c.name == name) return c.values;
  throw std::runtime_error("no such column");
}

}  // namespace

TEST_CASE("the truth tells photons and radius, and frames are drawn from them") {
  MotionOptions motion = small_box();
  motion.particles = 30;
  motion.frames = 4;
  ImagingOptions imaging;
  imaging.intensity_spread = 0.4;
  imaging.radius_spread = 0.2;
  imaging.bleaching_s = 3.0;
  const TrackSet truth = simulate_motion({1}, motion);
  TrackSet told = truth;
  add_appearance({2}, told, motion, imaging);
  REQUIRE(told.point_properties.size() == truth.point_properties.size() + 2);
  for (const std::int32_t t : {0, 3})
    CHECK(render_frame({1}, truth, t, motion, imaging).voxels ==
          render_frame({2}, told, t, motion, imaging).voxels);

  const auto& photons = column(told, kPhotonsProperty);
  const auto& radius = column(told, kRadiusProperty);
  // A particle keeps its size and fades with the time constant.
  for (std::size_t p = 0; p + 1 < told.points(); ++p) {
    if (told.frame[p + 1] != told.frame[p] + 1) continue;
    CHECK(photons[p + 1] / photons[p] == Approx(std::exp(-motion.dt_s / 3)));
    CHECK(radius[p + 1] == radius[p]);
  }
  // What the truth says decides: nothing is added twice, and other values are drawn as they are.
  TrackSet again = told;
  add_appearance({1}, again, motion, imaging);
  CHECK(again.point_properties.size() == told.point_properties.size());
  for (PropertyColumn& c : again.point_properties)
    if (c.name == kPhotonsProperty) c.values.assign(c.values.size(), 0.0);
  CHECK(sum_of(expected(again, motion, imaging)) == 0);
}

TEST_CASE("spreads are log-normal, and belong to the particle") {
  MotionOptions motion = small_box();
  motion.particles = 20000;
  motion.frames = 1;
  ImagingOptions imaging;
  imaging.photons = 100;
  imaging.intensity_spread = 0.5;
  imaging.radius_spread = 0.1;
  TrackSet truth = simulate_motion({}, motion);
  add_appearance({}, truth, motion, imaging);
  const auto check = [&](const char* name, double centre, double spread) {
    double sum = 0, square = 0;
    for (const double v : column(truth, name)) {
      const double log = std::log(v / centre);
      sum += log;
      square += log * log;
    }
    const double count = 20000;
    CAPTURE(name);
    CHECK(sum / count == Approx(0).margin(4 * spread / std::sqrt(count)));
    CHECK(std::sqrt(square / count) == Approx(spread).epsilon(0.03));
  };
  check(kPhotonsProperty, 100, 0.5);
  check(kRadiusProperty, std::sqrt(3.0) * 0.15, 0.1);
}

TEST_CASE("a particle that is absent in a frame is not drawn there") {
  TrackSet truth = spots_at({{2, 1.5, 2}});
  truth.frame = {0, 2};
  truth.detection = {-1, -1};
  truth.time_s = {0, 2};
  truth.x_um = {2, 2};
  truth.y_um = {1.5, 1.5};
  truth.z_um = {2, 2};
  truth.track_offsets = {0, 2};
  ImagingOptions imaging;
  imaging.photons = 100;
  CHECK(sum_of(expected(truth, small_box(), imaging, 0)) == Approx(100).epsilon(1e-3));
  CHECK(sum_of(expected(truth, small_box(), imaging, 1)) == 0);
  CHECK(sum_of(expected(truth, small_box(), imaging, 2)) == Approx(100).epsilon(1e-3));
}

TEST_CASE("properties that make no sense are refused by track and frame") {
  TrackSet truth = spots_at({{2, 1.5, 2}});
  truth.point_properties = {{kPhotonsProperty, {-1.0}}};
  CHECK_THROWS_AS(render_frame({1}, truth, 0, small_box(), {}), InputError);
  truth.point_properties = {{kPhotonsProperty, {std::nan("")}}};
  CHECK_THROWS_WITH(render_frame({1}, truth, 0, small_box(), {}), Catch::Contains("track 0"));
  truth.point_properties = {{kRadiusProperty, {0.0}}};
  CHECK_THROWS_WITH(render_frame({1}, truth, 0, small_box(), {}), Catch::Contains("radius"));
}

TEST_CASE("isolated spots of SNR 7 are detected within a fifth of a voxel of the truth") {
  ImagingOptions imaging;
  imaging.voxel_um = GENERATE(Vec3{0.1, 0.1, 0.1}, Vec3{0.1, 0.1, 0.25});
  imaging.psf_sigma_um = {0.15, 0.15, 1.5 * imaging.voxel_um.z};
  imaging.snr = 7.0;
  imaging.read_noise = 1;
  const MotionOptions motion = box_of({12.8, 12.8, 30 * imaging.voxel_um.z});
  // Well inside, on a grid of 16 voxels, each somewhere within its voxel.
  std::vector<Vec3> at = grid_of_centres(frame_shape(motion, imaging), imaging.voxel_um, 14);
  for (std::size_t i = 0; i < at.size(); ++i) {
    Random random(5, RandomStream::seeding, static_cast<std::uint32_t>(i), 2);
    at[i].x += (random.uniform() - 0.5) * imaging.voxel_um.x;
    at[i].y += (random.uniform() - 0.5) * imaging.voxel_um.y;
    at[i].z += (random.uniform() - 0.5) * imaging.voxel_um.z;
  }
  const VolumeFrame frame = render_frame({}, spots_at(at), 0, motion, imaging);
  tracking::DetectionOptions options;
  options.max_count = static_cast<std::int64_t>(at.size());
  const double factor = std::sqrt(3.0);
  options.radius_um = Vec3{factor * 0.15, factor * 0.15, factor * imaging.psf_sigma_um.z};
  const Detections found = tracking::detect_spots({}, frame, options);
  double square = 0;
  std::size_t near = 0;
  for (const Vec3& p : at) {
    double best = 1e300;
    for (std::size_t k = 0; k < found.size(); ++k)
      best = std::min(best, std::pow((found.x_um[k] - p.x) / imaging.voxel_um.x, 2) +
                                std::pow((found.y_um[k] - p.y) / imaging.voxel_um.y, 2) +
                                std::pow((found.z_um[k] - p.z) / imaging.voxel_um.z, 2));
    if (best > 1) continue;
    ++near;
    square += best;
  }
  CAPTURE(imaging.voxel_um.z, at.size(), found.size());
  CHECK(near == at.size());
  // Per axis, the root of the mean square; the noise alone allows about .1.
  CHECK(std::sqrt(square / (3 * static_cast<double>(near))) < 0.2);
}
