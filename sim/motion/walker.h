#pragma once
/// The motion of one particle: the rule that CPU and GPU share. A particle is a function of the model, its
/// number, and the place and time at which it begins, so particles may be computed in any order.
///
/// The displacement in a frame is that of the flow, then the particle's own motion, state by state.
/// Switching, death and birth are drawn as times, not per frame, so they do not depend on the frame interval.
/// Diffusion, runs and the harmonic tether use exact transition probabilities over any interval, so their
/// statistics do not depend on the frame interval, either. The walk of the paper is the exception: by
/// definition it turns once per frame.

#include <cmath>
#include <cstdint>
#include <limits>

#include <motes/base/host_device.h>
#include <motes/base/random.h>
#include <motes/sim/motion.h>

#include "sim/motion/flow.h"

namespace motes::sim::detail {

inline constexpr int kMaxStates = 8;

struct StateModel {
  Motion motion = Motion::walk;
  double speed = 0, diffusion = 0;
  double leave_rate = 0;         ///< per s
  double next[kMaxStates] = {};  ///< cumulative probabilities of the next states
};

/// The parameters of the motion, as a trivially copyable view that kernels take by value.
struct MotionModel {
  std::uint64_t seed = 0;
  std::int32_t frames = 0;
  double dt_s = 1;
  const double* times_s = nullptr;  ///< [frames]; null: frame * dt_s
  Vec3 box, lower, size;            ///< view: [0, box]; domain: [lower, lower + size]
  Boundary boundary = Boundary::reflecting;
  StateModel states[kMaxStates];
  double initial[kMaxStates] = {};  ///< cumulative (stationary) probabilities of the first state
  int state_count = 1;
  bool has_confined = false, new_run_direction = false;
  double persistence = 0, speed_spread = 0, confinement_radius = 1, death_rate = 0;
  Confinement confinement = Confinement::harmonic;
  FlowField flow;
};

struct Walker {
  Vec3 at, direction, anchor;
  double speed_factor = 1;
  double next_switch = 0;  ///< absolute time
  int state = 0;
  std::uint32_t switches = 0;
  bool renewed = false;  ///< has re-entered at the far side as another particle since it was last seen
};

/// Codes of a recorded point: the state, with kRenewedBit if another particle begins; or kAbsent.
inline constexpr std::uint8_t kRenewedBit = 0x80, kAbsent = 0xff;

MOTES_HOST_DEVICE inline Vec3 random_unit_vector(Random& random) {
  while (true) {
    const double x = 2 * random.uniform() - 1, y = 2 * random.uniform() - 1, z = 2 * random.uniform() - 1;
    const Vec3 v{x, y, z};
    const double length = length_of(v);
    if (length > 0x1p-20 && length <= 1) return 1 / length * v;
  }
}

MOTES_HOST_DEVICE inline Vec3 next_direction(const Vec3& direction, const Vec3& bias, double persistence) {
  const double p = persistence, q = 1 - persistence;
  const Vec3 mixed{p * direction.x + q * bias.x, p * direction.y + q * bias.y, p * direction.z + q * bias.z};
  const double length = length_of(mixed);
  // The two can cancel only at persistence 1/2; then the bias is used.
  return length > 0x1p-30 ? 1 / length * mixed : bias;
}

/// Folds a coordinate back into [0, length], for any number of reflections, and mirrors the direction if the
/// number is odd.
MOTES_HOST_DEVICE inline void reflect(double& at, double& direction, double length) {
  if (at >= 0 && at <= length) return;
  double folded = std::fmod(at, 2 * length);  // exact by IEEE
  if (folded < 0) folded += 2 * length;
  const bool mirrored = folded > length;
  at = mirrored ? 2 * length - folded : folded;
  if (mirrored) direction = -direction;
}

/// Shifts a coordinate and its anchor by whole lengths into [lower, lower + length); returns whether it
/// moved.
MOTES_HOST_DEVICE inline bool wrap(double& at, double& anchor, double lower, double length) {
  const double turns = std::floor((at - lower) / length);
  if (turns == 0) return false;
  at -= turns * length;
  anchor -= turns * length;
  if (!(at >= lower && at < lower + length)) at = lower;  // rounding at the edge
  return true;
}

/// Whether a coordinate is inside the closed box.
MOTES_HOST_DEVICE inline bool inside(double at, double length) { return at >= 0 && at <= length; }
MOTES_HOST_DEVICE inline bool inside(const Vec3& at, const Vec3& box) {
  return inside(at.x, box.x) && inside(at.y, box.y) && inside(at.z, box.z);
}

/// Brings the walker back into the domain. Returns false if it is absorbed.
MOTES_HOST_DEVICE inline bool settle(const MotionModel& model, Walker& walker) {
  Vec3 &at = walker.at, &anchor = walker.anchor;
  if (model.boundary == Boundary::absorbing) return inside(at, model.box);
  if (model.boundary == Boundary::reflecting) {
    reflect(at.x, walker.direction.x, model.box.x);
    reflect(at.y, walker.direction.y, model.box.y);
    reflect(at.z, walker.direction.z, model.box.z);
    return true;
  }
  const bool x = wrap(at.x, anchor.x, model.lower.x, model.size.x);
  const bool y = wrap(at.y, anchor.y, model.lower.y, model.size.y);
  const bool z = wrap(at.z, anchor.z, model.lower.z, model.size.z);
  if (model.boundary == Boundary::open && (x || y || z)) walker.renewed = true;
  return true;
}

/// Whether a Brownian path that starts at `from` and ends at `to`, both inside, touched the wall at 0 or at
/// `length` between: the bridge's probability exp(-a b / (D t)) for each wall.
MOTES_HOST_DEVICE inline bool touched(double from, double to, double length, double diffusion_time,
                                      Random& random) {
  const double low = from * to, high = (length - from) * (length - to), far = 40 * diffusion_time;
  if (low < far && random.uniform() < exact_exp(-low / diffusion_time)) return true;
  return high < far && random.uniform() < exact_exp(-high / diffusion_time);
}

/// Diffusion in a sphere around the anchor, reflected at its surface, in small steps. Steps that would leave
/// the sphere are omitted, which keeps the stationary density exactly uniform. After more than a few
/// relaxation times the place is drawn from this density directly.
MOTES_HOST_DEVICE inline void diffuse_in_sphere(const MotionModel& model, Walker& walker, double diffusion,
                                                double duration, Random& random) {
  const double r = model.confinement_radius;
  const double relaxations = diffusion * duration / (r * r);
  if (relaxations > 3) {
    while (true) {
      const double x = 2 * random.uniform() - 1, y = 2 * random.uniform() - 1, z = 2 * random.uniform() - 1;
      if (x * x + y * y + z * z > 1) continue;
      walker.at = walker.anchor + r * Vec3{x, y, z};
      return;
    }
  }
  constexpr double kStep = 0.005;  // of r^2 / D: steps of a tenth of the radius
  const int steps = static_cast<int>(std::ceil(relaxations / kStep));
  const double deviation = std::sqrt(2 * diffusion * duration / steps);
  for (int i = 0; i < steps; ++i) {
    const auto n = random.normals();
    const Vec3 next = walker.at + deviation * Vec3{n[0], n[1], n[2]};
    const Vec3 arm = next - walker.anchor;
    if (dot(arm, arm) <= r * r) walker.at = next;
  }
}

/// The random numbers of one particle in one frame.
struct FrameRandom {
  MOTES_HOST_DEVICE FrameRandom(std::uint64_t seed, std::uint32_t particle, std::uint32_t frame)
      : diffusion(seed, RandomStream::diffusion, particle, frame),
        bias(seed, RandomStream::bias, particle, frame),
        wall(seed, RandomStream::wall, particle, frame) {}
  Random diffusion, bias, wall;
  bool turned = false;  ///< a walk turns once per frame
};

/// The walker's own motion in its current state. Returns false if it is absorbed.
MOTES_HOST_DEVICE inline bool move(const MotionModel& model, Walker& walker, double duration,
                                   FrameRandom& random) {
  const StateModel& state = model.states[walker.state];
  const Vec3 from = walker.at;
  if (state.motion == Motion::walk && !random.turned) {
    random.turned = true;
    walker.direction = next_direction(walker.direction, random_unit_vector(random.bias), model.persistence);
  }
  if (state.motion == Motion::walk || state.motion == Motion::directed)
    walker.at += state.speed * duration * walker.speed_factor * walker.direction;
  const double d = state.diffusion;
  if (d > 0 && duration > 0) {
    if (state.motion == Motion::confined && model.confinement == Confinement::sphere) {
      diffuse_in_sphere(model, walker, d, duration, random.diffusion);
    } else {
      const auto n = random.diffusion.normals();
      double deviation = std::sqrt(2 * d * duration);
      if (state.motion == Motion::confined) {  // Ornstein-Uhlenbeck, rate D / r^2, variance r^2
        const double r = model.confinement_radius;
        const double kept = exact_exp(-d * duration / (r * r));
        walker.at = walker.anchor + kept * (walker.at - walker.anchor);
        deviation = r * std::sqrt(1 - kept * kept);
      }
      walker.at += deviation * Vec3{n[0], n[1], n[2]};
    }
  }
  if (!settle(model, walker)) return false;
  if (model.boundary != Boundary::absorbing || !(d > 0 && duration > 0)) return true;
  return !touched(from.x, walker.at.x, model.box.x, d * duration, random.wall) &&
         !touched(from.y, walker.at.y, model.box.y, d * duration, random.wall) &&
         !touched(from.z, walker.at.z, model.box.z, d * duration, random.wall);
}

MOTES_HOST_DEVICE inline int pick_state(const double* summed, int count, double u) {
  int state = 0;
  while (state + 1 < count && u >= summed[state]) ++state;
  return state;
}

/// Enters the next state of the chain (or a first one if `first`) and draws the time at which it is left.
MOTES_HOST_DEVICE inline void enter_state(const MotionModel& model, Walker& walker, std::uint32_t particle,
                                          double now, bool first) {
  Random random(model.seed, RandomStream::state, particle, walker.switches++);
  const double* summed = first ? model.initial : model.states[walker.state].next;
  walker.state = pick_state(summed, model.state_count, random.uniform());
  const double rate = model.states[walker.state].leave_rate;
  walker.next_switch = rate > 0 ? now + random.exponential() / rate : std::numeric_limits<double>::infinity();
  walker.anchor = walker.at;
  if (!first && model.new_run_direction) walker.direction = random_unit_vector(random);
}

MOTES_HOST_DEVICE inline Walker start_walker(const MotionModel& model, std::uint32_t particle, const Vec3& at,
                                             double now) {
  Walker walker;
  walker.at = walker.anchor = at;
  Random direction(model.seed, RandomStream::direction, particle, 0);
  walker.direction = random_unit_vector(direction);
  if (model.speed_spread > 0) {
    const double factor =
        1 + model.speed_spread * Random(model.seed, RandomStream::particle_speed, particle, 0).normal();
    walker.speed_factor = factor > 0 ? factor : 0;
  }
  if (model.state_count > 1) enter_state(model, walker, particle, now, true);
  return walker;
}

/// Moves the walker from time t on. Returns false if it is absorbed.
MOTES_HOST_DEVICE inline bool advance(const MotionModel& model, Walker& walker, std::uint32_t particle,
                                      std::uint32_t frame, double t, double duration) {
  if (!model.flow.still) {
    walker.at = carried(model.flow, walker.at, t, duration);
    if (model.has_confined) {
      walker.anchor = carried(model.flow, walker.anchor, t, duration);
      if (model.boundary == Boundary::reflecting) {
        double unused = 0;
        reflect(walker.anchor.x, unused, model.box.x);
        reflect(walker.anchor.y, unused, model.box.y);
        reflect(walker.anchor.z, unused, model.box.z);
      }
    }
    if (!settle(model, walker)) return false;
  }
  FrameRandom random(model.seed, particle, frame);
  if (model.state_count == 1) return move(model, walker, duration, random);
  const double end = t + duration;
  double now = t;
  while (walker.next_switch < end) {
    const double at = walker.next_switch > now ? walker.next_switch : now;
    if (!move(model, walker, at - now, random)) return false;
    enter_state(model, walker, particle, at, false);
    now = at;
  }
  return move(model, walker, end - now, random);
}

MOTES_HOST_DEVICE inline double frame_time(const MotionModel& model, std::int32_t frame) {
  return model.times_s != nullptr ? model.times_s[frame] : frame * model.dt_s;
}

/// The time from the previous frame; the model's interval if frames are regular.
MOTES_HOST_DEVICE inline double frame_interval(const MotionModel& model, std::int32_t frame) {
  return model.times_s != nullptr ? model.times_s[frame] - model.times_s[frame - 1] : model.dt_s;
}

/// The time at which a particle that began at `birth` dies; infinity: never.
MOTES_HOST_DEVICE inline double death_time(const MotionModel& model, std::uint32_t particle, double birth) {
  if (!(model.death_rate > 0)) return std::numeric_limits<double>::infinity();
  return birth + Random(model.seed, RandomStream::lifetime, particle, 0).exponential() / model.death_rate;
}

/// The code of the walker at its current position; clears `renewed` if it is seen.
MOTES_HOST_DEVICE inline std::uint8_t seen(const MotionModel& model, Walker& walker) {
  if (model.boundary == Boundary::open && !inside(walker.at, model.box)) return kAbsent;
  auto code = static_cast<std::uint8_t>(walker.state);
  if (walker.renewed) code |= kRenewedBit;
  walker.renewed = false;
  return code;
}

/// Calls record(frame, position, code) for every frame in order, with code kAbsent if the particle does not
/// exist or is not in view.
template <class Record>
MOTES_HOST_DEVICE void follow(const MotionModel& model, std::uint32_t particle, const Vec3& seed,
                              double birth, const Record& record) {
  const double death = death_time(model, particle, birth);
  Walker walker = start_walker(model, particle, seed, birth);
  double now = birth;
  bool begun = false;
  std::int32_t k = 0;
  for (; k < model.frames; ++k) {
    const double time = frame_time(model, k);
    if (time < birth) {
      record(k, Vec3{}, kAbsent);
      continue;
    }
    if (time >= death) break;
    const double duration = begun ? frame_interval(model, k) : time - birth;
    if (duration > 0 && !advance(model, walker, particle, static_cast<std::uint32_t>(k), now, duration))
      break;
    begun = true;
    now = time;
    record(k, walker.at, seen(model, walker));
  }
  for (; k < model.frames; ++k) record(k, Vec3{}, kAbsent);
}

}  // namespace motes::sim::detail
