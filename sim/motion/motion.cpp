/// The motion of Vasconcelos & Rosenhahn 2009, section 6, and other kinds of motion. The rule for one
/// particle is in walker.h, which CPU and GPU share.
///
/// From the paper: "two vectors: the correlation vector, as a persistence tendency to keep the particle
/// moving in the same direction, and the bias vector, a randomly generated vector", combined linearly by a
/// persistence level in [0, 1]. Here this is: direction_t = normalised(persistence * direction_t-1 + (1 -
/// persistence) * random unit vector), and every step has the length speed * dt. The paper does not state the
/// length; a fixed one makes `speed` valid for every persistence. At 0 all directions are independent, at 1 a
/// particle moves on a straight line. At a wall the path is folded back and the direction mirrored, so that a
/// reflected step keeps its length.
///
/// Positions are computed only with +, -, *, /, sqrt and functions made of them (motes/base/exact_math.h), so
/// the truth has the same bits on every machine, on CPU and GPU.

#include <atomic>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/sim/motion.h>
#include <motes/sim/stoppable.h>

#include "sim/motion/device_motion.h"
#include "sim/motion/population.h"

namespace motes::sim {
namespace {

/// For less work, starting a GPU costs more than it saves; in positions without a flow.
constexpr double kDevicePays = 2e7;

detail::Records follow_on_host(const Execution& execution, const detail::Simulation& simulation,
                               detail::Records records, const StopAsked& stop) {
  std::atomic<bool> stopped{false};  // no exception may leave the threads' loop
  const auto asked = [&] {
    if (stop && stop()) stopped.store(true, std::memory_order_relaxed);
    return stopped.load(std::memory_order_relaxed);
  };
  constexpr std::int32_t kFramesAQuestion = 64;  // a frame takes a millisecond with many flow modes
  const auto frames = static_cast<std::size_t>(simulation.model.frames);
  std::uint8_t* codes = records.code.empty() ? nullptr : records.code.data();
#pragma omp parallel for num_threads(thread_count(execution)) schedule(dynamic, 256)
  for (std::size_t p = 0; p < simulation.particles(); ++p) {
    if (asked()) continue;
    try {
      detail::follow(simulation.model, static_cast<std::uint32_t>(p), simulation.seeds[p],
                     simulation.birth(p), [&](std::int32_t k, const Vec3& at, std::uint8_t code) {
                       if (k % kFramesAQuestion == 0 && k > 0 && asked()) detail::throw_stopped();
                       const std::size_t r = p * frames + static_cast<std::size_t>(k);
                       records.x[r] = at.x;
                       records.y[r] = at.y;
                       records.z[r] = at.z;
                       if (codes != nullptr) codes[r] = code;
                     });
    } catch (const Interrupted&) {  // asked() has recorded it
    }
  }
  if (stopped) detail::throw_stopped();
  return records;
}

double work_of(const MotionOptions& options) {
  const double evaluations = options.flow == Flow::turbulence ? 4.0 * options.flow_modes : 0.0;
  return detail::domain_particles(options) * options.frames * (1 + evaluations);
}

}  // namespace

Backend motion_backend(const Execution& execution, const MotionOptions& options) {
  const bool together = detail::needs_population(options);
  if (execution.backend == Backend::cpu) return Backend::cpu;
  if (execution.backend == Backend::automatic && (together || work_of(options) < kDevicePays))
    return Backend::cpu;
  if (together)
    throw UsageError(
        "execution.backend: cells that divide or repel each other (simulation.division_s, "
        "simulation.repulsion_um) move on the CPU only; use auto or cpu");
  const gpu::DeviceReport report = gpu::list_devices();
  if (!report.devices.empty()) return Backend::cuda;
  if (execution.backend == Backend::automatic) return Backend::cpu;
  throw ResourceError("execution.backend: no GPU: " + report.why_none +
                      "; use execution.backend: auto or cpu");
}

TrackSet simulate_motion(const Execution& execution, const MotionOptions& options) {
  return simulate_motion(execution, options, {});
}

TrackSet simulate_motion(const Execution& execution, const MotionOptions& options, const StopAsked& stop) {
  check_options(options);
  const Backend backend = motion_backend(execution, options);
  const detail::Simulation simulation = detail::make_simulation(execution, options, stop);
  detail::Records records;
  if (detail::needs_population(options)) {
    records = detail::simulate_population(execution, options, simulation, stop);
  } else {
    records = detail::dense_records(execution, simulation, !detail::always_seen(options));
    if (backend == Backend::cuda)
      detail::follow_on_device(execution, simulation, records, stop);
    else
      records = follow_on_host(execution, simulation, std::move(records), stop);
  }
  return detail::assemble_tracks(execution, options, simulation, std::move(records));
}

}  // namespace motes::sim
