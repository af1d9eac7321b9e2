#include "tracking/link/confidence/confidence_steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include <motes/base/index.h>
#include <motes/tracking/series_joint.h>

#include "tracking/link/large/copies.h"
#include "tracking/link/motion/drift.h"
#include "tracking/link/motion/field.h"
#include "tracking/link/motion/rigid.h"
#include "tracking/link/point_order.h"
#include "tracking/link/pooled_order.h"
#include "tracking/link/series/crowding.h"
#include "tracking/link/series/link_jumps.h"
#include "tracking/link/series/occlusion.h"
#include "tracking/score/gate_grid.h"

namespace motes::tracking {
namespace detail {
namespace {

using matching::Index;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// Candidates for belief propagation: at most kMost within kNats of the best one, fewer if there are too many
/// triplets.
constexpr double kNats = 9;
constexpr std::size_t kMost = 20, kLeastOfMost = 2;
constexpr std::int64_t kMostTriplets = 20'000'000;
constexpr int kSweeps = 5;
/// Of detections closer than this share of the exclusion radius at most one is a particle; kNoParticle: odds
/// that none is.
constexpr double kSameParticle = 0.6, kNoParticle = 0.05;
/// Log odds beyond those of all candidates.
constexpr double kSurest = 30;
/// Edges of the calibration's bins in log odds. kPrior links that follow the logistic line are added to each
/// bin.
constexpr double kEdges[] = {-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20};
constexpr double kPrior = 8;
/// Prior variances and bounds of the logistic line.
constexpr double kShiftVariance = 4, kSlopeVariance = 0.25, kLeastSlope = 0.05, kMostSlope = 2;
constexpr int kNewton = 30;

/// The series' persistence; one without any effect if it has none.
VelocityModel velocity_of(const SeriesLinks& links) {
  VelocityModel velocity = links.velocity;
  velocity.by_lag.resize(at(links.model.lags()));
  return velocity;
}

}  // namespace

Prediction link_prediction(const Execution& execution, const SeriesLinks& links) {
  if (links.chosen != MotionModel::field) return {};
  // If it were fitted again, it might follow another one of several motions.
  if (!links.prediction.by_lag.empty()) return links.prediction;
  if (links.drift && links.rotation) {
    // Starts from no motion; the second fit starts from the result of the first.
    std::vector<RigidMotion> motions;
    predict_by_rigid(execution, links.points, links.linking, links.model.lags(), motions);
    return predict_by_rigid(execution, links.points, links.linking, links.model.lags(), motions);
  }
  if (links.drift) return predict_by_drift(execution, links.points, links.linking, links.model.lags());
  return predict_by_field(execution, links.points, SeriesLists(links.points), links.linking,
                          links.model.lags());
}

std::vector<double> link_log_odds(const Execution& execution, const SeriesLinks& links,
                                  const Prediction& prediction, const SeriesCandidates* found) {
  std::vector<double> out(links.points.size(), kUnknown);
  if (links.model.elapsed.empty() || links.links == 0) return out;
  const SeriesGrids grids = grids_of(execution, links.points);
  const auto occlusion = Occlusion::fit(execution, links.points, grids, prediction, links.linking);
  const auto pruned = [&](const SeriesCandidates& from, std::size_t most) {
    return prune_candidates(
        from, candidate_costs(execution, links.points, prediction, links.model, from, occlusion.get()),
        links.linking, kNats, most);
  };
  SeriesCandidates candidates =
      found != nullptr ? pruned(*found, kMost)
                       : find_candidates(execution, links.points, prediction, links.model, links.model.lags(),
                                         &links.linking, kNats, kMost, &grids);
  for (std::size_t most = kMost; joint_triplets(candidates) > kMostTriplets && most > kLeastOfMost; most /= 2)
    candidates = pruned(candidates, most);
  JointBeliefs beliefs;
  propagate_beliefs(execution, links.points, prediction, links.model, velocity_of(links), candidates, kSweeps,
                    beliefs, occlusion.get());
  for (std::size_t e = 0; e < candidates.to.size(); ++e)
    if (const auto i = at(candidates.from[e]); links.linking.next[i] == candidates.to[e])
      out[i] = std::clamp(std::log(beliefs.odds(e)), -kSurest, kSurest);
  // Links beyond the reach of the last parameters.
  for (std::size_t i = 0; i < out.size(); ++i)
    if (links.linking.next[i] >= 0 && std::isnan(out[i])) out[i] = -kSurest;
  for (const Index k : links.jumped)
    out[at(k)] = out[at(links.linking.previous[at(k)])] = std::log(1 / kJumpsByChance - 1);
  return out;
}

std::vector<double> particle_probabilities(const SeriesPoints& points, double exclusion_um) {
  std::vector<double> out(points.size(), 1);
  if (points.log_odds.empty() || !(exclusion_um > 0)) return out;
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    const auto frame = points.frame(t);
    if (frame.empty()) continue;
    const auto first = at(points.offset[at(t)]);
    const GateGrid grid(std::vector<Vec3>(frame.begin(), frame.end()), kSameParticle * exclusion_um);
    std::vector<double> near;
    for (std::size_t k = 0; k < frame.size(); ++k) {
      near.clear();
      grid.for_each_within(frame[k], [&](std::size_t other, double) {
        near.push_back(std::exp(points.log_odds[first + other]));
      });
      // The sum must not depend on the order of the rows.
      std::sort(near.begin(), near.end());
      out[first + k] =
          std::exp(points.log_odds[first + k]) / std::accumulate(near.begin(), near.end(), kNoParticle);
    }
  }
  return out;
}

ParticleLink among_particles(double right, double from, double to) {
  const double both = 0.5 * (from * to + std::min(from, to)), either = from + to - both;
  return {right * both / either, either};
}

namespace {

/// P(right) = sigmoid(shift + slope z), fitted with a prior around shift 0 and slope 1.
struct Line {
  double shift = 0, slope = 1;
  double operator()(double z) const { return 1 / (1 + std::exp(-(shift + slope * z))); }
};

Line line_of(const std::vector<std::pair<double, bool>>& links) {
  Line line;
  for (int round = 0; round < kNewton; ++round) {
    double g0 = -line.shift / kShiftVariance, g1 = -(line.slope - 1) / kSlopeVariance;
    double h00 = 1 / kShiftVariance, h01 = 0, h11 = 1 / kSlopeVariance;
    for (const auto& [z, right] : links) {
      const double p = line(z), left = (right ? 1 : 0) - p, weight = std::max(p * (1 - p), 1e-9);
      g0 += left, g1 += left * z;
      h00 += weight, h01 += weight * z, h11 += weight * z * z;
    }
    const double determinant = h00 * h11 - h01 * h01;
    const double d0 = (h11 * g0 - h01 * g1) / determinant, d1 = (h00 * g1 - h01 * g0) / determinant;
    line.shift += std::clamp(d0, -1.0, 1.0);
    line.slope = std::clamp(line.slope + std::clamp(d1, -0.3, 0.3), kLeastSlope, kMostSlope);
  }
  return line;
}

}  // namespace

Calibration calibrate(const std::vector<std::pair<double, bool>>& links) {
  Calibration out;
  if (links.empty()) return out;
  const Line line = line_of(links);
  struct Pool {
    double z = 0, weight = 0, right = 0;
    double share() const { return right / weight; }
  };
  std::vector<Pool> bins(std::size(kEdges) + 1);
  for (const auto& [z, right] : links) {
    Pool& bin = bins[at(std::upper_bound(std::begin(kEdges), std::end(kEdges), z) - std::begin(kEdges))];
    bin.z += z, bin.weight += 1, bin.right += right;
  }
  std::vector<Pool> pools;
  for (std::size_t k = 0; k < bins.size(); ++k) {
    Pool bin = bins[k];
    const double middle = k == 0                 ? kEdges[0] - 1
                          : k + 1 == bins.size() ? *std::rbegin(kEdges) + 1
                                                 : (kEdges[k - 1] + kEdges[k]) / 2;
    bin.z = (bin.z + kPrior * middle) / (bin.weight + kPrior);
    bin.right += kPrior * line(bin.z);
    bin.weight += kPrior;
    pools.push_back(bin);
    while (pools.size() > 1 && pools[pools.size() - 2].share() >= pools.back().share()) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& one = pools.back();
      const double weight = one.weight + last.weight;
      one = {(one.z * one.weight + last.z * last.weight) / weight, weight, one.right + last.right};
    }
  }
  for (const Pool& pool : pools) out.log_odds.push_back(pool.z), out.right.push_back(pool.share());
  return out;
}

}  // namespace detail

namespace {

using matching::Index;

/// If the share of wrong links by the odds is below this, the odds are good enough and nothing is simulated.
constexpr double kSureEnough = 0.001;
/// This many links, half of them wrong, are added to the estimate of wrong links (Jeffreys' prior), since few
/// links cannot show that none is wrong.
constexpr double kMoreLinks = 1;

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

/// The used detections in order of position, and their links.
SeriesLinks in_use(const Execution& execution, const SeriesLinks& links, std::vector<Index>& order) {
  order = detail::position_order(links.points);
  if (!links.used.empty()) std::erase_if(order, [&](Index i) { return links.used[at(i)] == 0; });
  const std::vector<Index> place = detail::places_in(order, links.points.size());
  SeriesLinks out = links;
  out.points = detail::select_points(links.points, order);
  if (out.likely != nullptr && out.likely->row_offsets.size() != order.size() + 1) out.likely.reset();
  if (order.size() == links.points.size()) {
    out.points.density = links.points.density;
    out.points.spacing_um = links.points.spacing_um;
  } else {
    estimate_densities(out.points, execution);
    out.points.crowding = crowding_of(execution, out.points);
  }
  out.linking = detail::select_links(links.linking, order, place);
  out.prediction = detail::select_prediction(links.prediction, order);
  for (Index& k : out.jumped) k = place[at(k)];
  if (!out.used.empty()) out.points.log_odds.clear();
  out.used.clear();
  out.divisions.list.clear(), out.merges.list.clear();
  return out;
}

/// Any of the copies at a place may be the next detection, so the probability of a link into it is divided by
/// their number.
Confidence confidence_with_copies(const Execution& execution, const SeriesLinks& links,
                                  const SeriesOptions& options, const ConfidenceOptions& how) {
  std::vector<Index> order;
  const SeriesLinks part = detail::without_copies(links, order);
  Confidence out = link_confidence(execution, part, options, how);
  std::vector<double> of_one(links.points.size(), std::numeric_limits<double>::quiet_NaN()),
      copies(links.points.size(), 1);
  for (std::size_t k = 0; k < order.size(); ++k) of_one[at(order[k])] = out.link[k];
  const auto one_of = [&](std::size_t i) { return at(links.copy_of[i] < 0 ? Index(i) : links.copy_of[i]); };
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (one_of(i) != i) copies[one_of(i)] += 1;
  out.link.assign(links.points.size(), std::numeric_limits<double>::quiet_NaN());
  double among_copies = 0, wrong = 0, all = 0;
  for (std::size_t i = 0; i < out.link.size(); ++i) {
    if (links.linking.next[i] < 0) continue;
    const double there = copies[one_of(at(links.linking.next[i]))], here = copies[one_of(i)];
    out.link[i] = of_one[one_of(i)] / std::max(here, there);
    all += 1;
    if (here > 1 || there > 1) among_copies += 1, wrong += 1 - out.link[i];
  }
  const double others = all > 0 ? (all - among_copies) / all : 1;
  out.wrong = others * out.wrong + (all > 0 ? wrong / all : 0);
  out.error *= others;
  return out;
}

}  // namespace

double Calibration::operator()(double z) const {
  if (log_odds.empty()) return sigmoid(z);
  if (z <= log_odds.front()) return right.front();
  if (z >= log_odds.back()) return right.back();
  const auto k =
      static_cast<std::size_t>(std::upper_bound(log_odds.begin(), log_odds.end(), z) - log_odds.begin());
  const double part = (z - log_odds[k - 1]) / (log_odds[k] - log_odds[k - 1]);
  return right[k - 1] + part * (right[k] - right[k - 1]);
}

Confidence link_confidence(const Execution& execution, const SeriesLinks& links, const SeriesOptions& options,
                           const ConfidenceOptions& how) {
  if (!links.copy_of.empty()) return confidence_with_copies(execution, links, options, how);
  Confidence out;
  out.link.assign(links.points.size(), std::numeric_limits<double>::quiet_NaN());
  if (links.links == 0) return out;
  std::vector<Index> order;
  const SeriesLinks part = in_use(execution, links, order);
  const Prediction prediction = detail::link_prediction(execution, part);
  const std::vector<double> odds = detail::link_log_odds(execution, part, prediction, part.likely.get());
  double n = 0, uncertain = 0;
  for (const double z : odds)
    if (!std::isnan(z)) out.wrong_by_odds += 1 - sigmoid(z), n += 1;
  if (n == 0) return out;
  out.wrong_by_odds /= n;
  double simulated_by_odds = 0;
  if (out.wrong_by_odds > kSureEnough && how.detections > 0) {
    SeriesOptions same = options;
    // Only `automatic` adds belief propagation to a field.
    same.model = links.chosen == MotionModel::field ? MotionModel::automatic : links.chosen;
    same.verify = false;
    same.events = Events::none;
    const detail::Judged judged = detail::judged_like(execution, part, prediction, same, how);
    out.simulated_links = std::ssize(judged.links);
    out.simulated_wrong = static_cast<std::int64_t>(judged.wrong());
    simulated_by_odds = judged.wrong_by_odds();
    out.calibration = detail::calibrate(judged.links);
    out.calibrated = !judged.links.empty();
    uncertain = judged.uncertain;
  }
  const std::vector<double> particle = detail::particle_probabilities(links.points, links.exclusion_um);
  // of_links: wrong links if all detections were particles; either: links with a particle at an end.
  double of_links = 0, either = 0;
  for (std::size_t i = 0; i < odds.size(); ++i) {
    if (std::isnan(odds[i])) continue;
    double& confidence = out.link[at(order[i])];
    confidence = out.calibration(odds[i]);
    of_links += (1 - confidence) / n;
    const detail::ParticleLink link = detail::among_particles(confidence, particle[at(order[i])],
                                                              particle[at(order[at(part.linking.next[i])])]);
    confidence = link.right;
    out.wrong += link.either * (1 - link.right);
    either += link.either;
  }
  out.wrong = (out.wrong + 0.5 * kMoreLinks) / (either + kMoreLinks);
  // The error has these parts: how similar the simulated series is, the effect of false detections, and
  // statistical errors. How similar: if the simulated series was made as hard to link, by the chance with
  // which links change and by the share of wrong links in it; otherwise half of the change by calibration,
  // and the difference in difficulty.
  const double sample = out.calibrated ? static_cast<double>(out.simulated_links) : n;
  const double change = 0.5 * (of_links - out.wrong_by_odds), particles = 0.5 * (out.wrong - of_links);
  const double unlike = out.calibrated ? out.wrong_by_odds - simulated_by_odds : 0;
  const double beyond = of_links - static_cast<double>(out.simulated_wrong) / sample;
  const double model = uncertain > 0 ? std::hypot(uncertain * out.wrong, beyond) : std::hypot(change, unlike);
  out.error = std::sqrt(model * model + particles * particles + out.wrong * (1 - out.wrong) / sample);
  return out;
}

std::int64_t cut_unsure_links(const Confidence& confidence, double least, SeriesLinks& links) {
  std::int64_t cut = 0;
  for (std::size_t i = 0; i < confidence.link.size(); ++i) {
    Index& next = links.linking.next[i];
    if (next < 0 || !(confidence.link[i] < least)) continue;
    links.gap_links -= links.points.slot[at(next)] - links.points.slot[i] > 1;
    links.linking.previous[at(next)] = -1;
    next = -1;
    ++cut;
  }
  links.links -= cut;
  for (Divisions* const events : {&links.divisions, &links.merges})
    std::erase_if(events->list, [&](const Division& d) { return sigmoid(d.gain) < least; });
  return cut;
}

void add_confidence(const Confidence& confidence, const SeriesLinks& links, TrackSet& tracks) {
  const std::vector<Index> order = detail::pooled_by_track(links.linking);
  std::vector<double> of_start(links.points.size(), std::numeric_limits<double>::quiet_NaN());
  for (const Division& d : links.divisions.list)
    of_start[at(d.first)] = of_start[at(d.second)] = sigmoid(d.gain);
  for (const Division& d : links.merges.list) of_start[at(d.mother)] = sigmoid(d.gain);
  PropertyColumn point{"link_confidence", {}}, track{"confidence", {}};
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    double all = 1;
    for (auto p = tracks.track_offsets[t]; p < tracks.track_offsets[t + 1]; ++p) {
      const bool first = p == tracks.track_offsets[t];
      point.values.push_back(first ? of_start[at(order[at(p)])] : confidence.link[at(order[at(p - 1)])]);
      if (!first) all *= point.values.back();
    }
    track.values.push_back(all);
  }
  const auto put = [](std::vector<PropertyColumn>& columns, PropertyColumn column) {
    std::erase_if(columns, [&](const PropertyColumn& c) { return c.name == column.name; });
    columns.push_back(std::move(column));
  };
  put(tracks.point_properties, std::move(point));
  put(tracks.track_properties, std::move(track));
}

}  // namespace motes::tracking
