#include "tracking/link/series/link_jumps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include <motes/base/index.h>

#include "tracking/candidates/row_grid.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// Least number of jumps.
constexpr std::size_t kLeast = 2;
/// Largest distance, in spacings.
constexpr double kFarthest = 1.5;

struct Passed {
  /// Expected number, over all gaps, of detections on no track that are as near by chance.
  double chance = 0;
  Index from = -1, at = -1;
};

/// Detections on no track, frame by frame.
std::vector<std::vector<Index>> on_no_track(const SeriesPoints& points, const SeriesLinking& linking) {
  std::vector<std::vector<Index>> out(at(points.frames()));
  for (std::size_t i = 0; i < points.size(); ++i)
    if (linking.next[i] < 0 && linking.previous[i] < 0)
      out[at(points.slot[i])].push_back(static_cast<Index>(i));
  return out;
}

/// The nearest detection on no track, for each frame in a gap of a track.
std::vector<Passed> passed_by(const SeriesPoints& points, const SeriesLinking& linking) {
  std::vector<Passed> out;
  const std::vector<std::vector<Index>> alone = on_no_track(points, linking);
  double share = 0, asked = 0;
  for (const std::vector<Index>& of_frame : alone)
    share += static_cast<double>(of_frame.size()) / static_cast<double>(points.size());
  std::vector<std::vector<std::pair<Vec3, Index>>> places(alone.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index j = linking.next[i];
    if (j < 0) continue;
    const std::int32_t first = points.slot[i], last = points.slot[at(j)];
    const Vec3 &p = points.at[i], &q = points.at[at(j)];
    for (std::int32_t t = first + 1; t < last; ++t) {
      const double part = static_cast<double>(t - first) / (last - first);
      places[at(t)].push_back({{p.x + part * (q.x - p.x), p.y + part * (q.y - p.y), p.z + part * (q.z - p.z)},
                               static_cast<Index>(i)});
      asked += 1;
    }
  }
  for (std::size_t t = 0; t < alone.size(); ++t) {
    if (alone[t].empty() || places[t].empty()) continue;
    const double density = points.density[t] * share;
    const double within =
        std::min(std::pow(kJumpsByChance / (density * ball_volume(points.dims, 1)), 1.0 / points.dims),
                 kFarthest * points.spacing_um);
    std::vector<Vec3> where;
    for (const Index k : alone[t]) where.push_back(points.at[at(k)]);
    const RowGrid grid(where, within);
    for (const auto& [place, from] : places[t]) {
      std::pair<double, std::size_t> nearest{within * within, where.size()};
      grid.for_each_within(place, within, [&](std::size_t number, double squared) {
        nearest = std::min(nearest, {squared, number});
      });
      if (nearest.second < where.size())
        out.push_back(
            {density * ball_volume(points.dims, std::sqrt(nearest.first)), from, alone[t][nearest.second]});
    }
  }
  for (Passed& one : out) one.chance *= asked;
  return out;
}

/// Keeps those of which few are there by chance, each detection once.
void keep_sure(std::vector<Passed>& passed) {
  std::sort(passed.begin(), passed.end(), [](const Passed& a, const Passed& b) {
    return std::tie(a.chance, a.from, a.at) < std::tie(b.chance, b.from, b.at);
  });
  std::size_t sure = 0;
  for (std::size_t m = 1; m <= passed.size(); ++m)
    if (passed[m - 1].chance <= kJumpsByChance * static_cast<double>(m)) sure = m;
  passed.resize(sure < kLeast ? 0 : sure);
  std::sort(passed.begin(), passed.end(), [](const Passed& a, const Passed& b) {
    return std::tie(a.at, a.chance, a.from) < std::tie(b.at, b.chance, b.from);
  });
  passed.erase(std::unique(passed.begin(), passed.end(),
                           [](const Passed& a, const Passed& b) { return a.at == b.at; }),
               passed.end());
}

}  // namespace

LinkJumps keep_jumps(const SeriesPoints& points, const SeriesLinking& linking, const Gate& gate) {
  std::vector<Passed> passed = passed_by(points, linking);
  LinkJumps out{linking, {}};
  keep_sure(passed);
  SeriesLinking& links = out.linking;
  const auto within = [&](Index i, Index j) {
    const int lag = points.slot[at(j)] - points.slot[at(i)];
    return !gate.bounded() || length_of(residual(points, {}, i, j)) <= gate.um * lag;
  };
  // In order of frames, so that each is inserted after the one before it.
  for (const Passed& one : passed) {
    Index from = one.from;
    while (links.next[at(from)] >= 0 && links.next[at(from)] < one.at) from = links.next[at(from)];
    const Index to = links.next[at(from)];
    if (to < 0 || points.slot[at(from)] >= points.slot[at(one.at)] ||
        points.slot[at(to)] <= points.slot[at(one.at)] || !within(from, one.at) || !within(one.at, to))
      continue;
    links.next[at(from)] = links.previous[at(to)] = one.at;
    links.previous[at(one.at)] = from, links.next[at(one.at)] = to;
    out.jumped.push_back(one.at);
  }
  return out;
}

}  // namespace motes::tracking
