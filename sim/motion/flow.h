#pragma once
/// The flow that moves all particles, and paths along it. Shared by CPU and GPU.

#include <cmath>
#include <cstdint>

#include <motes/base/exact_math.h>
#include <motes/base/host_device.h>
#include <motes/sim/motion.h>

namespace motes::sim::detail {

/// One solenoidal Fourier mode: wave . amplitude = 0.
struct FlowMode {
  Vec3 wave;  ///< turns per um
  Vec3 amplitude;
  double phase, frequency;  ///< turns, turns per s
};

/// The behaviour of the modes at the walls.
enum class FlowWalls : std::uint8_t {
  periodic,  ///< plane waves of the periodic domain
  tangent    ///< no flow through the walls
};

/// A trivially copyable view; `modes` is in the memory of the code that reads it.
struct FlowField {
  Vec3 drift, rotation_rad_s, centre;
  Flow kind = Flow::none;
  FlowWalls walls = FlowWalls::periodic;
  double speed = 0, scale = 1, box_y = 1;
  const FlowMode* modes = nullptr;
  int mode_count = 0;
  double rate_per_s = 0;  ///< fastest change of the velocity along a path, which the steps must resolve
  bool still = true;      ///< there is no flow
};

/// A wave in the box [0, L] with an integer number of half waves along each axis. The normal component has a
/// sine that vanishes at its walls, the others have cosines, so the divergence is wave . amplitude times
/// cosines.
MOTES_HOST_DEVICE inline Vec3 tangent_wave(const FlowMode& mode, const Vec3& at, double t) {
  const SinCos x = exact_sin_cos_turns(mode.wave.x * at.x), y = exact_sin_cos_turns(mode.wave.y * at.y),
               z = exact_sin_cos_turns(mode.wave.z * at.z);
  const double beat = exact_sin_cos_turns(mode.phase + mode.frequency * t).cos;
  return {mode.amplitude.x * (x.sin * y.cos * z.cos * beat),
          mode.amplitude.y * (x.cos * y.sin * z.cos * beat),
          mode.amplitude.z * (x.cos * y.cos * z.sin * beat)};
}

MOTES_HOST_DEVICE inline Vec3 turbulence(const FlowField& flow, const Vec3& at, double t) {
  Vec3 sum;
  for (int i = 0; i < flow.mode_count; ++i) {
    const FlowMode& mode = flow.modes[i];
    if (flow.walls == FlowWalls::tangent) {
      sum += tangent_wave(mode, at, t);
    } else {
      const double turns = dot(mode.wave, at) + (mode.phase + mode.frequency * t);
      sum += exact_sin_cos_turns(turns).cos * mode.amplitude;
    }
  }
  return sum;
}

/// The velocity in um/s at a place and time. Every kind has divergence 0.
MOTES_HOST_DEVICE inline Vec3 flow_velocity(const FlowField& flow, const Vec3& at, double t) {
  const Vec3 arm = at - flow.centre;
  Vec3 velocity = flow.drift + cross(flow.rotation_rad_s, arm);
  if (flow.kind == Flow::shear) {
    velocity.x += flow.speed * (2 * arm.y / flow.box_y);
  } else if (flow.kind == Flow::vortex) {
    const double r2 = (arm.x * arm.x + arm.y * arm.y) / (flow.scale * flow.scale);
    const double turn = flow.speed / flow.scale * exact_exp(0.5 - 0.5 * r2);
    velocity.x -= turn * arm.y;
    velocity.y += turn * arm.x;
  } else if (flow.kind == Flow::turbulence) {
    velocity += turbulence(flow, at, t);
  }
  return velocity;
}

/// Steps are shorter than this divided by the field's rate; the Runge-Kutta error for a turn is then 1e-7 per
/// step.
inline constexpr double kFlowStep = 0.1;

/// The position to which the flow carries a point from time t on, by classical Runge-Kutta steps of equal
/// length.
MOTES_HOST_DEVICE inline Vec3 carried(const FlowField& flow, Vec3 at, double t, double duration) {
  const double wanted = std::ceil(duration * flow.rate_per_s / kFlowStep);
  const int steps = wanted > 1 ? static_cast<int>(wanted) : 1;
  const double h = duration / steps;
  for (int i = 0; i < steps; ++i) {
    const double start = t + i * h;
    const Vec3 k1 = flow_velocity(flow, at, start);
    const Vec3 k2 = flow_velocity(flow, at + 0.5 * h * k1, start + 0.5 * h);
    const Vec3 k3 = flow_velocity(flow, at + 0.5 * h * k2, start + 0.5 * h);
    const Vec3 k4 = flow_velocity(flow, at + h * k3, start + h);
    const Vec3 middle = k2 + k3;
    at += h / 6 * (k1 + k4 + 2 * middle);
  }
  return at;
}

}  // namespace motes::sim::detail
