#include "tracking/link/motion/shared_motion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "tracking/candidates/row_grid.h"
#include "tracking/link/motion/drift.h"
#include "tracking/link/motion/rigid.h"

namespace motes::tracking {
namespace {

/// The common motion is accepted if its gain is positive by this many standard errors.
constexpr double kSure = 1.645;
/// Links show that detections rest if at most kCrowded others lie within their lengths on average, and at
/// most kCrowdedFrame in each frame, of at least kFewest detections. Within the lengths of links by chance
/// lie about as many as can count, 1. Others are counted up to kAround times the length.
constexpr double kCrowded = 0.2, kCrowdedFrame = 0.4, kAround = 2;
constexpr matching::Index kFewest = 12;
/// Least gain of a common motion fitted to the links for it to be tried, in nats per link.
constexpr double kLeastShown = kLeastFieldGain / 2;

/// The number of others that lie within a link's length by chance, at most 1; 1 without a link.
double crowd_of(const SeriesPoints& points, const SeriesGrids& grids, std::size_t i, matching::Index j,
                RowGrid::Found& found) {
  if (j < 0) return 1;
  const Vec3& to = points.at[at(j)];
  const double length = length_of(to - points.at[i]), per_length = std::pow(kAround, points.dims);
  if (!(length < points.spacing_um)) return 1;
  found.count = 0, found.look_at = static_cast<std::size_t>(per_length);
  grids[at(points.slot[at(j)])].find_within(to, kAround * length, found, [](RowGrid::Found&) { return 0; });
  return std::clamp((static_cast<double>(found.count) - 1) / per_length, 0.0, 1.0);  // without j itself
}

/// Whether a common motion that was fitted to these links predicts them better. `choices`: its cost in nats.
bool shows(const Rounds& plain, const SeriesLinking& links, const Prediction& motion, double choices) {
  return (plain.gain_of(motion, links) - kLeastShown) * static_cast<double>(links.links()) >= choices;
}

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

bool links_are_short(const Execution& execution, Rounds& plain) {
  const SeriesPoints& points = plain.points();
  const SeriesGrids& grids = plain.grids();
  std::vector<double> crowd(at(points.frames() - 1), 0);
  parallel_for(thread_count(execution), std::ssize(crowd), [&](std::int64_t t) {
    const matching::Index first = points.offset[at(t)], last = points.offset[at(t) + 1];
    RowGrid::Found found;
    for (matching::Index i = first; i < last; ++i)
      crowd[at(t)] += crowd_of(points, grids, at(i), plain.solution_.linking.next[at(i)], found);
    crowd[at(t)] = last - first < kFewest ? 1 : crowd[at(t)] / (last - first);
  });
  double sum = 0;
  for (const double one : crowd) sum += one;
  return sum <= kCrowded * static_cast<double>(crowd.size()) &&
         std::all_of(crowd.begin(), crowd.end(), [](double one) { return one <= kCrowdedFrame; });
}

bool rests(const Execution& execution, Rounds& plain) {
  if (plain.points().frames() < 2 || !links_are_short(execution, plain)) return false;
  const SeriesPoints& points = plain.points();
  const SeriesLinking links = plain.some_frames();
  double choices = 0;
  if (shows(plain, links, predict_by_drift(execution, points, links, 1, &choices), choices)) return false;
  std::vector<RigidMotion> motions;
  return points.dims < 2 ||
         !shows(plain, links, predict_by_rigid(execution, points, links, 1, motions, &choices), choices);
}

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
                  const std::function<void(int)>& done, bool few, int lags, Rounds& best, SeriesLinks& out) {
  Rounds rotation(execution, best.points(), options, done, out.rounds);
  rotation.share(best);
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
