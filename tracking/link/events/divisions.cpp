#include "tracking/link/events/divisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/quantile.h>
#include <motes/tracking/radial_density.h>

#include "tracking/link/events/division_chance.h"
#include "tracking/link/events/division_scene.h"
#include "tracking/score/assign.h"

namespace motes::tracking {
namespace detail {
namespace {

using matching::Index;

/// Gains are limited to this; the costs of assignments are kMostGain - gain.
constexpr double kMostGain = 200;
/// With fewer divisions only their share is estimated.
constexpr std::size_t kLeastToFit = 5;
/// Least values of the parameters, in spacings.
constexpr double kLeastMiddle = 0.01, kLeastSpread = 0.05;
/// Offers without a second daughter are withdrawn and the rest is assigned again, at most this often.
constexpr int kWithdrawals = 3;

double log_student(double length, double scale, int dims) {
  return student_log_density(length / scale, dims) - dims * std::log(scale);
}

/// log of the surface of the ball of that radius.
double log_sphere(double radius, int dims) {
  if (dims == 1) return std::numbers::ln2;
  if (dims == 2) return std::log(2 * std::numbers::pi * radius);
  return std::log(4 * std::numbers::pi * radius * radius);
}

/// An exact assignment with the largest sum of gains; pairs without gain are left out.
struct Gains {
  std::vector<std::pair<Index, Index>> pair;  ///< row, column
  std::vector<std::size_t> candidate;         ///< the candidate of each pair
  std::vector<double> gain;

  void add(Index row, Index column, std::size_t c, double g) {
    if (g <= 0) return;
    pair.emplace_back(row, column);
    candidate.push_back(c);
    gain.push_back(std::min(g, kMostGain));
  }
  std::vector<std::size_t> best(const Execution& execution) const;
};

std::vector<Index> numbers_of(std::vector<Index> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}
Index place_of(const std::vector<Index>& names, Index name) {
  return static_cast<Index>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
}

std::vector<std::size_t> Gains::best(const Execution& execution) const {
  std::vector<Index> rows, columns;
  for (const auto& [row, column] : pair) rows.push_back(row), columns.push_back(column);
  rows = numbers_of(std::move(rows)), columns = numbers_of(std::move(columns));
  std::vector<std::size_t> order(pair.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(pair[a], -gain[a]) < std::pair(pair[b], -gain[b]);
  });
  // Of several candidates for one pair the best is kept.
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) { return pair[a] == pair[b]; }),
              order.end());
  RealCosts costs;
  costs.graph.rows = static_cast<Index>(rows.size());
  costs.graph.cols = static_cast<Index>(columns.size());
  costs.unmatched_row_cost.assign(rows.size(), kMostGain / 2);
  costs.unmatched_col_cost = kMostGain / 2;
  costs.graph.row_offsets.assign(rows.size() + 1, 0);
  for (const std::size_t e : order) {
    costs.graph.col_index.push_back(place_of(columns, pair[e].second));
    costs.cost.push_back(kMostGain - gain[e]);
    ++costs.graph.row_offsets[at(place_of(rows, pair[e].first)) + 1];
  }
  std::partial_sum(costs.graph.row_offsets.begin(), costs.graph.row_offsets.end(),
                   costs.graph.row_offsets.begin());
  const std::vector<Index> chosen = assign(execution, costs);
  std::vector<std::size_t> out;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (auto e = costs.graph.row_offsets[r]; e < costs.graph.row_offsets[r + 1]; ++e)
      if (costs.graph.col_index[at(e)] == chosen[r]) out.push_back(candidate[order[at(e)]]);
  return out;
}

}  // namespace

double division_gain(const DivisionModel& model, const DivisionScene& scene, const DivisionCandidate& c) {
  const int dims = scene.dims;
  const double apart = std::max(c.apart, 1e-3), off = (apart - model.separation) / model.spread;
  double evidence = 0;
  for (std::size_t k = 0; k < kTraits; ++k)
    if (!model.evidence[k].empty()) evidence += model.evidence[k][at(c.trait[k])];
  const double divided = evidence + std::log(model.share) + log_student(c.middle, model.middle, dims) -
                         0.5 * off * off - std::log(model.spread * std::sqrt(2 * std::numbers::pi)) -
                         log_sphere(apart, dims) + std::numbers::ln2;
  const double start = std::log(model.start * c.density);
  if (c.offered) return divided - std::log(model.end) - 2 * start;
  return divided - std::log1p(-model.share) - log_student(c.residual, c.scale, dims) - start;
}

std::vector<std::size_t> choose_divisions(const Execution& execution, const DivisionModel& model,
                                          const DivisionScene& scene) {
  std::vector<double> gain;
  gain.reserve(scene.candidates.size());
  for (const DivisionCandidate& c : scene.candidates) gain.push_back(division_gain(model, scene, c));
  Gains offers;
  for (std::size_t k = 0; k < gain.size(); ++k)
    if (const DivisionCandidate& c = scene.candidates[k]; c.offered)
      offers.add(c.mother, c.linked, k, gain[k]);
  // Mothers and the daughter offered to each.
  std::vector<std::pair<Index, Index>> offered;
  for (const std::size_t k : offers.best(execution))
    offered.emplace_back(scene.candidates[k].mother, scene.candidates[k].linked);
  std::sort(offered.begin(), offered.end());
  std::vector<std::size_t> chosen;
  for (int round = 0; round <= kWithdrawals; ++round) {
    std::vector<Index> taken;
    for (const auto& [mother, daughter] : offered) taken.push_back(daughter);
    std::sort(taken.begin(), taken.end());
    Gains gains;
    for (std::size_t k = 0; k < gain.size(); ++k) {
      const DivisionCandidate& c = scene.candidates[k];
      if (std::binary_search(taken.begin(), taken.end(), c.start)) continue;
      if (c.offered && !std::binary_search(offered.begin(), offered.end(), std::pair(c.mother, c.linked)))
        continue;
      gains.add(c.start, c.mother, k, gain[k]);
    }
    chosen = gains.best(execution);
    std::vector<std::pair<Index, Index>> kept;
    for (const std::size_t k : chosen)
      if (const DivisionCandidate& c = scene.candidates[k]; c.offered) kept.emplace_back(c.mother, c.linked);
    std::sort(kept.begin(), kept.end());
    if (kept.size() == offered.size()) break;
    offered = std::move(kept);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

void set_traits(const std::vector<std::size_t>& chosen, DivisionScene& scene) {
  CellBreaks breaks;
  for (const std::size_t k : chosen) {
    breaks.mothers.push_back(scene.candidates[k].mother);
    breaks.daughters.insert(breaks.daughters.end(), {scene.candidates[k].linked, scene.candidates[k].start});
  }
  const std::vector<std::int32_t> ages = cell_ages(scene.tracks, breaks);
  const std::vector<std::int32_t> lives = cell_lives(scene.tracks, breaks);
  const auto odds = [&](Index i) { return scene.odds.empty() ? 0 : scene.odds[at(i)]; };
  for (DivisionCandidate& c : scene.candidates)
    c.trait = {duration_class(ages[at(c.mother)]), duration_class(lives[at(c.start)]), odds(c.start)};
  for (std::vector<double>& counts : scene.others) counts.assign(kTraitClasses, 0);
  for (const Index p : scene.tracks.before)
    if (p >= 0) ++scene.others[0][at(duration_class(ages[at(p)]))];
  std::sort(breaks.daughters.begin(), breaks.daughters.end());
  for (const Index i : scene.start_points) {
    if (std::binary_search(breaks.daughters.begin(), breaks.daughters.end(), i)) continue;
    ++scene.others[1][at(duration_class(lives[at(i)]))];
    ++scene.others[2][at(odds(i))];
  }
}

DivisionModel fit_divisions(const DivisionModel& before, const DivisionScene& scene,
                            const std::vector<std::size_t>& chosen) {
  DivisionModel model = before;
  const auto n = static_cast<double>(chosen.size());
  const auto links = static_cast<double>(std::max<std::int64_t>(scene.links, 1));
  std::vector<double> middle, apart;
  std::array<std::vector<double>, kTraits> traits;
  for (std::vector<double>& counts : traits) counts.assign(kTraitClasses, 0);
  double offered = 0;
  for (const std::size_t k : chosen) {
    for (std::size_t trait = 0; trait < kTraits; ++trait)
      ++traits[trait][at(scene.candidates[k].trait[trait])];
    middle.push_back(scene.candidates[k].middle);
    apart.push_back(scene.candidates[k].apart);
    offered += scene.candidates[k].offered;
  }
  const double starts = static_cast<double>(scene.starts) - n - offered;
  model.share = std::clamp(n / links, 1e-5, 0.5);
  model.start = std::clamp(starts / (links + static_cast<double>(scene.starts)), 0.5 / links, 0.9);
  model.end = std::clamp((static_cast<double>(scene.ends) - offered) / links, 0.5 / links, 0.9);
  if (chosen.size() < kLeastToFit) return model;
  model.middle = std::max(quantile(middle, 0.5) / student_median(scene.dims), kLeastMiddle);
  model.separation = quantile(apart, 0.5);
  for (double& a : apart) a = std::abs(a - model.separation);
  model.spread = std::max(1.4826 * quantile(apart, 0.5), kLeastSpread);
  for (std::size_t k = 0; k < kTraits; ++k)
    if (!scene.others[k].empty()) model.evidence[k] = class_evidence(traits[k], scene.others[k]);
  return model;
}

}  // namespace detail

namespace {

using matching::Index;

constexpr int kRounds = 6;
/// A false division cuts a true link, so at most this share is expected to be false. Gains are too
/// optimistic: in embryos the log odds of true divisions were kTrueShift + kTrueSlope * gain.
constexpr double kMostFalse = 0.15, kTrueShift = 0.2, kTrueSlope = 0.4;

/// Number of links on which the two predictions of mothers are compared.
constexpr std::int64_t kMotionSample = 5'000;

/// The result of one search.
struct DivisionSearch {
  DivisionModel model;
  std::vector<std::size_t> chosen;
};

/// Sets the traits in `scene`.
DivisionSearch search(const Execution& execution, detail::DivisionScene& scene) {
  DivisionSearch out;
  const auto all = static_cast<double>(scene.links + scene.starts);
  out.model.start = out.model.end =
      std::max(0.3 * static_cast<double>(scene.starts) / std::max(all, 1.0), 1e-5);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::size_t> chosen = detail::choose_divisions(execution, out.model, scene);
    const bool settled = round > 0 && chosen == out.chosen;
    out.chosen = std::move(chosen);
    if (settled || out.chosen.empty()) break;
    detail::set_traits(out.chosen, scene);
    out.model = detail::fit_divisions(out.model, scene, out.chosen);
  }
  return out;
}

detail::SearchGains gains_of(const DivisionSearch& search, const detail::DivisionScene& scene) {
  detail::SearchGains out{{}, scene.starts};
  for (const std::size_t k : search.chosen)
    out.gain.push_back(detail::division_gain(search.model, scene, scene.candidates[k]));
  return out;
}

/// Keeps the most certain divisions, as many as kMostFalse allows.
void leave_sure(std::vector<Division>& list) {
  std::sort(list.begin(), list.end(), [](const Division& a, const Division& b) {
    return std::tuple(-a.gain, a.mother) < std::tuple(-b.gain, b.mother);
  });
  double expected_false = 0, kept = 0;
  const auto end = std::find_if(list.begin(), list.end(), [&](const Division& d) {
    return (expected_false += 1 / (1 + std::exp(kTrueShift + kTrueSlope * d.gain))) > kMostFalse * ++kept;
  });
  list.erase(end, list.end());
}

}  // namespace

Divisions find_divisions(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                         bool assume_significant) {
  using detail::Accept;
  return detail::find_divisions(execution, points, linking, SeriesLists(points), {}, false,
                                assume_significant ? Accept::all : Accept::significant);
}

Divisions find_merges(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                      bool assume_significant) {
  using detail::Accept;
  return detail::find_divisions(execution, points, linking, SeriesLists(points), {}, true,
                                assume_significant ? Accept::all : Accept::significant);
}

Divisions detail::find_divisions(const Execution& execution, const SeriesPoints& points,
                                 const SeriesLinking& linking, const SeriesLists& lists,
                                 std::span<const double> log_odds, bool merges, Accept accept) {
  Divisions out;
  if (points.frames() < 2 || points.size() == 0) return out;
  const std::vector<double> spacings = division_spacings(execution, points);
  const auto motion_of = [&](bool backwards, std::int32_t step = 1) {
    return division_motion(execution, points, linking, lists, spacings, out.neighbours, backwards, step);
  };
  const auto scene_of = [&](const DivisionMotion& motion, Sight sight) {
    return division_scene(execution, points, linking, motion, spacings, log_odds, sight);
  };
  const auto chance = [&](const DivisionMotion& motion, Sight sight) {
    DivisionScene scene = scene_of(motion, sight);
    return gains_of(search(execution, scene), scene);
  };
  // Some frames decide which of the two predictions is closer to the links.
  const auto step = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(linking.links() / kMotionSample, 1, points.frames() - 1));
  DivisionMotion motion = motion_of(merges, step);
  out.neighbours = true;
  if (DivisionMotion shared = motion_of(merges, step); shared.residual < motion.residual)
    motion = std::move(shared);
  else
    out.neighbours = false;
  if (step > 1) motion = motion_of(merges);
  DivisionScene scene = scene_of(motion, {.backwards = merges});
  const DivisionSearch seen = search(execution, scene);
  const SearchGains found = gains_of(seen, scene);
  out.model = seen.model;
  out.found = std::ssize(found.gain);
  out.significant = accept == Accept::all;
  if (accept != Accept::all && out.found >= kLeastDivisions) {
    const SearchGains misplaced = chance(motion, {.backwards = merges, .misplaced = true});
    out.misplaced = explained_by(misplaced, found);
    if (accept == Accept::significant)
      out.backwards = explained_by(chance(motion_of(!merges), {.backwards = !merges}), found);
    out.significant = exceed_chance(found, misplaced, out.by_chance());
  }
  if (!out.significant) return out;
  for (std::size_t k = 0; k < found.gain.size(); ++k) {
    const detail::DivisionCandidate& c = scene.candidates[seen.chosen[k]];
    out.list.push_back({c.mother, std::min(c.linked, c.start), std::max(c.linked, c.start), found.gain[k]});
  }
  if (accept == Accept::significant) {
    leave_sure(out.list);
    out.significant = !out.list.empty();
  }
  std::sort(out.list.begin(), out.list.end(),
            [](const Division& a, const Division& b) { return a.mother < b.mother; });
  return out;
}

void detail::keep_apart(Divisions& divisions, Divisions& merges) {
  using Link = std::pair<Index, Index>;  // from the earlier to the later detection
  const auto links_of = [](const Division& d, bool merged) {
    const auto link = [&](Index daughter) {
      return merged ? Link(daughter, d.mother) : Link(d.mother, daughter);
    };
    return std::array{link(d.first), link(d.second)};
  };
  std::map<Link, double> gain;
  for (const Division& d : divisions.list)
    for (const Link& link : links_of(d, false)) gain[link] = d.gain;
  std::set<Link> taken;
  std::erase_if(merges.list, [&](const Division& d) {
    const auto links = links_of(d, true);
    for (const Link& link : links)
      if (const auto other = gain.find(link); other != gain.end() && other->second >= d.gain) return true;
    taken.insert(links.begin(), links.end());
    return false;
  });
  std::erase_if(divisions.list, [&](const Division& d) {
    const auto links = links_of(d, false);
    return taken.contains(links[0]) || taken.contains(links[1]);
  });
}

void cut_at_divisions(const std::vector<Division>& divisions, SeriesLinking& linking) {
  const auto cut = [&](Index from, Index to) {
    if (linking.next[at(from)] == to) linking.next[at(from)] = linking.previous[at(to)] = -1;
  };
  for (const Division& d : divisions)
    for (const Index daughter : {d.first, d.second}) cut(d.mother, daughter), cut(daughter, d.mother);
}

}  // namespace motes::tracking
