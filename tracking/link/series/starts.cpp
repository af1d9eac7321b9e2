#include "tracking/link/series/starts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <motes/tracking/radial_density.h>

#include "tracking/link/motion/persistence.h"
#include "tracking/link/motion/shared_motion.h"
#include "tracking/link/motion/straight.h"
#include "tracking/link/pairs/partner_share.h"
#include "tracking/link/series/pairs.h"

namespace motes::tracking {
namespace {

/// A start among false detections is tried if at most this share surely has partners, and if the other start
/// leaves less than this part of the others without links.
constexpr double kFewPartners = 0.75, kPartUnlinked = 0.5;
/// Particles that move farther, in spacings, are not told from false detections.
constexpr double kMostSteps = 0.3;
/// Straight links are tried up to this many detections, and if at most kFewPartners surely have partners, the
/// median displacement is at least kLongSteps spacings, or this share is on no track.
constexpr std::size_t kMostStraight = 100'000;
constexpr double kLongSteps = 0.5, kManyAlone = 0.05;
/// They are a start if there are at least this many per detection, and the rounds so far lack at least this
/// share of them.
constexpr double kLeastStraight = 0.03, kFewMissing = 0.005;
/// Shares of ends and of missed detections at that start.
constexpr double kEnds = 0.05, kMissed = 0.1;

}  // namespace

std::optional<Rounds> start_from_pairs(const Execution& execution, const SeriesOptions& options,
                                       const std::function<void(int)>& done, Rounds& best, bool& met,
                                       SeriesLinks& out) {
  if (best.points().size() > kMostForField) return std::nullopt;
  const SeriesLinking pairs = link_pair_by_pair(execution, best.points(), options.gate);
  if (!best.differs(pairs)) return std::nullopt;
  Rounds other(execution, best.points(), options, done, out.rounds);
  other.share(best);
  met = other.plain_from(pairs, best.model_.lags(), kPlainRounds, best.cost_per_point() + kHopeless,
                         kLeastEnds, &best.solution_.linking);
  if (other.cost_per_point() < best.cost_per_point()) std::swap(best, other);
  return other;
}

bool start_among_false(const Execution& execution, const SeriesOptions& options,
                       const std::function<void(int)>& done, Rounds& best, SeriesLinks& out) {
  const SeriesPoints& points = best.points();
  const double lost = 1 - points.partners;
  if (points.size() > kMostForField || lost < 1 - kFewPartners) return false;
  if (static_cast<double>(best.solution_.false_detections) >
      kPartUnlinked * lost * static_cast<double>(points.size()))
    return false;
  const double length = partner_distance(execution, points);
  if (!(length > 0) || length > kMostSteps * points.spacing_um) return false;
  Rounds other(execution, points, options, done, out.rounds);
  other.share(best);
  const int lags = best.model_.lags();
  other.begin_among_false(lags, length / student_median(points.dims), lost, kEnds, kMissed);
  other.plain_on(lags, kPlainRounds);
  const double cost = other.cost_per_point(), before = best.cost_per_point();
  const auto false_share = [&](const Rounds& rounds) {
    return static_cast<double>(rounds.solution_.false_detections) / static_cast<double>(points.size());
  };
  // What is left alone is false, and costs no penalty, if it does not move on as particles do.
  const bool likelier = cost - kNatsOfFalse * false_share(other) < before - kNatsOfFalse * false_share(best);
  if (!(cost < before) && !(likelier && !some_move_on(other))) return false;
  std::swap(best, other);
  return true;
}

Rounds or_straight(const Execution& execution, const SeriesOptions& options,
                   const std::function<void(int)>& done, double times, Rounds best, SeriesLinks& out) {
  const SeriesPoints& points = best.points();
  const bool sure =
      points.partners > kFewPartners && best.steps() < kLongSteps &&
      static_cast<double>(best.solution_.false_detections) < kManyAlone * static_cast<double>(points.size());
  if (points.size() > kMostStraight || sure) return best;
  SeriesLinking start = link_straight(execution, points);
  const auto links = static_cast<double>(start.links());
  if (links < kLeastStraight * static_cast<double>(points.size()) ||
      static_cast<double>(missing_links(start, best.solution_.linking)) < kFewMissing * links)
    return best;
  Rounds other(execution, points, options, done, out.rounds);
  other.share(best);
  other.begin_from(std::move(start), best.model_.lags());
  SeriesLinks of_other = out;
  of_other.chosen = MotionModel::standing;
  of_other.drift = of_other.rotation = false;
  const double before = other.cost_per_point();
  other = with_persistence(options, std::move(other), before, of_other, true);
  other = with_beliefs(options, std::move(other), times, of_other);
  if (!of_other.persistent || !is_better(other, best)) return best;
  of_other.rounds = out.rounds;
  out = std::move(of_other);
  return other;
}

}  // namespace motes::tracking
