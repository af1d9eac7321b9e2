/// Statistics of simulated tracks.

#include "tests/sim/motion_statistics.h"

namespace motes::testing {

using sim::Boundary, sim::Confinement, sim::Flow, sim::Motion, sim::MotionOptions;

std::vector<NamedMotion> every_motion() {
  const auto with = [](auto change) {
    MotionOptions options;
    options.particles = 300;
    options.frames = 15;
    options.box_um = {6, 5, 4};
    options.dt_s = 0.3;
    change(options);
    return options;
  };
  const auto switching = [&](auto change) {
    return with([&](MotionOptions& o) {
      o.motion = Motion::switching;
      o.states = {Motion::confined, Motion::directed, Motion::walk};
      o.switch_rate_per_s = {2, 3, 1};
      o.diffusion_um2_s = 0.05;
      o.new_run_direction = true;
      change(o);
    });
  };
  return {
      {"walk", with([](auto& o) { o.speed_spread = 0.5; })},
      {"brownian periodic", with([](auto& o) {
         o.motion = Motion::brownian;
         o.diffusion_um2_s = 0.4;
         o.boundary = Boundary::periodic;
       })},
      {"directed absorbing with jitter", with([](auto& o) {
         o.motion = Motion::directed;
         o.diffusion_um2_s = 0.1;
         o.boundary = Boundary::absorbing;
         o.time_jitter_s = 0.05;
         o.birth_rate_per_s = 20;
       })},
      {"confined in a sphere, carried", with([](auto& o) {
         o.motion = Motion::confined;
         o.confinement = Confinement::sphere;
         o.diffusion_um2_s = 0.1;
         o.rotation_deg_s = 20;
         o.drift_um_s = {0.1, 0, -0.1};
       })},
      {"switching", switching([](auto&) {})},
      {"switching, open, births and deaths", switching([](auto& o) {
         o.boundary = Boundary::open;
         o.birth_rate_per_s = 30;
         o.death_rate_per_s = 0.2;
       })},
      {"switching, open, one track", switching([](auto& o) {
         o.boundary = Boundary::open;
         o.same_track_on_return = true;
         o.diffusion_um2_s = 0.5;
       })},
      {"vortex", with([](auto& o) {
         o.flow = Flow::vortex;
         o.flow_scale_um = 1;
       })},
      {"turbulence between walls", with([](auto& o) {
         o.flow = Flow::turbulence;
         o.flow_modes = 12;
       })},
      {"turbulence, periodic", with([](auto& o) {
         o.flow = Flow::turbulence;
         o.flow_modes = 12;
         o.boundary = Boundary::periodic;
         o.motion = Motion::brownian;
         o.diffusion_um2_s = 0.01;
       })},
  };
}

}  // namespace motes::testing
