#include "tracking/link/series_shared_motion.h"

#include <utility>

namespace motes::tracking {
namespace {

/// The common motion is accepted if its gain is positive by this many standard errors.
constexpr double kSure = 1.645;

/// Whether motion explains the links of these rounds. Not if rounds without motion become as likely when they
/// start from the same scales and shares: a linking of chance pairs, with the rest as false detections, can
/// be more likely than the truth.
bool explained_by_motion(const Execution& execution, const SeriesOptions& options,
                         const std::function<void(int)>& done, int lags, double least, const Rounds& moved,
                         int& rounds) {
  Rounds still(execution, moved.points(), options, done, rounds);
  still.share(moved);
  still.plain_like(moved, lags, kPlainRounds);
  return moved.cost_per_point() < still.cost_per_point() - least && moved.surely_likelier(still, kSure) > 0;
}

}  // namespace

void try_drift(const Execution& execution, const SeriesOptions& options, const std::function<void(int)>& done,
               int lags, Rounds& best, SeriesLinks& out) {
  Rounds drift(execution, best.points(), options, done, out.rounds);
  drift.share(best);
  if (!drift.along_drift(lags, kPlainRounds)) return;
  out.evidence.drift = drift.cost_per_point();
  const double least = out.chosen == MotionModel::field ? 0 : kLeastFieldGain;
  if (*out.evidence.drift >= best.cost_per_point() - least || drift.surely_likelier(best, kSure) <= 0) return;
  if (!explained_by_motion(execution, options, done, lags, kLeastFieldGain, drift, out.rounds)) return;
  out.chosen = MotionModel::field;
  out.drift = true;
  best = std::move(drift);
}

void try_rotation(const Execution& execution, const SeriesOptions& options,
                  const std::function<void(int)>& done, int lags, Rounds& best, SeriesLinks& out) {
  Rounds rotation(execution, best.points(), options, done, out.rounds);
  rotation.share(best);
  const bool few = best.points().size() <= kMostForAnyField;
  if (!rotation.start_by_rotation(lags, few ? nullptr : &best.solution_.linking)) return;
  if (few)
    rotation.along_rotation(lags, kPlainRounds);
  else
    rotation.along_field(std::move(rotation.solution_.linking), lags, kPlainRounds);
  out.evidence.rotation = rotation.cost_per_point();
  const double least = out.chosen == MotionModel::field ? 0 : kLeastFieldGain;
  const double before = best.cost_per_point();
  if (*out.evidence.rotation >= before - least || rotation.surely_likelier(best, kSure) <= 0) return;
  if (!explained_by_motion(execution, options, done, lags, kLeastFieldGain, rotation, out.rounds)) return;
  out.chosen = MotionModel::field;
  out.drift = few;
  out.rotation = true;
  best = std::move(rotation);
}

}  // namespace motes::tracking
