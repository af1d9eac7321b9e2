#include "tracking/link/series_field.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_assignment.h>

#include "tracking/motion/local_field.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr int kRoundsOfPair = 5;
constexpr double kFirstScalePerSpacing = 0.25, kLeastScalePerSpacing = 0.005;
/// Weight of the pairs before in the scale of the next.
constexpr double kMemory = 0.7;
/// A pair is done when fewer links than this share change.
constexpr double kSettledShare = 0.002;
constexpr std::size_t kPointsWorthThreads = 20'000;

/// Links over one frame as displaced points.
struct Moves {
  std::vector<Vec3> from, to, move;
};

void add_move(Moves& moves, const Vec3& from, const Vec3& to) {
  moves.from.push_back(from);
  moves.to.push_back(to);
  moves.move.push_back({to.x - from.x, to.y - from.y, to.z - from.z});
}

Moves moves_of_pair(const SeriesPoints& points, const SeriesLinking& linking, std::int32_t t,
                    std::vector<std::ptrdiff_t>& own) {
  Moves out;
  own.assign(points.frame(t).size(), -1);
  for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i) {
    const Index j = linking.next[at(i)];
    if (j < 0 || points.slot[at(j)] != t + 1) continue;
    own[at(i - points.offset[at(t)])] = static_cast<std::ptrdiff_t>(out.from.size());
    add_move(out, points.at[at(i)], points.at[at(j)]);
  }
  return out;
}

/// Two frames as a series.
SeriesPoints pair_of(const SeriesPoints& points, std::int32_t t) {
  SeriesPoints out;
  const auto begin = points.offset[at(t)], middle = points.offset[at(t) + 1], end = points.offset[at(t) + 2];
  out.at.assign(points.at.begin() + begin, points.at.begin() + end);
  out.hash.assign(points.hash.begin() + begin, points.hash.begin() + end);
  out.slot.assign(at(middle - begin), 0);
  out.slot.resize(at(end - begin), 1);
  out.offset = {0, middle - begin, end - begin};
  out.density = {points.density[at(t)], points.density[at(t) + 1]};
  out.dims = points.dims;
  out.spacing_um = std::pow(out.density[0], -1.0 / out.dims);
  return out;
}

}  // namespace

Prediction predict_by_field(const Execution& execution, const SeriesPoints& points,
                            const SeriesLinking& linking, int lags) {
  const std::int32_t frames = points.frames();
  std::vector<Moves> moves(at(frames));
  std::vector<std::vector<std::ptrdiff_t>> own(at(frames));
  for (std::int32_t t = 0; t + 1 < frames; ++t) moves[at(t)] = moves_of_pair(points, linking, t, own[at(t)]);
  Prediction out;
  out.by_lag.assign(at(lags), std::vector<Vec3>(points.size()));
  // Frames side by side, one thread each.
  Execution one = execution;
  one.threads = 1;
  parallel_for(thread_count(execution), frames - 1, [&](std::int64_t slot) {
    const auto t = static_cast<std::int32_t>(slot);
    const auto from = points.frame(t);
    const auto begin = at(points.offset[at(t)]), slot_at = at(t);
    const auto field = local_field(one, moves[slot_at].from, moves[slot_at].move, from, own[slot_at]);
    std::copy(field.begin(), field.end(), out.by_lag[0].begin() + static_cast<std::ptrdiff_t>(begin));
  });
  // Over more frames: on from where the field leads, with the field of the nearest detection there.
  for (int lag = 2; lag <= lags; ++lag)
    parallel_for(thread_count(execution), std::max(0, frames - lag), [&](std::int64_t slot) {
      const auto t = static_cast<std::int32_t>(slot), there = t + lag - 1;
      const auto from = points.frame(t), stop = points.frame(there);
      const auto begin = at(points.offset[at(t)]), begin_there = at(points.offset[at(there)]);
      const NearPoints near(stop);
      for (std::size_t k = 0; k < from.size(); ++k) {
        const Vec3 so_far = out.by_lag[at(lag) - 2][begin + k];
        const Vec3 place{from[k].x + so_far.x, from[k].y + so_far.y, from[k].z + so_far.z};
        std::size_t nearest = 0;
        double squared = 0;
        const bool any = !stop.empty() && near.nearest(place, 1, &nearest, &squared) == 1;
        const Vec3 step = any ? out.by_lag[0][begin_there + nearest] : Vec3{};
        out.by_lag[at(lag) - 1][begin + k] = {so_far.x + step.x, so_far.y + step.y, so_far.z + step.z};
      }
    });
  return out;
}

SeriesLinking link_along_field(const Execution& execution, const SeriesPoints& points,
                               const std::string& solver) {
  SeriesLinking out = SeriesLinking::none(points.size());
  Moves before;
  double scale = 0;
  for (std::int32_t t = 0; t + 1 < points.frames(); ++t) {
    const SeriesPoints pair = pair_of(points, t);
    if (pair.frame(0).empty() || pair.frame(1).empty()) continue;
    const auto from = pair.frame(0);
    // Starting threads takes longer than a small pair does.
    Execution of_pair = execution;
    if (pair.size() < kPointsWorthThreads) of_pair.threads = 1;
    SeriesModel model;
    model.dims = pair.dims;
    model.elapsed = {1};
    model.growth = {1};
    model.shape.emplace_back(pair.dims);
    const double spacing = std::pow(pair.density[0], -1.0 / pair.dims);
    double here = scale > 0 ? scale : kFirstScalePerSpacing * spacing;
    Prediction prediction;
    prediction.by_lag.assign(1, std::vector<Vec3>(pair.size()));
    const auto set_field = [&](const std::vector<Vec3>& field) {
      std::copy(field.begin(), field.end(), prediction.by_lag[0].begin());
    };
    if (!before.to.empty()) set_field(local_field(of_pair, before.to, before.move, from));
    SeriesLinking links;
    Moves moves;
    for (int round = 0; round < kRoundsOfPair; ++round) {
      model.scale.assign(2, here);
      const SeriesCandidates candidates = series_candidates(of_pair, pair, prediction, model, 1);
      SeriesLinking now =
          solve_series(of_pair, pair, model, candidates,
                       candidate_costs(of_pair, pair, prediction, model, candidates), solver, false)
              .linking;
      std::size_t differ = 0;
      for (std::size_t i = 0; round > 0 && i < now.next.size(); ++i) differ += now.next[i] != links.next[i];
      const bool settled =
          round > 0 && static_cast<double>(differ) <= kSettledShare * static_cast<double>(from.size());
      links = std::move(now);
      std::vector<std::ptrdiff_t> own;
      moves = moves_of_pair(pair, links, 0, own);
      set_field(local_field(of_pair, moves.from, moves.move, from, own));
      std::vector<double> lengths;
      for (Index i = 0; i < pair.offset[1]; ++i)
        if (links.next[at(i)] >= 0)
          lengths.push_back(length_of(residual(pair, prediction, i, links.next[at(i)])));
      if (lengths.size() >= 8)
        here = std::max(quantile(lengths, 0.5) / student_median(pair.dims), kLeastScalePerSpacing * spacing);
      if (settled) break;
    }
    scale = scale > 0 ? kMemory * scale + (1 - kMemory) * here : here;
    before = std::move(moves);
    for (Index i = 0; i < pair.offset[1]; ++i) {
      const Index j = links.next[at(i)];
      if (j < 0) continue;
      const Index a = points.offset[at(t)] + i, b = points.offset[at(t) + 1] + (j - pair.offset[1]);
      out.next[at(a)] = b;
      out.previous[at(b)] = a;
    }
  }
  return out;
}

}  // namespace motes::tracking
