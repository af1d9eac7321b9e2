#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <motes/base/quantile.h>
#include <motes/tracking/series_joint.h>

#include "tracking/link/series/gap_shares.h"
#include "tracking/link/series/rounds.h"

namespace motes::tracking {
namespace {

/// Candidates are searched again if the round before changed more than this share of the links.
constexpr double kStale = 0.02;

/// Share of ends or false detections that is not negligible; number of candidates kept for each detection.
constexpr double kFewFalse = 0.004;
constexpr std::size_t kJointCandidates = 20;
/// Sweeps of belief propagation: in the first round, in later ones, which continue from its beliefs, and in
/// the last.
constexpr int kFirstSweeps = 6, kMoreSweeps = 3, kLastSweeps = 10;
/// Candidates with lower odds are dropped until candidates are searched again.
constexpr double kLeastOdds = 1e-3;
/// For all of a large series, candidates are kept within a number of nats of the best: within that number
/// were kLinksKept of the links of its part with odds over kSureOdds; kMoreNats are added, and kLeastNats is
/// the least. Then all candidates are kept for detections whose links have odds below kSurerOdds.
constexpr double kSureOdds = 3, kSurerOdds = 10, kLinksKept = 0.999, kMoreNats = 1, kLeastNats = 4;
/// The rounds end when fewer links than this share change.
constexpr double kJointSettled = 5e-3;
constexpr int kRoundsOfHope = 6;

}  // namespace

bool Rounds::joint(int rounds, std::int64_t most_triplets, double hopeless) {
  SeriesCandidates all = std::move(candidates_);
  found_with_.reset();
  SeriesModel model;
  JointBeliefs beliefs;
  bool settled = false;
  for (int round = 0; round < rounds; ++round) {
    if (round % field_rounds() == 0 && !prediction_.by_lag.empty()) predict(model_.lags());
    refit();
    model = round > 0 ? with_likely_shares(model) : model_;
    if (moved_ > kStale)
      all = likely(model, model.lags());
    else if (round > 0)
      all = plausible(beliefs);
    const SeriesCandidates before_pruning = std::move(candidates_);
    candidates_ = prune_candidates(
        all, candidate_costs(execution_, *points_, prediction_, model, all, occlusion_.get()),
        solution_.linking, kJointNats, kJointCandidates);
    found_ = candidates_.size();
    if (joint_triplets(candidates_) > most_triplets) return false;
    if (round > 0) beliefs = beliefs_of(candidates_, before_pruning, beliefs);
    const int sweeps = settled ? kLastSweeps : round > 0 ? kMoreSweeps : kFirstSweeps;
    propagate_beliefs(execution_, *points_, prediction_, model, velocity_, candidates_, sweeps, beliefs,
                      occlusion_.get());
    const SeriesLinking before = solution_.linking;
    solve_beliefs(beliefs);
    if (settled || (round + 1 == kRoundsOfHope && cost_per_point() > hopeless)) break;
    const auto few = kJointSettled * static_cast<double>(before.links());
    const auto moved = static_cast<double>(changed_links(before, solution_.linking));
    moved_ = moved / std::max(1.0, static_cast<double>(before.links()));
    settled = moved < few || round + 2 == rounds;
  }
  nats_ = nats_of_links(beliefs);
  return true;
}

SeriesModel Rounds::with_likely_shares(const SeriesModel& last) {
  SeriesModel model = model_;
  model.elapsed = last.elapsed, model.end = last.end, model.birth = last.birth, model.clutter = last.clutter;
  std::vector<double> costs =
      candidate_costs(execution_, *points_, prediction_, model, candidates_, occlusion_.get());
  const std::vector<double> gains =
      velocity_gains(execution_, *points_, prediction_, model, velocity_, solution_.linking, candidates_);
  for (std::size_t e = 0; e < costs.size(); ++e) costs[e] -= gains[e];
  const SeriesSolution likeliest =
      solve_series(execution_, *points_, model, candidates_, costs, options_.solver, options_.verify);
  count_solved();
  fit_shares(execution_, *points_, prediction_, likeliest.linking, velocity_, occlusion_.get(), model);
  return model;
}

SeriesCandidates Rounds::plausible(const JointBeliefs& beliefs) const {
  std::vector<char> keep(candidates_.to.size());
  for (std::size_t e = 0; e < keep.size(); ++e)
    keep[e] = beliefs.odds(e) >= kLeastOdds ||
              solution_.linking.next[static_cast<std::size_t>(candidates_.from[e])] == candidates_.to[e];
  return some_candidates(execution_, candidates_, keep);
}

double Rounds::nats_of_links(const JointBeliefs& beliefs) const {
  const std::vector<double> costs =
      candidate_costs(execution_, *points_, prediction_, model_, candidates_, occlusion_.get());
  std::vector<double> over;
  for (std::size_t i = 0; i < points_->size(); ++i) {
    const auto begin = candidates_.row_offsets[i], end = candidates_.row_offsets[i + 1];
    const auto to = candidates_.to.begin();
    const auto link = std::find(to + begin, to + end, solution_.linking.next[i]) - to;
    if (link == end || beliefs.odds(static_cast<std::size_t>(link)) < kSureOdds) continue;
    over.push_back(costs[static_cast<std::size_t>(link)] -
                   *std::min_element(costs.begin() + begin, costs.begin() + end));
  }
  if (over.empty()) return kJointNats;
  return std::clamp(quantile(over, kLinksKept) + kMoreNats, kLeastNats, kJointNats);
}

bool Rounds::joint_on(int rounds, std::int64_t most_triplets) {
  if (solution_.linking.next.size() != points_->size())
    solution_.linking = SeriesLinking::none(points_->size());
  if (!prediction_.by_lag.empty()) predict(model_.lags());
  candidates_ = {};
  found_with_.reset();
  const SeriesCandidates all = find_candidates(execution_, *points_, prediction_, model_, model_.lags(),
                                               &solution_.linking, kJointNats, kJointCandidates, &grids());
  std::vector<char> keep = cheap_candidates(
      execution_, all, candidate_costs(execution_, *points_, prediction_, model_, all, occlusion_.get()),
      nats_);
  JointBeliefs beliefs;
  for (int round = 0; round < rounds; ++round) {
    refit();
    if (round > 0) widen(all, keep, beliefs);
    candidates_ = some_candidates(execution_, all, keep);
    found_ = candidates_.size();
    if (joint_triplets(candidates_) > most_triplets) return false;
    propagate_beliefs(execution_, *points_, prediction_, model_, velocity_, candidates_,
                      round > 0 ? kMoreSweeps : kFirstSweeps, beliefs, occlusion_.get());
    const SeriesLinking before = solution_.linking;
    solve_beliefs(beliefs);
    if (static_cast<double>(changed_links(before, solution_.linking)) <
        kRoundsSettled * static_cast<double>(before.links()))
      break;
  }
  return true;
}

void Rounds::widen(const SeriesCandidates& all, std::vector<char>& keep, JointBeliefs& beliefs) const {
  std::vector<char> sure_next(points_->size(), 0), sure_previous(points_->size(), 0);
  for (std::size_t e = 0; e < candidates_.to.size(); ++e) {
    const auto i = static_cast<std::size_t>(candidates_.from[e]),
               j = static_cast<std::size_t>(candidates_.to[e]);
    if (solution_.linking.next[i] == candidates_.to[e] && beliefs.odds(e) > kSurerOdds)
      sure_next[i] = sure_previous[j] = 1;
  }
  JointBeliefs wider;
  std::size_t place = 0;
  for (std::size_t e = 0; e < keep.size(); ++e) {
    const bool open = sure_next[static_cast<std::size_t>(all.from[e])] == 0 ||
                      sure_previous[static_cast<std::size_t>(all.to[e])] == 0;
    if (keep[e] == 0 && !open) continue;
    wider.from_source.push_back(keep[e] != 0 ? beliefs.from_source[place] : 1);
    wider.from_target.push_back(keep[e] != 0 ? beliefs.from_target[place] : 1);
    place += keep[e] != 0;
    keep[e] = 1;
  }
  beliefs = std::move(wider);
}

void Rounds::solve_beliefs(const JointBeliefs& beliefs) {
  std::vector<double> costs(candidates_.to.size());
  for (std::size_t e = 0; e < costs.size(); ++e) costs[e] = -std::log(beliefs.odds(e));
  const double both_ends = model_.clutter > kFewFalse || model_.end > kFewFalse ? 2 : 5;
  solution_ =
      solve_odds(execution_, *points_, candidates_, costs, both_ends / 2, options_.solver, options_.verify);
  count_solved();
}

}  // namespace motes::tracking
