/// Simulates series like the linked one, whose true links are known, and links them in the same way.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>

#include <motes/base/index.h>

#include "tracking/link/confidence/again.h"
#include "tracking/link/confidence/confidence_steps.h"
#include "tracking/link/series/options.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;

/// Share of the detections that is left out to see which links change.
constexpr double kLeftOut = 0.1;
/// If links follow the motion of neighbours, about kSeries series are simulated, each with at least
/// kLeastSimulated detections.
constexpr std::size_t kSeries = 5, kLeastSimulated = 3000;
/// If there are few detections, series are simulated until they have kFewestSimulated links, at most
/// kMostSimulated series, since estimates from a single one scatter.
constexpr std::size_t kFewestSimulated = 2000;
constexpr std::uint64_t kMostSimulated = 12;
/// If the share of wrong links is below this, no second series is simulated: it would change the result by
/// less than a hundredth.
constexpr double kFewWrong = 0.02;
/// The share of links that change is about proportional to the square of the steps. kMostStretch is the
/// largest factor for steps, in kStretches rounds.
constexpr double kMostStretch = 1.7;
constexpr int kStretches = 2;
/// If links follow the motion of neighbours, about this many links change together.
constexpr double kTogether = 16;

std::vector<Detections> frames_of(const SeriesPoints& points, const std::vector<char>& keep) {
  std::vector<Detections> out;
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    Detections d;
    d.frame = t;
    d.time_s = t;
    for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i) {
      if (keep[at(i)] == 0) continue;
      const Vec3& p = points.at[at(i)];
      d.x_um.push_back(p.x), d.y_um.push_back(p.y), d.z_um.push_back(p.z);
    }
    out.push_back(std::move(d));
  }
  return out;
}

/// A judged series and its linking.
struct Trial {
  Judged judged;
  SeriesLinks links;
};

/// Common motions that `links` does not have are not tried again.
Untried untried_like(const SeriesLinks& links) {
  return {.pairs = false, .drift = !links.drift, .rotation = !links.rotation};
}

Trial judge(const Execution& execution, const SimulatedSeries& series, const SeriesLinks& like,
            const SeriesOptions& options) {
  Trial out;
  out.links = can_link_again(like) ? link_again(execution, series, like, options)
                                   : link_series(execution, series.frames, options, untried_like(like), {});
  const SeriesLinks& links = out.links;
  const std::vector<double> odds = link_log_odds(execution, links, link_prediction(execution, links));
  std::vector<std::int64_t> particle;
  for (const auto& frame : series.particle) particle.insert(particle.end(), frame.begin(), frame.end());
  std::map<std::int64_t, Index> last;
  std::vector<Index> next(particle.size(), -1);
  for (std::size_t i = 0; i < particle.size(); ++i) {
    if (particle[i] < 0) continue;
    const auto [before, first] = last.try_emplace(particle[i], static_cast<Index>(i));
    if (!first) next[at(before->second)] = static_cast<Index>(i), before->second = static_cast<Index>(i);
  }
  for (std::size_t i = 0; i < odds.size(); ++i)
    if (!std::isnan(odds[i])) out.judged.links.emplace_back(odds[i], links.linking.next[i] == next[i]);
  return out;
}

/// A mixture of links of both with `share` of the second, each taken evenly over its series.
std::vector<std::pair<double, bool>> mixed(const Judged& one, const Judged& other, double share) {
  std::vector<std::pair<double, bool>> out;
  const auto take = [&](const Judged& from, double part) {
    for (std::size_t k = 0; k < from.links.size(); ++k)
      if (std::floor(static_cast<double>(k + 1) * part) > std::floor(static_cast<double>(k) * part))
        out.push_back(from.links[k]);
  };
  take(one, 1 - share);
  take(other, share);
  return out;
}

}  // namespace

double Judged::wrong() const {
  return static_cast<double>(
      std::count_if(links.begin(), links.end(), [](const auto& l) { return !l.second; }));
}

double Judged::wrong_by_odds() const {
  double sum = 0;
  for (const auto& [z, right] : links) sum += 1 / (1 + std::exp(z));
  return sum / static_cast<double>(std::max<std::size_t>(links.size(), 1));
}

double changed_links(const Execution& execution, const SeriesLinks& links, const SeriesOptions& options,
                     std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<char> keep(links.points.size());
  for (char& one : keep) one = std::uniform_real_distribution<>(0, 1)(rng) >= kLeftOut;
  // Only one start: this measures how a linking depends on single detections, not which start wins.
  Untried untried = untried_like(links);
  untried.pairs = true;
  const SeriesLinks fewer = link_series(execution, frames_of(links.points, keep), options, untried, {});
  std::vector<Index> kept, place(keep.size(), -1);
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i] != 0) place[i] = static_cast<Index>(kept.size()), kept.push_back(static_cast<Index>(i));
  double all = 0, changed = 0;
  for (const Index i : kept) {
    const Index j = links.linking.next[at(i)];
    if (j < 0 || place[at(j)] < 0) continue;
    all += 1, changed += fewer.linking.next[at(place[at(i)])] != place[at(j)];
  }
  return all > 0 ? changed / all : 0;
}

Judged judged_like(const Execution& execution, const SeriesLinks& links, const Prediction& prediction,
                   const SeriesOptions& options, const ConfidenceOptions& how) {
  // The simulated series has half as many detections as the real one.
  const bool field = links.chosen == MotionModel::field;
  const std::size_t some = links.points.size() / (field ? kSeries : 2);
  const std::size_t detections = std::min(how.detections, std::max(kLeastSimulated, some));
  const auto with = [&](double stretch) {
    return judge(execution, simulate_like(links, prediction, detections, how.seed, stretch), links, options);
  };
  const auto changed = [&](const SeriesLinks& of) { return changed_links(execution, of, options, how.seed); };
  Trial first = with(1);
  Judged out = std::move(first.judged);
  for (std::uint64_t k = 1;
       !field && out.wrong() > 0 && out.links.size() < kFewestSimulated && k < kMostSimulated; ++k) {
    const SimulatedSeries more = simulate_like(links, prediction, detections, how.seed + k);
    const Judged judged = judge(execution, more, links, options).judged;
    out.links.insert(out.links.end(), judged.links.begin(), judged.links.end());
  }
  const auto n = static_cast<double>(out.links.size());
  if (!field || !(out.wrong() > kFewWrong * n)) return out;
  const double wanted = changed(links);
  double before = changed(first.links), stretch = 1;
  const double chance =
      std::sqrt(kTogether * wanted * (1 - wanted) * (1 / n + 1 / static_cast<double>(links.links)));
  if (wanted > 0) out.uncertain = chance / wanted;
  for (int k = 0; k < kStretches && before > 0 && std::abs(wanted - before) > chance; ++k) {
    stretch = std::clamp(stretch * std::sqrt(wanted / before), 1 / kMostStretch, kMostStretch);
    Trial trial = with(stretch);
    const double now = changed(trial.links);
    const bool between = (now - wanted) * (before - wanted) <= 0;
    out.links = mixed(out, trial.judged, between ? (before - wanted) / (before - now) : 1);
    if (between) break;
    before = now;
  }
  return out;
}

}  // namespace motes::tracking::detail
