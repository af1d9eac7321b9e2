#include "tracking/link/confidence/again.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tracking/link/motion/axes.h"
#include "tracking/link/motion/persistence.h"
#include "tracking/link/point_order.h"
#include "tracking/link/series/crowding.h"
#include "tracking/link/series/link_jumps.h"
#include "tracking/link/series/restore.h"
#include "tracking/link/series/rounds.h"

namespace motes::tracking::detail {
namespace {

constexpr int kRoundsAgain = 3;

}  // namespace

bool can_link_again(const SeriesLinks& like) {
  return like.chosen != MotionModel::field && !(like.exclusion_um > 0) && alike(like.axes);
}

SeriesLinks link_again(const Execution& execution, const SimulatedSeries& series, const SeriesLinks& like,
                       const SeriesOptions& given) {
  SeriesOptions options = given;
  options.most_at_once = std::numeric_limits<std::int64_t>::max();
  SeriesLinks out;
  out.chosen = like.chosen, out.persistent = like.persistent, out.joint = like.joint;
  out.points = pool_points(series.frames, execution, false);
  out.points.log_odds = series.log_odds;
  const std::vector<matching::Index> order = position_order(out.points);
  out.points = select_points(out.points, order);
  estimate_densities(out.points, execution);
  out.points.crowding = crowding_of(execution, out.points);
  const int lags = std::min(options.max_gap + 1, std::max(1, out.points.frames() - 1));
  Rounds rounds(execution, out.points, options, {}, out.rounds);
  rounds.begin_with(like.model, like.velocity, series.first_frame);
  if (!out.joint)
    rounds.plain_on(lags, out.persistent ? 1 : kRoundsAgain);
  else if (!rounds.joint_on(kRoundsAgain, kMostTriplets))
    out.joint = false, rounds.plain_on(lags, 1);
  if (out.persistent && !out.joint) rounds.with_velocity(kVelocityRounds, false);
  LinkJumps jumps = keep_jumps(out.points, rounds.solution_.linking, options.gate);
  out.linking = std::move(jumps.linking);
  out.jumped = std::move(jumps.jumped);
  take_rounds(std::move(rounds), out);
  restore_order(order, out);
  out.links = out.linking.links();
  return out;
}

}  // namespace motes::tracking::detail
