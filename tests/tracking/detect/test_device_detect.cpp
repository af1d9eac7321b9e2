// Detection on a GPU: the same bits as on the CPU.

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/workspace.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/allocation_faults.h"
#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/skip.h"
#include "tests/support/spots.h"
#include "tracking/detect/device_search.h"
#include "tracking/detect/evidence/evidence_rules.h"
#include "tracking/detect/maxima/maxima_rules.h"

using namespace motes;
using namespace motes::tracking;

namespace {

Workspace& kept() {
  static Workspace workspace;
  return workspace;
}

Execution on_gpu(int threads = 2) {
  Execution execution;
  execution.threads = threads;
  execution.backend = Backend::cuda;
  execution.workspace = &kept();
  return execution;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(b[i])) &&
        std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]))
      return false;
  return true;
}

void check_same(const VolumeFrame& frame, const DetectionOptions& options) {
  DetectionReport cpu_report, gpu_report;
  const Detections cpu = detect_spots({2}, frame, options, &cpu_report);
  const Detections gpu = detect_spots(on_gpu(), frame, options, &gpu_report);
  CHECK(cpu_report.backend == Backend::cpu);
  CHECK(gpu_report.backend == Backend::cuda);
  CHECK(gpu_report.threshold == cpu_report.threshold);
  CHECK(gpu_report.local_maxima == cpu_report.local_maxima);
  CHECK(gpu_report.blends == cpu_report.blends);
  CHECK(gpu_report.warnings == cpu_report.warnings);
  REQUIRE(gpu.size() == cpu.size());
  CHECK(same_bits(gpu.x_um, cpu.x_um));
  CHECK(same_bits(gpu.y_um, cpu.y_um));
  CHECK(same_bits(gpu.z_um, cpu.z_um));
  CHECK(same_bits(gpu.quality, cpu.quality));
  CHECK(same_bits(gpu.intensity, cpu.intensity));
  CHECK(same_bits(gpu.radius_um, cpu.radius_um));
  REQUIRE(gpu.properties.size() == cpu.properties.size());
  for (std::size_t c = 0; c < cpu.properties.size(); ++c) {
    INFO(cpu.properties[c].name);
    CHECK(same_bits(gpu.properties[c].values, cpu.properties[c].values));
  }
}

DetectionOptions options_of(const testing::Picture& picture, double factor = 1) {
  const Shape3& s = picture.frame.shape;
  factor *= std::sqrt(static_cast<double>((s.nx > 1) + (s.ny > 1) + (s.nz > 1)));
  DetectionOptions options;
  options.radius_um = {factor * picture.psf_sigma.x, factor * picture.psf_sigma.y,
                       factor * picture.psf_sigma.z};
  if (picture.dark) options.polarity = Polarity::dark;
  return options;
}

/// Noise with bright voxels. Values are integers that all voxel types can represent.
VolumeFrame noisy_frame(const Shape3& shape, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<std::uint16_t> voxels(static_cast<std::size_t>(shape.voxels()));
  for (auto& v : voxels) v = static_cast<std::uint16_t>(20 + rng() % 30 + (rng() % 97 == 0 ? 150 : 0));
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = {0.2, 0.3, 0.5};
  frame.voxels = voxels;
  return frame;
}

template <class T>
VolumeFrame as_type(const VolumeFrame& frame) {
  VolumeFrame other = frame;
  const auto& voxels = std::get<std::vector<std::uint16_t>>(frame.voxels);
  std::vector<T> values(voxels.size());
  for (std::size_t i = 0; i < voxels.size(); ++i) values[i] = static_cast<T>(voxels[i]);
  other.voxels = values;
  return other;
}

DetectionOptions options_for(const VolumeFrame& frame, double sigma_voxels) {
  DetectionOptions options;
  options.radius_um = {1.7 * sigma_voxels * frame.voxel_um.x, 1.7 * sigma_voxels * frame.voxel_um.y,
                       1.7 * sigma_voxels * frame.voxel_um.z};
  return options;
}

}  // namespace

TEST_CASE("without a GPU, detection on one is an error and automatic uses the CPU", "[detect]") {
  if (!gpu::list_devices().devices.empty()) return;
  const VolumeFrame frame = noisy_frame({5, 20, 20}, 3);
  CHECK_THROWS_AS(detect_spots(on_gpu(), frame, options_for(frame, 1.2)), ResourceError);
  CHECK_THROWS_WITH(detect_spots(on_gpu(), frame, options_for(frame, 1.2)),
                    Catch::Contains("execution.backend: no GPU"));
  Execution automatic{2};
  automatic.backend = Backend::automatic;
  CHECK(detect_spots(automatic, frame, options_for(frame, 1.2)).x_um ==
        detect_spots({2}, frame, options_for(frame, 1.2)).x_um);
}

TEST_CASE("rules shared by CPU and GPU are right", "[detect]") {
  using namespace tracking::detect;
  // The smallest eigenvalue and the roots of the characteristic polynomial, well and badly separated.
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int i = 0; i < 20'000; ++i) {
    const double a = any(rng), b = i % 3 == 0 ? a : any(rng), c = i % 7 == 0 ? b : any(rng);
    const double turn = 3 * any(rng), tilt = 3 * any(rng);
    const double u[3] = {std::cos(turn) * std::cos(tilt), std::sin(turn) * std::cos(tilt), std::sin(tilt)};
    const double v[3] = {-std::sin(turn), std::cos(turn), 0};
    const double w[3] = {-std::cos(turn) * std::sin(tilt), -std::sin(turn) * std::sin(tilt), std::cos(tilt)};
    rules::Matrix3 m{};
    for (std::size_t p = 0; p < 3; ++p)
      for (std::size_t q = 0; q < 3; ++q) m[p][q] = a * u[p] * u[q] + b * v[p] * v[q] + c * w[p] * w[q];
    REQUIRE(rules::least_eigenvalue(m, 3) == Approx(std::min({a, b, c})).margin(1e-7));
  }
  CHECK(rules::least_root(-1) == -2);
  CHECK(rules::least_root(1) == Approx(-1).margin(1e-7));
  CHECK(rules::least_root(0) == Approx(-std::sqrt(3.0)).margin(1e-14));
  // ln(1 - .36) = -.446287
  CHECK(rules::signed_root(-0.6, 1, 1, 10) == Approx(-std::sqrt(10 * 0.44628710262841953)));
  CHECK(rules::signed_root(1, 1, 1, 10) == Approx(std::sqrt(-10 * std::log(1e-12))));
  CHECK(rules::signed_root(1, 0, 1, 10) == 0);
  const std::array<std::array<std::int64_t, 3>, 4> members{{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 1, 2}}};
  CHECK(rules::middle_of(4, [&](std::int64_t i) { return members[static_cast<std::size_t>(i)]; }) == 1);
  CHECK(edge_voxels(5, 10) == 3);
  CHECK(edge_voxels(0, 10) == 1);
  CHECK(edge_voxels(9, 2) == 2);
}

TEST_CASE("detections of the gallery's pictures are the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  for (const std::string& name : testing::gallery_names()) {
    INFO(name);
    const testing::Picture picture = testing::make_picture(name, 1, 3);
    DetectionOptions options = options_of(picture);
    check_same(picture.frame, options);
    options.refine = Refine::fit;
    check_same(picture.frame, options);
    options = options_of(picture, 0.7);
    options.largest_radius_um = options_of(picture, 2).radius_um;
    check_same(picture.frame, options);
  }
}

TEST_CASE("fits of crowds, pairs and slopes are the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  for (const double sigma : {1.3, 2.9, 4.0}) {
    testing::SpotFrameOptions scene;
    scene.shape = {28, 150, 161};
    scene.psf_sigma = {sigma, sigma, sigma};
    scene.peak = testing::peak_of_snr(7, scene.background);
    const int count = sigma < 2 ? 900 : 120;
    std::vector<testing::Spot> spots = testing::random_spots(scene.shape, count, 7);
    for (std::size_t i = 0; i < spots.size(); i += 9)
      spots.push_back({spots[i].z, spots[i].y + 0.6 * sigma, spots[i].x + 1.7 * sigma});
    std::vector<double> light = testing::expected_photons(scene, spots);
    for (std::size_t i = 0; i < light.size(); ++i)
      light[i] += 0.4 * static_cast<double>(i % static_cast<std::size_t>(scene.shape.nx));
    const VolumeFrame frame = testing::poisson_frame(scene.shape, light, 9);
    DetectionOptions options;
    options.radius_um = {std::sqrt(3.0) * sigma, std::sqrt(3.0) * sigma, std::sqrt(3.0) * sigma};
    options.refine = Refine::fit;
    INFO("sigma " << sigma);
    check_same(frame, options);
    check_same(as_type<std::uint8_t>(frame), options);
    check_same(as_type<float>(frame), options);
  }
}

TEST_CASE("frames of every type and shape give the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  for (const Shape3 shape : {Shape3{1, 64, 64}, Shape3{1, 33, 47}, Shape3{7, 31, 65}, Shape3{13, 1, 50},
                             Shape3{9, 40, 1}, Shape3{1, 1, 90}, Shape3{1, 1, 1}, Shape3{2, 2, 2},
                             Shape3{0, 5, 5}, Shape3{3, 5, 31}, Shape3{20, 33, 32}, Shape3{40, 3, 4}}) {
    const VolumeFrame frame = noisy_frame(shape, static_cast<unsigned>(shape.nx));
    INFO(shape.nz << " x " << shape.ny << " x " << shape.nx);
    for (const double sigma : {0.25, 0.7, 1.3, 2.9, 3.5, 9.0}) {
      INFO("sigma " << sigma);
      DetectionOptions options = options_for(frame, sigma);
      check_same(frame, options);
      check_same(as_type<std::uint8_t>(frame), options);
      check_same(as_type<float>(frame), options);
      options.polarity = Polarity::dark;
      options.refine = Refine::automatic;
      check_same(frame, options);
    }
  }
}

TEST_CASE("thresholds, counts, rates and masks give the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  const VolumeFrame frame = noisy_frame({12, 90, 101}, 8);
  DetectionOptions options = options_for(frame, 1.1);
  options.threshold = 12;
  check_same(frame, options);
  options.threshold = std::nullopt;
  options.max_count = 37;
  check_same(frame, options);
  options.max_count = 0;
  for (const double rate : {0.5, 20.0, 200.0}) {
    options.false_positives_per_frame = rate;
    check_same(frame, options);
  }
  options.false_positives_per_frame = std::nullopt;
  options.keep_blending = true;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(frame.shape.voxels()));
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 101 > 40 ? 3 : 0;
  options.mask = mask;
  check_same(frame, options);
  std::fill(mask.begin(), mask.end(), std::uint8_t{0});
  check_same(frame, options);
}

TEST_CASE("frames with NaN give the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  for (const Shape3 shape : {Shape3{12, 90, 101}, Shape3{1, 90, 101}}) {
    VolumeFrame frame = as_type<float>(noisy_frame(shape, 3));
    auto& voxels = std::get<std::vector<float>>(frame.voxels);
    for (std::size_t i = 0; i < voxels.size(); ++i)
      if (i % 101 < 20 || i % 997 == 0) voxels[i] = std::numeric_limits<float>::quiet_NaN();
    DetectionOptions options = options_for(frame, 1.1);
    check_same(frame, options);
    options.refine = Refine::fit;
    check_same(frame, options);
  }
}

TEST_CASE("plateaus of any size give the same maxima on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  VolumeFrame frame;
  frame.shape = {6, 40, 200};
  frame.voxel_um = {1, 1, 1};
  std::vector<std::uint8_t> voxels(static_cast<std::size_t>(frame.shape.voxels()), 10);
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) -> std::uint8_t& {
    return voxels[static_cast<std::size_t>((z * frame.shape.ny + y) * frame.shape.nx + x)];
  };
  for (std::int64_t x = 5; x < 9; ++x) at(2, 5, x) = 90;
  at(2, 12, 20) = at(2, 12, 21) = at(3, 13, 21) = 90;
  for (std::int64_t y = 20; y < 26; ++y) at(4, y, 60) = 70;
  const bool long_line = GENERATE(false, true);  // longer than the limit of the device
  if (long_line)
    for (std::int64_t x = 0; x < 200; ++x) at(3, 33, x) = 80;
  frame.voxels = voxels;
  for (const double sigma : {0.2, 0.6, 1.0}) {
    INFO("sigma " << sigma);
    DetectionOptions options = options_for(frame, sigma);
    options.threshold = 1;
    check_same(frame, options);
  }
}

TEST_CASE("unusable frames are rejected on a GPU with the same messages", "[detect]") {
  MOTES_NEED_GPU();
  VolumeFrame frame = as_type<float>(noisy_frame({4, 20, 20}, 2));
  const DetectionOptions options = options_for(frame, 1.2);
  std::get<std::vector<float>>(frame.voxels)[777] = std::numeric_limits<float>::infinity();
  const auto message = [&](const Execution& execution) {
    try {
      detect_spots(execution, frame, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  CHECK(message(on_gpu()) == message({2}));
  CHECK(message(on_gpu()).find("(1, 18, 17) is infinite") != std::string::npos);
  frame.shape.nz = 5;
  CHECK(message(on_gpu()) == message({2}));
}

TEST_CASE("balls side by side, which are not round, give the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  std::mt19937 rng(4);
  std::uniform_real_distribution<double> jitter(-0.7, 0.7), height(120, 400);
  VolumeFrame frame;
  frame.shape = {48, 112, 112};
  frame.voxel_um = {1, 1, 1};
  std::vector<float> voxels(static_cast<std::size_t>(frame.shape.voxels()));
  std::poisson_distribution<int> light(100);
  for (float& v : voxels) v = static_cast<float>(light(rng));
  constexpr double kRadius = 7;
  for (double z = 8; z < 45; z += 15)
    for (double y = 9; y < 108; y += 15)
      for (double x = 9; x < 108; x += 15) {
        const double cz = z + jitter(rng), cy = y + jitter(rng), cx = x + jitter(rng), own = height(rng);
        for (std::int64_t k = 0; k < frame.shape.nz; ++k)
          for (std::int64_t j = 0; j < frame.shape.ny; ++j)
            for (std::int64_t i = 0; i < frame.shape.nx; ++i)
              if (std::hypot(static_cast<double>(k) - cz, static_cast<double>(j) - cy,
                             static_cast<double>(i) - cx) < kRadius)
                voxels[static_cast<std::size_t>((k * frame.shape.ny + j) * frame.shape.nx + i)] +=
                    static_cast<float>(own);
      }
  frame.voxels = voxels;
  for (const double factor : {0.7, 1.0}) {
    DetectionOptions options;
    options.radius_um = {factor * kRadius, factor * kRadius, factor * kRadius};
    check_same(frame, options);
  }
}

TEST_CASE("nuclei that touch and differ in brightness give the same bits on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  const bool plane = GENERATE(true, false);
  const Shape3 shape = plane ? Shape3{1, 200, 200} : Shape3{40, 80, 80};
  std::mt19937 rng(1);
  const auto uniform = [&] { return static_cast<double>(rng()) / 4294967296.0; };
  std::vector<std::uint16_t> voxels(static_cast<std::size_t>(shape.voxels()));
  for (auto& v : voxels) v = static_cast<std::uint16_t>(100 + rng() % 10);
  constexpr double kRadius = 7;
  std::size_t discs = 0;
  for (double z = plane ? 0 : 7; z < static_cast<double>(shape.nz); z += 13)
    for (double y = 7; y < static_cast<double>(shape.ny); y += 13)
      for (double x = 7; x < static_cast<double>(shape.nx); x += 13, ++discs) {
        const double cy = y + 2 * uniform(), cx = x + 2 * uniform(), height = 100 * std::exp(uniform());
        testing::each_voxel(shape, [&](std::size_t i, double vz, double vy, double vx) {
          if (std::hypot(vz - z, vy - cy, vx - cx) < kRadius)
            voxels[i] = static_cast<std::uint16_t>(100 + height + static_cast<double>(rng() % 10));
        });
      }
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = {1, 1, 1};
  frame.voxels = voxels;
  DetectionOptions options;
  options.radius_um = {kRadius, kRadius, kRadius};
  INFO(discs << " objects");
  CHECK(2 * detect_spots({2}, frame, options).size() > discs);
  check_same(frame, options);
}

TEST_CASE("a frame for which the GPU has no room is searched on the CPU, with one warning", "[detect]") {
  MOTES_NEED_GPU();
  const VolumeFrame frame = noisy_frame({64, 256, 256}, 6);
  const DetectionOptions options = options_for(frame, 1.2);
  DetectionReport expected, report;
  const Detections on_cpu = detect_spots({2}, frame, options, &expected);
  Workspace fresh;
  Execution execution = on_gpu();
  execution.workspace = &fresh;
  Detections found;
  {
    std::vector<gpu::DeviceBytes> taken;
    for (std::size_t bytes = std::size_t{1} << 30; bytes >= std::size_t{1} << 24;) try {
        taken.emplace_back(bytes);
      } catch (const ResourceError&) {
        bytes /= 2;
      }
    found = detect_spots(execution, frame, options, &report);
  }
  CHECK(report.backend == Backend::cpu);
  REQUIRE(report.warnings.size() == expected.warnings.size() + 1);
  CHECK_THAT(report.warnings.back(), Catch::Contains("searched on the CPU"));
  CHECK(same_bits(found.x_um, on_cpu.x_um));
  detect_spots(execution, frame, options, &report);  // it fits again
  CHECK(report.backend == Backend::cuda);
}

TEST_CASE("for the memory and race checkers: detection on a GPU", "[detect]") {
  MOTES_NEED_GPU();
  const VolumeFrame frame = noisy_frame({9, 40, 67}, 5);
  DetectionOptions options = options_for(frame, 1.1);
  check_same(frame, options);
  check_same(as_type<std::uint8_t>(frame), options);
  options.largest_radius_um = options_for(frame, 3.6).radius_um;
  check_same(as_type<float>(frame), options);
  options.largest_radius_um = std::nullopt;
  options.threshold = 12;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(frame.shape.voxels()), 1);
  std::fill(mask.begin(), mask.begin() + 5000, std::uint8_t{0});
  options.mask = mask;
  check_same(frame, options);
}

TEST_CASE("detection continues on the CPU when GPU memory runs out at any allocation", "[detect]") {
  MOTES_NEED_GPU();
  const VolumeFrame frame = noisy_frame({6, 40, 41}, 8);
  DetectionOptions options = options_for(frame, 1.1);
  options.refine = Refine::fit;
  const Detections cpu = detect_spots({2}, frame, options);
  const auto check = [&](Workspace& workspace) {
    Execution execution = on_gpu();
    execution.workspace = &workspace;
    DetectionReport report;
    const Detections found = detect_spots(execution, frame, options, &report);
    CHECK(same_bits(found.x_um, cpu.x_um));
    CHECK(same_bits(found.quality, cpu.quality));
    CHECK((report.backend == Backend::cuda) == report.warnings.empty());
    CHECK((gpu::allocation_failed() || report.backend == Backend::cuda));
  };
  Workspace workspace;
  CHECK(testing::fail_each_allocation([&] { check(workspace); }) > 0);
  testing::fail_each_allocation([&] {
    Workspace own;
    check(own);
  });
}
