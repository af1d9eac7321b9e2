#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/quantile.h>
#include <motes/matching/registry.h>
#include <motes/tracking/series_joint.h>
#include <motes/tracking/series_links.h>

#include "tracking/link/series_field.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr int kPlainRounds = 4, kVelocityRounds = 6;
/// Beliefs look for candidates again where the round before changed more than this share of the links.
constexpr double kStale = 0.02;
/// Candidates are looked for in so many of the plain rounds; later rounds keep them.
constexpr int kPlainFinds = 3;
/// In larger series the field is fitted in every fourth round with velocity or beliefs: there it hardly
/// moves.
constexpr std::size_t kSmallSeries = 30'000;
constexpr int kFieldRounds = 4;
/// Where particles move less than this part of their spacing, links without prediction are good enough to fit
/// a field to.
constexpr double kSmallSteps = 0.2;
/// Links that tell whether neighbours move together.
constexpr std::int64_t kCoherenceSample = 20'000;
/// Rounds end when fewer links than this share change.
constexpr double kSettled = 1e-3;
/// Those with velocity, where beliefs may follow.
constexpr double kSettledForBeliefs = 5e-3;

/// Of each detection's candidates so many, within so many nats of its likeliest one, can be links.
constexpr std::size_t kMostLikely = 20;
constexpr double kLikelyNats = 12;

/// Joint inference: candidates kept, and when a share of ends or false detections is not nothing.
constexpr double kJointNats = 9, kFewFalse = 0.004;
constexpr std::size_t kJointCandidates = 20;
constexpr int kJointRounds = 16, kJointIterations = 10;
/// These rounds end when fewer links than this share change.
constexpr double kJointSettled = 5e-3;
constexpr std::int64_t kMostTriplets = 400'000'000;
/// What `automatic` spends, in counts so that it is the same everywhere: a field up to so many detections
/// (some 30 microseconds each on two cores), velocity up to so many candidates (1), beliefs up to so many
/// triplets (0.2).
constexpr std::size_t kMostForField = 400'000;
constexpr std::int64_t kMostForVelocity = 10'000'000, kMostForBeliefs = 20'000'000;
/// Beliefs are given up after six rounds where their linking is less likely by so many nats a detection.
constexpr double kHopeless = 0.09;
constexpr int kRoundsOfHope = 6;

/// What the data must say for a model, in nats a link: that neighbours' motion predicts links left out of it;
/// that the links before and after make links likelier, and that displacements go on (beta), not only that
/// links can be chosen to look so.
constexpr double kLeastCoherence = 0, kLeastGain = 0.005, kLeastBeta = 0.05;
/// A beta that rises by less from one round to the next will not get there.
constexpr double kRisingBeta = 0.01;
/// The rounds with velocity look for the likeliest linking, beliefs for the links most likely right: theirs
/// may be less likely by so many nats a detection and still be better. On simulations they were at -0.01, not
/// at -0.08.
constexpr double kJointTolerance = 0.03;

std::int64_t changed(const SeriesLinking& a, const SeriesLinking& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.next.size(); ++i) count += a.next[i] != b.next[i];
  return count;
}

/// The rounds of one motion model over one series.
class Rounds {
 public:
  Rounds(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
         const std::function<void(int)>& done, int& solved)
      : execution_(execution), points_(&points), options_(options), done_(done), solved_(&solved) {}

  /// Frame to frame first; then with gaps, from the guess that every track that ended was a miss: a share of
  /// gap links once taken to be 0 stays 0.
  void plain(int lags, int rounds) {
    model_ = first_model(*points_, prediction_, lags);
    model_.gate_um = options_.gate_um;
    for (int round = 0; round < rounds; ++round) {
      if (round > 0) {
        model_ = fit_model(*points_, prediction_, solution_.linking, model_);
        if (round == 1) expect_misses();
      }
      if (round < kPlainFinds) find(round == 0 ? 1 : lags);
      if (!improve() && round > 1) break;
    }
  }

  /// From a linking on, around its neighbours' motion.
  void along_field(SeriesLinking start, int lags, int rounds) {
    solution_.linking = std::move(start);
    for (int round = 0; round < rounds; ++round) {
      prediction_ = predict_by_field(execution_, *points_, solution_.linking, lags);
      if (round == 0) model_ = first_model(*points_, prediction_, lags), model_.gate_um = options_.gate_um;
      model_ = fit_model(*points_, prediction_, solution_.linking, model_);
      if (round == 0) expect_misses();
      if (round == 0) find(lags);
      if (!improve()) break;
    }
  }

  /// From there on, with the links before and after in every cost. Terms of the last two linkings are
  /// averaged: else two linkings can take turns.
  /// `doubt`: done as soon as displacements do not go on and do so no more than in the round before.
  void with_velocity(int rounds, bool doubt) {
    double beta = -1;
    std::vector<double> older;
    for (int round = 0; round < rounds; ++round) {
      if (round % field_rounds() == 0 && !prediction_.by_lag.empty())
        prediction_ = predict_by_field(execution_, *points_, solution_.linking, model_.lags());
      model_ = fit_model(*points_, prediction_, solution_.linking, model_);
      velocity_ = fit_velocity(*points_, prediction_, model_, solution_.linking);
      if (doubt && round > 0 && velocity_.beta() < kLeastBeta && velocity_.beta() < beta + kRisingBeta) break;
      beta = velocity_.beta();
      std::vector<double> gains = gains_of(solution_.linking, velocity_);
      std::vector<double> costs = candidate_costs(execution_, *points_, prediction_, model_, candidates_);
      const double part = older.empty() ? 1 : 0.5;
      for (std::size_t e = 0; e < costs.size(); ++e) {
        costs[e] -= part * gains[e];
        if (!older.empty()) costs[e] -= part * older[e];
      }
      older = std::move(gains);
      const SeriesLinking before = solution_.linking;
      solve(costs);
      moved_ = static_cast<double>(changed(before, solution_.linking)) /
               std::max(1.0, static_cast<double>(before.links()));
      if (moved_ < (doubt ? kSettledForBeliefs : kSettled)) break;
    }
  }

  /// From there on, over all frames at once: beliefs, their most likely linking, everything estimated anew
  /// from it. Done early where a linking costs more than `hopeless`. False where there would be too many
  /// triplets.
  bool joint(int rounds, std::int64_t most_triplets, double hopeless) {
    SeriesCandidates all = std::move(candidates_);
    JointBeliefs beliefs;
    bool settled = false;
    for (int round = 0; round < rounds; ++round) {
      if (round % field_rounds() == 0 && !prediction_.by_lag.empty())
        prediction_ = predict_by_field(execution_, *points_, solution_.linking, model_.lags());
      model_ = fit_model(*points_, prediction_, solution_.linking, model_);
      velocity_ = fit_velocity(*points_, prediction_, model_, solution_.linking);
      if (moved_ > kStale)
        all = likely_candidates(execution_, *points_, prediction_, model_, model_.lags(), solution_.linking,
                                kLikelyNats, kMostLikely);
      candidates_ = prune_candidates(all, candidate_costs(execution_, *points_, prediction_, model_, all),
                                     solution_.linking, kJointNats, kJointCandidates);
      if (joint_triplets(candidates_) > most_triplets) return false;
      beliefs = {};
      propagate_beliefs(execution_, *points_, prediction_, model_, velocity_, candidates_,
                        settled ? 2 * kJointIterations : kJointIterations, beliefs);
      std::vector<double> costs(candidates_.to.size());
      for (std::size_t e = 0; e < costs.size(); ++e) costs[e] = -std::log(beliefs.odds(e));
      const SeriesLinking before = solution_.linking;
      const double both_ends = model_.lone > kFewFalse || model_.end > kFewFalse ? 2 : 5;
      solution_ = solve_odds(execution_, *points_, candidates_, costs, both_ends / 2, options_.solver,
                             options_.verify);
      ++*solved_;
      if (done_) done_(*solved_);
      if (settled || (round + 1 == kRoundsOfHope && cost_per_point() > hopeless)) break;
      const auto few = kJointSettled * static_cast<double>(before.links());
      const auto moved = static_cast<double>(changed(before, solution_.linking));
      moved_ = moved / std::max(1.0, static_cast<double>(before.links()));
      settled = moved < few || round + 2 == rounds;
    }
    return true;
  }

  /// Median displacement of links over one frame, in spacings.
  double steps() const {
    std::vector<double> scales = model_.scale;
    return quantile(scales, 0.5) * student_median(points_->dims) / points_->spacing_um;
  }

  double cost_per_point() const { return chain_cost() / static_cast<double>(points_->size()); }

  /// How much likelier, in nats, links over one frame are around their neighbours' motion than around their
  /// start, each left out of its own prediction.
  double coherence() const {
    const SeriesLinking sample = some_frames();
    const Prediction field = predict_by_field(execution_, *points_, sample, 1);
    SeriesModel one = model_;
    one.elapsed = {1};
    one.growth.resize(1);
    one.shape.resize(1, RadialDensity(points_->dims));
    const SeriesModel plain = fit_model(*points_, {}, sample, one);
    const SeriesModel shared = fit_model(*points_, field, sample, one);
    double gain = 0, links = 0;
    for (std::size_t i = 0; i < points_->size(); ++i) {
      const Index j = sample.next[i];
      if (j < 0 || points_->slot[static_cast<std::size_t>(j)] != points_->slot[i] + 1) continue;
      const auto from = static_cast<Index>(i);
      gain += plain.link_cost(points_->slot[i], 1, length_of(residual(*points_, {}, from, j))) -
              shared.link_cost(points_->slot[i], 1, length_of(residual(*points_, field, from, j)));
      links += 1;
    }
    return links > 0 ? gain / links : 0;
  }

  /// -log-likelihood of the linking: as the assignment's objective, but every turn of a track counted once.
  double chain_cost() const {
    double cost = 0;
    const auto n = static_cast<Index>(points_->size());
    const std::int32_t last = points_->frames() - 1;
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const Index j = solution_.linking.next[k], p = solution_.linking.previous[k];
      const std::int32_t t = points_->slot[k];
      const double density = points_->density[static_cast<std::size_t>(t)];
      if (j < 0 && p < 0) {
        cost +=
            std::min(model_.lone_cost(density), model_.end_cost(last - t) + model_.birth_cost(density, t));
        continue;
      }
      if (p < 0) cost += model_.birth_cost(density, t);
      if (j < 0) {
        cost += model_.end_cost(last - t);
        continue;
      }
      const int lag = points_->slot[static_cast<std::size_t>(j)] - t;
      const Vec3 d = residual(*points_, prediction_, i, j);
      cost += model_.link_cost(t, lag, length_of(d));
      if (p < 0 || velocity_.by_lag.empty()) continue;
      const int before = t - points_->slot[static_cast<std::size_t>(p)];
      const double unit = 1 / model_.scale[static_cast<std::size_t>(t)];
      const Vec3 v = residual(*points_, prediction_, p, i);
      const double f = unit / before;
      cost -= velocity_gain(velocity_, model_, lag, 0, before > 1 ? 1 : 0,
                            {d.x * unit, d.y * unit, d.z * unit}, {v.x * f, v.y * f, v.z * f});
    }
    return cost;
  }

  SeriesSolution solution_;
  SeriesModel model_;
  VelocityModel velocity_;
  Prediction prediction_;
  SeriesCandidates candidates_;

 private:
  int field_rounds() const { return points_->size() > kSmallSeries ? kFieldRounds : 1; }
  /// The links of every so-many-th frame, so many that the sample suffices.
  SeriesLinking some_frames() const {
    SeriesLinking out = solution_.linking;
    const auto step = static_cast<std::int32_t>(std::max<std::int64_t>(1, out.links() / kCoherenceSample));
    for (std::size_t i = 0; i < out.next.size(); ++i)
      if (out.next[i] >= 0 && points_->slot[i] % step != 0)
        out.previous[static_cast<std::size_t>(out.next[i])] = -1, out.next[i] = -1;
    return out;
  }
  void find(int lags) {
    candidates_ = likely_candidates(execution_, *points_, prediction_, model_, lags, solution_.linking,
                                    kLikelyNats, kMostLikely);
  }
  /// One more linking; whether it is another.
  bool improve() {
    const SeriesLinking before = solution_.linking;
    solve(candidate_costs(execution_, *points_, prediction_, model_, candidates_));
    if (before.next.size() != points_->size()) return true;
    return static_cast<double>(changed(before, solution_.linking)) >=
           kSettled * static_cast<double>(before.links());
  }
  void expect_misses() {
    const double missed = std::clamp(model_.end, 0.01, 0.5);
    double sum = 0;
    for (std::size_t k = 0; k < model_.elapsed.size(); ++k)
      sum += model_.elapsed[k] = std::pow(missed, static_cast<double>(k));
    for (double& share : model_.elapsed) share /= sum;
    model_.end = model_.birth = std::max(std::pow(missed, model_.lags()), 0.002);
  }
  std::vector<double> gains_of(const SeriesLinking& linking, const VelocityModel& velocity) const {
    return velocity_gains(execution_, *points_, prediction_, model_, velocity, linking, candidates_);
  }
  void solve(const std::vector<double>& costs) {
    solution_ =
        solve_series(execution_, *points_, model_, candidates_, costs, options_.solver, options_.verify);
    ++*solved_;
    if (done_) done_(*solved_);
  }

  double moved_ = 1;  ///< share of links that the last round changed
  Execution execution_;
  const SeriesPoints* points_;
  SeriesOptions options_;
  std::function<void(int)> done_;
  int* solved_;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Why `automatic` took what it took.
std::string reason_of(const SeriesLinks& links) {
  const SeriesEvidence& e = links.evidence;
  std::string text = links.chosen == MotionModel::field
                         ? "links are " + number(e.plain - *e.field) +
                               " nats a detection likelier around their neighbours' motion"
                     : e.field ? "neighbours' motion makes links no likelier"
                     : e.coherence > kLeastCoherence
                         ? "neighbours move together (" + number(e.coherence) + " nats a link)"
                         : "neighbours do not move together (" + number(e.coherence) + " nats a link)";
  if (e.beta && e.velocity)
    text += links.persistent ? "; displacements persist (beta " + number(*e.beta) + ")"
                             : "; displacements do not persist (beta " + number(*e.beta) + ")";
  if (e.joint)
    text += std::string(links.joint ? "; taken" : "; not taken") + " from beliefs over all frames (" +
            number(*e.velocity - *e.joint) + " nats a detection likelier)";
  for (const std::string& spared : links.spared) text += "; not tried, to save time: " + spared;
  return text;
}

void check(const SeriesOptions& options) {
  if (options.max_gap < 0) throw UsageError("linking.max_gap must not be negative");
  if (options.solver == "auto") return;
  const matching::SolverInfo* info = matching::find_solver(options.solver);
  if (info == nullptr || info->family() != matching::Family::assignment)
    throw UsageError("linking.solver: no assignment solver is called '" + options.solver +
                     "'; `motes info` lists them");
}

}  // namespace

SeriesLinks link_series(const Execution& execution, std::span<const Detections> frames,
                        const SeriesOptions& options, const std::function<void(int)>& done) {
  check(options);
  if (execution.backend == Backend::cuda)
    if (const auto devices = gpu::list_devices(); devices.devices.empty())
      throw ResourceError("execution.backend: no GPU: " + devices.why_none + "; use execution.backend: cpu");
  SeriesLinks out;
  out.points = pool_points(frames);
  out.linking = SeriesLinking::none(out.points.size());
  const int lags = std::min(options.max_gap + 1, std::max(1, out.points.frames() - 1));
  if (out.points.size() == 0 || out.points.frames() < 2) {
    out.reason = "there is nothing to link";
    return out;
  }
  const bool by_data = options.model == MotionModel::automatic;
  Rounds best(execution, out.points, options, done, out.rounds);
  if (options.model == MotionModel::field) {
    best.along_field(link_along_field(execution, frames, out.points, options.solver), lags, kPlainRounds);
    out.chosen = MotionModel::field;
  } else {
    best.plain(lags, kPlainRounds);
  }
  out.evidence.plain = best.cost_per_point();
  if (by_data) {
    out.evidence.coherence = best.coherence();
    if (out.evidence.coherence > kLeastCoherence && out.points.size() > kMostForField) {
      out.spared.push_back("neighbours' motion (field): " + std::to_string(out.points.size()) +
                           " detections, over " + std::to_string(kMostForField));
    } else if (out.evidence.coherence > kLeastCoherence) {
      Rounds field(execution, out.points, options, done, out.rounds);
      field.along_field(best.steps() < kSmallSteps
                            ? best.solution_.linking
                            : link_along_field(execution, frames, out.points, options.solver),
                        lags, kPlainRounds);
      out.evidence.field = field.cost_per_point();
      if (*out.evidence.field < out.evidence.plain) best = std::move(field), out.chosen = MotionModel::field;
    }
  }
  if (by_data && best.candidates_.size() > kMostForVelocity) {
    out.spared.push_back("persistence (velocity, joint): " + std::to_string(best.candidates_.size()) +
                         " candidate links, over " + std::to_string(kMostForVelocity));
  } else if (options.model != MotionModel::standing) {
    const bool sure = options.model == MotionModel::velocity || options.model == MotionModel::joint;
    Rounds persistent = best;
    persistent.with_velocity(kVelocityRounds, !sure);
    out.evidence.velocity = persistent.cost_per_point();
    out.evidence.beta = persistent.velocity_.beta();
    const double gained =
        (out.chosen == MotionModel::field ? out.evidence.field.value_or(best.cost_per_point())
                                          : out.evidence.plain) -
        *out.evidence.velocity;
    out.persistent = sure || (gained > kLeastGain && *out.evidence.beta >= kLeastBeta);
    if (out.persistent) {
      best = std::move(persistent);
      if (out.chosen != MotionModel::field) out.chosen = MotionModel::velocity;
    }
  }
  if (options.model == MotionModel::joint || (by_data && out.persistent)) {
    Rounds whole = best;
    if (whole.joint(kJointRounds, by_data ? kMostForBeliefs : kMostTriplets,
                    by_data ? *out.evidence.velocity + kHopeless : std::numeric_limits<double>::infinity())) {
      out.evidence.joint = whole.cost_per_point();
      if (!by_data || *out.evidence.joint < *out.evidence.velocity + kJointTolerance) {
        best = std::move(whole);
        out.joint = true;
        if (out.chosen != MotionModel::field) out.chosen = MotionModel::joint;
      }
    } else if (by_data) {
      out.spared.push_back("beliefs (joint): over " + std::to_string(kMostForBeliefs) +
                           " pairs of links that meet");
    } else {
      throw ResourceError("linking.model: joint: too many possible tracks; use linking.model: velocity");
    }
  }
  out.reason = by_data ? reason_of(out) : "asked for";
  out.linking = std::move(best.solution_.linking);
  if (options.events != Events::none) {
    out.divisions = find_divisions(execution, out.points, out.linking,
                                   {out.chosen == MotionModel::field, options.events == Events::divisions});
    cut_at_divisions(out.divisions.list, out.linking);
  }
  out.model = std::move(best.model_);
  out.velocity = std::move(best.velocity_);
  out.candidates = best.candidates_.size();
  out.edges = best.solution_.edges;
  out.false_detections = best.solution_.false_detections;
  out.objective = best.solution_.objective;
  out.verified = best.solution_.verified;
  out.solver = best.solution_.solver;
  out.links = out.linking.links();
  for (std::size_t i = 0; i < out.points.size(); ++i)
    if (const Index j = out.linking.next[i]; j >= 0)
      out.gap_links += out.points.slot[static_cast<std::size_t>(j)] - out.points.slot[i] > 1;
  return out;
}

}  // namespace motes::tracking
