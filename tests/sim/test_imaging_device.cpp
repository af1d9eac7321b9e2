/// The GPU's frames are the CPU's, bit by bit.

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/imaging.h>

#include "tests/sim/imaging_cases.h"
#include "tests/support/allocation_faults.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

void check_same(const TrackSet& truth, const MotionOptions& motion, const ImagingOptions& imaging) {
  Renderer on_device({2, Backend::cuda}, motion, imaging);
  REQUIRE(on_device.on_device());
  const VolumeFrame device = on_device.render(truth, 0);
  const VolumeFrame host = render_frame({2, Backend::cpu}, truth, 0, motion, imaging);
  CHECK(device.voxels == host.voxels);
  CHECK(on_device.render(truth, 0).voxels == host.voxels);  // again, with the memory of the first
}

}  // namespace

TEST_CASE("the GPU renders the same bits as the CPU") {
  MOTES_NEED_GPU();
  ImagingOptions imaging;
  imaging.psf = GENERATE(Psf::gaussian, Psf::gibson_lanni, Psf::gaussian_beam);
  imaging.read_noise = GENERATE(0.0, 2.5);
  if (imaging.psf == Psf::gibson_lanni) imaging.sample_index = 1.36;
  if (imaging.psf == Psf::gaussian) imaging.defocus_um = 2.0;
  imaging.intensity_spread = 0.5;
  imaging.radius_spread = 0.2;
  // Rows of odd length, one row, one plane, one voxel, whole tiles.
  const Vec3 box = GENERATE(Vec3{4.6, 3.7, 3}, Vec3{9.5, 0.01, 0.01}, Vec3{3.1, 6.3, 0.05},
                            Vec3{0.06, 0.06, 0.06}, Vec3{6.35, 3.15, 1.45});
  MotionOptions motion = box_of(box);
  motion.seed = GENERATE(1u, 0x123456789abcdef0u);
  CAPTURE(name_of(imaging.psf), imaging.read_noise, box.x, box.y, box.z, motion.seed);
  check_same(random_spots(120, box, 3), motion, imaging);
}

TEST_CASE("the GPU renders piles of bright spots, empty frames and every camera like the CPU") {
  MOTES_NEED_GPU();
  const MotionOptions motion = small_box();
  ImagingOptions imaging;
  imaging.bit_depth = GENERATE(8, 12, 16);
  imaging.gain = GENERATE(0.3, 1.0);
  imaging.background = GENERATE(0.0, 10.0, 300.0);
  imaging.offset = 1;
  if (imaging.bit_depth == 8 && imaging.background > 255) imaging.background = 200;
  imaging.photons = 30000.0;
  check_same(spots_at(std::vector<Vec3>(50, Vec3{2, 1.5, 2})), motion, imaging);
  check_same({}, motion, imaging);
  check_same(random_spots(3000, motion.box_um, 4), motion, imaging);
}

TEST_CASE("rendering on the GPU survives memory that runs out at any allocation") {
  MOTES_NEED_GPU();
  const TrackSet truth = random_spots(300, small_box().box_um, 4);
  CHECK(fail_each_allocation([&] { check_same(truth, small_box(), {}); }) > 2);
}

TEST_CASE("backend cuda without a GPU is refused, automatic is not") {
  const auto report = gpu::list_devices();
  if (!report.devices.empty()) return;
  CHECK_THROWS_AS(Renderer({1, Backend::cuda}, small_box(), {}), ResourceError);
  CHECK_THROWS_WITH(Renderer({1, Backend::cuda}, small_box(), {}),
                    Catch::StartsWith("execution.backend: no GPU"));
  CHECK_FALSE(Renderer({1, Backend::automatic}, small_box(), {}).on_device());
}
