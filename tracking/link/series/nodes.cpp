#include "tracking/link/series/nodes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/quantile.h>

#include "tracking/link/motion/field.h"
#include "tracking/link/series/close_pairs.h"
#include "tracking/link/series/node_model.h"
#include "tracking/link/series/rounds.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr int kNodeRounds = 2, kPriceRounds = 3;
/// Particles that really are close together have tracks as good as all others. Detections to be suppressed
/// are false if at least this share of their sides (before, after) has no link, and this many times more than
/// of those kept. In simulations particles in clusters had at most 1.8 times as many, false detections of an
/// embryo at least 3.4 times.
constexpr double kLeastOpen = 0.02, kTimesAsOpen = 1.6;
constexpr int kRoundsOfEvidence = 2;
/// If two used detections are closer than this share of the radius, these are the penalties of the two, in
/// nats.
constexpr double kTooClose = 0.7, kPriceOfWeaker = 1.0, kPriceOfStronger = 0.3;
/// Detections with lower log-odds are left out of the assignment.
constexpr double kLeastLogOdds = -5;
/// Limits of the candidates of each detection, as in the rounds of a linking.
constexpr double kLikelyNats = 12;
constexpr std::size_t kMostLikely = 20;

/// Links among the part's points.
SeriesLinking linking_of_part(const SeriesLinking& linking, const SeriesPart& part) {
  SeriesLinking out = SeriesLinking::none(part.whole.size());
  for (std::size_t k = 0; k < part.whole.size(); ++k) {
    const Index next = linking.next[at(part.whole[k])];
    if (next < 0 || part.part[at(next)] < 0) continue;
    out.next[k] = part.part[at(next)];
    out.previous[at(out.next[k])] = static_cast<Index>(k);
  }
  return out;
}

/// Adds penalties for used pairs that are too close; returns whether there are any.
bool price_close_pairs(const CloseNeighbours& close, const std::vector<char>& used,
                       const std::vector<double>& log_odds, std::vector<double>& price) {
  const std::vector<double> before = price;
  bool any = false;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] == 0) continue;
    for (auto e = at(close.offsets[i]); e < at(close.offsets[i + 1]); ++e) {
      const auto j = at(close.index[e]);
      if (j < i || used[j] == 0 || close.distance[e] >= kTooClose) continue;
      any = true;
      const bool first_weaker = log_odds[i] - before[i] < log_odds[j] - before[j];
      price[i] += first_weaker ? kPriceOfWeaker : kPriceOfStronger;
      price[j] += first_weaker ? kPriceOfStronger : kPriceOfWeaker;
    }
  }
  return any;
}

/// The steps of choose_nodes and their data.
class Chooser {
 public:
  Chooser(const Execution& execution, const SeriesPoints& points, const SeriesOptions& options,
          CloseNeighbours close, const std::function<void(int)>& done, int& solved)
      : execution_(execution),
        points_(points),
        options_(options),
        close_(std::move(close)),
        done_(done),
        solved_(solved) {
    const std::vector<double> central = centrality(points_, close_);
    // Suppression uses the property on which close pairs agree most.
    std::vector<double> side;
    score_ = central;
    tie_ = central;
    double& best = told_;
    for (const PropertyColumn& column : points_.properties) {
      const Agreement agreement = agreement_with(points_, close_, central, column.values);
      side.push_back(agreement.side);
      if (agreement.share <= best) continue;
      best = agreement.share;
      score_ = frame_ranks(points_, column.values);
      for (double& value : score_) value = std::isnan(value) ? -1 : agreement.side * value;
    }
    features_ = node_features(execution_, points_, close_, side);
  }

  /// None if the detections to suppress have tracks as good as those to keep.
  std::optional<SeriesNodes> run(const LinkPoints& link) {
    SeriesNodes out;
    out.used = suppress_close(points_, close_, score_, tie_);
    alone_ = distinct();
    std::vector<char> dropped = alone_;
    for (std::size_t i = 0; i < dropped.size(); ++i)
      if (out.used[i] != 0) dropped[i] = 0;
    const SeriesPart kept = take_part(points_, out.used, execution_);
    const double open_kept = open_share(kept);
    const double open_dropped = open_share(take_part(points_, dropped, execution_));
    if (!options_.exclusion_um && (open_dropped < kLeastOpen || open_dropped < kTimesAsOpen * open_kept))
      return std::nullopt;
    linking_ = linking_of_whole(link(kept.points), kept);
    std::vector<char> real = on_long_tracks(points_, linking_, out.used);
    for (int round = 0; round < kNodeRounds; ++round) {
      out.log_odds = fit_log_odds(features_, real);
      link_all(out);
      real = out.used;
    }
    if (std::none_of(out.used.begin(), out.used.end(), [](char used) { return used != 0; }))
      return std::nullopt;
    std::vector<double> radii = close_.radius;
    out.exclusion_um = quantile(radii, 0.5);
    out.told = told_ > 0;
    return out;
  }

 private:
  /// Share of the part's sides (before, after) without a link after linking from frame to frame.
  double open_share(const SeriesPart& part) {
    if (part.whole.empty()) return 0;
    Rounds rounds(execution_, part.points, options_, done_, solved_);
    rounds.plain(1, kRoundsOfEvidence);
    double open = 0, all = 0;
    for (std::size_t k = 0; k < part.whole.size(); ++k) {
      const std::int32_t t = part.points.slot[k];
      if (t + 1 < points_.frames()) all += 1, open += rounds.solution_.linking.next[k] < 0;
      if (t > 0) all += 1, open += rounds.solution_.linking.previous[k] < 0;
    }
    return all > 0 ? open / all : 0;
  }

  /// [points] 1 for the surest of the detections at one place, 0 for the others, which are not used.
  std::vector<char> distinct() const {
    std::vector<char> out(points_.size(), 1);
    for (std::size_t i = 0; i < out.size(); ++i)
      for (auto e = at(close_.offsets[i]); e < at(close_.offsets[i + 1]); ++e) {
        const auto j = at(close_.index[e]);
        if (close_.distance[e] == 0 && (score_[j] > score_[i] || (score_[j] == score_[i] && j < i)))
          out[i] = 0;
      }
    return out;
  }

  SeriesLinking linking_of_whole(const SeriesLinking& linking, const SeriesPart& part) const {
    SeriesLinking out = SeriesLinking::none(points_.size());
    for (std::size_t k = 0; k < part.whole.size(); ++k) {
      if (linking.next[k] < 0) continue;
      const Index i = part.whole[k], j = part.whole[at(linking.next[k])];
      out.next[at(i)] = j;
      out.previous[at(j)] = i;
    }
    return out;
  }

  /// One assignment over all detections that can be particles, then more with penalties for pairs that are
  /// too close.
  void link_all(SeriesNodes& nodes) {
    std::vector<char> possible = alone_;
    for (std::size_t i = 0; i < possible.size(); ++i)
      if (nodes.log_odds[i] <= kLeastLogOdds) possible[i] = 0;
    SeriesPart part = take_part(points_, possible, execution_);
    part.points.density = take_part(points_, nodes.used, execution_).points.density;
    SeriesLinking start = linking_of_part(linking_, part);
    const int lags = std::min(options_.max_gap + 1, std::max(1, points_.frames() - 1));
    const Prediction prediction =
        predict_by_field(execution_, part.points, SeriesLists(part.points), start, lags);
    SeriesModel model = first_model(execution_, part.points, prediction, lags);
    model.gate = options_.gate;
    model = fit_model(execution_, part.points, prediction, start, model);
    const SeriesCandidates candidates =
        likely_candidates(execution_, part.points, prediction, model, lags, start, kLikelyNats, kMostLikely);
    const std::vector<double> costs = candidate_costs(execution_, part.points, prediction, model, candidates);
    std::vector<double> price(points_.size(), 0.0);
    for (int round = 0; round <= kPriceRounds; ++round) {
      part.points.log_odds.clear();
      for (const Index i : part.whole) part.points.log_odds.push_back(nodes.log_odds[at(i)] - price[at(i)]);
      const SeriesSolution solution =
          solve_series(execution_, part.points, model, candidates, costs, options_.solver, options_.verify);
      ++solved_;
      if (done_) done_(solved_);
      linking_ = linking_of_whole(solution.linking, part);
      nodes.used.assign(points_.size(), 0);
      for (std::size_t k = 0; k < part.whole.size(); ++k) nodes.used[at(part.whole[k])] = solution.used[k];
      if (round == kPriceRounds || !price_close_pairs(close_, nodes.used, nodes.log_odds, price)) break;
    }
  }

  Execution execution_;
  const SeriesPoints& points_;
  const SeriesOptions& options_;
  CloseNeighbours close_;
  const std::function<void(int)>& done_;
  int& solved_;
  std::vector<double> score_, tie_;
  double told_ = 0;  ///< share of close pairs that agree about the best property, minus one half
  NodeFeatures features_;
  std::vector<char> alone_;
  SeriesLinking linking_;
};

}  // namespace

std::optional<SeriesNodes> choose_nodes(const Execution& execution, const SeriesPoints& points,
                                        const SeriesOptions& options, const LinkPoints& link,
                                        const std::function<void(int)>& done, int& solved) {
  std::vector<double> radius = options.exclusion_um
                                   ? std::vector<double>(at(points.frames()), *options.exclusion_um)
                                   : exclusion_radii(points, execution);
  if (std::none_of(radius.begin(), radius.end(), [](double r) { return r > 0; })) return std::nullopt;
  Chooser chooser(execution, points, options, close_neighbours(execution, points, std::move(radius)), done,
                  solved);
  return chooser.run(link);
}

}  // namespace motes::tracking
