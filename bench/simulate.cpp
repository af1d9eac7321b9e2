/// Simulation benchmark: positions of many particles, in memory; what each stage takes, as CSV. Times are
/// medians of the repeats; the first run, which starts the device, is left out.
///
/// bench_simulate [--particles N] [--frames N] [--motion walk,brownian,switching,open,turbulence]
///                [--backend cpu|cuda] [--threads N] [--repeats N]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <motes/sim/faults.h>
#include <motes/sim/motion.h>

#include "bench/arguments.h"

namespace {

using namespace motes;
using namespace motes::sim;

MotionOptions motion_of(const std::string& name, std::int64_t particles, std::int32_t frames) {
  MotionOptions options;
  options.particles = particles;
  options.frames = frames;
  options.box_um = {100, 100, 100};
  if (name == "brownian" || name == "open") {
    options.motion = Motion::brownian;
    options.diffusion_um2_s = 0.1;
    if (name == "open") options.boundary = Boundary::open;
  } else if (name == "switching") {
    options.motion = Motion::switching;
    options.states = {Motion::brownian, Motion::directed};
    options.switch_rate_per_s = {0.1, 0.2};
    options.diffusion_um2_s = 0.1;
  } else if (name == "turbulence") {
    options.flow = Flow::turbulence;
    options.flow_scale_um = 20;
    options.speed_um_s = 0;
    options.boundary = Boundary::periodic;
  } else if (name != "walk") {
    std::fprintf(stderr, "bench_simulate: unknown motion %s\n", name.c_str());
    std::exit(2);
  }
  return options;
}

template <class Work>
auto timed(double& seconds, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  auto result = work();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto particles = static_cast<std::int64_t>(arguments.number("particles", 1e6));
  const auto frames = static_cast<std::int32_t>(arguments.number("frames", 100));
  const int repeats = static_cast<int>(arguments.number("repeats", 3));
  Execution execution;
  execution.threads = static_cast<int>(arguments.number("threads", 0));
  const std::string backend = arguments.text("backend").value_or("cpu");
  if (backend == "cuda") execution.backend = Backend::cuda;
  std::printf("motion,backend,threads,particles,frames,simulate_s,observe_s,mpoints_per_s\n");
  std::string names = arguments.text("motion").value_or("walk,brownian,switching,open,turbulence") + ',';
  while (!names.empty()) {
    const std::string name = names.substr(0, names.find(','));
    names.erase(0, name.size() + 1);
    const MotionOptions options = motion_of(name, particles, frames);
    std::vector<double> simulate, watch;
    double points = 0;
    for (int i = 0; i <= repeats; ++i) {
      double seconds = 0;
      const TrackSet truth = timed(seconds, [&] { return simulate_motion(execution, options); });
      if (i > 0 || repeats == 0) simulate.push_back(seconds);
      points = static_cast<double>(truth.points());
      if (i < repeats) continue;
      timed(seconds, [&] { return observe(execution, truth, options, {}); });
      watch.push_back(seconds);
    }
    std::printf("%s,%s,%d,%lld,%d,%.3f,%.3f,%.1f\n", name.c_str(), backend.c_str(), thread_count(execution),
                static_cast<long long>(particles), frames, bench::median(simulate), bench::median(watch),
                points / bench::median(simulate) / 1e6);
    std::fflush(stdout);
  }
  return 0;
}
