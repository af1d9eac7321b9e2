#include "tracking/link/motion/persistence.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <motes/base/errors.h>

namespace motes::tracking {
namespace {

constexpr int kJointRounds = 16;
/// Least gain of links by persistence, in nats per link.
constexpr double kLeastGain = 0.005;
/// Velocity finds the most likely linking, belief propagation the links that are most likely right. Its
/// linking may be less likely by this many nats per detection and still be better. In simulations it was
/// better at -0.01, but not at -0.08.
constexpr double kJointTolerance = 0.03;

}  // namespace

void spare_beliefs(bool by_data, SeriesLinks& out) {
  if (!by_data)
    throw ResourceError("linking.model: joint: too many possible tracks; use linking.model: velocity");
  out.skipped.push_back("beliefs (joint): over " + std::to_string(kMostForBeliefs) +
                        " pairs of links that meet");
}

Rounds with_persistence(const SeriesOptions& options, Rounds best, double before, SeriesLinks& out) {
  const bool sure = options.model == MotionModel::velocity || options.model == MotionModel::joint;
  Rounds persistent = best;
  persistent.with_velocity(kVelocityRounds, !sure);
  out.evidence.velocity = persistent.cost_per_point();
  out.evidence.beta = persistent.velocity_.beta();
  const double gain = before - *out.evidence.velocity;
  // With a common motion, neither returning nor a lasting speed is accepted: half of the particles may not
  // share the motion.
  const double least = persistent.least_beta();
  const bool apart = !out.drift && !out.rotation && gain > kReturningGain;
  const bool returning = apart && returns(persistent.velocity_) && -*out.evidence.beta >= least;
  out.persistent = sure || returning || (apart && persistent.speeds_persist()) ||
                   (gain > kLeastGain && *out.evidence.beta >= least);
  if (!out.persistent) return best;
  if (out.chosen != MotionModel::field) out.chosen = MotionModel::velocity;
  return persistent;
}

Rounds with_beliefs(const SeriesOptions& options, Rounds best, double times, SeriesLinks& out) {
  const bool by_data = options.model == MotionModel::automatic;
  if (!out.persistent || (options.model != MotionModel::joint && !by_data)) return best;
  Rounds whole = best;
  const auto most = std::llround(static_cast<double>(by_data ? kMostForBeliefs : kMostTriplets) / times);
  if (!whole.joint(kJointRounds, most,
                   by_data ? *out.evidence.velocity + kHopeless : std::numeric_limits<double>::infinity())) {
    spare_beliefs(by_data, out);
    return best;
  }
  out.evidence.joint = whole.cost_per_point();
  if (by_data && !(*out.evidence.joint < *out.evidence.velocity + kJointTolerance)) return best;
  out.joint = true;
  if (out.chosen != MotionModel::field) out.chosen = MotionModel::joint;
  return whole;
}

}  // namespace motes::tracking
