#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/index.h>
#include <motes/matching/registry.h>
#include <motes/tracking/series_links.h>

#include "tracking/link/large/blocks.h"
#include "tracking/link/large/copies.h"
#include "tracking/link/large/sample.h"
#include "tracking/link/motion/axes.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/motion/persistence.h"
#include "tracking/link/motion/shared_motion.h"
#include "tracking/link/pairs/partner_share.h"
#include "tracking/link/point_order.h"
#include "tracking/link/series/crowding.h"
#include "tracking/link/series/events.h"
#include "tracking/link/series/link_jumps.h"
#include "tracking/link/series/node_model.h"
#include "tracking/link/series/nodes.h"
#include "tracking/link/series/options.h"
#include "tracking/link/series/pairs.h"
#include "tracking/link/series/particle_odds.h"
#include "tracking/link/series/reason.h"
#include "tracking/link/series/restore.h"
#include "tracking/link/series/rounds.h"
#include "tracking/link/series/starts.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// If particles move less than this share of their spacing, links without prediction are good enough to fit a
/// field to.
constexpr double kSmallSteps = 0.2;
/// Rounds on all detections, starting with the parameters of a part.
constexpr int kRoundsOn = 2, kJointRoundsOn = 4;
/// In longer series, if no part in space is taken, the model is chosen on some frames.
constexpr std::int64_t kMostToChooseInTime = 40'000;
/// Limit of `automatic`: most candidates for velocity (1 microsecond each on two cores).
constexpr std::int64_t kMostForVelocity = 100'000'000;
/// Least gain by a field in a few pairs of frames, in nats per detection. Simulated particles that move
/// independently gave at most 0.14, samples with one motion at least 2.8.
constexpr double kLeastGainOfSome = 0.2;
/// If the linkings of two starts differ in fewer links than this share, only the more likely one is
/// continued, since belief propagation changes more links than that.
constexpr double kUnlikeLinkings = 0.05;
/// Axes are scaled at most kMostScalings times, each time by the last links, while the gain is at least this
/// many nats per detection.
constexpr int kMostScalings = 3;
constexpr double kLeastAxesGain = 0.01;

/// The rounds with the motion of neighbours, which follow the rounds without prediction. They are accepted if
/// they cost less than `enough`. `few`: of a small series, or a part of one.
Rounds field_after(const Execution& execution, const SeriesOptions& options,
                   const std::function<void(int)>& done, Rounds& plain, bool few, int most, double enough,
                   SeriesLinks& out) {
  const auto along = [&](SeriesLinking start) {
    Rounds field(execution, plain.points(), options, done, out.rounds);
    field.share(plain);
    field.along_field(std::move(start), most, kPlainRounds, enough + kHopeless);
    return field;
  };
  const bool small_steps = plain.steps() < kSmallSteps;
  if (small_steps && !few) return along(plain.solution_.linking);
  Rounds field = along(link_along_field(execution, plain.points(), options.solver, plain.lists()));
  if (!small_steps) return field;
  Rounds other = along(plain.solution_.linking);
  return other.cost_per_point() <= field.cost_per_point() ? other : field;
}

/// Whether to try the motion of neighbours: if the links or a few pairs of frames show such motion.
bool may_follow(const Execution& execution, const SeriesOptions& options, Rounds& plain, double coherence) {
  if (coherence > kLeastCoherence || plain.steps() < kSmallSteps) return true;
  const auto gain = gain_of_some_pairs(execution, plain.points(), options.solver, plain.lists());
  return !gain || *gain >= kLeastGainOfSome;
}

/// What the rounds on a part of a series pass to those on all; `times`: ratio of the numbers of detections.
struct PartChoice {
  double times = 1;
  SeriesModel plain;             ///< without prediction
  std::int32_t first_frame = 0;  ///< of the part
  bool small_steps = false;
  std::optional<Rounds> other_start;  ///< see start_from_pairs
  std::optional<Rounds> apart;        ///< if particles move together: the rounds without that motion
  detail::Untried untried = {};
  bool met = false;      ///< `other_start` met the first start
  bool in_time = false;  ///< the part is some frames of a series that is not small
};

/// Links the series without prediction or, if asked for or more likely, with the motion of neighbours.
/// `quick`: without other starts, for the search for false detections around particles.
Rounds first_linking(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
                     const std::function<void(int)>& done, bool quick, PartChoice& choice, SeriesLinks& out) {
  const int lags = std::min(options.max_gap + 1, std::max(1, points.frames() - 1));
  Rounds best(execution, points, options, done, out.rounds);
  out.chosen = MotionModel::standing;
  if (options.model == MotionModel::field) {
    best.along_field(link_along_field(execution, points, options.solver, best.lists()), lags, kPlainRounds);
    out.chosen = MotionModel::field;
  } else {
    best.plain(lags, kPlainRounds);
    if (!quick && !choice.untried.pairs)
      choice.other_start = start_from_pairs(execution, options, done, best, choice.met, out);
    if (!quick && start_among_false(execution, options, done, best, out)) choice.other_start.reset();
  }
  out.evidence.plain = best.cost_per_point();
  choice.plain = best.model_;
  choice.small_steps = best.steps() < kSmallSteps;
  if (options.model != MotionModel::automatic) return best;
  const double all = choice.times * static_cast<double>(points.size());
  out.evidence.coherence = best.coherence();
  const bool few = points.size() <= kMostForAnyField && !choice.in_time;
  if (out.evidence.coherence <= kLeastCoherence && (quick || !few)) {
    if (!quick && all <= kMostForField && !choice.untried.rotation && !(best.rests_ = rests(execution, best)))
      try_rotation(execution, options, done, few, lags, best, out);
    return best;
  }
  if (out.evidence.coherence <= kLeastCoherence && (best.rests_ = rests(execution, best))) return best;
  if (all > kMostForField) {
    out.skipped.push_back("neighbours' motion (field): " + std::to_string(std::llround(all)) +
                          " detections, over " + std::to_string(kMostForField));
    return best;
  }
  if (may_follow(execution, options, best, out.evidence.coherence)) {
    const double least = out.evidence.coherence > kLeastCoherence ? 0 : kLeastHiddenGain;
    Rounds field = field_after(execution, options, done, best, few, lags, out.evidence.plain - least, out);
    out.evidence.field = field.cost_per_point();
    const bool by_field = *out.evidence.field < out.evidence.plain - least;
    if (by_field) out.chosen = MotionModel::field, std::swap(best, field);
    if (by_field && few && !quick && out.evidence.coherence < kLeastHiddenGain) choice.apart = field;
  }
  std::optional<Rounds> apart = few && !quick ? std::optional(best) : std::nullopt;
  if (few && !choice.untried.drift) try_drift(execution, options, done, lags, best, out);
  // If a field predicts links that are short anyway, a rotation cannot lead to others.
  const bool followed = out.chosen == MotionModel::field && choice.small_steps && !few;
  if ((few || !quick) && !choice.untried.rotation && !(followed && links_are_short(execution, best)))
    try_rotation(execution, options, done, few, lags, best, out);
  if (out.drift || out.rotation) choice.apart = out.drift ? std::move(apart) : std::nullopt;
  return best;
}

/// The rounds with persistence from `best`, whose cost without is `before`, or from the other start if that
/// ends more likely.
Rounds best_persistence(const SeriesOptions& options, Rounds best, double before, PartChoice& choice,
                        SeriesLinks& out) {
  SeriesLinks of_other = out;
  best = with_persistence(options, std::move(best), before, out);
  if (!choice.other_start || (choice.met && !out.persistent))
    return with_beliefs(options, std::move(best), choice.times, out);
  of_other.chosen = MotionModel::standing;
  of_other.drift = of_other.rotation = false;
  const double start = choice.other_start->cost_per_point();
  Rounds other = with_persistence(options, *std::exchange(choice.other_start, {}), start, of_other, true);
  const bool alike =
      out.persistent && of_other.persistent && !best.differs(other.solution_.linking, kUnlikeLinkings);
  if (alike && best.cost_per_point() <= other.cost_per_point())
    return with_beliefs(options, std::move(best), choice.times, out);
  if (!alike) best = with_beliefs(options, std::move(best), choice.times, out);
  if (of_other.persistent) other = with_beliefs(options, std::move(other), choice.times, of_other);
  if (!alike && (!of_other.persistent || !is_better(other, best))) return best;
  of_other.rounds = out.rounds;
  out = std::move(of_other);
  return other;
}

/// If most particles move together, rounds with that motion may miss those that do not. So the rounds are
/// repeated from the links of the rounds without it. The most likely of the three are kept. If neighbours
/// move together, and not in small steps, wrong links may agree with each other. So that motion must gain
/// kLeastHiddenGain over the rounds without it, less what it gains on their links.
Rounds with_some_apart(const SeriesOptions& options, Rounds best, double before, PartChoice& choice,
                       SeriesLinks& out) {
  SeriesLinks of_apart = out, of_again = out;
  of_apart.chosen = choice.apart->prediction_.by_lag.empty() ? MotionModel::standing : MotionModel::field;
  of_apart.drift = of_apart.rotation = false;
  const auto persistence = [&](Rounds rounds, SeriesLinks& of) {
    const double cost = rounds.cost_per_point();
    return with_beliefs(options, with_persistence(options, std::move(rounds), cost, of), choice.times, of);
  };
  Rounds again = best;
  Rounds apart = persistence(*std::exchange(choice.apart, {}), of_apart);
  const bool sure = out.drift || apart.steps() < kSmallSteps;
  const double least = sure ? 0 : kLeastHiddenGain - std::max(0.0, out.evidence.coherence);
  if (out.drift) {
    again.along_field(apart.solution_.linking, best.model_.lags(), kPlainRounds);
    (out.rotation ? of_again.evidence.rotation : of_again.evidence.drift) = again.cost_per_point();
    again = persistence(std::move(again), of_again);
  }
  const bool drift = out.drift;
  best = best_persistence(options, std::move(best), before, choice, out);
  const auto take = [&](Rounds& other, SeriesLinks& of_other) {
    of_other.rounds = out.rounds;
    out = std::move(of_other), best = std::move(other);
  };
  if (apart.cost_per_point() < best.cost_per_point() + least) take(apart, of_apart);
  if (drift && again.cost_per_point() < best.cost_per_point()) take(again, of_again);
  return best;
}

/// The rounds of the models that are asked for, or that the data suggest.
Rounds best_linking(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
                    const std::function<void(int)>& done, PartChoice& choice, SeriesLinks& out) {
  const bool by_data = options.model == MotionModel::automatic;
  Rounds best = first_linking(execution, points, options, done, false, choice, out);
  const auto in_all = [&](std::int64_t n) { return std::llround(choice.times * static_cast<double>(n)); };
  const auto too_many = [&](long long n, const char* of, std::int64_t most) {
    if (n <= most) return false;
    out.skipped.push_back("persistence (velocity, joint): " + std::to_string(n) + of + std::to_string(most));
    return true;
  };
  if ((by_data && too_many(in_all(best.found_), " candidate links, over ", kMostForVelocity)) ||
      too_many(in_all(std::ssize(points.at)), " detections, over ", options.most_at_once))
    return best;
  if (options.model == MotionModel::standing) return with_common_ends(std::move(best));
  const double before = out.rotation ? *out.evidence.rotation
                        : out.drift  ? *out.evidence.drift
                        : out.chosen == MotionModel::field
                            ? out.evidence.field.value_or(best.cost_per_point())
                            : out.evidence.plain;
  best = (choice.apart ? with_some_apart : best_persistence)(options, std::move(best), before, choice, out);
  if (by_data) best = or_straight(execution, options, done, choice.times, std::move(best), out);
  return out.chosen == MotionModel::standing ? with_common_ends(std::move(best)) : best;
}

/// Links all of a series with the model and parameters chosen on a part.
Rounds linking_like(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
                    const std::function<void(int)>& done, const PartChoice& choice, Rounds& part,
                    SeriesLinks& out) {
  const int lags = std::min(options.max_gap + 1, std::max(1, points.frames() - 1));
  const bool by_data = options.model == MotionModel::automatic;
  Rounds all(execution, points, options, done, out.rounds);
  if (out.chosen == MotionModel::field) {
    out.drift = false;  // all are predicted by their neighbours
    SeriesLinking start;
    if (options.model != MotionModel::field && choice.small_steps && !out.rotation) {
      Rounds plain(execution, points, options, done, out.rounds);
      plain.share(all);
      plain.model_ = model_of_frames(choice.plain, choice.first_frame, points.frames());
      plain.plain_on(lags, 1);
      start = std::move(plain.solution_.linking);
    } else if (Rounds rotation(execution, points, options, done, out.rounds);
               out.rotation && rotation.start_by_rotation(lags)) {
      start = std::move(rotation.solution_.linking);
    } else {
      start = link_along_field(execution, points, options.solver, all.lists());
    }
    all.begin_like(part, choice.first_frame);
    all.along_field_on(std::move(start), lags, kRoundsOn);
  } else {
    all.begin_like(part, choice.first_frame);
    if (!out.joint) all.plain_on(lags, out.persistent ? 1 : kRoundsOn);
  }
  // With a field, the rounds are repeated with the field of the better links.
  const int times = out.chosen == MotionModel::field ? 2 : 1;
  for (int time = 0; out.joint && time < times; ++time) {
    if (all.joint_on(kJointRoundsOn, by_data ? kMostForBeliefs : kMostTriplets)) continue;
    out.joint = false;
    spare_beliefs(by_data, out);
    if (out.chosen != MotionModel::field) out.chosen = MotionModel::velocity, all.plain_on(lags, 1);
  }
  if (out.persistent && !out.joint) all.with_velocity(kVelocityRounds, false);
  return all;
}

/// Links a series that is too large for one problem block by block, with the model and parameters chosen on a
/// part.
Rounds linking_in_blocks(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
                         const std::function<void(int)>& done, const PartChoice& choice, const Rounds& part,
                         std::int32_t first_of_part, SeriesLinks& out) {
  const int lags = std::min(options.max_gap + 1, std::max(1, points.frames() - 1));
  const BlockMargin margin = block_margin(part.points(), part.solution_.linking, lags);
  const std::vector<BlockRange> ranges = block_ranges(points, options.most_in_block, margin);
  BlockLinks links(points.size());
  std::vector<BlockSummary> summaries(ranges.size());
  std::vector<std::string> skipped;
  std::mutex reporting;
  const auto report = [&](int) {
    const std::lock_guard lock(reporting);
    ++out.rounds;
    if (done) done(out.rounds);
  };
  for_blocks(execution, ranges.size(), options.most_in_block, [&](const Execution& inner, std::size_t k) {
    SeriesBlock block = take_block(points, ranges[k], margin);
    block.points.partners = part.points().partners;
    SeriesLinks of_block;
    of_block.chosen = out.chosen, of_block.joint = out.joint;
    of_block.persistent = out.persistent, of_block.rotation = out.rotation;
    PartChoice here{choice.times,       choice.plain, block.first_frame - first_of_part,
                    choice.small_steps, {},           {}};
    Rounds like = part;
    const Rounds linked = linking_like(inner, block.points, options, report, here, like, of_block);
    links.add(block, linked.solution_.linking);
    summaries[k] = {core_of_frames(block), block.first_frame, linked.model_,
                    linked.velocity_,      linked.found_,     linked.solution_};
    summaries[k].solution.linking = {};
    const std::lock_guard lock(reporting);
    for (std::string& one : of_block.skipped)
      if (std::find(skipped.begin(), skipped.end(), one) == skipped.end()) skipped.push_back(std::move(one));
  });
  out.drift = false;
  out.blocks = static_cast<int>(ranges.size());
  out.skipped.insert(out.skipped.end(), skipped.begin(), skipped.end());
  Rounds all(execution, points, options, done, out.rounds);
  all.solution_ = sum_of_blocks(summaries);
  all.solution_.linking = links.linking(out.conflicting);
  all.model_ = mean_model(summaries, points.frames());
  all.velocity_ = summaries.front().velocity;
  for (const BlockSummary& one : summaries) all.found_ += one.candidates;
  for (std::size_t i = 0; i < points.size(); ++i)
    all.solution_.false_detections +=
        all.solution_.linking.next[i] < 0 && all.solution_.linking.previous[i] < 0;
  return all;
}

/// The same with axes scaled (axes.h) while that makes links more likely. The points stay scaled
/// (`axes` of the result).
Rounds best_along_axes(const Execution& execution, SeriesPoints& points, const SeriesOptions& options,
                       const std::function<void(int)>& done, PartChoice& choice, SeriesLinks& out) {
  const SeriesLinks empty = out;
  Rounds best = best_linking(execution, points, options, done, choice, out);
  for (int time = 0; time < kMostScalings && !options.gate.bounded(); ++time) {
    const Vec3 factors = best.axis_factors();
    if (alike(factors)) break;
    const double cost = best.cost_per_point();
    const std::vector<Vec3> before = points.at;
    scale_axes(factors, points);
    SeriesLinks scaled = empty;
    PartChoice of_scaled;
    of_scaled.times = choice.times;
    of_scaled.untried = choice.untried, of_scaled.in_time = choice.in_time;
    scaled.rounds = out.rounds;
    Rounds now = best_linking(execution, points, options, done, of_scaled, scaled);
    if (!(now.cost_per_point() < cost - kLeastAxesGain)) {
      out.rounds = scaled.rounds;
      points.at = before;
      break;
    }
    scaled.axes = {out.axes.x * factors.x, out.axes.y * factors.y, out.axes.z * factors.z};
    // `points` may be those of `out`.
    std::vector<Vec3> at_scaled = std::move(points.at);
    best = std::move(now), choice = std::move(of_scaled), out = std::move(scaled);
    points.at = std::move(at_scaled);
  }
  return best;
}

/// For another choice of the model.
void forget_choice(SeriesLinks& out) {
  out.evidence = {}, out.skipped.clear();
  out.drift = out.rotation = out.persistent = out.joint = false;
}

/// The rounds of all models: on all detections or, in a large series, first on a part.
Rounds best_linking(const Execution& execution, SeriesPoints& points, const SeriesOptions& options,
                    const std::function<void(int)>& done, const detail::Untried& untried, SeriesLinks& out) {
  PartChoice choice;
  choice.untried = untried;
  auto part = middle_part(execution, points, options.most_to_choose);
  if (!part) {
    part = middle_frames(points, std::min(options.most_to_choose, kMostToChooseInTime), options.max_gap + 1);
    choice.in_time = part.has_value();
  }
  out.chosen_on = static_cast<std::int64_t>((part ? part->points : points).size());
  if (!part) return best_along_axes(execution, points, options, done, choice, out);
  const auto all = static_cast<std::int64_t>(points.size());
  const bool too_large = all > options.most_in_block;
  choice.times =
      static_cast<double>(std::min(all, options.most_in_block)) / static_cast<double>(part->points.size());
  if (points.size() > kMostForField) part->points.partners = sure_partners(execution, part->points);
  Rounds chosen = best_along_axes(execution, part->points, options, done, choice, out);
  scale_axes(out.axes, points);
  part->points.inner = std::move(part->inner);
  if (too_large && (out.persistent || out.chosen == MotionModel::field))
    return linking_in_blocks(execution, points, options, done, choice, chosen, part->first_frame, out);
  choice.first_frame = -part->first_frame;
  Rounds linked = linking_like(execution, points, options, done, choice, chosen, out);
  const auto coherent = [](double coherence) { return coherence > kLeastCoherence; };
  if (!choice.in_time || coherent(out.evidence.coherence) || !coherent(linked.coherence())) return linked;
  // Neighbours move together only in other frames.
  forget_choice(out);
  PartChoice on_all;
  on_all.untried = untried;
  out.chosen_on = all;
  return best_along_axes(execution, points, options, done, on_all, out);
}

/// Links again if properties tell which detections are false. Twice the time then.
Rounds with_particle_odds(const Execution& execution, SeriesPoints& points, const SeriesOptions& options,
                          const std::function<void(int)>& done, const detail::Untried& untried, Rounds best,
                          SeriesLinks& out) {
  if (std::ssize(points.at) > options.most_in_block) return best;
  auto odds = particle_odds(execution, points, best.solution_.linking, best.model_.clutter);
  if (!odds) return best;
  points.log_odds = std::move(*odds);
  forget_choice(out);
  return best_linking(execution, points, options, done, untried, out);
}

}  // namespace

SeriesLinks link_series(const Execution& execution, std::span<const Detections> frames,
                        const SeriesOptions& options, const std::function<void(int)>& done) {
  return detail::link_series(execution, frames, options, {}, done);
}

SeriesLinks detail::link_series(const Execution& execution, std::span<const Detections> frames,
                                const SeriesOptions& given, const Untried& untried,
                                const std::function<void(int)>& done) {
  check_options(given);
  SeriesOptions options = given;
  if (options.model == MotionModel::velocity || options.model == MotionModel::joint)
    options.most_at_once = std::numeric_limits<std::int64_t>::max();
  if (execution.backend == Backend::cuda)
    if (const auto devices = gpu::list_devices(); devices.devices.empty())
      throw ResourceError("execution.backend: no GPU: " + devices.why_none + "; use execution.backend: cpu");
  SeriesLinks out;
  out.points = pool_points(frames, execution, false);
  out.linking = SeriesLinking::none(out.points.size());
  if (out.points.size() == 0 || out.points.frames() < 2) {
    estimate_densities(out.points, execution);
    out.reason = "there is nothing to link";
    return out;
  }
  choose_properties(options, out.points);
  std::vector<Index> order = detail::position_order(out.points);
  std::vector<Index> copy_of = detail::find_copies(out.points, order);
  if (std::ssize(order) > options.most_to_choose) order = detail::cell_order(execution, out.points, order);
  std::vector<PropertyColumn> properties;
  if (!copy_of.empty()) {
    std::erase_if(order, [&](Index i) { return copy_of[at(i)] >= 0; });
    properties = out.points.properties;
  }
  out.points = detail::select_points(out.points, order);
  estimate_densities(out.points, execution);
  check_unit(out.points);
  std::optional<SeriesNodes> nodes;
  if (static_cast<std::int64_t>(out.points.size()) <= options.most_at_once)
    nodes = choose_nodes(
        execution, out.points, options,
        [&](const SeriesPoints& points) {
          SeriesLinks first;
          PartChoice choice;
          choice.untried = untried;
          return first_linking(execution, points, options, done, true, choice, first).solution_.linking;
        },
        done, out.rounds);
  else
    out.skipped.push_back("false detections around particles: " + std::to_string(out.points.size()) +
                          " detections, over " + std::to_string(options.most_at_once));
  SeriesPart part;
  if (nodes) {
    part = take_part(out.points, nodes->used, execution);
    out.exclusion_um = nodes->exclusion_um;
    out.used = nodes->used;
    out.points.log_odds = nodes->log_odds;
  }
  SeriesPoints& linked = nodes ? part.points : out.points;
  if (linked.size() <= kMostForField)
    linked.partners = sure_partners(execution, linked), linked.crowding = crowding_of(execution, linked);
  Rounds best = best_linking(execution, linked, options, done, untried, out);
  if (!nodes) best = with_particle_odds(execution, linked, options, done, untried, std::move(best), out);
  out.reason = options.model == MotionModel::automatic ? reason_of(out) : "asked for";
  if (const auto all = static_cast<std::int64_t>(linked.size()); out.chosen_on < all)
    out.reason += "; first estimates on " + std::to_string(out.chosen_on) + " of " + std::to_string(all) +
                  " detections, in the middle";
  out.linking = std::move(best.solution_.linking);
  if (!nodes) {
    LinkJumps jumps = keep_jumps(linked, out.linking, options.gate);
    out.linking = std::move(jumps.linking);
    out.jumped = std::move(jumps.jumped);
  }
  // If no property distinguishes false detections around particles, they look like daughters.
  const bool told = !nodes || nodes->told;
  const bool asked = options.events == Events::divisions || options.events == Events::merges;
  if (asked || (options.events == Events::automatic && told))
    detail::find_events(execution, options, linked, best,
                        nodes ? of_part(part, nodes->log_odds) : linked.log_odds, out);
  detail::take_rounds(std::move(best), out, !nodes && std::ssize(order) <= options.most_to_choose);
  if (nodes) detail::restore_all(part, out);
  out.copy_of = std::move(copy_of);
  detail::restore_order(order, out);
  if (!out.copy_of.empty()) out.points.properties = std::move(properties);
  detail::count_links(out);
  return out;
}

}  // namespace motes::tracking
