// Rendering benchmark: one frame of spots at random places.
//
//   bench_render [--size 128,1024,1024] [--spots 100000] [--sigma 1.5] [--background 10] [--read-noise 0]
//                [--psf gaussian|gibson-lanni|gaussian-beam] [--threads 0] [--backend auto] [--repeats 5]
//                [--verify 0]
//
// size is nz,ny,nx voxels; sigma is in voxels, of all axes. Times are medians of the repeats, after one frame
// that is not counted (it makes the tables and the device's memory). prepare_s lists the frame's spots on the
// CPU; on a GPU device_s is everything from their upload to the grey levels, copy_s the copy to pinned
// memory, and unpin_s the copy from there to the frame. --verify 1 compares the last frame with the CPU's.
// One CSV row.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <motes/base/random.h>
#include <motes/sim/simulation.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

TrackSet random_spots(std::int64_t count, const Vec3& box) {
  TrackSet tracks;
  for (std::int64_t i = 0; i < count; ++i) {
    Random random(1, RandomStream::seeding, static_cast<std::uint32_t>(i), 7);
    tracks.track_id.push_back(i);
    tracks.frame.push_back(0);
    tracks.detection.push_back(-1);
    tracks.time_s.push_back(0);
    tracks.x_um.push_back(random.uniform() * box.x);
    tracks.y_um.push_back(random.uniform() * box.y);
    tracks.z_um.push_back(random.uniform() * box.z);
    tracks.track_offsets.push_back(i + 1);
  }
  return tracks;
}

template <class Value>
Value one_of(const std::string& name, const std::string& given,
             const std::vector<std::pair<std::string, Value>>& known) {
  for (const auto& [word, value] : known)
    if (word == given) return value;
  std::fprintf(stderr, "bench_render: --%s %s is not known\n", name.c_str(), given.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Arguments arguments(argc, argv);
  const std::vector<double> size = arguments.numbers("size", {128, 1024, 1024});
  const auto spots = static_cast<std::int64_t>(arguments.number("spots", 100000));
  const double sigma = arguments.number("sigma", 1.5);
  const int repeats = static_cast<int>(arguments.number("repeats", 5));
  const std::string backend = arguments.text("backend").value_or("auto");
  const std::string psf = arguments.text("psf").value_or("gaussian");
  sim::MotionOptions motion;
  sim::ImagingOptions imaging;
  imaging.voxel_um = {0.1, 0.1, 0.1};
  imaging.psf_sigma_um = {0.1 * sigma, 0.1 * sigma, 0.1 * sigma};
  imaging.psf = one_of<sim::Psf>("psf", psf,
                                 {{"gaussian", sim::Psf::gaussian},
                                  {"gibson-lanni", sim::Psf::gibson_lanni},
                                  {"gaussian-beam", sim::Psf::gaussian_beam}});
  imaging.background = arguments.number("background", 10);
  imaging.read_noise = arguments.number("read-noise", 0);
  motion.box_um = {0.1 * (size[2] - 1), 0.1 * (size[1] - 1), 0.1 * (size[0] - 1)};
  Execution execution;
  execution.threads = static_cast<int>(arguments.number("threads", 0));
  execution.backend = one_of<Backend>(
      "backend", backend, {{"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}});

  const TrackSet truth = random_spots(spots, motion.box_um);
  sim::Renderer renderer(execution, motion, imaging);
  VolumeFrame frame = renderer.render(truth, 0);
  std::vector<double> prepare, device, copy, unpin, total;
  for (int i = 0; i < repeats; ++i) {
    frame = renderer.render(truth, 0, std::move(frame));
    const sim::RenderTimes& times = renderer.times();
    prepare.push_back(times.prepare_s);
    device.push_back(times.device_s);
    copy.push_back(times.copy_s);
    unpin.push_back(times.unpin_s);
    total.push_back(times.total_s);
  }
  std::string same = "not checked";
  if (arguments.number("verify", 0) > 0) {
    execution.backend = Backend::cpu;
    same = sim::render_frame(execution, truth, 0, motion, imaging).voxels == frame.voxels ? "yes" : "NO";
  }
  std::printf(
      "backend,psf,nz,ny,nx,spots,sigma_voxel,background,read_noise,threads,total_s,prepare_s,device_s,copy_"
      "s,"
      "unpin_s,least_s,most_s,mvoxel_per_s,repeats,same_as_cpu\n");
  const auto shape = frame.shape;
  std::printf("%s,%s,%lld,%lld,%lld,%lld,%g,%g,%g,%d,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.1f,%d,%s\n",
              renderer.on_device() ? "cuda" : "cpu", psf.c_str(), static_cast<long long>(shape.nz),
              static_cast<long long>(shape.ny), static_cast<long long>(shape.nx),
              static_cast<long long>(spots), sigma, imaging.background, imaging.read_noise,
              thread_count(execution), bench::median(total), bench::median(prepare), bench::median(device),
              bench::median(copy), bench::median(unpin), *std::min_element(total.begin(), total.end()),
              *std::max_element(total.begin(), total.end()),
              static_cast<double>(shape.voxels()) / bench::median(total) / 1e6, repeats, same.c_str());
  return same == "NO" ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_render: %s\n", error.what());
  return 1;
}
