#include "tracking/link/motion/persistence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <motes/base/errors.h>

#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

constexpr int kJointRounds = 16;
/// Least gain of links by persistence, in nats per link.
constexpr double kLeastGain = 0.005;
/// Velocity finds the most likely linking, belief propagation the links that are most likely right. Its
/// linking may be less likely by this many nats per detection and still be better. In simulations it was
/// better at -0.01, but not at -0.08.
constexpr double kJointTolerance = 0.03;
/// Least mean of the logarithm of how much nearer detections on no track are to the next frame's than to
/// those of a frame far away, and how many standard errors it must exceed. With two speeds it is at least .1,
/// and for false detections under .02.
constexpr double kNearer = 0.05, kSure = 3;
/// Least distance in frames, and fewest detections: with less, nothing can be told. If fewer than this share
/// of all are on no track, false ones do not matter: persistence then comes from the others. The share was
/// .13 where this was so, and .43 or more where links between false detections passed for fast particles.
constexpr std::int32_t kFarFrames = 4;
constexpr double kFewest = 20, kFewAlone = 0.25;

}  // namespace

bool some_move_on(const Rounds& rounds) {
  const SeriesPoints& points = rounds.points();
  const SeriesLinking& linking = rounds.solution_.linking;
  const std::int32_t frames = points.frames(), far = std::max(kFarFrames, frames / 2);
  std::vector<std::vector<Vec3>> alone(static_cast<std::size_t>(frames));
  double all_alone = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (linking.next[i] >= 0 || linking.previous[i] >= 0) continue;
    alone[static_cast<std::size_t>(points.slot[i])].push_back(points.at[i]);
    all_alone += 1;
  }
  if (all_alone < kFewAlone * static_cast<double>(points.size())) return true;
  double sum = 0, squares = 0, count = 0;
  for (std::int32_t t = 0; t + 1 < frames; ++t) {
    const std::int32_t other = t + far < frames ? t + far : t - far;
    if (other < 0) continue;
    const auto &next = alone[static_cast<std::size_t>(t) + 1], &away = alone[static_cast<std::size_t>(other)];
    if (next.empty() || away.empty()) continue;
    // Distances to the nearest of n go with n^(-1/dims).
    const double denser =
        std::log(static_cast<double>(away.size()) / static_cast<double>(next.size())) / points.dims;
    const NearPoints near_next(next), near_away(away);
    for (const Vec3& p : alone[static_cast<std::size_t>(t)]) {
      constexpr double kAny = std::numeric_limits<double>::infinity();
      const double one = near_next.nearest_squared(p, kAny), two = near_away.nearest_squared(p, kAny);
      if (!(one > 0 && two > 0)) continue;
      const double nearer = 0.5 * std::log(two / one) + denser;
      sum += nearer, squares += nearer * nearer, count += 1;
    }
  }
  if (count < kFewest) return true;
  const double mean = sum / count, error = std::sqrt((squares / count - mean * mean) / count);
  return mean > std::max(kNearer, kSure * error);
}

void spare_beliefs(bool by_data, SeriesLinks& out) {
  if (!by_data)
    throw ResourceError("linking.model: joint: too many possible tracks; use linking.model: velocity");
  out.skipped.push_back("beliefs (joint): over " + std::to_string(kMostForBeliefs) +
                        " pairs of links that meet");
}

Rounds with_persistence(const SeriesOptions& options, Rounds best, double before, SeriesLinks& out,
                        bool second_start) {
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
  out.persistent = sure || returning ||
                   (apart && persistent.speeds_persist() && (second_start || some_move_on(best))) ||
                   (gain > kLeastGain && *out.evidence.beta >= least);
  if (!out.persistent) return best;
  if (out.chosen != MotionModel::field) out.chosen = MotionModel::velocity;
  return persistent;
}

bool is_better(const Rounds& other, const Rounds& best) {
  const bool by_speeds = other.velocity_.beta() < kLeastBeta && !returns(other.velocity_);
  return other.cost_per_point() < best.cost_per_point() && (!by_speeds || some_move_on(best));
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
