#include "tracking/link/series/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_joint.h>

#include "tracking/link/large/blocks.h"
#include "tracking/link/large/windows.h"
#include "tracking/link/motion/drift.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/motion/rigid.h"
#include "tracking/link/series/gap_shares.h"
#include "tracking/link/series/node_model.h"
#include "tracking/link/series/problem.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// Candidates are searched in this many of the plain rounds; later rounds keep them.
constexpr int kPlainFinds = 3;
/// In larger series the field is fitted only in every kFieldRounds-th round with velocity or belief
/// propagation, in which it hardly changes.
constexpr std::size_t kSmallSeries = 30'000;
constexpr int kFieldRounds = 4;
/// Number of links on which it is tested whether neighbours move together.
constexpr std::int64_t kCoherenceSample = 10'000;
/// Rounds with velocity before belief propagation end when fewer links than this share change.
constexpr double kSettledForBeliefs = 5e-3;

/// Each detection has at most kMostLikely candidates, within kLikelyNats of its most likely one.
constexpr std::size_t kMostLikely = 20;
constexpr double kLikelyNats = 12;

/// A second start keeps candidates for another model if no link becomes cheaper by more than this, compared
/// with a link over one frame. Compared are links of kLengths scales.
constexpr double kAlikeNats = 1.5, kLengths[] = {1, 4};

/// If beta rises by less than this from one round to the next, it will not reach the limit.
constexpr double kRisingBeta = 0.01;

/// Whether the candidates that were found with one model serve for another.
bool serve(const SeriesModel& found, const SeriesModel& now) {
  if (found.lags() != now.lags()) return false;
  for (std::int32_t t = 0; t < std::ssize(now.scale); ++t) {
    const auto more = [&](int lag, double scales) {
      const double length = scales * now.scale_of(t, lag);
      return now.link_cost(t, lag, length) - found.link_cost(t, lag, length);
    };
    const double common = more(1, kLengths[0]);
    for (int lag = 1; lag <= now.lags(); ++lag)
      for (const double scales : kLengths)
        if (!(more(lag, scales) >= common - kAlikeNats)) return false;
  }
  return true;
}

/// Rank correlation of the lengths of the links into and out of detections, among the detections of each
/// frame. O(points log points).
double speed_correlation(const SeriesPoints& points, const Prediction& prediction,
                         const SeriesLinking& linking) {
  std::vector<double> before(points.size(), std::numeric_limits<double>::quiet_NaN()), after = before;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index from = linking.previous[i], to = linking.next[i];
    if (from < 0 || to < 0) continue;
    before[i] = length_of(residual(points, prediction, from, static_cast<Index>(i)));
    after[i] = length_of(residual(points, prediction, static_cast<Index>(i), to));
  }
  before = frame_ranks(points, before), after = frame_ranks(points, after);
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isnan(before[i])) continue;
    const double a = before[i] - 0.5, b = after[i] - 0.5;
    product += a * b, squares += (a * a + b * b) / 2;
  }
  return squares > 0 ? product / squares : 0;
}

}  // namespace

std::int64_t changed_links(const SeriesLinking& a, const SeriesLinking& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.next.size(); ++i) count += a.next[i] != b.next[i];
  return count;
}

std::int64_t missing_links(const SeriesLinking& of, const SeriesLinking& linking) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < of.next.size(); ++i) count += of.next[i] >= 0 && of.next[i] != linking.next[i];
  return count;
}

void Rounds::plain(int lags, int rounds) {
  begin_plain(lags);
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) {
      fit();
      if (round == 1) expect_misses();
    }
    if (round < kPlainFinds) find(round == 0 ? 1 : lags);
    if (!improve() && round > 1) break;
  }
}

void Rounds::begin_plain(int lags) {
  if (!first_ || first_->lags() != lags)
    first_ = std::make_shared<const SeriesModel>(first_model(execution_, *points_, prediction_, lags));
  model_ = *first_;
  model_.gate = options_.gate;
}

bool Rounds::plain_from(SeriesLinking start, int lags, int rounds, double hopeless, double ends,
                        const SeriesLinking* known) {
  solution_.linking = std::move(start);
  begin_plain(lags);
  for (int round = 0; round < rounds; ++round) {
    fit();
    if (round == 0) expect_misses(ends);
    if (round < kPlainFinds) find_again(lags);
    const bool moves = improve();
    if (known != nullptr && static_cast<double>(changed_links(*known, solution_.linking)) <
                                kRoundsSettled * static_cast<double>(known->links()))
      return true;
    if ((!moves && round > 0) || (round == 1 && cost_per_point() > hopeless)) break;
  }
  return false;
}

void Rounds::begin_from(SeriesLinking start, int lags) {
  solution_.linking = std::move(start);
  begin_plain(lags);
  fit();
  expect_misses();
  find(lags);
}

void Rounds::begin_among_false(int lags, double scale, double lost, double ends, double missed) {
  begin_plain(lags);
  std::fill(model_.scale.begin(), model_.scale.end(), scale);
  double sum = 0;
  for (std::size_t k = 0; k < model_.elapsed.size(); ++k)
    sum += model_.elapsed[k] = std::pow(missed, static_cast<double>(k));
  for (double& share : model_.elapsed) share /= sum;
  model_.end = model_.birth = ends;
  model_.clutter = lost;
}

bool Rounds::differs(const SeriesLinking& other, double share) const {
  return static_cast<double>(missing_links(other, solution_.linking)) >=
         share * static_cast<double>(solution_.linking.links());
}

void Rounds::along_field(SeriesLinking start, int lags, int rounds, double hopeless) {
  solution_.linking = std::move(start);
  for (int round = 0; round < rounds; ++round) {
    predict(lags);
    if (round == 0)
      model_ = first_model(execution_, *points_, prediction_, lags), model_.gate = options_.gate;
    fit();
    if (round == 0) expect_misses();
    if (round == 0) find(lags);
    if (!improve() || (round == 1 && cost_per_point() > hopeless)) break;
  }
}

void Rounds::begin_like(Rounds& part, std::int32_t first_frame) {
  part.fit();
  if (!part.velocity_.by_lag.empty())
    part.velocity_ =
        fit_velocity(part.execution_, *part.points_, part.prediction_, part.model_, part.solution_.linking);
  begin_with(part.model_, part.velocity_, first_frame);
  nats_ = part.nats_;
}

void Rounds::begin_with(const SeriesModel& model, const VelocityModel& velocity, std::int32_t first_frame) {
  model_ = model_of_frames(model, first_frame, points_->frames());
  velocity_ = velocity;
  nats_ = kJointNats;
  known_ = true;
}

void Rounds::plain_on(int lags, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) fit();
    find_again(lags);
    if (!improve()) break;
  }
}

void Rounds::along_field_on(SeriesLinking start, int lags, int rounds) {
  solution_.linking = std::move(start);
  for (int round = 0; round < rounds; ++round) {
    predict(lags);
    if (round > 0) fit();
    if (round == 0) find(lags);
    if (!improve()) break;
  }
}

void Rounds::refit() {
  if (!std::exchange(known_, false)) {
    fit();
    velocity_ = fit_velocity(execution_, *points_, prediction_, model_, solution_.linking);
  }
}

bool Rounds::along_drift(int lags, int rounds) {
  double gain = 0;
  const std::vector<Vec3> shifts = likely_shifts(execution_, *points_, &gain);
  if (!(gain > 0)) return false;
  drift_ = true;
  prediction_ = predict_by_shifts(*points_, shifts, lags);
  model_ = first_model(execution_, *points_, prediction_, lags);
  model_.gate = options_.gate;
  find(1);
  improve();
  along_field(std::move(solution_.linking), lags, rounds);
  return true;
}

void Rounds::plain_like(const Rounds& other, int lags, int rounds) {
  model_ = other.model_;
  plain_on(lags, rounds);
}

bool Rounds::start_by_rotation(int lags, const SeriesLinking* known) {
  likely_motions_ = likely_motions(execution_, *points_, known);
  if (likely_motions_.empty()) return false;
  prediction_ = predict_by_motions(*points_, likely_motions_, lags);
  model_ = first_model(execution_, *points_, prediction_, lags);
  model_.gate = options_.gate;
  find(1);
  improve();
  return true;
}

void Rounds::along_rotation(int lags, int rounds) {
  motions_ = likely_motions_;
  along_field(std::move(solution_.linking), lags, rounds);
}

void Rounds::with_velocity(int rounds, bool doubt) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  double beta = rests_ ? kAny : -kAny;
  std::vector<double> older;
  for (int round = 0; round < rounds; ++round) {
    if (round % field_rounds() == 0 && !prediction_.by_lag.empty()) predict(model_.lags());
    refit();
    const bool tells = velocity_.beta() >= kLeastBeta || returns(velocity_) || speeds_persist();
    if (doubt && !tells && velocity_.beta() < beta + kRisingBeta) break;
    beta = velocity_.beta();
    std::vector<double> gains = gains_of(solution_.linking, velocity_);
    std::vector<double> costs =
        candidate_costs(execution_, *points_, prediction_, model_, candidates_, occlusion_.get());
    const double part = older.empty() ? 1 : 0.5;
    for (std::size_t e = 0; e < costs.size(); ++e) {
      costs[e] -= part * gains[e];
      if (!older.empty()) costs[e] -= part * older[e];
    }
    older = std::move(gains);
    const SeriesLinking before = solution_.linking;
    solve(costs);
    moved_ = static_cast<double>(changed_links(before, solution_.linking)) /
             std::max(1.0, static_cast<double>(before.links()));
    if (moved_ < (doubt ? kSettledForBeliefs : kRoundsSettled)) break;
  }
}

double Rounds::steps() const {
  std::vector<double> scales = model_.scale;
  return quantile(scales, 0.5) * student_median(points_->dims) / points_->spacing_um;
}

double Rounds::coherence() {
  const SeriesLinking sample = some_frames();
  return gain_of(predict_by_field(execution_, *points_, lists(), sample, 1), sample);
}

double Rounds::gain_of(const Prediction& motion, const SeriesLinking& sample) const {
  SeriesModel one = model_;
  one.elapsed = {1};
  one.growth.resize(1);
  one.shape.resize(1, RadialDensity(points_->dims));
  const SeriesModel plain = fit_model(execution_, *points_, {}, sample, one);
  const SeriesModel shared = fit_model(execution_, *points_, motion, sample, one);
  double gain = 0, links = 0;
  for (std::size_t i = 0; i < points_->size(); ++i) {
    const Index j = sample.next[i];
    if (j < 0 || points_->slot[static_cast<std::size_t>(j)] != points_->slot[i] + 1) continue;
    const auto from = static_cast<Index>(i);
    gain += plain.link_cost(points_->slot[i], 1, length_of(residual(*points_, {}, from, j))) -
            shared.link_cost(points_->slot[i], 1, length_of(residual(*points_, motion, from, j)));
    links += 1;
  }
  return links > 0 ? gain / links : 0;
}

double Rounds::surely_likelier(const Rounds& other, double errors) const {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(points_->size());
  for (std::size_t i = 0; i < points_->size(); ++i) {
    const auto k = static_cast<Index>(i);
    const double gain = other.chain_cost(k, points_->slot[i]) - chain_cost(k, points_->slot[i]);
    sum += gain, squares += gain * gain;
  }
  return sum + other.choices_ - choices_ - errors * std::sqrt(std::max(0.0, squares - sum * sum / n));
}

double Rounds::chain_cost() const {
  std::vector<double> of_frame(static_cast<std::size_t>(points_->frames()), 0);
  parallel_for(thread_count(execution_), points_->frames(), [&](std::int64_t t) {
    const auto frame = static_cast<std::size_t>(t);
    for (Index i = points_->offset[frame]; i < points_->offset[frame + 1]; ++i)
      of_frame[frame] += chain_cost(i, static_cast<std::int32_t>(t));
  });
  return std::accumulate(of_frame.begin(), of_frame.end(), choices_);
}

double Rounds::chain_cost(Index i, std::int32_t t) const {
  const auto k = static_cast<std::size_t>(i);
  const Index j = solution_.linking.next[k], p = solution_.linking.previous[k];
  const std::int32_t last = points_->frames() - 1;
  const double density = points_->density_at(k);
  if (j < 0 && p < 0)
    return kNatsOfFalse + alone_cost(model_.clutter_cost(*points_, i), model_.end_cost(last - t),
                                     model_.birth_cost(density, t),
                                     few_frames(points_->frames(), model_.lags()));
  double cost = p < 0 ? model_.birth_cost(density, t) : 0;
  if (j < 0) return cost + model_.end_cost(last - t);
  const int lag = points_->slot[static_cast<std::size_t>(j)] - t;
  const Vec3 d = residual(*points_, prediction_, i, j);
  cost += model_.link_cost(t, lag, length_of(d));
  if (lag > 1 && occlusion_) cost -= occlusion_->gain(prediction_, i, j);
  if (p < 0 || velocity_.by_lag.empty()) return cost;
  const int before = t - points_->slot[static_cast<std::size_t>(p)];
  const double unit = 1 / model_.scale[static_cast<std::size_t>(t)];
  const Vec3 v = residual(*points_, prediction_, p, i);
  const double f = unit / before;
  return cost - velocity_gain(velocity_, model_, lag, 0, before > 1 ? 1 : 0,
                              {d.x * unit, d.y * unit, d.z * unit}, {v.x * f, v.y * f, v.z * f});
}

void Rounds::fit() {
  occlusion_ =
      in_windows() ? nullptr : Occlusion::fit(execution_, *points_, grids(), prediction_, solution_.linking);
  model_ = fit_model(execution_, *points_, prediction_, solution_.linking, model_,
                     velocity_.by_lag.empty() ? nullptr : &velocity_, occlusion_.get());
}

int Rounds::field_rounds() const { return points_->size() > kSmallSeries ? kFieldRounds : 1; }

SeriesLinking Rounds::some_frames() const {
  SeriesLinking out = solution_.linking;
  const auto step = static_cast<std::int32_t>(std::max<std::int64_t>(1, out.links() / kCoherenceSample));
  for (std::size_t i = 0; i < out.next.size(); ++i)
    if (out.next[i] >= 0 && points_->slot[i] % step != 0)
      out.previous[static_cast<std::size_t>(out.next[i])] = -1, out.next[i] = -1;
  return out;
}

void Rounds::predict(int lags) {
  if (!motions_.empty()) {
    prediction_ = predict_by_rigid(execution_, *points_, solution_.linking, lags, motions_, &choices_);
    return;
  }
  if (drift_) {
    prediction_ = predict_by_drift(execution_, *points_, solution_.linking, lags, &choices_);
    return;
  }
  prediction_ = predict_by_field(execution_, *points_, lists(), solution_.linking, lags,
                                 std::move(prediction_), predicted_from_);
  predicted_from_ = solution_.linking;
}

const SeriesLists& Rounds::lists() {
  if (!lists_) lists_ = std::make_shared<const SeriesLists>(*points_);
  return *lists_;
}

const SeriesGrids& Rounds::grids() {
  if (!grids_) grids_ = std::make_shared<const SeriesGrids>(grids_of(execution_, *points_));
  return *grids_;
}

SeriesCandidates Rounds::likely(const SeriesModel& model, int lags) {
  return find_candidates(execution_, *points_, prediction_, model, lags, &solution_.linking, kLikelyNats,
                         kMostLikely, &grids());
}

void Rounds::find(int lags) {
  found_with_.reset();
  lags_ = lags;
  if (!in_windows()) candidates_ = likely(model_, lags);
}

void Rounds::find_again(int lags) {
  if (found_with_ && lags == lags_ && serve(*found_with_, model_)) return;
  find(lags);
  found_with_ = std::make_shared<const SeriesModel>(model_);
}

bool Rounds::improve() {
  const SeriesLinking before = solution_.linking;
  if (in_windows())
    solve_in_windows();
  else
    solve(candidate_costs(execution_, *points_, prediction_, model_, candidates_, occlusion_.get()));
  if (before.next.size() != points_->size()) return true;
  return static_cast<double>(changed_links(before, solution_.linking)) >=
         kRoundsSettled * static_cast<double>(before.links());
}

void Rounds::expect_misses(double least_ends) {
  const double missed = std::clamp(model_.end, 0.01, 0.5);
  double sum = 0;
  for (std::size_t k = 0; k < model_.elapsed.size(); ++k)
    sum += model_.elapsed[k] = std::pow(missed, static_cast<double>(k));
  for (double& share : model_.elapsed) share /= sum;
  model_.end = model_.birth = std::max(std::pow(missed, model_.lags()), least_ends);
}

void Rounds::solve(const std::vector<double>& costs) {
  solution_ =
      solve_series(execution_, *points_, model_, candidates_, costs, options_.solver, options_.verify);
  found_ = candidates_.size();
  count_solved();
}

void Rounds::solve_in_windows() {
  WindowedSolution now = solve_windows(
      execution_, *points_, prediction_, model_, solution_.linking,
      {options_.most_at_once, lags_, kLikelyNats, kMostLikely, options_.solver, options_.verify});
  solution_ = std::move(now.solution);
  found_ = now.candidates;
  windows_ = now.windows;
  gap_nats_ = now.gap;
  count_solved();
}

void Rounds::count_solved() {
  ++*solved_;
  if (done_) done_(*solved_);
}

double Rounds::meetings() const {
  const SeriesLinking& linking = solution_.linking;
  double meeting = 0;
  for (std::size_t i = 0; i < linking.next.size(); ++i)
    meeting += linking.next[i] >= 0 && linking.previous[i] >= 0;
  return std::max(meeting, 1.0);
}

double Rounds::least_beta() const {
  return std::max(kLeastBeta, kSureBeta / std::sqrt(points_->dims * meetings()));
}

bool Rounds::speeds_persist() const {
  return velocity_.gain > kSpeedsGain + kGainByChance / meetings() &&
         speed_correlation(*points_, prediction_, solution_.linking) > kSpeedCorrelation;
}

Rounds with_common_ends(Rounds best) {
  if (std::max(best.model_.end, best.model_.birth) < kLeastEnds) return best;
  Rounds other = best;
  const double cost = best.cost_per_point();
  other.plain_from(best.solution_.linking, best.model_.lags(), kPlainRounds, cost + kHopeless, kCommonEnds);
  return other.cost_per_point() < cost ? other : best;
}

}  // namespace motes::tracking
