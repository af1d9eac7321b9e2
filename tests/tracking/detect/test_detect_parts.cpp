#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"
#include "tracking/detect/choice/noise_sample_rules.h"
#include "tracking/detect/choice/spots_nearby.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/evidence/evidence_rules.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/maxima/maxima.h"

namespace {

using namespace motes;
using motes::testing::float_frame;
using motes::tracking::Polarity;
namespace detect = motes::tracking::detect;

const Execution kTwo{2};

std::vector<double> random_values(const Shape3& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.voxels()));
  for (double& v : values) v = static_cast<double>(random() % 1000);
  return values;
}

/// A simple form of the filter in double, axis by axis; each pass extends its axis by one voxel at both ends.
class Reference {
 public:
  Reference(const Shape3& shape, std::vector<double> values, const detect::Filter& filter)
      : size_{shape.nx, shape.ny, shape.nz}, values_(std::move(values)), filter_(filter) {
    for (std::size_t axis = 0; axis < 3; ++axis) smooth(axis);
  }

  double smoothed(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return values_[index({x + 1, y + 1, z + 1})];
  }

  double laplacian(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const double centre = smoothed(z, y, x);
    const auto s2 = [&](std::size_t a) { return filter_.sigma[a] * filter_.sigma[a]; };
    return s2(0) * (smoothed(z, y, x - 1) - 2 * centre + smoothed(z, y, x + 1)) +
           s2(1) * (smoothed(z, y - 1, x) - 2 * centre + smoothed(z, y + 1, x)) +
           s2(2) * (smoothed(z - 1, y, x) - 2 * centre + smoothed(z + 1, y, x));
  }

 private:
  using Index3 = std::array<std::int64_t, 3>;

  std::size_t index(const Index3& i) const {
    return static_cast<std::size_t>((i[2] * size_[1] + i[1]) * size_[0] + i[0]);
  }

  /// Element i along an axis; beyond its ends the mean of the outermost elements over two sigma.
  double extended(Index3 at, std::size_t axis, std::int64_t i) const {
    const std::int64_t n = size_[axis], edge = std::min<std::int64_t>(
                                            n, std::max(1, (filter_.kernels[axis].radius() + 1) / 2));
    const bool inside = i >= 0 && i < n;
    const std::int64_t first = inside ? i : i < 0 ? 0 : n - edge, count = inside ? 1 : edge;
    double sum = 0;
    for (std::int64_t k = first; k < first + count; ++k) {
      at[axis] = k;
      sum += values_[index(at)] / static_cast<double>(count);
    }
    return sum;
  }

  void smooth(std::size_t axis) {
    Index3 grown = size_;
    grown[axis] += 2;
    std::vector<double> out;
    const int radius = filter_.kernels[axis].radius();
    for (std::int64_t z = 0; z < grown[2]; ++z)
      for (std::int64_t y = 0; y < grown[1]; ++y)
        for (std::int64_t x = 0; x < grown[0]; ++x) {
          const Index3 at{x, y, z};
          double sum = 0;
          for (int k = -radius; k <= radius; ++k)
            sum += static_cast<double>(filter_.kernels[axis].weights[static_cast<std::size_t>(std::abs(k))]) *
                   extended(at, axis, at[axis] - 1 + k);
          out.push_back(sum);
        }
    size_ = grown;
    values_ = std::move(out);
  }

  Index3 size_;
  std::vector<double> values_;
  detect::Filter filter_;
};

/// Maxima of a response by comparison with all 26 neighbours. (A filter too narrow to smooth gives the
/// Laplacian of the frame, so that frames can be made for a wanted response.)
std::vector<detect::Voxel> brute_maxima(const detect::Response& response, float floor) {
  std::vector<detect::Voxel> maxima;
  const Shape3& s = response.shape();
  for (std::int64_t z = 0; z < s.nz; ++z)
    for (std::int64_t y = 0; y < s.ny; ++y)
      for (std::int64_t x = 0; x < s.nx; ++x) {
        bool highest = response.at(z, y, x) > floor;
        for (std::int64_t k = std::max<std::int64_t>(0, z - 1); k <= std::min(s.nz - 1, z + 1); ++k)
          for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(s.ny - 1, y + 1); ++j)
            for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(s.nx - 1, x + 1); ++i)
              if ((k != z || j != y || i != x) && response.at(k, j, i) >= response.at(z, y, x))
                highest = false;
        if (highest) maxima.push_back({z, y, x});
      }
  return maxima;
}

}  // namespace

TEST_CASE("a Gaussian kernel has its mass, symmetry and variance at any width", "[detect]") {
  for (const double sigma : {0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 3.0, 20.0}) {
    const detect::HalfKernel kernel = detect::gaussian_kernel(sigma);
    double mass = 0, variance = 0;
    for (int n = 0; n <= kernel.radius(); ++n) {
      const double w = (n == 0 ? 1 : 2) * static_cast<double>(kernel.weights[static_cast<std::size_t>(n)]);
      CHECK(w >= 0);
      mass += w;
      variance += w * n * n;
    }
    INFO("sigma " << sigma);
    CHECK(mass == Approx(1).epsilon(1e-6));
    if (sigma >= 0.7) CHECK(variance == Approx(sigma * sigma).epsilon(0.015));
    if (sigma < 0.29) CHECK(variance < 1e-6);
  }
}

TEST_CASE("a wide kernel ends smoothly, so that its second difference does", "[detect]") {
  for (const double sigma : {12.0, 20.0, 40.0}) {
    CAPTURE(sigma);
    const std::vector<float> weights = detect::gaussian_kernel(sigma).weights;
    CHECK(static_cast<double>(std::fabs(weights.back())) <
          0.005 / (sigma * sigma) * static_cast<double>(weights.front()));
  }
}

TEST_CASE("a broad top with noise is one spot", "[detect]") {
  testing::SpotFrameOptions scene;
  scene.shape = {1, 256, 256};
  scene.psf_sigma = {48, 48, 1};
  scene.background = 60;
  scene.peak = 30;
  const std::vector<double> light = testing::expected_photons(scene, {{0, 120, 130}});
  const VolumeFrame frame = testing::poisson_frame(scene.shape, light, 4);
  tracking::DetectionOptions options;
  options.radius_um = {53, 53, 53};
  CHECK(tracking::detect_spots(kTwo, frame, options).size() == 1);
}

TEST_CASE("the response agrees with a direct convolution in double", "[detect]") {
  const Shape3 shape =
      GENERATE(Shape3{6, 9, 11}, Shape3{1, 13, 17}, Shape3{3, 1, 20}, Shape3{2, 2, 70}, Shape3{5, 70, 3});
  const Vec3 radius = GENERATE(Vec3{2.4, 2.0, 1.5}, Vec3{0.4, 3.1, 0.3});
  const std::vector<double> values = random_values(shape, 4);
  const VolumeFrame frame = float_frame(shape, values);
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, radius);
  const float offset = GENERATE(0.0F, 17.0F);
  const detect::Response bright(kTwo, frame, filter, Polarity::bright, offset);
  const detect::Response dark(kTwo, frame, filter, Polarity::dark, offset);
  const Reference reference(shape, values, filter);
  double worst = 0, worst_smooth = 0;
  bool mirrored = true;
  for (std::int64_t z = 0; z < shape.nz; ++z)
    for (std::int64_t y = 0; y < shape.ny; ++y)
      for (std::int64_t x = 0; x < shape.nx; ++x) {
        const double expected = reference.laplacian(z, y, x);
        worst = std::max(worst, std::abs(static_cast<double>(dark.at(z, y, x)) - expected));
        mirrored = mirrored && bright.at(z, y, x) == -dark.at(z, y, x);
        const double smoothed =
            bright.smoothed(static_cast<double>(z), static_cast<double>(y), static_cast<double>(x));
        worst_smooth = std::max(worst_smooth, std::abs(smoothed - reference.smoothed(z, y, x)));
      }
  CHECK(worst < 0.01);  // of responses of about 100
  CHECK(worst_smooth < 0.001);
  CHECK(mirrored);
}

TEST_CASE("the response to white noise has the predicted deviation", "[detect]") {
  const Shape3 shape{40, 60, 60};
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {2.4, 2.0, 1.2});
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal(0, 3);
  std::vector<double> values(static_cast<std::size_t>(shape.voxels()));
  for (double& v : values) v = normal(random);
  const VolumeFrame frame = float_frame(shape, values);
  const detect::Response response(kTwo, frame, filter, Polarity::bright, 0);
  double square = 0;
  int n = 0;
  for (std::int64_t z = 8; z < 32; ++z)
    for (std::int64_t y = 8; y < 52; ++y)
      for (std::int64_t x = 8; x < 52; ++x, ++n)
        square += std::pow(static_cast<double>(response.at(z, y, x)), 2);
  CHECK(std::sqrt(square / n) == Approx(3 * filter.noise_gain()).epsilon(0.03));
  CHECK(detect::noise_deviation(kTwo, response, frame, filter) ==
        Approx(3 * filter.noise_gain()).epsilon(0.06));
}

TEST_CASE("in crowds and elsewhere the eight nearest spots within reach are examined", "[detect]") {
  std::mt19937_64 random(21);
  const Shape3 shape{12, 60, 60};
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {2.1, 2.1, 1.7});
  const int count = GENERATE(0, 1, 60, 700, 6000);
  const double reach = GENERATE(1.0, 5.0, 90.0);
  std::vector<detect::Voxel> spots;
  for (int i = 0; i < count; ++i)
    spots.push_back({static_cast<std::int64_t>(random() % 12), static_cast<std::int64_t>(random() % 60),
                     static_cast<std::int64_t>(random() % 60)});
  const auto squared = [&](const detect::Voxel& a, const detect::Voxel& b) {
    const double x = static_cast<double>(a.x - b.x) / filter.sigma[0],
                 y = static_cast<double>(a.y - b.y) / filter.sigma[1],
                 z = static_cast<double>(a.z - b.z) / filter.sigma[2];
    return x * x + y * y + z * z;
  };
  const detect::SpotsNearby nearby(filter, spots, reach);
  for (int i = 0; i < 40; ++i) {
    const detect::Voxel at{static_cast<std::int64_t>(random() % 14) - 1,
                           static_cast<std::int64_t>(random() % 62) - 1,
                           static_cast<std::int64_t>(random() % 62) - 1};
    std::vector<double> all, asked;
    for (const detect::Voxel& spot : spots) all.push_back(squared(at, spot));
    std::sort(all.begin(), all.end());
    const bool found = nearby.any_within(at, [&](std::size_t k) {
      asked.push_back(squared(at, spots[k]));
      return false;
    });
    std::sort(asked.begin(), asked.end());
    std::vector<double> expected;
    for (std::size_t k = 0; k < std::min<std::size_t>(8, all.size()) && all[k] < reach * reach * 0.999999;
         ++k)
      expected.push_back(all[k]);
    CHECK_FALSE(found);
    REQUIRE(asked.size() >= expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(asked[k] == Approx(expected[k]));
    for (std::size_t k = expected.size(); k < asked.size(); ++k)
      CHECK(asked[k] == Approx(reach * reach).epsilon(1e-5));
    CHECK(nearby.any_within(at, [](std::size_t) { return true; }) == !asked.empty());
  }
}

TEST_CASE("more voxels and a narrower filter need a higher level", "[detect]") {
  const Shape3 small{10, 64, 64}, large{10, 512, 512};
  const detect::Filter narrow = detect::make_filter(small, {1, 1, 1}, {2, 2, 2});
  const detect::Filter wide = detect::make_filter(small, {1, 1, 1}, {6, 6, 6});
  CHECK(detect::noise_level(narrow, large, 0.1) > detect::noise_level(narrow, small, 0.1));
  CHECK(detect::noise_level(narrow, small, 0.1) > detect::noise_level(wide, small, 0.1));
  CHECK(detect::noise_level(narrow, large, 0.1) == Approx(5.7).margin(0.4));
}

TEST_CASE("maxima are those of the 26-neighbourhood, borders included", "[detect]") {
  const Shape3 shape =
      GENERATE(Shape3{7, 80, 33}, Shape3{1, 40, 40}, Shape3{3, 3, 3}, Shape3{1, 1, 50}, Shape3{40, 2, 1});
  const VolumeFrame frame = float_frame(shape, random_values(shape, 12));
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {1.1, 1.1, 1.1});
  const detect::Response response(kTwo, frame, filter, Polarity::bright, 0);
  const float floor = GENERATE(0.0F, 50.0F);
  const auto expected = brute_maxima(response, floor);
  CHECK(detect::local_maxima(kTwo, response, floor) == expected);
  CHECK(detect::local_maxima(Execution{1}, response, floor) == expected);
}

TEST_CASE("sampled minima are the strict ones of their rows, borders included", "[detect]") {
  const Shape3 shape =
      GENERATE(Shape3{7, 80, 33}, Shape3{1, 40, 40}, Shape3{3, 3, 3}, Shape3{1, 1, 50}, Shape3{40, 2, 1});
  std::vector<double> values = random_values(shape, 17);
  for (double& v : values) v = 20 * std::round(v / 500);  // many are equal
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {0.4, 0.4, 0.4});
  const detect::Response response(kTwo, float_frame(shape, values), filter, Polarity::bright, 0);
  const float floor = GENERATE(0.0F, 3.0F);
  const std::int64_t step = std::min<std::int64_t>(GENERATE(1, 3), shape.nz * shape.ny);
  std::vector<detect::Voxel> expected;
  const auto least = [&](const detect::Voxel& v) {
    const float value = response.at(v.z, v.y, v.x);
    bool strict = value < -floor;
    for (std::int64_t z = std::max<std::int64_t>(0, v.z - 1); z <= std::min(shape.nz - 1, v.z + 1); ++z)
      for (std::int64_t y = std::max<std::int64_t>(0, v.y - 1); y <= std::min(shape.ny - 1, v.y + 1); ++y)
        for (std::int64_t x = std::max<std::int64_t>(0, v.x - 1); x <= std::min(shape.nx - 1, v.x + 1); ++x)
          if (detect::Voxel{z, y, x} != v && response.at(z, y, x) <= value) strict = false;
    return strict;
  };
  for (std::int64_t row = step / 2; row < shape.nz * shape.ny / step * step; row += step)
    for (std::int64_t x = 0; x < shape.nx; ++x)
      if (const detect::Voxel v{row / shape.ny, row % shape.ny, x}; least(v)) expected.push_back(v);
  CHECK(detect::sample_minima(kTwo, response, floor, step).voxels == expected);
}

TEST_CASE("the noise is estimated from the sample of noise_sample_rules", "[detect]") {
  const Shape3 shape = GENERATE(Shape3{3, 300, 517}, Shape3{1, 40, 700}, Shape3{2, 5, 9}, Shape3{4, 2, 3});
  const VolumeFrame frame = float_frame(shape, random_values(shape, 5));
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {1.5, 1.5, 1.5});
  const detect::Response response(kTwo, frame, filter, Polarity::bright, 0);
  const detect::rules::NoiseSample sample(shape);
  const auto& voxels = std::get<std::vector<float>>(frame.voxels);
  const auto value = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return voxels[static_cast<std::size_t>((z * shape.ny + y) * shape.nx + x)];
  };
  std::vector<float> responses, details;
  for (std::int64_t k = 0; k < sample.count(); ++k) {
    const detect::rules::SampledVoxel v = sample.at(k);
    responses.push_back(std::fabs(response.at(v.z, v.y, v.x)));
    details.push_back(std::fabs(detect::rules::finest_detail(sample, v, value)));
  }
  const auto median = [](std::vector<float>& all) {
    std::sort(all.begin(), all.end());
    return static_cast<double>(all[all.size() / 2]);
  };
  const detect::NoiseSeen expected = detect::noise_of_medians(shape, median(responses), median(details));
  const detect::NoiseSeen seen = detect::noise_seen(kTwo, response, frame);
  CHECK(seen.response == expected.response);
  CHECK(seen.voxel == expected.voxel);
}

TEST_CASE("ridges along any axis or diagonal are not round", "[detect]") {
  const std::array<double, 3> along = GENERATE(
      std::array<double, 3>{1, 0, 0}, std::array<double, 3>{0, 1, 0}, std::array<double, 3>{0, 0, 1},
      std::array<double, 3>{1, 1, 0}, std::array<double, 3>{1, 0, -1}, std::array<double, 3>{0, 1, 1},
      std::array<double, 3>{1, 1, -1}, std::array<double, 3>{-1, 1, 1});
  const double length2 = along[0] * along[0] + along[1] * along[1] + along[2] * along[2];
  const double curved = GENERATE(0.0, 0.2, 1.0);  // ratio of the curvatures along and across the ridge
  std::vector<float> log;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const double on = x * along[0] + y * along[1] + z * along[2];
        log.push_back(
            static_cast<float>(100 - 4 * (x * x + y * y + z * z - (1 - curved) * on * on / length2)));
      }
  detect::ResponseView response;
  response.log = log.data();
  response.nx = response.ny = response.nz = 3;
  detect::rules::EvidenceModel model;
  for (detect::rules::EvidenceAxis& axis : model.axes) {
    axis.response_size = 3;
    axis.curvature_scale = std::sqrt(100.0 / 8);  // across the ridge the curvature is 1
  }
  CHECK(detect::rules::roundness(model, response, {1, 1, 1}) ==
        Approx(std::min(1.0, curved / detect::rules::kRound)).margin(1e-5));
}

TEST_CASE("a plateau counts once", "[detect]") {
  // With so small a sigma nothing is smoothed: the response is a second difference of the frame times a
  // constant.
  const Shape3 shape{5, 12, 12};
  const detect::Filter filter = detect::make_filter(shape, {1, 1, 1}, {0.4, 0.4, 0.4});
  std::vector<double> values(static_cast<std::size_t>(shape.voxels()), 0);
  const auto set = [&](int z, int y, int x) { values[static_cast<std::size_t>((z * 12 + y) * 12 + x)] = 64; };
  const auto maxima = [&] {
    const VolumeFrame frame = float_frame(shape, values);
    return detect::local_maxima(kTwo, detect::Response(kTwo, frame, filter, Polarity::bright, 0), 0);
  };
  SECTION("two voxels side by side") {
    set(2, 5, 5);
    set(2, 5, 6);
    CHECK(maxima() == std::vector<detect::Voxel>{{2, 5, 5}});
  }
  SECTION("a square") {
    for (int i = 0; i < 4; ++i) set(2, 5 + i / 2, 5 + i % 2);
    CHECK(maxima().size() == 1);
  }
  SECTION("a diagonal staircase, with two first voxels in storage order") {
    set(2, 5, 4);
    set(2, 4, 5);
    set(2, 5, 6);
    set(2, 4, 7);
    CHECK(maxima().size() == 1);
  }
  SECTION("two apart") {
    set(2, 3, 3);
    set(2, 8, 8);
    CHECK(maxima().size() == 2);
  }
}
